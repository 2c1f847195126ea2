"""What orchestrators and schedulers say: where jobs run, where nodes stand in the fabric, how they are, and what was done to them."""

from wirespeed.model.record import Record


class ClusterEvent(Record, frozen=True, kw_only=True):
    """One event of Kubernetes: what a controller did to an object or could not do. `reason` is Kubernetes' own word (`FailedScheduling`)."""

    reason: str
    message: str
    is_warning: bool | None = None
    subject: str | None = None
    """The object, such as `pod/trainer-0`, where the source names it."""
    times_count: int | None = None
    took_s: float | None = None
    """Time of the image pull itself (`Pulled`)."""
    waited_s: float | None = None
    """Time of the image pull with its wait for other pulls; never shorter than `took_s`."""
    image_bytes: int | None = None


class NodeGroup(Record, frozen=True, kw_only=True):
    """Nodes that share one place of one level of the fabric: a leaf switch, block, rack, zone or NVLink domain.

    Several records may name one place, each with the nodes its source knows (a node's own label names just that node).
    """

    level: str
    """`leaf-switch`, `block`, or the key of a node label such as `topology.kubernetes.io/zone`."""
    name: str
    nodes: tuple[str, ...]


class JobNodes(Record, frozen=True, kw_only=True):
    """Nodes on which one job, or one of its pods, runs."""

    job: str
    nodes: tuple[str, ...]


class NodeState(Record, frozen=True, kw_only=True):
    """How the scheduler sees nodes, and why. States in lower case: `ready`, `not-ready`, `down`, `drain`, `idle`, `allocated` ..."""

    nodes: tuple[str, ...]
    state: str
    reason: str | None = None


class NetworkPolicy(Record, frozen=True, kw_only=True):
    """One NetworkPolicy of Kubernetes: which directions it closes to everything it does not list.

    A direction is *closed* when it lets nothing through, and *limited* when it lets through what is listed only.
    """

    name: str
    selects_all_pods: bool
    closed: tuple[str, ...] = ()
    """`ingress`, `egress`."""
    limited: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    """Ports let through, as written (`53/UDP`, `8000`, `32768-60999`); empty where rules name none (then all)."""

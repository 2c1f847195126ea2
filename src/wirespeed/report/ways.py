"""The way data takes, drawn as stations, with the places marked where causes sit."""

from dataclasses import dataclass

from wirespeed.model.document import Station, Tone, Way
from wirespeed.model.labels import MEANINGS, Label
from wirespeed.model.text import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    name: Text
    families: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()


def _place(en: str, zh: str, families: str = "", labels: str = "") -> _Place:
    return _Place(name=Text(en=en, zh=zh), families=frozenset(families.split()), labels=frozenset(labels.split()))


_TRAINING = (
    _place("job", "训练任务", "software straggler strategy placement not-network measurement no-fault"),
    _place("NCCL, transport", "NCCL 与传输层", "nccl-config transport version"),
    _place("GPU, PCIe, NVLink", "GPU、PCIe、NVLink", "host-gpu host-pcie host-rdma"),
    _place("host", "主机", "host-cpu host-limits host-net k8s"),
    _place("NIC", "网卡", "host-nic"),
    _place("fabric", "网络", "fabric net-policy inference"),
    _place("storage", "存储", "storage"),
)
_SERVING = (
    _place(
        "client",
        "客户端",
        "measurement",
        "connection-reuse-missing ephemeral-port-exhaustion client-bound-benchmark distance dns-slow",
    ),
    _place("network", "网络", "fabric net-policy host-net", "dns-conntrack-race conntrack-full mtu-overlay"),
    _place(
        "gateway",
        "网关",
        "",
        "proxy-buffering proxy-compression-buffering keepalive-timeout-reset gateway-timeout-too-short gateway-connection-limit "
        "http2-stream-limit nagle-delayed-ack l4-grpc-pinning load-balancer-blind too-many-layers",
    ),
    _place("host, container", "主机与容器", "host-nic host-cpu host-limits k8s"),
    _place("model server", "模型服务", "inference no-fault software version"),
    _place("GPU", "GPU", "host-gpu host-pcie host-rdma not-network nccl-config transport straggler strategy placement"),
)
_STORAGE = (
    _place("store, registry", "存储或镜像库", "", "origin-rate-limited slow-connection-tail storage-bound"),
    _place("network", "网络", "fabric net-policy host-net"),
    _place("transfer", "传输方式", "storage"),
    _place("host", "主机", "host-nic host-cpu host-limits k8s transport"),
    _place(
        "job", "任务", "software not-network no-fault straggler strategy placement nccl-config version host-gpu host-pcie host-rdma"
    ),
)
_WAYS = {
    "inference": _SERVING,
    "k8s": _SERVING,
    "net-policy": _TRAINING,
    "storage": _STORAGE,
}
_SERVING_LABELS = {"client-bound-benchmark", "no-fault-queueing", "firewall-idle-timeout", "remote-compute-fallback", "distance"}


def way_of(causes: tuple[tuple[Label, Tone], ...]) -> Way | None:
    """The way that fits the leading cause, with a mark at the station of each cause given (best first)."""
    if not causes:
        return None
    leader = causes[0][0]
    places = _SERVING if leader in _SERVING_LABELS else _WAYS.get(MEANINGS[leader].family, _TRAINING)
    marks: dict[int, tuple[Label, Tone]] = {}
    for label, tone in causes:
        where = _index(places, label)
        if where is not None:
            marks.setdefault(where, (label, tone))
    stations = tuple(_station(place, marks.get(index)) for index, place in enumerate(places))
    return Way(title=Text(en="Where it sits on the way of the data", zh="在数据路径上的位置"), stations=stations)


def _station(place: _Place, mark: tuple[Label, Tone] | None) -> Station:
    if mark is None:
        return Station(name=place.name)
    label, tone = mark
    return Station(name=place.name, mark=Text(en=label, zh=label), tone=tone)


def _index(places: tuple[_Place, ...], label: Label) -> int | None:
    by_label = next((index for index, place in enumerate(places) if label in place.labels), None)
    if by_label is not None:
        return by_label
    family = MEANINGS[label].family
    return next((index for index, place in enumerate(places) if family in place.families), None)

"""The lab as a drawing: nodes, links, addresses, and the lines that `ip` and `tc` are given for each node."""

import itertools
from typing import Literal, TypeAlias

import msgspec

Role: TypeAlias = Literal["host", "leaf", "spine"]

MOST_LEAVES, MOST_SPINES, MOST_HOSTS = 16, 8, 200
HOST_RATE_BITS_PER_S, UPLINK_RATE_BITS_PER_S = 200e6, 400e6
FIRST_INDEX = 10
BUCKET_BYTES = 15_000
"""Token bucket of every egress; what fits in it passes at once."""
QUEUE_S = 0.010
"""How long a full egress queue takes to drain, as a shallow switch buffer would."""
CONGESTION_CONTROL = "cubic"
"""Set by route attribute, because a namespace may not change its default to one that the first namespace does not allow."""
DOCKER_ADDRESS = "172.17.0.1"


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """What a lab is asked to be."""

    leaves_count: int = 2
    spines_count: int = 2
    hosts_count: int = 4
    host_rate_bits_per_s: float = HOST_RATE_BITS_PER_S
    uplink_rate_bits_per_s: float = UPLINK_RATE_BITS_PER_S
    delay_s: float = 0.0
    """One way, on each host's link."""
    loss_ratio: float = 0.0
    """Each way, on each host's link."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One node of the drawing. A host knows its leaf."""

    name: str
    role: Role
    addresses: tuple[str, ...]
    leaf: str | None = None


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A cable: a port is called after the node at its other end, and a host's port `eth0`."""

    near: str
    near_port: str
    far: str
    far_port: str
    rate_bits_per_s: float


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """All nodes and links."""

    spec: Spec
    places: tuple[Place, ...]
    links: tuple[Link, ...]

    def of_role(self, role: Role) -> tuple[Place, ...]:
        """Nodes of one role, in order."""
        return tuple(place for place in self.places if place.role == role)


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What one node is told once its links are there."""

    ip_lines: tuple[str, ...]
    tc_lines: tuple[str, ...]
    sysctls: tuple[tuple[str, str], ...]
    ports: tuple[str, ...]
    """Links that must be up before the node counts as ready."""


def drawn(spec: Spec) -> Drawing:
    """Hosts dealt to leaves in blocks, every leaf joined to every spine."""
    leaves = [f"leaf{n}" for n in range(1, spec.leaves_count + 1)]
    spines = [f"spine{n}" for n in range(1, spec.spines_count + 1)]
    places: list[Place] = []
    links: list[Link] = []
    seats = dict.fromkeys(leaves, 0)
    for number in range(1, spec.hosts_count + 1):
        leaf_index = (number - 1) * spec.leaves_count // spec.hosts_count
        leaf, host = leaves[leaf_index], f"h{number}"
        seats[leaf] += 1
        places.append(Place(name=host, role="host", addresses=(f"10.{leaf_index + 1}.0.{seats[leaf]}",), leaf=leaf))
        links.append(Link(near=host, near_port="eth0", far=leaf, far_port=host, rate_bits_per_s=spec.host_rate_bits_per_s))
    for leaf_number, leaf in enumerate(leaves, 1):
        uplinks = tuple(_uplink_addresses(leaf_number, n)[0] for n in range(1, len(spines) + 1))
        places.append(Place(name=leaf, role="leaf", addresses=(_gateway(leaf_number), *uplinks)))
        for spine in spines:
            links.append(Link(near=leaf, near_port=spine, far=spine, far_port=leaf, rate_bits_per_s=spec.uplink_rate_bits_per_s))
    for spine_number, spine in enumerate(spines, 1):
        ports = tuple(_uplink_addresses(n, spine_number)[1] for n in range(1, len(leaves) + 1))
        places.append(Place(name=spine, role="spine", addresses=ports))
    return Drawing(spec=spec, places=tuple(places), links=tuple(links))


def cabling(drawing: Drawing, pids: dict[str, int]) -> tuple[str, ...]:
    """Lines for `ip -batch` that lay every cable between the namespaces of the nodes' processes.

    No two ports have one index: the kernel takes a port whose index is that of its peer for one without a peer, and lets it wait
    up to a second before it starts (`linkwatch_urgent_event` of net/core/link_watch.c).
    """
    return tuple(
        f"link add name {link.near_port} index {index} netns {pids[link.near]} "
        f"type veth peer name {link.far_port} index {index + 1} netns {pids[link.far]}"
        for index, link in zip(itertools.count(FIRST_INDEX, 2), drawing.links, strict=False)
    )


def setup(drawing: Drawing, place: Place) -> Setup:
    """What `place` is to be told."""
    ports = {link.near_port: link.rate_bits_per_s for link in drawing.links if link.near == place.name}
    ports |= {link.far_port: link.rate_bits_per_s for link in drawing.links if link.far == place.name}
    lines = {"host": _host_lines, "leaf": _leaf_lines, "spine": _spine_lines}[place.role](drawing, place)
    return Setup(
        ip_lines=("link set lo up", *lines, *(f"link set {port} up" for port in ports), *_routes(drawing, place)),
        tc_lines=tuple(f"qdisc replace dev {port} root handle 1: {bucket(rate)}" for port, rate in ports.items()),
        sysctls=_QUIET if place.role == "host" else (*_QUIET, *_ROUTING),
        ports=tuple(ports),
    )


def bucket(rate_bits_per_s: float, queue_bytes: float | None = None) -> str:
    """The token bucket of a link, as `tc` spells it. The queue holds `QUEUE_S` of traffic unless told otherwise."""
    queue = max(30_000.0, rate_bits_per_s / 8 * QUEUE_S) if queue_bytes is None else queue_bytes
    return f"tbf rate {rate_bits_per_s:.0f}bit burst {BUCKET_BYTES}b limit {queue:.0f}b"


def hosts_file(drawing: Drawing, name: str) -> str:
    """The `/etc/hosts` of one node: everybody by name."""
    lines = ["127.0.0.1 localhost", *(f"{place.addresses[0]} {place.name}" for place in drawing.places)]
    return f"# hosts of the lab, as {name} knows them\n" + "\n".join(lines) + "\n"


RESOLVER_FILE = "# no name server in this lab: every host stands in /etc/hosts\noptions timeout:1 attempts:1\n"

_QUIET = (("net/ipv6/conf/all/disable_ipv6", "1"), ("net/ipv6/conf/default/disable_ipv6", "1"))
_ROUTING = (
    ("net/ipv4/ip_forward", "1"),
    ("net/ipv4/conf/all/rp_filter", "0"),
    ("net/ipv4/conf/default/rp_filter", "0"),
    # the router hashes the packet itself; policy 1 would take the hash that the sender's socket left on it
    ("net/ipv4/fib_multipath_hash_policy", "3"),
    ("net/ipv4/fib_multipath_hash_fields", "0x37"),
)


def _gateway(leaf_number: int) -> str:
    return f"10.{leaf_number}.0.254"


def _uplink_addresses(leaf_number: int, spine_number: int) -> tuple[str, str]:
    """The /31 between a leaf and a spine: the leaf's end, the spine's end."""
    first = 2 * (leaf_number - 1)
    return f"10.100.{spine_number}.{first + 1}", f"10.100.{spine_number}.{first}"


def _host_lines(drawing: Drawing, place: Place) -> list[str]:
    return [
        f"address add {place.addresses[0]}/24 brd + dev eth0",
        # as on any machine with containers: an address that is the same everywhere and leads nowhere
        "link add docker0 type bridge",
        f"address add {DOCKER_ADDRESS}/16 brd + dev docker0",
        "link set docker0 up",
    ]


def _leaf_lines(drawing: Drawing, place: Place) -> list[str]:
    number = int(place.name.removeprefix("leaf"))
    # a bridge takes the lowest address of its ports, and would change it whenever a port comes or goes
    lines = [
        f"link add br0 address 02:00:00:00:{number:02x}:fe type bridge",
        f"address add {place.addresses[0]}/24 brd + dev br0",
        "link set br0 up",
    ]
    lines += [f"link set {host.name} master br0" for host in drawing.of_role("host") if host.leaf == place.name]
    lines += [
        f"address add {address}/31 dev {spine.name}"
        for spine, address in zip(drawing.of_role("spine"), place.addresses[1:], strict=True)
    ]
    return lines


def _spine_lines(drawing: Drawing, place: Place) -> list[str]:
    return [
        f"address add {address}/31 dev {leaf.name}" for leaf, address in zip(drawing.of_role("leaf"), place.addresses, strict=True)
    ]


def _routes(drawing: Drawing, place: Place) -> list[str]:
    leaves, spines = drawing.of_role("leaf"), drawing.of_role("spine")
    numbers = {leaf.name: number for number, leaf in enumerate(leaves, 1)}
    if place.role == "host" and place.leaf is not None:
        number, source = numbers[place.leaf], place.addresses[0]
        return [
            f"route replace 10.{number}.0.0/24 dev eth0 proto kernel scope link src {source} congctl {CONGESTION_CONTROL}",
            f"route add default via {_gateway(number)} congctl {CONGESTION_CONTROL}",
        ]
    if place.role == "spine":
        spine_number = int(place.name.removeprefix("spine"))
        return [f"route add 10.{n}.0.0/24 via {_uplink_addresses(n, spine_number)[0]}" for n in numbers.values()]
    own = numbers[place.name]
    hops = " ".join(f"nexthop via {_uplink_addresses(own, n)[1]}" for n in range(1, len(spines) + 1))
    return [f"route add 10.{n}.0.0/24 {hops}" for n in numbers.values() if n != own]

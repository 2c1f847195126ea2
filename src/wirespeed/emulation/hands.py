"""What a fault may do to a lab, each step with its way back written down first."""

from collections.abc import Callable
from typing import Any, Literal

from wirespeed.emulation import control, groups, topology
from wirespeed.emulation.lab import Lab
from wirespeed.emulation.state import Undo
from wirespeed.emulation.topology import Link, Place
from wirespeed.model.errors import CouldNot
from wirespeed.model.text import Text

WIRE_LOG = "wire.log"


class Hands:
    """Changes to a lab. `record` keeps an undo before the change is made."""

    def __init__(self, lab: Lab, record: Callable[[Undo], None], prefix: str) -> None:
        self.lab = lab
        self.drawing = lab.state.drawing
        self._record = record
        self._prefix = prefix
        self._number = 0

    def ip(self, node: str, *lines: str, undo: tuple[str, ...] = ()) -> None:
        """Lines for `ip -batch` in a node, and those that take them back."""
        self._batch("ip", node, lines, undo)

    def tc(self, node: str, *lines: str, undo: tuple[str, ...] = ()) -> None:
        """Lines for `tc -batch` in a node, and those that take them back."""
        self._batch("tc", node, lines, undo)

    def shape(self, node: str, port: str, rate_bits_per_s: float, queue_bytes: float | None = None) -> None:
        """Another rate (and queue) for one egress."""
        was, now = topology.bucket(self.rate_of(node, port)), topology.bucket(rate_bits_per_s, queue_bytes)
        self.tc(node, f"qdisc change dev {port} root {now}", undo=(f"qdisc change dev {port} root {was}",))

    def nft(self, node: str, family: str, chains: str) -> None:
        """A table of its own with these chains."""
        name = self._tag("t")
        self._record(Undo(node=node, kind="nft", lines=(f"delete table {family} {name}",)))
        self.run(node, ("nft", "-f", "-"), f"table {family} {name} {{\n{chains}\n}}\n")

    def drop_at(self, host: str, statement: str, hooks: tuple[str, ...] = ("ingress", "egress"), sets: str = "") -> None:
        """A rule on the leaf's port for what comes from a host (ingress) and goes to it (egress), with the sets it uses."""
        leaf, port = self.leaf_of(host), self._bridge_port(host)
        chains = [f"chain c_{hook} {{\ntype filter hook {hook} device {port} priority 0\n{statement}\n}}" for hook in hooks]
        self.nft(leaf, "netdev", "\n".join((sets, *chains)))

    def sysctl(self, node: str, key: str, value: str) -> None:
        """One value below /proc/sys of a node."""
        self.file(node, f"/proc/sys/{key}", value)

    def file(self, node: str, path: str, text: str) -> None:
        """Another content for an existing file, as the node sees it."""
        before = self.look(node, path)
        self._record(Undo(node=node, kind="write", what=path, lines=(before,)))
        self.lab.order(node, control.Write(path=path, text=text))

    def look(self, node: str, path: str) -> str:
        """The content of a file, as the node sees it."""
        return self.lab.order(node, control.Read(path=path)).output

    def start(self, node: str, actor: str, arguments: dict[str, Any], log: str = "actor.log") -> None:
        """A process in a node, until healed."""
        tag = self._tag(actor)
        self._record(Undo(node=node, kind="stop", what=tag))
        self.lab.order(node, control.Start(tag_name=tag, actor=actor, arguments=arguments, log=log))

    def limit_cpu(self, host: str, share_ratio: float) -> None:
        """All processes of a host, and those it starts, get this share of one core (a quota of their control group)."""
        group = groups.path_for(self.lab.directory, host)
        pid = self.lab.node(host).pid
        self._record(Undo(node=host, kind="cgroup", what=group, lines=(groups.group_of(pid),)))
        groups.limit(group, share_ratio, pid)

    def later(self, node: str, *lines: str) -> None:
        """Lines for `ip` that are run only when the fault is taken out."""
        self._record(Undo(node=node, kind="ip", lines=lines))

    def far(self, host: str, delay_s: float, loss_ratio: float = 0.0, seed: int = 0) -> str | None:
        """A long or lossy wire between a host and its leaf: netem where the kernel has it, a wire in user space otherwise.

        Returns the device that stands in the leaf's bridge for a wire in user space, None for netem.
        """
        leaf, port = self.leaf_of(host), self._bridge_port(host)
        if self._knows_netem(leaf):
            self._netem(leaf, host, delay_s, loss_ratio)
            self._netem(host, "eth0", delay_s, loss_ratio)
            return None
        inner, outer = self._tag("w"), self._tag("x")
        # the leaf itself must not answer for its addresses on what is now one end of a cable
        self.sysctl(leaf, f"net/ipv4/conf/{port}/arp_ignore", "8")
        self.ip(
            leaf,
            f"link set {port} nomaster",
            f"link add {inner} type veth peer name {outer}",
            undo=(f"link del {inner}", f"link set {port} master br0"),
        )
        self.lab.order(leaf, control.Write(path=f"/proc/sys/net/ipv4/conf/{outer}/arp_ignore", text="8"))
        self.run(leaf, ("ip", "-batch", "-"), f"link set {inner} master br0\nlink set {inner} up\nlink set {outer} up\n")
        wire = {"near": port, "far": outer, "delay_s": delay_s, "loss_ratio": loss_ratio, "seed": seed}
        self.start(leaf, "wire", wire, WIRE_LOG)
        return inner

    def host(self, name: str) -> Place:
        """A host of the drawing."""
        (found,) = [place for place in self.drawing.of_role("host") if place.name == name]
        return found

    def address(self, name: str) -> str:
        """The first address of a node."""
        return self.lab.node(name).addresses[0]

    def leaf_of(self, host: str) -> str:
        """The leaf a host hangs on."""
        leaf = self.host(host).leaf
        assert leaf is not None
        return leaf

    def neighbours(self, host: str) -> tuple[str, ...]:
        """Other hosts of the same leaf."""
        return tuple(one.name for one in self.drawing.of_role("host") if one.leaf == self.leaf_of(host) and one.name != host)

    def strangers(self, host: str) -> tuple[str, ...]:
        """Hosts of other leaves."""
        return tuple(one.name for one in self.drawing.of_role("host") if one.leaf != self.leaf_of(host))

    def others(self, host: str) -> tuple[str, ...]:
        """All other hosts, those of other leaves first."""
        return (*self.strangers(host), *self.neighbours(host))

    def spines(self) -> tuple[str, ...]:
        """Names of the spines."""
        return tuple(place.name for place in self.drawing.of_role("spine"))

    def rate_of(self, node: str, port: str) -> float:
        """The rate that a port has when nothing is wrong, in bits per second."""
        ends: dict[tuple[str, str], Link] = {}
        for link in self.drawing.links:
            ends[link.near, link.near_port] = ends[link.far, link.far_port] = link
        return ends[node, port].rate_bits_per_s

    def _bridge_port(self, host: str) -> str:
        """What stands for a host in its leaf's bridge: its port, or the inner end of the wire that the lab was made with."""
        return self.lab.state.wires.get(host, host)

    def _knows_netem(self, leaf: str) -> bool:
        """Whether the kernel has netem: tried on a device that nobody uses."""
        spelled = "qdisc add dev lo root netem delay 1ms\nqdisc del dev lo root\n"
        return self.lab.order(leaf, control.Run(argv=("tc", "-batch", "-"), stdin=spelled)).exit_code == 0

    def _netem(self, node: str, device: str, delay_s: float, loss_ratio: float) -> None:
        was = topology.bucket(self.rate_of(node, device))
        self.tc(
            node,
            f"qdisc add dev {device} parent 1:1 handle 10: netem delay {delay_s * 1e6:.0f}us loss {loss_ratio * 100:.4f}% limit 10000",
            undo=(f"qdisc del dev {device} root", f"qdisc add dev {device} root handle 1: {was}"),
        )

    def _tag(self, what: str) -> str:
        self._number += 1
        return f"{what}_{self._prefix}{self._number}"

    def _batch(self, program: Literal["ip", "tc"], node: str, lines: tuple[str, ...], undo: tuple[str, ...]) -> None:
        self._record(Undo(node=node, kind=program, lines=undo))
        self.run(node, (program, "-batch", "-"), "\n".join(lines) + "\n")

    def run(self, node: str, argv: tuple[str, ...], stdin: str = "") -> str:
        """The output of a program in a node. What it changes is not taken back by itself. Raises CouldNot when it fails."""
        done = self.lab.order(node, control.Run(argv=argv, stdin=stdin))
        if done.exit_code:
            said = " ".join(done.errors.split())[:300]
            raise CouldNot(Text(en=f"{node}: {argv[0]} refused: {said}", zh=f"{node}：{argv[0]} 拒绝执行：{said}"))
        return done.output


def take_back(lab: Lab, undo: Undo) -> None:
    """One step back. What was never done is no trouble."""
    if undo.kind in ("ip", "tc") and undo.lines:
        lab.order(undo.node, control.Run(argv=(undo.kind, "-force", "-batch", "-"), stdin="\n".join(undo.lines) + "\n"))
    elif undo.kind == "nft":
        lab.order(undo.node, control.Run(argv=("nft", "-f", "-"), stdin="\n".join(undo.lines) + "\n"))
    elif undo.kind == "write":
        lab.order(undo.node, control.Write(path=undo.what, text=undo.lines[0]))
    elif undo.kind == "stop":
        lab.order(undo.node, control.Stop(tag_name=undo.what))
    elif undo.kind == "cgroup":
        groups.remove(undo.what, undo.lines[0])

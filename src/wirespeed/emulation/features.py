"""What faults need of the kernel, tried out in a throw-away namespace."""

import contextlib
import os
import shutil
import socket
import subprocess
from pathlib import Path

from wirespeed.emulation import groups
from wirespeed.emulation.fault import Fault, Need
from wirespeed.emulation.topology import Drawing
from wirespeed.machines import namespace
from wirespeed.model.text import Text

TITLES: dict[Need, Text] = {
    "nft": Text(en="the program nft and nftables in the kernel", zh="程序 nft 以及内核的 nftables"),
    "nft-egress": Text(en="nftables with hooks at a device, in and out (Linux 5.16)", zh="nftables 设备收发钩子（Linux 5.16）"),
    "wire": Text(en="packet sockets (AF_PACKET)", zh="数据包套接字（AF_PACKET）"),
    "cgroup-cpu": Text(en="the right to make control groups with a CPU quota (root)", zh="可创建带 CPU 配额的控制组（root）"),
    "ecmp-fields": Text(en="a choice of hash fields for ECMP (Linux 5.12)", zh="可选择 ECMP 哈希字段（Linux 5.12）"),
    "two-leaves": Text(en="a lab with two leaves", zh="至少两个叶交换机的实验室"),
    "two-spines": Text(en="a lab with two spines", zh="至少两个脊交换机的实验室"),
    "two-hosts-a-leaf": Text(en="a lab with two hosts on a leaf", zh="某叶交换机下至少两台主机的实验室"),
}
_TABLES: dict[Need, str] = {
    "nft": "table inet t {\nchain c {\ntype filter hook forward priority 0\nnumgen random mod 100 < 1 drop\n}\n}\n",
    "nft-egress": "table netdev t {\nchain c {\ntype filter hook egress device lo priority 0\nnumgen random mod 100 < 1 drop\n}\n}\n",
}
_TRIAL_TIMEOUT_S = 5.0


def present() -> frozenset[Need]:
    """What this machine offers to a lab. Takes a few milliseconds; changes nothing that lasts."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            os.write(writing, ",".join(_tried()).encode())
        except OSError:
            pass
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(pid, 0)
    found: set[Need] = {need for need in TITLES if need in said.split(",")}
    if groups.can_limit():
        found.add("cgroup-cpu")
    if Path("/proc/sys/net/ipv4/fib_multipath_hash_fields").exists():
        found.add("ecmp-fields")
    return frozenset(found)


def lacking(fault: Fault, found: frozenset[Need], drawing: Drawing | None) -> tuple[Need, ...]:
    """Needs of a fault that are not met, in a lab of this drawing; without one, only the machine is judged."""
    have = found | _of_size(drawing)
    return tuple(need for need in fault.needs if need not in have)


def _of_size(drawing: Drawing | None) -> frozenset[Need]:
    sizes: set[Need] = set()
    leaves = [] if drawing is None else [host.leaf for host in drawing.of_role("host")]
    if drawing is None or len(drawing.of_role("leaf")) > 1:
        sizes.add("two-leaves")
    if drawing is None or len(drawing.of_role("spine")) > 1:
        sizes.add("two-spines")
    if drawing is None or len(leaves) > len(set(leaves)):
        sizes.add("two-hosts-a-leaf")
    return frozenset(sizes)


def _tried() -> list[Need]:
    """In a child: what works in a network namespace of one's own."""
    if not namespace.may_make_namespaces():
        namespace.become_root_of_a_user_namespace()
    namespace.unshare(namespace.NEW_NET)
    found: list[Need] = []
    with contextlib.suppress(OSError), socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0):
        found.append("wire")
    nft = shutil.which("nft")
    for need, table in _TABLES.items() if nft else ():
        done = subprocess.run(  # noqa: S603 - a program of the system, with tables of our own
            (str(nft), "-f", "-"), input=table, capture_output=True, text=True, timeout=_TRIAL_TIMEOUT_S, check=False
        )
        if done.returncode == 0:
            found.append(need)
    return found

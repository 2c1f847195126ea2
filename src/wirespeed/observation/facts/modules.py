"""Kernel modules on which GPUs, RDMA and congestion control depend, and whether they are there."""

from collections.abc import Iterator

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.facts.host import KernelModule
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote, Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import text_of, value_of
from wirespeed.observation.collector import Collector

PATH = "/proc/modules"
OUT_OF_TREE = ("nvidia", "nvidia_uvm", "nvidia_peermem", "nv_peer_mem", "gdrdrv", "nvidia_fs")
"""Never built into a kernel: not listed means not loaded."""
IN_TREE = (
    "amdgpu", "bnxt_re", "br_netfilter", "efa", "ib_core", "ib_umad", "ib_uverbs", "irdma", "mlx5_core", "mlx5_ib", "nf_conntrack", "rdma_cm",
    "rdma_rxe", "rdma_ucm", "tcp_bbr", "tcp_dctcp",
)  # fmt: skip
"""May be built in, where /proc/modules does not list them: only the kernel's own list of built-ins proves their absence."""


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    lines = {line.partition(" ")[0]: (index, line) for index, line in enumerate(text_of(machine, PATH).split("\n")) if line}
    built_in = _built_in(machine)
    source = Source(tool="proc", path=PATH, host=machine.host)
    for name in (*OUT_OF_TREE, *IN_TREE):
        if name in lines:
            index, line = lines[name]
            yield KernelModule(source=source, quotes=(Quote(source=PATH, line_index=index, text=line),), name=name, is_loaded=True)
        elif name in OUT_OF_TREE:
            yield KernelModule(source=source, name=name, is_loaded=False)
        elif built_in is not None:
            yield KernelModule(source=source, name=name, is_loaded=name in built_in)


def _built_in(machine: Machine) -> frozenset[str] | None:
    release = value_of(machine, "/proc/sys/kernel/osrelease")
    try:
        text = text_of(machine, f"/lib/modules/{release}/modules.builtin")
    except MachineProblem:
        return None
    names = (line.rpartition("/")[2].partition(".ko")[0].replace("-", "_") for line in text.split("\n"))
    return frozenset(name for name in names if name)


COLLECTOR = Collector(title=Text(en="kernel modules", zh="内核模块"), gives=(KernelModule,), observe=_observe, cost_s=0.001)

"""Bytes handed to the device and not yet sent, by transmit queue (byte queue limits in sysfs)."""

from collections.abc import Iterator

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.samples import Key
from wirespeed.model.text import Text
from wirespeed.observation.asking import LINKS, listing_or_nothing
from wirespeed.observation.opened import links_in_sysfs, number_probe
from wirespeed.observation.sampler import Family, Probe, Wanted

MOST_QUEUES = 256
"""Of the whole machine; hosts with more have as many of them as cores, for each port."""


def _queues(machine: Machine, links: tuple[str, ...]) -> Iterator[tuple[Key, str]]:
    for link in links:
        for queue in listing_or_nothing(machine, f"{LINKS}/{link}/queues"):
            limits = f"{LINKS}/{link}/queues/{queue}/byte_queue_limits"
            if queue.startswith("tx-"):
                yield Key("queues", f"{link}/{queue}", "inflight", "bytes", "gauge"), f"{limits}/inflight"


def _open(machine: Machine, wanted: Wanted) -> Probe:
    links, problem = links_in_sysfs(machine)
    if problem is not None:
        raise MachineProblem("absent", problem.why)
    queues = list(_queues(machine, links))
    probe = number_probe(machine, queues[:MOST_QUEUES])
    if probe is None:
        raise MachineProblem(
            "absent", Text(en="no driver here tells what is queued at its device", zh="此处没有驱动报告设备队列中的数据量")
        )
    return probe


FAMILY = Family(title=Text(en="device queues", zh="设备队列"), open=_open, period_s=0.2, named_period_s=0.01)

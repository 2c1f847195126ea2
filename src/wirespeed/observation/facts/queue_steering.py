"""CPUs that take over packets of receive queues (RPS) and send on transmit queues (XPS)."""

from collections.abc import Iterator

from wirespeed.machines.machine import Machine
from wirespeed.model.facts.link import QueueSteering
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.observation.asking import LINKS, Gathered, cpus_of_mask, listing_or_nothing
from wirespeed.observation.collector import Collector

MOST_QUEUES = 4_096


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    seen = 0
    for link in listing_or_nothing(machine, LINKS):
        for queue in listing_or_nothing(machine, f"{LINKS}/{link}/queues"):
            seen += 1
            if seen > MOST_QUEUES:
                return
            what = "rps" if queue.startswith("rx") else "xps"
            path = f"{LINKS}/{link}/queues/{queue}/{what}_cpus"
            found = Gathered(machine, "sysfs", path)
            found.take("cpus", path, cpus_of_mask)
            yield found.into(QueueSteering, link=link, queue=queue, what=what)


COLLECTOR = Collector(title=Text(en="packet steering", zh="报文分流"), gives=(QueueSteering,), observe=_observe, cost_s=0.002)

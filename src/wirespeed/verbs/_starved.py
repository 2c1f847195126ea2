"""Said of bulk tests whose ends got no processor: their rates measure the machine."""

from collections.abc import Iterable

from wirespeed.diagnosis.joins.rates import is_starved
from wirespeed.model.link_runs import FlowRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text


def starved_tests(records: Iterable[Record | Problem]) -> tuple[Problem, ...]:
    """One problem, where any flow waited for a processor too long to say something of the network."""
    tests = {one.test for one in records if isinstance(one, FlowRun) and is_starved(one)}
    return (Problem(source=Source(tool="throughput", path="bulk flows"), why=_STARVED),) if tests else ()


_STARVED = Text(
    en="the processors were busy with something else: rates of bulk flows measure the machine here, and are not judged",
    zh="处理器正忙于其他工作：此处大流量的速率反映的是机器而非网络，因此不作判断",
)

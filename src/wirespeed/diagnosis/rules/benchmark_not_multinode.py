"""The benchmark ran once on each node by itself and never crossed the network."""

from itertools import pairwise

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import BenchmarkRank, BenchmarkStart, CollectiveRun, CollectiveSummary
from wirespeed.model.record import Record
from wirespeed.model.settings import Command, Statement
from wirespeed.model.text import Text


def _judge(case: Case) -> Verdict:
    repeated = _repeated_ranks(case)
    is_about_a_test = case.has(BenchmarkRank) or bool(case.every(CollectiveRun, rank=None)) or case.has(CollectiveSummary)
    said_weight = FAIR + SLIGHT if is_about_a_test or case.said("collective-benchmark") else FAIR - 0.5
    evidence = (
        *piece(_REPEATED, STRONG + SLIGHT, repeated),
        *piece(_STARTS, STRONG, _starts_without_results(case) if not repeated else ()),
        *piece(_ROWS, FAIR, _repeated_rows(case) if not repeated else ()),
        *piece(_SUMMARIES, FAIR, _equal_summaries(case)),
        *piece(_ONE_RANK, FAIR, _one_node_of_many(case)),
        *piece(_SAID, said_weight, case.said("benchmark-not-joined")),
        *piece(_WITHOUT_MPI, said_weight, case.said("benchmark-without-mpi")),
    )
    return Verdict(evidence=evidence)


def _repeated_ranks(case: Case) -> tuple[BenchmarkRank, ...]:
    """The same rank number in the same input on two nodes, or printed twice: two separate worlds."""
    first: dict[tuple[str, int], BenchmarkRank] = {}
    for one in case.every(BenchmarkRank):
        before = first.setdefault((one.source.path, one.rank), one)
        if before is not one and (before.node, before.device_index) != (one.node, one.device_index):
            return (before, one)
    zeros = case.every(BenchmarkRank, rank=0)
    same_place = [one for one in zeros if one.source.path == zeros[0].source.path]
    return tuple(same_place[:2]) if len(same_place) > 1 else ()


def _starts_without_results(case: Case) -> tuple[BenchmarkStart, ...]:
    """Two headers in one input and no result between them: two processes began at once, each by itself."""
    results = [
        (one.source.path, one.quotes[0].line_index) for kind in (CollectiveRun, CollectiveSummary) for one in case.every(kind)
    ]
    for one, other in pairwise(case.every(BenchmarkStart)):
        first, second = one.quotes[0].line_index, other.quotes[0].line_index
        is_one_input = one.source.path == other.source.path
        if is_one_input and not any(path == one.source.path and first < index < second for path, index in results):
            return (one, other)
    return ()


def _repeated_rows(case: Case) -> tuple[CollectiveRun, ...]:
    """Each size twice in one table: the outputs of two runs are mixed."""
    seen_rows: dict[tuple[str, int, bool], CollectiveRun] = {}
    twice = []
    for one in case.every(CollectiveRun, rank=None):
        before = seen_rows.setdefault((one.source.path, one.size_bytes, one.in_place), one)
        if before is not one and before.quotes != one.quotes:
            twice.append(one)
    return tuple(twice) if len(twice) >= 3 else ()


def _equal_summaries(case: Case) -> tuple[CollectiveSummary, ...]:
    """Two footers in one input with almost the same mean."""
    found = case.every(CollectiveSummary, lambda one: bool(one.busbw_mean_bytes_per_s))
    for one in found[1:]:
        mean, other = one.busbw_mean_bytes_per_s or 0.0, found[0].busbw_mean_bytes_per_s or 0.0
        if one.source.path == found[0].source.path and abs(mean - other) <= 0.02 * other:
            return (found[0], one)
    return ()


def _one_node_of_many(case: Case) -> tuple[Record, ...]:
    """A launcher with several hosts, and a header that shows a single node."""
    nodes = {one.node for one in case.every(BenchmarkRank) if one.node}
    launched = case.every(Command, lambda one: one.program in ("mpirun", "mpiexec", "srun") and _hosts_named(one) > 1)
    return (*launched[:1], *case.every(BenchmarkRank)[:1]) if launched and len(nodes) == 1 else ()


def _hosts_named(command: Command) -> int:
    for flag, value in zip(command.arguments, command.arguments[1:], strict=False):
        if flag in ("-H", "-host", "--host", "-hosts"):
            return len(value.split(","))
    return 0


_REPEATED = Text(en="the same rank appears twice: each process is a world of its own", zh="同一 rank 出现两次：每个进程各自为政")
_STARTS = Text(
    en="two headers stand in one output before any result: each process is a world of its own",
    zh="同一输出在结果之前出现两个表头：每个进程各自为政",
)
_ROWS = Text(en="every size is printed twice, the outputs of two runs are mixed", zh="每个尺寸打印两次，两次运行的输出混在一起")
_SUMMARIES = Text(en="two footers with almost the same mean stand in one output", zh="同一输出中有两个几乎相同的汇总")
_ONE_RANK = Text(en="the launcher names several hosts, the benchmark lists one", zh="启动命令含多台主机，而基准测试只列出一台")
_WITHOUT_MPI = Text(en="the benchmark was built without MPI", zh="基准测试未带 MPI 编译")
_SAID = Text(en="each node seems to run by itself", zh="各节点似乎各自运行")

RULE = Rule(
    cause="benchmark-not-multinode",
    title=Text(en="The benchmark did not communicate between nodes", zh="基准测试没有跨节点通信"),
    summary=Text(
        en="Each process ran a complete test on its own node (usually a build without MPI), so the figures say nothing of the network.",
        zh="每个进程在本节点独立完成测试（通常因构建不含 MPI），其数值与网络无关。",
    ),
    needs=(
        (BenchmarkRank,),
        (BenchmarkStart,),
        (CollectiveSummary,),
        (wants(CollectiveRun, lambda one: one.rank is None),),
        (Statement,),
    ),
    silence_needs=((BenchmarkRank,),),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="nccl-tests without MPI=1 ignores the launcher, and every process believes that it is alone.",
            zh="未以 MPI=1 编译的 nccl-tests 不理会启动器，每个进程都认为只有自己。",
        ),
        shows=Text(
            en="Header and results printed once per process, every copy with rank 0; multi-node figures equal single-node ones.",
            zh="每个进程都打印表头与结果，且都有 rank 0；多节点数值等于单节点。",
        ),
        sources=(
            "NVIDIA/nccl-tests#213",
            "NVIDIA/nccl-tests#27",
            "NVIDIA/nccl-tests#109",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="no-fault-metric-misread",
            because=Text(en="there the test did cross the network and a column is misread", zh="彼处测试确实跨网络，只是看错列"),
        ),
        LookAlike(
            cause="nvlink-missing", because=Text(en="there the single-node figure itself is low", zh="彼处单节点数值本身偏低")
        ),
    ),
    changes=(
        Change(
            what=Text(en="Rebuild with MPI and the same MPI that launches", zh="以 MPI 重新编译，并使用与启动相同的 MPI"),
            commands=(
                "make clean && make MPI=1 MPI_HOME=/path/to/mpi",
                "ldd build/all_reduce_perf | grep mpi",
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(en="One header with ranks 0 to n-1 on all nodes", zh="只有一个表头，rank 0 至 n-1 分布在所有节点"),
            commands=("mpirun -np 2 -H node-a,node-b ./build/all_reduce_perf -b 1G -e 1G -g 1",),
        ),
    ),
    gain=Text(en="The figures become those of the network", zh="数值才真正反映网络"),
    severity="low",
    explains=(
        "ib-disabled-socket-fallback",
        "no-fault-metric-misread",
    ),
)

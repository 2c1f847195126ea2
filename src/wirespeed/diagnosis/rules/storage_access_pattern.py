"""Small, random or mapped reads on network storage, which is fast only in order."""

import re
from itertools import pairwise

from wirespeed.diagnosis.joins.pieces import (
    ALONE,
    against,
    configured,
    is_setting_named,
    piece,
    quantities,
)
from wirespeed.model.case import Case
from wirespeed.model.facts.host import (
    Mount,
)
from wirespeed.model.finding import (
    FAIR,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Verdict,
    supports,
)
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.settings import Quantity, Setting, Statement
from wirespeed.model.text import Text

_FAULTS_NAME = r"page_faults|majflt"
_COUNT = re.compile(r"\s*(\d[\d,]*)")
MANY_FAULTS_COUNT = 10_000
"""At one page of 4 KiB each, 40 MB read by faults."""
FEW_FAULTS_COUNT = 100
_OFFSET = re.compile(r"(?i)(?:offset|off|pos)\W{0,3}(\d{1,18})(?!\d)")
MOST_READS = 200
FEWEST_STEPS = 3
FAR_BYTES = 64 << 20
"""Steps of this size are jumps even where only a few reads were quoted."""
SLOWER_TIMES = 4.0
_OPENS = r"load|open|from_|import|read\w*\b|pipeline|init|start"
ADJACENT_BYTES = 1 << 20
"""Read-ahead asks for up to a megabyte at a time; a step of more is a jump."""


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    random = case.said("random-reads")
    remote = [
        *case.said("network-storage"),
        *case.every(
            Mount,
            lambda one: (one.filesystem or "").startswith(
                ("nfs", "lustre", "ceph", "fuse", "cifs", "gpfs", "wekafs", "9p", "virtiofs")
            ),
        ),
    ]
    in_order = case.said("sequential-is-fast")
    evidence += piece(_RANDOM, ALONE, random)
    jumping = _jumping_reads(case)
    evidence += piece(_JUMPS, STRONG, jumping)
    random = (*random, *jumping)
    evidence += _page_faults(case)
    if random and remote:
        evidence += piece(_REMOTE, FAIR, remote)
    slower = _slower_than_in_order(case)
    if slower and (random or remote):
        took = {"in_order_s": slower[0].duration_s, "loading_s": slower[1].value}
        evidence.append(supports(_SLOWER, STRONG, *slower, **took))
    elif random or remote:
        evidence += piece(_IN_ORDER, FAIR, in_order)
    return Verdict(evidence=tuple(evidence))


def _jumping_reads(case: Case) -> tuple[Statement, ...]:
    """Traced reads whose offsets go back, or leave gaps, more than once in a while."""
    reads = case.said("offset-reads")[:MOST_READS]
    offsets = [int(found[1]) for one in reads for quote in one.quotes[-1:] if (found := _OFFSET.search(quote.text))]
    steps = [after - before for before, after in pairwise(offsets)]
    jumps = [step for step in steps if step < 0 or step > ADJACENT_BYTES]
    if len(steps) >= FEWEST_STEPS:
        return reads if 2 * len(jumps) >= len(steps) else ()
    return reads if len(steps) > 1 and all(abs(step) >= FAR_BYTES for step in steps) else ()


def _slower_than_in_order(case: Case) -> tuple[ThroughputRun, Quantity] | None:
    """A copy in order that took seconds, and a time several times as long that loading the same amount takes."""
    copies = [one for one in case.every(ThroughputRun, tool="dd") if one.duration_s and (one.transferred_bytes or 0) >= 1e9]
    times = [one for one in quantities(case, "time") if any(re.search(_OPENS, quote.text.lower()) for quote in one.quotes)]
    pairs = [(copy, time) for copy in copies for time in times if time.value >= SLOWER_TIMES * (copy.duration_s or 0.0)]
    return max(pairs, key=lambda pair: pair[1].value, default=None)


def _page_faults(case: Case) -> tuple[Evidence, ...]:
    counts = [
        (one.record, int(found[1].replace(",", "")))
        for one in configured(case, _FAULTS_NAME)
        if (found := _COUNT.match(one.setting))
    ]
    many = [record for record, count in counts if count >= MANY_FAULTS_COUNT]
    few = [record for record, count in counts if count < FEW_FAULTS_COUNT]
    return (*piece(_FAULTS, FAIR, many), *against(_NO_FAULTS, STRONG, [] if many else few))


_RANDOM = Text(en="reads are small, random or through mapped memory", zh="读取小、随机或经内存映射")
_JUMPS = Text(en="a trace shows reads whose offsets jump", zh="跟踪显示读取偏移来回跳跃")
_FAULTS = Text(en="the process reads by page faults, one page each", zh="进程靠缺页读取，每次一页")
_NO_FAULTS = Text(en="the process hardly reads by page faults", zh="进程几乎不靠缺页读取")
_REMOTE = Text(en="the files are on network storage", zh="文件在网络存储上")
_SLOWER = Text(
    en="read in order it takes {in_order_s}, loading takes {loading_s}", zh="顺序读取需 {in_order_s}，加载却需 {loading_s}"
)
_IN_ORDER = Text(en="the same storage is fast when read in order", zh="同一存储顺序读取很快")

RULE = Rule(
    cause="storage-access-pattern",
    title=Text(en="Files are read in a way that network storage is slow at", zh="读取方式不适合网络存储"),
    summary=Text(
        en="Page faults of a memory-mapped file or many small reads each pay a round trip to the file server.",
        zh="内存映射的缺页或大量小读取，每次都要付一个到文件服务器的往返。",
    ),
    needs=((Mount, Statement), (wants(Setting, lambda one: is_setting_named(one, _FAULTS_NAME)),), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="4 KiB a fault at 0.15 ms each is 27 MiB/s, whatever the link; the same file read in 4 MiB blocks fills it.",
            zh="每次缺页 4 KiB、耗时 0.15 ms 即 27 MiB/s，与链路无关；同一文件以 4 MiB 块读取可占满链路。",
        ),
        shows=Text(
            en="Many major faults, low rate, no saturation; dd, cp or cat of the same file is a hundred times faster.",
            zh="大量主缺页、速率低且无饱和；对同一文件 dd、cp 或 cat 快百倍。",
        ),
        sources=(
            "getrusage(2): ru_majflt",
            "vLLM: --load-format, --safetensors-load-strategy",
            "measured: 369,655 faults in 20 s x 4 KiB = 72 MiB/s at most",
        ),
    ),
    told_apart_from=(
        LookAlike(cause="storage-bound", because=Text(en="there reading in order is slow too", zh="那里顺序读取也慢")),
    ),
    changes=(
        Change(
            what=Text(
                en="Read files in order in large blocks before mapping them, or stage them on local NVMe or tmpfs",
                zh="映射前以大块顺序读取，或先放到本地 NVMe 或 tmpfs",
            ),
            commands=("cat *.safetensors > /dev/null", "cp -r MODEL /dev/shm/", "vllm serve MODEL --load-format runai_streamer"),
        ),
        Change(what=Text(en="Pack many small files into large shards", zh="把大量小文件打包成大分片"), side="training"),
    ),
    checks=(
        Check(
            what=Text(en="The load runs near the storage's sequential rate", zh="加载接近存储的顺序速率"),
            commands=("pidstat -d -r 1",),
        ),
    ),
    gain=Text(en="Load time falls towards size / sequential rate", zh="加载时间降到 大小/顺序速率"),
    severity="medium",
    explains=("storage-bound", "cold-start", "dataloader-bound"),
    settled_by=("df -h PATH",),
)

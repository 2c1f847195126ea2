"""Storage delivers or takes less than the job asks for."""

import re

from wirespeed.diagnosis.joins.benchmarks import NETWORK_BENCHMARKS
from wirespeed.diagnosis.joins.pieces import against, lines_of, piece, quantities
from wirespeed.diagnosis.joins.transfer_moments import collapsed
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.facts.host import DiskUse
from wirespeed.model.finding import (
    FAIR,
    SLIGHT,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Value,
    Verdict,
    supports,
)
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ThroughputRun, TransferProgress
from wirespeed.model.settings import Quantity, Statement
from wirespeed.model.text import Text
from wirespeed.theory import storage

_STORAGE_TOPICS = ("nfs-timeout", "hung-task")
_DISK_TOOLS = ("dd", "fio")
_OF_STORAGE = r"\b(?:nfs|efs|fsx|juicefs|lustre|ceph\w*|gpfs|weka\w*|beegfs|smb|nas|pvc|filer|mount\w*|volume|disk|hdd|ssd|ebs|storage|dd|fio)\b[^.;]{0,40}$"
FULL_RATIO, LONG_WAIT_S = 0.95, 0.02
"""A device that is busy all the time and keeps each request waiting for 20 ms has more to do than it can."""
LEAST_LOADED_BYTES = 1e10
MOST_SLOW_BYTES_PER_S = 1e9
"""Less than one NVMe disk of a node reads, or a link of 10 Gb/s carries."""
_LOADED_WHAT = re.compile(r"(?i)\b(?:weights?|shards?|model|checkpoints?|safetensors|files?|data ?set)\b")
_LOADED_TIME = r"\b(?:load(?:s|ed|ing)?|read(?:s|ing)?|weights are in|start(?:s|up)?|takes?|took)\b[^.;]{0,24}$"
LEAST_SIZE_BYTES, LEAST_TIME_S = 1e9, 120.0


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    disk = [one for one in case.every(ThroughputRun) if one.tool in _DISK_TOOLS]
    network = [one for one in case.every(ThroughputRun) if one.tool.startswith(NETWORK_BENCHMARKS)]
    slow = [one for one in disk if network and one.rate_bits_per_s < 0.5 * max(run.rate_bits_per_s for run in network)]
    if slow:
        evidence += piece(
            _BELOW,
            STRONG,
            [slow[0], network[0]],
            disk_bits_per_s=slow[0].rate_bits_per_s,
            network_bits_per_s=network[0].rate_bits_per_s,
        )
    waits = case.every(KernelEvent, lambda one: one.topic in _STORAGE_TOPICS)
    evidence += piece(_KERNEL, STRONG, waits)
    full = case.every(DiskUse, lambda one: one.busy_ratio >= FULL_RATIO and (one.wait_s or 0.0) >= LONG_WAIT_S)
    evidence += piece(_DISK_FULL, STRONG, full, wait_s=max((one.wait_s or 0.0 for one in full), default=0.0))
    evidence += _takes_that_long(case)
    loaded = _loaded_slowly(case)
    if loaded:
        evidence.append(supports(_LOADED, STRONG, *loaded[:2], rate_bytes_per_s=loaded[2]))
    evidence += _collapses(case)
    said = case.said("storage-is-limit")
    lines = lines_of(said)
    evidence += piece(_SAID, STRONG if len(lines) == 1 else STRONG + SLIGHT, said)
    if evidence:
        evidence += piece(_AT_FIRST, SLIGHT, case.said("fast-then-collapses"))
        evidence += piece(_NETWORK_STORAGE, SLIGHT, case.said("network-storage"))
        evidence += piece(_READERS, FAIR, case.said("slower-with-more-readers"))
        evidence += piece(_IDLE_NET, FAIR, case.said("network-hardly-used"))
    fast = [one for one in disk if one.rate_bits_per_s > 8e9]
    evidence += against(_FAST, FAIR, [] if slow else [*fast, *case.said("sequential-is-fast")])
    evidence += against(_RANDOM, SLIGHT, case.said("random-reads"))
    return Verdict(evidence=tuple(evidence))


def _loaded_slowly(case: Case) -> tuple[Quantity, Quantity, float] | None:
    """Weights or files of a named size that a shared file system took a named time for, slower than one disk would be."""
    if not case.said("network-storage"):
        return None
    sizes = [one for one in quantities(case, "size") if one.value >= LEAST_LOADED_BYTES and _LOADED_WHAT.search(_line(one))]
    times = [one for one in quantities(case, "time", _LOADED_TIME) if one.value >= LEAST_TIME_S]
    size, time = max(sizes, key=lambda one: one.value, default=None), min(times, key=lambda one: one.value, default=None)
    rate = size.value / time.value if size and time else 0.0
    return (size, time, rate) if size and time and rate <= MOST_SLOW_BYTES_PER_S else None


def _line(one: Quantity) -> str:
    return one.quotes[0].text if one.quotes else ""


def _collapses(case: Case) -> tuple[Evidence, ...]:
    """A copy that goes on at a much lower rate once a cache or allowance is used up; over the network others may be the reason."""
    local, remote = collapsed(case, is_local=True), collapsed(case, is_local=False)
    fallen = local or remote
    if fallen is None:
        return ()
    rates: dict[str, Value] = {"fast_bits_per_s": fallen.fast_bits_per_s, "slow_bits_per_s": fallen.slow_bits_per_s}
    return (supports(_FALLS, FAIR if local else SLIGHT, fallen.before, fallen.after, **rates),)


def _takes_that_long(case: Case) -> tuple[Evidence, ...]:
    """A rate of the storage and a size to read or write, which together take minutes."""
    rates = [one for one in quantities(case, "rate", _OF_STORAGE) if "B" in one.printed and one.value > 0]
    sizes = [one for one in quantities(case, "size") if one.value >= LEAST_SIZE_BYTES]
    if not rates or not sizes:
        return ()
    rate, size = min(rates, key=lambda one: one.value), max(sizes, key=lambda one: one.value)
    took_s = storage.transfer_s(size.value, rate.value / 8)
    if took_s < LEAST_TIME_S:
        return ()
    numbers: dict[str, Value] = {"size_bytes": size.value, "rate_bytes_per_s": rate.value / 8, "took_s": took_s}
    return (supports(_TAKES, STRONG, size, rate, **numbers),)


_LOADED = Text(
    en="loading came to {rate_bytes_per_s} from a shared file system, less than one local disk gives",
    zh="从共享文件系统加载仅 {rate_bytes_per_s}，低于一块本地盘",
)
_TAKES = Text(
    en="{size_bytes} from storage of {rate_bytes_per_s} take {took_s} for each full reading",
    zh="以 {rate_bytes_per_s} 的存储读取 {size_bytes}，每遍需 {took_s}",
)
_FALLS = Text(
    en="the copy goes at {fast_bits_per_s} at first and at {slow_bits_per_s} from some place on",
    zh="拷贝起初为 {fast_bits_per_s}，之后降至 {slow_bits_per_s}",
)
_BELOW = Text(
    en="storage moves {disk_bits_per_s}, the network {network_bits_per_s}", zh="存储 {disk_bits_per_s}，网络 {network_bits_per_s}"
)
_DISK_FULL = Text(en="a disk is busy all the time and each request waits {wait_s}", zh="某块设备一直繁忙，每个请求等待 {wait_s}")
_KERNEL = Text(en="the kernel waits for storage", zh="内核在等存储")
_SAID = Text(en="storage is slow or at its limit", zh="存储慢或达到上限")
_AT_FIRST = Text(en="it is fast until a cache or burst allowance is used up", zh="在缓存或突发额度用尽之前很快")
_READERS = Text(en="it is slower the more machines read at once", zh="同时读取的机器越多越慢")
_NETWORK_STORAGE = Text(en="the data is on network storage", zh="数据在网络存储上")
_IDLE_NET = Text(en="the network is hardly used", zh="网络几乎未用")
_FAST = Text(en="the storage is fast when read in order", zh="顺序读取时存储很快")
_RANDOM = Text(en="reads are small or random", zh="读取小而随机")

RULE = Rule(
    cause="storage-bound",
    title=Text(en="Storage is the limit", zh="存储是瓶颈"),
    summary=Text(
        en="Loading, saving or logging waits for a disk, volume or file server that moves less than the network could.",
        zh="加载、保存或日志在等磁盘、卷或文件服务器，其速率低于网络能力。",
    ),
    needs=(
        (wants(ThroughputRun, lambda one: one.tool in _DISK_TOOLS),),
        (wants(KernelEvent, lambda one: one.topic in _STORAGE_TOPICS),),
        (DiskUse,),
        (TransferProgress,),
        (Quantity,),
        (Statement,),
    ),
    silence_needs=(
        (DiskUse,),
        (wants(ThroughputRun, lambda one: one.tool in _DISK_TOOLS), wants(ThroughputRun, lambda one: one.tool not in _DISK_TOOLS)),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A checkpoint of 14 bytes a parameter is 1 TB for 70B: 500 s at 2 GB/s, during which all ranks wait unless it is written in the background.",
            zh="每参数 14 字节的检查点在 70B 时为 1 TB：2 GB/s 需 500 s，若不后台写入则所有 rank 都在等。",
        ),
        shows=Text(
            en="Pauses at checkpoints, iowait, a volume at its provisioned limit; the network far below its rate.",
            zh="检查点处停顿、iowait、卷达到预配上限；网络远低于其速率。",
        ),
        sources=("PyTorch Distributed Checkpoint: async_save", "fio documentation"),
    ),
    told_apart_from=(
        LookAlike(
            cause="storage-access-pattern", because=Text(en="there big sequential reads are fast", zh="那里大块顺序读取很快")
        ),
        LookAlike(cause="download-single-stream", because=Text(en="there several connections are faster", zh="那里多条连接更快")),
        LookAlike(cause="dataloader-bound", because=Text(en="there decoding on the CPU is the limit", zh="那里 CPU 解码是瓶颈")),
    ),
    changes=(
        Change(
            what=Text(
                en="Write checkpoints asynchronously and sharded to local NVMe, copy them out in the background",
                zh="检查点异步分片写入本地 NVMe，后台拷出",
            ),
            commands=("torch.distributed.checkpoint.async_save",),
            side="training",
        ),
        Change(what=Text(en="Stage data and models on local disks before the run", zh="运行前把数据与模型放到本地磁盘")),
    ),
    checks=(
        Check(
            what=Text(en="The storage's own rate, without the job", zh="脱离作业测存储自身速率"),
            commands=("fio --name=r --rw=read --bs=4M --iodepth=16 --direct=1 --size=8G --directory=DIR",),
        ),
    ),
    gain=Text(en="The pause shrinks to the local write", zh="停顿缩短为本地写入时间"),
    severity="medium",
)

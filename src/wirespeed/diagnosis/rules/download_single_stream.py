"""A download uses one connection or works file by file, and the link would carry more."""

import re

from wirespeed.diagnosis.joins.benchmarks import NETWORK_BENCHMARKS
from wirespeed.diagnosis.joins.line_rate import line_rates
from wirespeed.diagnosis.joins.pieces import against, configured, is_setting_named, piece, quantities
from wirespeed.diagnosis.joins.transfer_moments import small_files
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict, supports
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import CopySummary, ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Setting, Statement
from wirespeed.model.text import Text

FASTER_TIMES = 1.5
SMALL_SHARE_RATIO = 0.2
_ONE = re.compile(
    r"(?i)\b(?:one|1|single|a)(?: big| large| single)? (?:files?|streams?|connections?|threads?|workers?|parts?|chunk|object|curl|wget)\b"
)
_SEVERAL = re.compile(
    r"(?i)\b(?:[2-9]|[1-9]\d+|two|four|eight|ten|sixteen|several|many|multiple) (?:\w+ )?(?:files|streams|connections|threads|workers|parts|chunks|objects|curls|wgets)\b"
)
_DISK_TEST = re.compile(r"\bbw=|\bfio\b|\bdd\b|iostat")


def _download_rates(case: Case) -> list[tuple[Record, float]]:
    is_told = bool(case.said("download"))
    tools = ("wget", "curl", "aria2", "rsync", "scp", "pip", "huggingface", "download", "progress", "cp")
    runs: list[tuple[Record, float]] = [
        (one, one.rate_bits_per_s) for one in case.every(ThroughputRun) if any(tool in one.tool for tool in tools)
    ]
    return runs + [
        (one, one.value)
        for one in quantities(
            case, "rate", r"download|loader|streamer|pull|fetch|hub|copy|model|wget|curl|snapshot|rsync|scp|file|="
        )
        if not _DISK_TEST.search(one.quotes[0].text if one.quotes else "") and (is_told or not one.subject.rstrip().endswith("="))
    ]


def _network_rates(case: Case) -> list[tuple[Record, float]]:
    return [(one, one.rate_bits_per_s) for one in case.every(ThroughputRun) if one.tool.startswith(NETWORK_BENCHMARKS)]


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    about_download = case.said("download")
    network, download = _network_rates(case), _download_rates(case)
    if network and download:
        line = max(network, key=lambda one: one[1])
        got = max((one for one in download if one[1] < line[1]), key=lambda one: one[1], default=None)
        if got and line[1] >= FASTER_TIMES * got[1]:
            evidence.append(supports(_BELOW, STRONG, line[0], got[0], line_bits_per_s=line[1], got_bits_per_s=got[1]))
    elif about_download and download:
        evidence += _far_below_the_link(case, download)
    apart = _one_against_several(case) if about_download else None
    if apart:
        evidence.append(supports(_APART, STRONG, *apart, one_bits_per_s=apart[0].value, several_bits_per_s=apart[1].value))
    disk = case.every(ThroughputRun, lambda one: one.tool in ("dd", "fio"))
    evidence += against(_DISK, FAIR, disk)
    if about_download:
        evidence += piece(_PARALLEL, FAIR if apart else STRONG, case.said("parallel-is-faster"))
        evidence += piece(_SINGLE, FAIR, case.said("single-stream"))
    serial = [
        one.record
        for one in configured(case, r"max_workers$|max_concurrent_(requests|downloads)$|split$|max_connection_per_server$")
        if one.setting.strip() == "1"
    ]
    evidence += piece(_SERIAL, FAIR, serial)
    many = small_files(case)
    mean_bytes = many[0].transferred_bytes / many[0].files_count if many else None
    evidence += piece(_FILES, FAIR, many[:1], files_count=many[0].files_count if many else None, mean_bytes=mean_bytes)
    if evidence:
        evidence += piece(_SMALL, SLIGHT, case.said("small-client-chunk"))
    evidence += against(_TAIL, FAIR, case.said("few-left-hanging"))
    evidence += against(_THROTTLED, FAIR, case.said("origin-throttles"))
    return Verdict(evidence=tuple(evidence))


def _one_against_several(case: Case) -> tuple[Quantity, Quantity] | None:
    """The rate told of one file or connection, and a higher one told of several."""
    told = [(one, one.quotes[0].text) for one in quantities(case, "rate") if one.quotes and one.value > 0]
    alone = [one for one, line in told if _ONE.search(line) and not _SEVERAL.search(line)]
    several = [one for one, line in told if _SEVERAL.search(line) and not _ONE.search(line)]
    slow, fast = (pick(found, key=lambda one: one.value, default=None) for pick, found in ((max, alone), (max, several)))
    return (slow, fast) if slow and fast and fast.value >= FASTER_TIMES * slow.value else None


def _far_below_the_link(case: Case, download: list[tuple[Record, float]]) -> tuple[Evidence, ...]:
    """The best download rate is a small part of the link that is named."""
    line = max(line_rates(case), key=lambda one: one[1], default=None)
    best = max(download, key=lambda one: one[1])
    if line is None or not 0 < best[1] <= SMALL_SHARE_RATIO * line[1]:
        return ()
    return (supports(_BELOW, FAIR, line[0], best[0], line_bits_per_s=line[1], got_bits_per_s=best[1]),)


_BELOW = Text(
    en="the network carries {line_bits_per_s}, the download gets {got_bits_per_s}",
    zh="网络可达 {line_bits_per_s}，下载只有 {got_bits_per_s}",
)
_APART = Text(
    en="one alone gets {one_bits_per_s}, several together {several_bits_per_s}",
    zh="单个仅 {one_bits_per_s}，多个合计 {several_bits_per_s}",
)
_PARALLEL = Text(en="several connections are faster than one", zh="多条连接比一条快")
_SINGLE = Text(en="one connection or one file at a time is used", zh="每次只用一条连接或一个文件")
_SERIAL = Text(en="the client is set to one transfer at a time", zh="客户端设为每次一个传输")
_SMALL = Text(en="the client works in small pieces", zh="客户端以小块处理")
_FILES = Text(
    en="{files_count} files of {mean_bytes} on average go one after the other",
    zh="{files_count} 个平均 {mean_bytes} 的文件逐个传输",
)
_DISK = Text(en="the disk itself was tested", zh="测试的是磁盘本身")
_TAIL = Text(en="most of it came fast and a rest hangs", zh="大部分很快，剩余部分卡住")
_THROTTLED = Text(en="the origin limits the rate", zh="源端限速")

RULE = Rule(
    cause="download-single-stream",
    title=Text(en="The download is serial", zh="下载是串行的"),
    summary=Text(
        en="One connection or one file at a time is limited by round trips, one core or one server's share; the link is far from full.",
        zh="单连接或逐文件下载受往返时间、单核或单服务器份额限制；链路远未用满。",
    ),
    needs=(
        (ThroughputRun, Quantity),
        (CopySummary,),
        (wants(Setting, lambda one: is_setting_named(one, r"max_workers|concurrent_downloads|split")),),
        (Statement,),
    ),
    silence_needs=(
        (ThroughputRun, wants(Statement, lambda one: one.topic == "download")),
        (wants(Setting, lambda one: is_setting_named(one, r"max_workers|concurrent_downloads|split")),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A client that reads, hashes and writes a chunk before asking for the next pays a round trip and a core's time for each.",
            zh="客户端读取、校验、写入一块后才请求下一块，每块都要付一个往返和单核时间。",
        ),
        shows=Text(
            en="iperf3 is several times faster than the download; aria2c -x 16 or more workers fill the link; one core of the client is busy.",
            zh="iperf3 比下载快数倍；aria2c -x 16 或更多线程即可占满链路；客户端单核繁忙。",
        ),
        sources=(
            "huggingface_hub: environment variables, HF_XET_HIGH_PERFORMANCE",
            "aria2 manual",
            "RFC 9110 section 14 (range requests)",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="tcp-window-limited",
            because=Text(
                en="on a far path the window limits each connection; buffers help too", zh="远路上窗口限制每条连接；加大缓冲也有效"
            ),
        ),
        LookAlike(
            cause="origin-rate-limited",
            because=Text(
                en="a throttling origin keeps the sum constant whatever the number of connections",
                zh="源端限速时无论多少连接总和不变",
            ),
        ),
        LookAlike(
            cause="storage-bound",
            because=Text(
                en="write the same bytes locally with dd to see the disk's rate", zh="用 dd 本地写同样多字节以确认磁盘速率"
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Fetch ranges or files in parallel, in large chunks", zh="以大块并行获取范围或文件"),
            commands=("HF_XET_HIGH_PERFORMANCE=1 hf download REPO --max-workers 16", "aria2c -x 16 -s 16 URL"),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The rate is near the link's, or near the disk's write rate", zh="速率接近链路或磁盘写入速率"),
            commands=("sar -n DEV 1 5",),
        ),
    ),
    gain=Text(en="Up to line rate divided by today's rate", zh="最多为线速与当前速率之比"),
    severity="medium",
    explains=("storage-bound",),
    settled_by=("wget -O /dev/null URL", "aria2c -x8 URL"),
)

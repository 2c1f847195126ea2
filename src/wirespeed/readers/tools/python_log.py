"""Lines of torch, Gloo, Ray, DeepSpeed, vLLM, SGLang, UCX, libfabric and of any program that prints an operating system error.

The topics of `FrameworkEvent` are described in `model/events/log.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TOOL = "python-log"

_KINDS: tuple[tuple[str, str], ...] = (
    (
        "watchdog-timeout",
        r"Watchdog caught collective operation timeout|Timeout at NCCL work"
        r"|Some (?:NCCL )?operations have failed or timed out",
    ),
    ("watchdog-state", r"failure detected by watchdog at work sequence id"),
    (
        "collective-mismatch",
        r"Culprit rank \d+|Detected mismatch between collectives on ranks"
        r"|Mismatch between collective operation types",
    ),
    ("collective-missing-rank", r"(?:^|\s)missing ranks: \{|did not join the collective"),
    ("collective-state", r"(?:^|\s)collective state: \w+"),
    ("barrier-timeout", r"failed to pass monitoredBarrier|monitoredBarrier.*timed? ?out"),
    ("gloo-no-interface", r"Unable to find (?:address|interface) for|Unable to resolve hostname to a \(local\) address"),
    (
        "gloo-connect-failed",
        r"connectFullMesh failed|gloo/transport/tcp/.*(?:Connect timeout|timed out connecting"
        r"|Connection (?:refused|reset|closed))",
    ),
    (
        "verbs-failed",
        r"UCX\s+(?:ERROR|WARN|FATAL).*\bibv_\w+.*failed|UCX\s+(?:ERROR|WARN|FATAL).*(?:failed to (?:register"
        r"|allocate)|mlx5dv_\w+.*failed)",
    ),
    ("ucx-error", r"\bUCX\s+(?:ERROR|FATAL)\b|\bUCXX?Error\b|ucp_\w+ failed|UCS_ERR_\w+"),
    (
        "efa-unavailable",
        r"(?i)libfabric provider \S+ not found|provider efa output empty|no eligible providers"
        r"|fi_getinfo.*(?:failed|no data available)|efa provider.*(?:not (?:found|available)|unavailable)",
    ),
    (
        "transfer-failed",
        r"NIXL_ERR_\w+|nixl\w*(?:Backend)?Error|KVTransferError|(?i:kv ?(?:cache )?transfer (?:failed|error)"
        r"|mooncake.*(?:transfer (?:failed|engine.*fail)|error)|failed to (?:send|transfer) kv|(?:prefill"
        r"|decode) transfer failed|Handshake with \S+ failed)",
    ),
    (
        "store-timeout",
        r"DistStoreError|TCPStore.*(?:timed? ?out|wait timeout)|[Tt]imed out after \d+ seconds waiting for clients"
        r"|store->get\(.*timeout|client socket has (?:timed out|failed to connect to any)|[Ww]ait timeout after \d+ms|StoreTimeout",
    ),
    (
        "peer-closed",
        r"(?i:failed to recv, got 0 bytes|received 0 bytes)|Connection closed by (?:remote )?peer"
        r"|TCPStore server has shut down",
    ),
    (
        "heartbeat-lost",
        r"(?i)heartbeat.*(?:time[d ]*out|stuck|lost|missed|expired|no heartbeat)|(?:missed|lost"
        r"|no) (?:too many )?heartbeats?",
    ),
    (
        "kv-preemption",
        r"\bis preempted by\b|\b[Pp]reempt(?:ed|ing|ion)\b.*\b(?:[Ss]equence|KV|request|swap|recompute|RECOMPUTE)"
        r"|KV cache (?:pool )?is full|#?[Rr]etracted[_ ]reqs|Retract requests",
    ),
    (
        "out-of-memory",
        r"CUDA out of memory|HIP out of memory|OutOfMemoryError|CUDA error: out of memory"
        r"|can't allocate memory|Cannot allocate memory",
    ),
    ("kv-cache", r"\b(?:INFO|WARNING|ERROR|ValueError)\b.*\bKV cache\b"),
    (
        "placement-waiting",
        r"No available node types can fulfill|Waiting for creating a placement group"
        r"|resource request cannot be scheduled|placement group .*(?:timed out|infeasible|cannot)"
        r"|Total resources? .*less than required",
    ),
    (
        "process-died",
        r"SIGKILL|SIGSEGV|SIGABRT|SIGBUS|\bSignal (?:6|7|9|11)\b|exit ?code:? ?\(?(?:-(?:6|7|9|11)|13[4579])\b"
        r"|exitcode\s*[:=]\s*-(?:6|7|9|11)\b|[Aa]ctor ?[Dd]ied|RayActorError|(?:[Ww]orker|process"
        r"|EngineCore)\S* (?:\S+ )?died|WorkerCrashedError|ChildFailedError|EngineDeadError|Segmentation fault"
        r"|DUE TO NODE FAILURE|srun: error: (?:Node failure on \S|\S+: tasks? [\d,-]+: (?:Killed|Aborted|Bus error|Terminated\b))"
        r"|std::bad_alloc|slurmstepd: error: Detected \d+ oom|core dumped|exited on signal \d+",
    ),
    (
        "name-not-resolved",
        r"Temporary failure in name resolution|Name or service not known|EAI_(?:AGAIN|NONAME)"
        r"|getaddrinfo (?:failed|ENOTFOUND)|\bENOTFOUND\b|nodename nor servname|: no such host"
        r"|Could not resolve host|cannot be retrieved \(gai error|NameResolutionError",
    ),
    ("connection-refused", r"ECONNREFUSED|Connection refused|: connection refused|\[Errno 111\]|errno: 111\b"),
    (
        "connection-reset",
        r"ECONNRESET|Connection reset by peer|: connection reset by peer|\[Errno 104\]|errno: 104\b"
        r"|ConnectionResetError",
    ),
    ("broken-pipe", r"\bEPIPE\b|Broken pipe|\[Errno 32\]"),
    (
        "address-not-available",
        r"EADDRNOTAVAIL|Cannot assign requested address|: cannot assign requested address|\[Errno 99\]|errno: 99\b",
    ),
    ("address-in-use", r"EADDRINUSE|Address already in use|: address already in use|\[Errno 98\]|errno: 98\b"),
    (
        "no-route",
        r"EHOSTUNREACH|ENETUNREACH|No route to host|: no route to host|Network is unreachable|\[Errno (?:113"
        r"|101)\]|errno: (?:113|101)\b",
    ),
    (
        "connection-timeout",
        r"ETIMEDOUT|Connection timed out|: connection timed out|\[Errno 110\]|errno: 110\b|i/o timeout"
        r"|ConnectTimeout(?:Error)?\b",
    ),
    ("too-many-files", r"\breceived \d+ items of ancdata|\bEMFILE\b|Too many open files|: too many open files|\[Errno 24\]"),
    ("nccl-error", r"\bNCCL error(?::| in:)|\bnccl(?:System|Remote|Internal|UnhandledCuda|InvalidUsage)Error\b|DistBackendError"),
    (
        "timeout",
        r"\b(?:TimeoutError|ReadTimeout(?:Error)?|DEADLINE_EXCEEDED|DeadlineExceeded)\b|[Dd]eadline exceeded"
        r"|RPC call to \w+ timed out",
    ),
)
_PATTERNS = tuple((topic, regex(pattern)) for topic, pattern in _KINDS)
_LOOSE = frozenset({"heartbeat-lost", "kv-preemption", "kv-cache", "process-died", "transfer-failed", "timeout", "barrier-timeout"})
"""Topics whose wordings people use as well: taken only from lines that look like a program's."""
_PROGRAM = regex(
    r"\b(?:ERROR|WARN(?:ING)?|INFO|FATAL|CRITICAL|DEBUG)\b|\w(?:Error|Exception)\b|\[(?:default|rank)\d+\]|^\s*\[|\bpid[= ]\d+"
    r"|\d\d:\d\d:\d\d|\bsrun: error: |\bslurmstepd: |\b[Ee]rrno|exitcode\s*[:=]|\((?:raylet|autoscaler|\w+ pid=)"
)
_OF_RANKS = frozenset({"collective-mismatch", "collective-missing-rank", "collective-state", "barrier-timeout"})
"""Topics of which one line may name several ranks."""
_HINT = regex(
    r"(?i)time[d -]*out|err|fail|refus|reset|sig|exit|died|dead|dump|mismatch|culprit|missing ranks"
    r"|did not join|collective state|unable"
    r"|preempt|retract|memory|kv ?cache|bad_alloc|node failure|killed|aborted|broken pipe|epipe|emfile|too many open|requested address"
    r"|in use|eaddr|econn|ehost|enet"
    r"|eai_|route|unreachable|resol|not known|no such host|notfound|retrieved|0 bytes|heartbeat|node types|placement group|resource"
    r"|not found|eligible|empty list|unavailable|watchdog|ucs_|ucp_|handshake|unhandled|shut down|closed|ancdata"
)
"""One of these is in every line that has a topic; others are not looked at further."""
_OTHERS = regex(r"\b[NR]CCL (?:INFO|WARN|TRACE)\b|\bupstream\b|^\s*\[\s*\d+\.\d{6}\] (?!\[)|\bkernel: ")
"""Lines that other readers own: NCCL's, proxies' and the kernel's."""
_MOST_LOOKED_AT_CHARACTERS = 2_000
_MOST_MESSAGE_CHARACTERS = 500
_MS_PER_SECOND = 1000.0

_RANK = regex(r"\[(?:default|rank)(?P<launcher>\d+)\]|\b[Rr]ank (?P<own>\d+)(?:\]|;| is running)")
_SEQUENCE = regex(r"(?:SeqNum=|SequenceNumber=|work sequence id: |Timeout at NCCL work: |OpNum=)(?P<number>\d+)")
_OPERATION = regex(r"OpType=(?P<name>\w+)")
_ELEMENTS = regex(r"NumelIn=(?P<count>\d+)")
_MILLISECONDS = regex(r"Timeout\(ms\)=(?P<ms>\d+)|(?:after|in|timeout of) (?P<printed>\d+) ?(?:ms|milliseconds)\b")
_SECONDS = regex(r"(?:after|within|in) (?P<s>\d+(?:\.\d+)?) ?(?:s|sec|secs|seconds)\b")
_PEER = regex(
    r"remote=\[?(?P<remote>[^\]\s,)]+)\]?:(?P<remote_port>\d+)|connect to \[(?P<name>[^\]\s]+)\]:(?P<name_port>\d+)"
    r"|connect to \((?P<pair>[^,\s]+), (?P<pair_port>\d+)\)|dial tcp (?P<dialled>[^\s:]+):(?P<dialled_port>\d+)"
    r"|Unable to find (?:address|interface) for:? (?P<wanted>\S+)|'node:(?P<node>[^']+)'"
    r"|url=\w+://(?P<url>[^/\s]+)|dest_addr=(?P<dest>[^\s:,)]+):(?P<dest_port>\d+)"
)
_ABOUT_ONE_RANK = regex(
    r"(?:Culprit rank|Rank) \d+(?:;| is running collective).*?(?=,? (?:but )?(?:Culprit rank|Rank) \d+(?:;| is running)|$)"
)
"""Part of an analysis line that speaks of one rank."""
_MISSING = regex(r"missing ranks: \{(?P<ranks>[\d, ]+)\}|Ranks? (?P<late>[\d, ]+) failed to pass monitoredBarrier")
_BLOCK = regex(r"(?:^|\s)(?:Collective (?P<number>\d+) at entry|Not all ranks joining collective\D*(?P<joining>\d+))")
_BLOCK_OPERATION = regex(r"(?:^|\s)collective: (?:\w+:)?(?P<name>\w+)")


@dataclass(slots=True)
class _Block:
    """One finding of the flight recorder's analysis, whose lines follow each other."""

    quoted: tuple[tuple[int, str], ...]
    sequence_number: int
    operation: str | None = None


def _read(lines: Lines) -> Iterator[Record | Problem]:
    block: _Block | None = None
    for index, line in lines:
        begins, operation = _BLOCK.search(line), _BLOCK_OPERATION.search(line)
        if begins is not None:
            block = _Block(quoted=((index, line),), sequence_number=int(begins["number"] or begins["joining"]))
        elif operation is not None and block is not None and block.operation is None:
            block.operation, block.quoted = operation["name"], (*block.quoted, (index, line))
        topic = _topic_of(line)
        if topic in _OF_RANKS:
            yield from _of_ranks(lines, index, line, topic, None if "CollectiveFingerPrint" in line else block)
        elif topic is not None:
            yield _event(lines, index, line, topic)


def _topic_of(line: str) -> str | None:
    looked_at = line[:_MOST_LOOKED_AT_CHARACTERS]
    if not _HINT.search(looked_at) or _OTHERS.search(looked_at):
        return None
    topic = next((topic for topic, pattern in _PATTERNS if pattern.search(looked_at)), None)
    return None if topic in _LOOSE and not _PROGRAM.search(looked_at) else topic


def _of_ranks(lines: Lines, index: int, line: str, topic: str, block: _Block | None) -> Iterator[FrameworkEvent]:
    """One event for each rank that the line names, with the collective that the lines before name."""
    missing = _MISSING.search(line)
    if missing is not None:
        for word in (missing["ranks"] or missing["late"]).replace(",", " ").split():
            yield _event(lines, index, line, topic, block=block, rank=int(word))
        return
    for part in _ABOUT_ONE_RANK.findall(line) or [line]:
        yield _event(lines, index, line, topic, block=block, part=part)


def _event(
    lines: Lines,
    index: int,
    line: str,
    topic: str,
    *,
    block: _Block | None = None,
    part: str | None = None,
    rank: int | None = None,
) -> FrameworkEvent:
    """An event; `part` is what of the line it is about, the whole by default."""
    said = line if part is None else part
    operation, elements, sequence = _OPERATION.search(said), _ELEMENTS.search(said), _SEQUENCE.search(said)
    quoted = (*(block.quoted if block else ()), (index, line))
    return FrameworkEvent(
        source=source(lines, _TOOL),
        quotes=tuple(quote(lines, at, text) for at, text in quoted),
        topic=topic,
        message=said.strip()[:_MOST_MESSAGE_CHARACTERS],
        rank=_rank(said) if rank is None else rank,
        sequence_number=int(sequence["number"]) if sequence else (block.sequence_number if block else None),
        operation=operation["name"] if operation else (block.operation if block else None),
        timeout_s=_timeout_s(said),
        element_count=int(elements["count"]) if elements else None,
        peer=_peer(said),
    )


def _rank(line: str) -> int | None:
    found = _RANK.search(line)
    return None if found is None else int(found["launcher"] or found["own"])


def _timeout_s(line: str) -> float | None:
    milliseconds = _MILLISECONDS.search(line)
    if milliseconds is not None:
        return int(milliseconds["ms"] or milliseconds["printed"]) / _MS_PER_SECOND
    seconds = _SECONDS.search(line)
    return None if seconds is None else float(seconds["s"])


def _peer(line: str) -> str | None:
    """`host:port` of the other side, or the name that was looked for."""
    found = _PEER.search(line)
    if found is None:
        return None
    words = [word for word in found.groups() if word]
    return ":".join(words)


READER = Reader(
    title=Text(en="framework and program errors", zh="框架与程序报错"),
    gives=(FrameworkEvent,),
    recognises=marked(
        *(pattern for _, pattern in _PATTERNS),
        confirmed=lambda sample: any(_topic_of(line) is not None for line in sample.split("\n")),
    ),
    read=_read,
    voice="loose",
)

"""Kinds of NCCL warnings, and the numbers and names a warning carries. The kinds are described in `nccl_log.py`."""

import re
from dataclasses import dataclass

from wirespeed.readers.parsing.regex import regex

_KINDS: tuple[tuple[str, str], ...] = (
    ("hint", r"^\s*HINT\b"),
    ("completion-error", r"Got completion (?:from peer|with)|\bIBV_WC_(?!SUCCESS)\w+"),
    ("async-event", r"\basync (?:error |fatal )?event\b|GID table changed|speed change detected"),
    ("modify-qp-failed", r"ibv_modify_qp\S* failed"),
    ("register-memory-failed", r"(?:ibv_reg_\w+|fi_mr_reg\w*) failed|[Uu]nable to register memory|memory registration failed"),
    (
        "create-resource-failed",
        r"ibv_(?:create|alloc|open|resize)_\w+ failed|NET/IB\s*: Unable to (?:open|query) (?:device|port)"
        r"|fi_(?:endpoint|domain|cq_open|av_open) failed",
    ),
    ("verbs-library-missing", r"(?:Failed to open|Count not open|could not load) libibverbs|libibverbs\.so\S*: cannot open"),
    (
        "no-interface",
        r"no (?:socket )?interface found|No (?:IP|usable listening) interface found|no device found (?:matching|after)",
    ),
    ("peer-address-invalid", r"address\s.{0,60}\bwith family \d+ is neither AF_INET"),
    (
        "device-mismatch",
        r"incompatible devices|device is incompatible with the local|mixed local (?:Net|CollNet) device counts"
        r"|has a different number of devices|different link_layer",
    ),
    (
        "version-mismatch",
        r"Mismatched NCCL version|NCCL version mismatch|compiled with (?:too old version of )?NCCL|has incompatible version"
        r"|NCCL library is (?:too old|not backwards)|CUDA [Dd]river version .*(?:[Mm]inimum|insufficient)"
        r"|driver version is insufficient|installed CUDA driver is older",
    ),
    ("collective-mismatch", r"(?i)collective mismatch|message truncated|posted incorrect receive info|registration check failed"),
    ("duplicate-gpu", r"Duplicate GPU detected|Multiple Ranks are using the same GPU"),
    (
        "shm-failed",
        r"posix_fallocate\S* failed|[Ee]rror while \w+ (?:to )?shared memory segment|failed to extend \S+ to"
        r"|shared memory file|shm_open\S* failed"
        r"|Could not map \S+ size|munmap of shared memory|unlink shared memory|ftruncate\S* failed",
    ),
    (
        "connect-failed",
        r"[Cc]onnect to \S+ (?:failed|returned|timed)|[Cc]all to connect(?: to \S+)? (?:failed|returned|timed)"
        r"|[Pp]ollConnect\b.*(?:failed|exceeded|errno)|socketStartConnect: exceeded|No interface found in the same subnet",
    ),
    (
        "connection-closed",
        r"Connection closed by (?:remote )?peer|Connection reset by peer|Broken pipe|Call to (?:recv"
        r"|send)\S* (?:from|to) \S+ failed"
        r"|closed before magic handshake",
    ),
    (
        "net-not-found",
        r"(?i)could not find net(?: with)? id|any local path from gpu|initialize any net plugin"
        r"|error: network \S+ not found|find net with name",
    ),
    ("topology-file", r"\bXML\b|topology file|[Ii]nvalid topology|Attribute \S+ of node \S+ not found"),
    (
        "ofi-failed",
        r"NET/OFI .*(?:[Ff]ail|[Ee]rror|not found|[Uu]nable|[Nn]o eligible|Couldn't)|aws-ofi-nccl initialization failed",
    ),
    (
        "gdr-unsupported",
        r"(?i)(?:gpu ?direct rdma|gdr\b).*not (?:supported|available)|peermem is not|nv_peer_mem|does not support dma-?buf",
    ),
    ("out-of-memory", r"out of memory|Failed to (?:CUDA )?(?:host )?(?:m|c)?alloc|malloc\(.*returned null"),
    (
        "nvls-failed",
        r"(?:NVLS|NVLink SHARP|[Mm]ulticast|MNNVL).*(?:fail|error|not working|none available)|(?:Failed"
        r"|failed) .*(?:NVLS|[Mm]ulticast)",
    ),
    (
        "p2p-failed",
        r"failed to peer with|(?:cuda|hip)IpcOpenMemHandle|(?:cuda|hip)IpcGetMemHandle failed"
        r"|Could not enable P2P|peer query failed"
        r"|P2P is disabled between NVLINK|cuMemImportFromShareableHandle failed|Legacy IPC not supported",
    ),
    ("host-setting", r"from kernel command line|NUMA auto balancing|HSA_FORCE_FINE_GRAIN_PCIE"),
    (
        "device-unsupported",
        r"exceeds device(?:/fn)? maxSharedMem|no kernel image is available|invalid device function|named symbol not found"
        r"|no CUDA kernel for|unsupported (?:gpu )?(?:architecture|compute capability)",
    ),
    ("cuda-failure", r"(?i)\b(?:cuda|hip) (?:failure|error)"),
    (
        "proxy-failed",
        r"\[(?:Proxy|Service)[^\]]*\]|while polling for opId|[Pp]roxy(?:Call|Connect|Client|Stop"
        r"|Append)?\b.*(?:fail|error|mismatch)|Socket recv failed",
    ),
    (
        "result",
        r"\bnccl(?:System|Remote|Internal|Unhandled|Invalid)\w*|unhandled (?:system|cuda|CUDA) error|NCCL (?:failure|error)\b",
    ),
    ("timeout", r"(?i)\btimed? ?out\b"),
)
_PATTERNS = tuple((topic, regex(pattern)) for topic, pattern in _KINDS)
_DISTINCT = frozenset(
    {
        "completion-error",
        "modify-qp-failed",
        "register-memory-failed",
        "create-resource-failed",
        "verbs-library-missing",
        "no-interface",
        "duplicate-gpu",
        "shm-failed",
        "net-not-found",
        "p2p-failed",
        "connect-failed",
        "connection-closed",
        "result",
    }
)
"""Kinds whose words only NCCL prints: taken from a line without a level too, such as an excerpt or a framework's error."""
_DISTINCT_PATTERNS = tuple((topic, pattern) for topic, pattern in _PATTERNS if topic in _DISTINCT)
_PRINTED_RESULT = regex(
    r"\bnccl(?:System|Remote|Internal|UnhandledCuda|InvalidUsage)Error\b|\bNCCL error(?::| in:)|\bNCCL failure \S+:\d+"
)
"""A result code as programs print it, rather than as people quote it."""
_NCCL_PEER = regex(r"<\d+>")
"""How NCCL prints a port: `192.0.2.1<49152>`."""
_BY_PLACE = (("nvls", "nvls-failed"), ("p2p", "p2p-failed"))
_QUIET_AT_INFO = frozenset(
    {"proxy-failed", "cuda-failure", "timeout", "topology-file", "nvls-failed", "result", "version-mismatch", "ofi-failed"}
)

_STATUS = regex(r"(?:with |\b)(?:error|status)[ =](?:IBV_WC_\w+\()?(?P<code>\d+)|IBV_WC_\w+\((?P<name>\d+)\)")
_FAILED_WITH = regex(r"failed with (?:error )?(?P<code>\d+)\b|\berrno[: ]+(?P<errno>\d+)|returned (?P<returned>\d+)\(")
_VENDOR = regex(r"vendor[ _]err(?:or)?[ =:]+(?P<code>\d+)")
_PEER = regex(
    r"(?i)(?:from peer|remote peer|connect to|poll ?connect to|recv from|send to|\bpeer) (?P<peer>[^\s,]*\d[^\s,]*|[^\s,]+<\d+>)"
)
_DEVICE = regex(
    r"\bon dev (?P<on>[\w.+-]+)|\bhca (?P<hca>[\w.+-]+)|NET/IB ?: (?P<net>[a-z]\w*):\d+ |(?:open|query) device (?P<open>\S+)"
)
_SIZE = regex(r"\(size (?P<size>\d+)|\bto (?P<to>\d+) bytes|\bsize[ =](?P<bare>\d+)|alloc(?: async)? (?P<alloc>\d+) bytes")
_ERRNO = {
    "Operation not permitted": 1,
    "Bad file descriptor": 9,
    "Cannot allocate memory": 12,
    "Permission denied": 13,
    "Bad address": 14,
    "No such device": 19,
    "Invalid argument": 22,
    "Too many open files": 24,
    "No space left on device": 28,
    "Broken pipe": 32,
    "Protocol not supported": 93,
    "Operation not supported": 95,
    "Address already in use": 98,
    "Cannot assign requested address": 99,
    "Network is unreachable": 101,
    "Software caused connection abort": 103,
    "Connection reset by peer": 104,
    "Connection timed out": 110,
    "Connection refused": 111,
    "No route to host": 113,
    "Remote I/O error": 121,
}
"""Linux error numbers by the words of strerror(3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """What a warning names."""

    status_code: int | None
    vendor_error_number: int | None
    peer: str | None
    device: str | None
    size_bytes: int | None


def topic_of(message: str, level: str | None, place: str | None) -> str | None:
    """Kind of a message, or None where it is no warning. At level WARN everything is one, `other` at the least."""
    if level is None:
        return _bare_topic_of(message)
    topic = next((topic for topic, pattern in _PATTERNS if pattern.search(message)), None)
    if level in ("WARN", "ERROR", "ABORT"):
        return _refined(topic or "other", place)
    return None if topic in _QUIET_AT_INFO else topic


def _bare_topic_of(message: str) -> str | None:
    if "UCX" in message:
        return None
    topic = next((topic for topic, pattern in _DISTINCT_PATTERNS if pattern.search(message)), None)
    if topic == "result":
        return topic if _PRINTED_RESULT.search(message) else None
    if topic in ("connect-failed", "connection-closed"):
        return topic if _NCCL_PEER.search(message) else None
    return topic


def _refined(topic: str, place: str | None) -> str:
    """A bare CUDA failure is told by the file it comes from."""
    if topic != "cuda-failure" or place is None:
        return topic
    return next((kind for name, kind in _BY_PLACE if name in place), topic)


def details_of(topic: str, message: str) -> Details:
    """Numbers and names in a warning."""
    return Details(
        status_code=_completion_status(message) if topic == "completion-error" else _errno(message),
        vendor_error_number=_number(_VENDOR, message),
        peer=_word(_PEER, message),
        device=_word(_DEVICE, message),
        size_bytes=_number(_SIZE, message) if topic in ("shm-failed", "out-of-memory", "register-memory-failed") else None,
    )


def _completion_status(message: str) -> int | None:
    return _number(_STATUS, message)


def _errno(message: str) -> int | None:
    number = _number(_FAILED_WITH, message)
    if number is not None:
        return number
    return next((number for words, number in _ERRNO.items() if words in message), None)


def _number(pattern: re.Pattern[str], message: str) -> int | None:
    word = _word(pattern, message)
    return None if word is None else int(word)


def _word(pattern: re.Pattern[str], message: str) -> str | None:
    """The first named group that matched."""
    found = pattern.search(message)
    return None if found is None else next((word for word in found.groups() if word), None)

"""NCCL and RCCL logs (`NCCL_DEBUG=VERSION|WARN|INFO`), versions 2.8 to 2.30, and the NCCL part of framework errors.

Topics of `NcclWarning`, which rules rely on:

- `completion-error`: a failed work completion; `status_code` 12 retry exceeded, 13 receiver not ready, 4 local protection,
  5 flushed
- `connect-failed`: a TCP connect; `status_code` is the errno: 111 refused, 110 timed out, 113 no route, 103 aborted,
  101 unreachable
- `connection-closed`: the peer closed or reset a connection: it ended first
- `register-memory-failed`: `ibv_reg_mr*`
- `create-resource-failed`: `ibv_create_cq`, `ibv_create_qp`, `ibv_alloc_pd`, or opening a device
- `modify-qp-failed`: `ibv_modify_qp`; `status_code` 110 timed out, 22 invalid argument
- `no-interface`: no IP interface to use; `peer-address-invalid`: what a peer sent is no address; `net-not-found`: no such network device or plugin
- `async-event`: port error, GID change, speed change; `device-mismatch`: HCAs of different kinds or counts meet
- `shm-failed`: shared memory could not be created, with `size_bytes`; `out-of-memory`: GPU or host allocation
- `verbs-library-missing`: libibverbs cannot be opened; `ofi-failed`: the libfabric plugin; `gdr-unsupported`: no GPUDirect RDMA
- `topology-file`, `version-mismatch`, `collective-mismatch` (also truncated messages), `duplicate-gpu`
- `device-unsupported`: the library's kernels do not fit this GPU (no image for it, more shared memory than it has)
- `cuda-failure`, `nvls-failed` (also MNNVL), `p2p-failed`, `proxy-failed`
- `host-setting`: RCCL on the kernel command line and NUMA balancing
- `hint`: NCCL's own advice; `timeout`; `result`: only the result code (`unhandled system error`, `ncclRemoteError`); `other`
"""

from collections.abc import Callable, Iterator

from wirespeed.model.events.nccl import (
    NcclBootstrap,
    NcclChannel,
    NcclGdr,
    NcclHca,
    NcclInit,
    NcclNetwork,
    NcclPlugin,
    NcclTuning,
    NcclWarning,
)
from wirespeed.model.facts.host import EnvVar, SoftwareVersion
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.nccl_lines import At, Said, at, take_apart
from wirespeed.readers.parsing.nccl_warnings import details_of, topic_of
from wirespeed.readers.parsing.regex import regex

_TOOL = "nccl"
_LAST_ERROR_REACH_LINES = 3
NO_CHANNEL = -1
"""Channel of a line that was quoted from its ranks on; `missing` then names the field."""

_ADDRESS = regex(r"(?:\[(?P<order>\d+)\])?(?P<interface>[^\s:\[\]<>]+):(?P<address>[^\s<>]+)<(?P<port>\d+)>")
_ADAPTER = regex(r"\[\d+\] ?(?P<device>[\w.+-]+):(?P<port>\d+)[^\s/]*/(?P<layer>[A-Za-z]+)")
_OOB = regex(r"; OOB (?P<oob>\S+)")
_CHANNEL = regex(
    r"(?:(?:Channel|Ring) (?P<channel>\d+)(?:/\d+)? : (?P<near>\d+)(?:\[[0-9a-fx]+\])?|^(?P<cut_near>\d+)\[[0-9a-fx]+\])"
    r" -> (?P<far>\d+)(?:\[[0-9a-fx]+\])?"
    r"(?: \[(?:send|receive)\])? via (?P<via>[^\n]+)"
)
_VIA_TAIL = regex(r"\s+comm 0x.*$|/GDRDMA|/Shared|/read|/CE|\((?:\d+|PCI)\)")
_GDR = regex(
    r"GPU Direct RDMA (?:\((?P<how>[\w-]+)\) )?(?P<state>[Ee]nabled"
    r"|[Dd]isabled) for (?:HCA (?P<index>\w+) '(?P<hca>[^']+)'(?: \((?P<why>[^)]*)\))?|(?P<pair>GPU .*))"
)
_USES_GDR = regex(r"(?P<why>use ring PXN \d+ GDR (?P<gdr>\d+))")
_INIT = regex(r"\bcomm \S+ rank (?P<rank>\d+) n[rR]anks (?P<count>\d+)\b.* - Init (?P<state>START|COMPLETE)")
_TUNING = regex(
    r"^(?:(?P<operation>\w+)(?: \[[\w ]+\])?: )?(?P<size>\d+) Bytes -> (?:Algo (?P<algorithm>\w+) proto (?P<protocol>\w+)"
    r"|Kernel (?P<kernel>\w+))"
    r"(?:.*\{Lo\.\.Hi\}=\{(?P<low>\d+)\.\.(?P<high>\d+)\})?"
)
_CHANNELS = regex(r"^(?P<count>\d+) coll channels, ")
_ALGORITHMS = ("TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT")
_PROTOCOLS = ("LL", "LL128", "SIMPLE")
"""By the numbers that NCCL prints before 2.24 (src/include/nccl_tuner.h)."""
_ENV = regex(r"^(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+) set (?P<by>by environment )?to (?P<setting>.*?)\.?\s*$")
_VERSION = regex(
    r"\b(?P<name>NCCL|RCCL) version ?:? (?P<version>\d+\.\d+[\w.+:-]*)|^(?P<other>HIP|ROCm) version +: (?P<release>\d[\w.-]*)"
)
_CUDA = regex(r"^cudaDriverVersion (?P<number>\d+)")
_OFI = regex(r"^NET/OFI Initializing aws-ofi-\w+ (?P<release>\S+)|^NET/OFI Selected [Pp]rovider is (?P<provider>[^\s,]+)")
_NETWORK = regex(r"^Using network (?P<name>.+)|^Assigned NET plugin (?P<assigned>.+) to comm")
_KNOWN_NETWORK = regex(r"^Using network (?:IB\w*|Socket|(?:AWS )?Libfabric|\w+_v\d+)\.?\s*$")
_NO_PLUGIN = regex(
    r"^NET/Plugin ?:.*(?:No plugin found|Could not find: libnccl-net|dlerror=libnccl-net\S*: cannot open|Using internal network plugin|Failed to find ncclNetPlugin symbol)"
)
_PLUGIN = regex(
    r"^NET/Plugin ?: Loaded net plugin (?P<loaded>.+?) \(v\d+\)|^P2P plugin (?P<p2p>\S+)|^Plugin Path : (?:\S*/)?(?P<path>[^\s/]+)"
    r"|^Successfully loaded external network plugin (?P<external>\S+)"
)
_LAST_ERROR = regex(r"(?:^|[\s:])Last error:\s*(?P<rest>.*)$")
_CUT = regex(r"^(?:Bootstrap ?: Using(?! \S+:-?\d+$)|NET/Socket : Using|NET : Using interface|Channel \d+(?:/\d+)? : \d+\[)")
"""Beginnings of lines that always go on to an address or a transport; a line that does not is cut."""

_RECOGNISED = regex(
    r"\b[NR]CCL (?:INFO|WARN|TRACE|ERROR|version|error|failure)\b|NET/(?:IB|Socket|Plugin|OFI) ?:|Bootstrap ?: Using"
    r"|nccl(?:System|Remote|Internal|UnhandledCuda)Error|Last error:|Got completion (?:from peer|with)|ibv_\w+ failed|libibverbs"
    r"|shared memory segment|posix_fallocate|NET with id|set by environment to|via (?:P2P|SHM|NET)/"
    r"|Using network \w|- Init COMPLETE"
    r"|socket(?:StartConnect|PollConnect|Progress)|[Cc]onnect to \S+<\d+>|Duplicate GPU"
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    awaited: tuple[int, str, Said] | None = None
    for index, line in lines:
        said = take_apart(line)
        last = _LAST_ERROR.search(said.message)
        if last is not None:
            awaited = (index, line, said)
            if last["rest"]:
                yield _warning(at(lines, _TOOL, said, (index, line)), last["rest"], said)
                awaited = None
            continue
        if awaited is not None and said.message.strip():
            start, first, speaker = awaited
            awaited = None
            if index - start <= _LAST_ERROR_REACH_LINES:
                yield _warning(at(lines, _TOOL, speaker, (start, first), (index, line)), said.message.strip(), said)
                continue
        yield from _of_line(lines, index, line, said)


def _of_line(lines: Lines, index: int, line: str, said: Said) -> Iterator[Record | Problem]:
    message = said.message.strip()
    if not message:
        return
    where = at(lines, _TOOL, said, (index, line))
    made = [record for words, make in _SHAPES if words in message for record in make(where, message, said)]
    yield from made
    if any(not isinstance(record, SoftwareVersion) for record in made):
        return
    topic = topic_of(message, said.level, said.place)
    if topic is not None:
        yield _warning(where, message, said, topic)
    elif _CUT.search(message):
        yield _damaged(where, index)


def _warning(where: At, message: str, said: Said, topic: str | None = None) -> NcclWarning:
    """A warning; a text without a topic yet is one that a framework calls NCCL's last error."""
    kind = topic or topic_of(message, "WARN", said.place) or "other"
    found = details_of(kind, message)
    return NcclWarning(
        source=where.source,
        quotes=where.quotes,
        topic=kind,
        message=message,
        status_code=found.status_code,
        vendor_error_number=found.vendor_error_number,
        peer=found.peer,
        device=found.device,
        size_bytes=found.size_bytes,
        process=where.process,
    )


def _damaged(where: At, index: int) -> Problem:
    return Problem(
        source=where.source,
        why=Text(en="a line that NCCL prints whole is cut or damaged", zh="NCCL 日志行不完整或已损坏"),
        line_index=index,
    )


def _bootstrap(where: At, message: str, said: Said) -> tuple[Record, ...]:
    role = "socket" if message.startswith("NET/Socket") else "bootstrap"
    return tuple(
        NcclBootstrap(
            source=where.source,
            quotes=where.quotes,
            interface=found["interface"],
            address=found["address"],
            port=int(found["port"]) or None,
            role="socket" if role == "socket" else "bootstrap",
            order_index=int(found["order"] or position),
            process=where.process,
        )
        for position, found in enumerate(_ADDRESS.finditer(message.partition("Using")[2]))
    )


def _listed(where: At, message: str, said: Said) -> tuple[Record, ...]:
    """One interface of a list that was broken into lines: `[1]br-05ab815fa14e:172.19.0.1<0>`, as NET/Socket prints it."""
    found = _ADDRESS.fullmatch(message)
    if found is None or found["order"] is None or said.level is not None:
        return ()
    return _bootstrap(where, f"NET/Socket : Using {message}", said)


def _listed_alone(where: At, message: str, said: Said) -> tuple[Record, ...]:
    """`NET : Using interface eth0:192.0.2.1<0>`, one line an interface, as NCCL printed before 2.4 (net_socket.cu)."""
    return tuple(
        NcclBootstrap(
            source=where.source,
            quotes=where.quotes,
            interface=found["interface"],
            address=found["address"],
            port=int(found["port"]) or None,
            role="socket",
            order_index=0,
            process=where.process,
        )
        for found in _ADDRESS.finditer(message.partition("Using interface ")[2])
    )


def _adapters(where: At, message: str, said: Said) -> tuple[Record, ...]:
    """Devices that NET/IB uses; a list without any, or `No device found`, is one record without a device."""
    oob = _OOB.search(message)
    found = tuple(
        NcclHca(
            source=where.source,
            quotes=where.quotes,
            device=one["device"],
            port=int(one["port"]),
            link_layer=one["layer"],
            order_index=position,
            oob=oob["oob"] if oob else None,
            process=where.process,
        )
        for position, one in enumerate(_ADAPTER.finditer(message.partition("; OOB")[0]))
    )
    return found or (NcclHca(source=where.source, quotes=where.quotes, device=None, process=where.process),)


def _plugin(where: At, message: str, said: Said) -> tuple[Record, ...]:
    if _NO_PLUGIN.search(message):
        return (NcclPlugin(source=where.source, quotes=where.quotes, name=None, process=where.process),)
    found = _PLUGIN.search(message)
    if found is None:
        return ()
    name = next(word for word in found.groups() if word)
    return (NcclPlugin(source=where.source, quotes=where.quotes, name=name, process=where.process),)


def _network(where: At, message: str, said: Said) -> tuple[Record, ...]:
    found = _NETWORK.search(message)
    if found is None or (said.level is None and not _KNOWN_NETWORK.search(message)):
        return ()
    name = (found["name"] or found["assigned"]).strip().rstrip(".")
    return (NcclNetwork(source=where.source, quotes=where.quotes, name=name, process=where.process),)


def _ofi(where: At, message: str, said: Said) -> tuple[Record, ...]:
    found = _OFI.search(message)
    if found is None:
        return ()
    if found["release"]:
        return (
            NcclPlugin(source=where.source, quotes=where.quotes, name="aws-ofi-nccl", process=where.process),
            SoftwareVersion(
                source=where.source, quotes=where.quotes, name="aws-ofi-nccl", version=found["release"], rank=said.rank
            ),
        )
    return (
        NcclNetwork(source=where.source, quotes=where.quotes, name="Libfabric", provider=found["provider"], process=where.process),
    )


def _channel(where: At, message: str, said: Said) -> tuple[Record, ...]:
    found = _CHANNEL.search(message)
    if found is None:
        return ()
    transport = "SHM" if found["via"].startswith("direct shared memory") else _VIA_TAIL.sub("", found["via"]).strip()
    return (
        NcclChannel(
            source=where.source,
            quotes=where.quotes,
            missing={} if found["channel"] else {"channel_index": "absent"},
            channel_index=int(found["channel"] or NO_CHANNEL),
            from_rank=int(found["near"] or found["cut_near"]),
            to_rank=int(found["far"]),
            transport=transport,
            uses_gdr="GDRDMA" in found["via"],
            process=where.process,
        ),
    )


def _gdr(where: At, message: str, said: Said) -> tuple[Record, ...]:
    found = _GDR.search(message)
    if found is None:
        return ()
    return (
        NcclGdr(
            source=where.source,
            quotes=where.quotes,
            is_on=found["state"].lower() == "enabled",
            hca=found["hca"],
            reason=found["why"] or found["how"] or found["pair"],
            process=where.process,
        ),
    )


def _uses_gdr(where: At, message: str, said: Said) -> tuple[Record, ...]:
    found = _USES_GDR.search(message)
    if found is None:
        return ()
    return (
        NcclGdr(source=where.source, quotes=where.quotes, is_on=found["gdr"] != "0", reason=found["why"], process=where.process),
    )


def _init(where: At, message: str, said: Said) -> tuple[Record, ...]:
    found = _INIT.search(message)
    if found is None:
        return ()
    return (
        NcclInit(
            source=where.source,
            quotes=where.quotes,
            rank=int(found["rank"]),
            rank_count=int(found["count"]),
            is_complete=found["state"] == "COMPLETE",
            process=where.process,
        ),
    )


def _tuning(where: At, message: str, said: Said) -> tuple[Record, ...]:
    found = _TUNING.search(message)
    if found is None:
        return ()
    return (
        NcclTuning(
            source=where.source,
            quotes=where.quotes,
            operation=found["operation"],
            size_bytes=int(found["size"]),
            algorithm=_named(found["algorithm"], _ALGORITHMS) or found["kernel"],
            protocol=_named(found["protocol"], _PROTOCOLS),
            channels_count=int(found["high"]) - int(found["low"]) + 1 if found["high"] else None,
        ),
    )


def _named(word: str | None, names: tuple[str, ...]) -> str | None:
    """The name behind a number, for versions that print numbers."""
    if word is None or not word.isdecimal():
        return word
    return names[int(word)] if int(word) < len(names) else word


def _channels(where: At, message: str, said: Said) -> tuple[Record, ...]:
    found = _CHANNELS.search(message)
    return () if found is None else (NcclTuning(source=where.source, quotes=where.quotes, channels_count=int(found["count"])),)


def _env(where: At, message: str, said: Said) -> tuple[Record, ...]:
    found = _ENV.search(message)
    if found is None or (said.level is None and not found["by"]):
        return ()
    return (EnvVar(source=where.source, quotes=where.quotes, name=found["name"], setting=found["setting"], rank=said.rank),)


def _version(where: At, message: str, said: Said) -> tuple[Record, ...]:
    found = _VERSION.search(message)
    if found is None or "compiled with" in message:
        return ()
    name, version = found["name"] or found["other"], found["version"] or found["release"]
    return (
        SoftwareVersion(
            source=where.source, quotes=where.quotes, name=name.lower(), version=version.rstrip(".:+-"), rank=said.rank
        ),
    )


def _cuda(where: At, message: str, said: Said) -> tuple[Record, ...]:
    """CUDA level of the driver, printed as 1000 x major + 10 x minor (CUDA `cuDriverGetVersion`)."""
    found = _CUDA.search(message)
    if found is None:
        return ()
    major, rest = divmod(int(found["number"]), 1000)
    return (
        SoftwareVersion(source=where.source, quotes=where.quotes, name="cuda", version=f"{major}.{rest // 10}", rank=said.rank),
    )


_SHAPES: tuple[tuple[str, Callable[[At, str, Said], tuple[Record, ...]]], ...] = (
    ("Bootstrap : Using", _bootstrap),
    ("Bootstrap: Using", _bootstrap),
    ("NET/Socket : Using", _bootstrap),
    ("NET : Using interface ", _listed_alone),
    ("<0>", _listed),
    ("NET/IB : Using", _adapters),
    ("NET/IB : No device found", _adapters),
    ("NET/Plugin", _plugin),
    ("P2P plugin ", _plugin),
    ("Plugin Path : ", _plugin),
    ("external network plugin", _plugin),
    ("Using network ", _network),
    ("Assigned NET plugin ", _network),
    ("NET/OFI ", _ofi),
    (" via ", _channel),
    ("GPU Direct RDMA ", _gdr),
    ("Connected all rings, use", _uses_gdr),
    (" - Init ", _init),
    (" Bytes -> ", _tuning),
    (" coll channels, ", _channels),
    (" set ", _env),
    (" version", _version),
    ("cudaDriverVersion ", _cuda),
)
"""Words that a message must hold to be worth a closer look, and what makes records of it."""

READER = Reader(
    title=Text(en="NCCL log", zh="NCCL 日志"),
    gives=(
        NcclBootstrap,
        NcclNetwork,
        NcclHca,
        NcclPlugin,
        NcclChannel,
        NcclGdr,
        NcclInit,
        NcclWarning,
        NcclTuning,
        EnvVar,
        SoftwareVersion,
    ),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,NET,GRAPH <your command>",),
)

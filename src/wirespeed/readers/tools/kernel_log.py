"""Kernel messages (dmesg, journal, syslog) that bear on GPUs, NICs, memory and the network."""

from collections.abc import Iterator

from wirespeed.model.events.log import KernelEvent
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_PCI = r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_LINK_NAME = r"[a-z][\w.@-]{1,31}"
_DEVICE = regex(rf"\b{_PCI}")
_MLX5_PORT = rf"mlx5_core {_PCI}(?: (?P<device>{_LINK_NAME}))?(?: \(\w+\))?: "

TOPICS: tuple[tuple[str, str], ...] = (
    ("xid", r"NVRM: Xid \((?:PCI:)?(?P<device>[0-9a-fA-F:.]{5,16})[^)]{0,40}\): (?P<code>\d{1,4})"),
    ("sxid", r"SXid \((?:PCI:)?(?P<device>[0-9a-fA-F:.]{5,16})[^)]{0,40}\): (?P<code>\d{1,6})"),
    ("gpu-lost", r"NVRM: .{0,80}(?:GPU has fallen off the bus|GPU is lost)"),
    (
        "no-nvswitch",
        r"(?:nv-?|nvidia-)fabric-?manager.{0,200}(?:NV_WARN_NOTHING_TO_DO|no (?:supported )?NVSwitch(?:es)? (?:device )?(?:found|detected|present))",
    ),
    ("fabric-manager", r"(?:nv-?|nvidia-)fabric-?manager.{0,160}(?:error|fail|fatal|degraded|not ready|timed? ?out|exited)"),
    (
        "nvlink",
        r"(?:NVRM|nvidia-nvswitch\d*|nvidia-nvlink): .{0,120}(?:NVLink|nvlink).{0,80}(?:error|fail|down|fatal"
        r"|degraded|inactive)",
    ),
    ("pcie-power", r"Detected insufficient power on the PCIe slot(?: \((?P<code>\d{1,4})W\))?"),
    ("pcie-limited", r"Gb/s available PCIe bandwidth, limited by|PCIe bandwidth available .{0,60}limited"),
    ("module-unplugged", r"Port module event: module \d+, Cable unplugged"),
    (
        "module-hot",
        r"(?:High temperature|temp_warn|module.{0,40}(?:high temperature|over ?temperature|temperature (?:alarm"
        r"|warning|high)))",
    ),
    ("module-error", r"Port module event(?:\[error\])?: module \d+, Cable error"),
    (
        "firmware-dead",
        r"health compromised|health_care:|device's health compromised|firmware (?:fatal )?(?:error|assert)"
        r"|mlx5_core .{0,60}assert_exit_ptr|[Ff]irmware (?:is )?not responding|wait_fw_init|Waiting for FW (?:init|pre-init)|[Ff]irmware recovery mode",
    ),
    (
        "firmware-timeout",
        r"mlx5_core .{0,120}(?:timeout\. Will cause a leak|No done completion"
        r"|Command completion arrived after timeout|wait_func.{0,60}timeout)",
    ),
    (
        "tx-timeout",
        r"(?:\b(?P<device2>[\w.@-]{2,32}): )?NETDEV WATCHDOG: (?:CPU|(?P<device>[\w.@-]{2,32}) \()" r"|\bTX timeout detected",
    ),
    (
        "bond-member-down",
        r"\bbond\w{0,12}: (?:\(slave (?P<device>[\w.@-]+)\): )?(?:link status (?:definitely )?down(?: for (?:active )?interface (?P<device2>[\w.@-]+))?"
        r"|.{0,20}slave .{0,40}link (?:failure|down))",
    ),
    ("bond-member-up", r"\bbond\w{0,12}: (?:\(slave (?P<device>[\w.@-]+)\): )?link status definitely up"),
    ("link-down", rf"{_MLX5_PORT}Link down"),
    ("link-up", rf"{_MLX5_PORT}Link up"),
    ("link-down", r"(?:(?P<device>[a-z][\w.@-]{1,31}):? )(?:NIC |Port: \d+ )?Link is [Dd]own"),
    ("link-up", r"(?:(?P<device>[a-z][\w.@-]{1,31}):? )(?:NIC |Port: \d+ )?Link is [Uu]p"),
    ("link-downshift", r"[Dd]ownshift occurred from negotiated speed"),
    (
        "receive-error",
        r"(?P<device>[\w.@-]{2,32}): hw csum failure|\b(?:rxd?|receive)[ _]err(?:or)?s?\b ?[=:] ?(?:0x)?[0-9a-f]*[1-9a-f]|\b(?:CRC|FCS) error(?:s? (?:on|in) (?:frame|packet|rx)|, )",
    ),
    ("aer", r"\bAER: |PCIe Bus Error: severity="),
    (
        "iommu-fault",
        r"DMAR: .{0,60}Request device \[(?P<device>[0-9a-f:.]{7,12})\].{0,40}fault|DMAR: .{0,80}fault"
        r"|AMD-Vi: .{0,80}IO_PAGE_FAULT|arm-smmu.{0,80}(?:fault|event 0x)",
    ),
    ("conntrack-full", r"nf_conntrack: .{0,40}table full"),
    ("neighbour-overflow", r"[Nn]eighbou?r table overflow|neighbou?r: .{0,40}table overflow"),
    ("syn-flood", r"[Pp]ossible SYN flooding on port (?:(?P<code>\d{1,5})(?!\d|[.:]\d)|\S{1,48}:(?P<code2>\d{1,5}))"),
    ("martian-source", r"martian source (?:.{0,80} on dev (?P<device>[\w.@-]{1,32}))?"),
    ("duplicate-address", r"duplicate address|DAD failed|[Aa]ddress conflict"),
    ("oom-kill", r"invoked oom-killer|[Oo]ut of memory: Kill(?:ed)? process|oom-kill:constraint="),
    ("segfault", r"\]: segfault at [0-9a-f]|general protection fault"),
    ("page-allocation-failure", r"page allocation failure"),
    ("tcp-memory", r"TCP: out of memory|TCP: too many orphaned sockets"),
    ("nfs-timeout", r"nfs: server (?P<device>\S{1,64}) not responding"),
    ("nfs-ok", r"nfs: server (?P<device>\S{1,64}) OK"),
    ("lustre-error", r"LustreError: |Lustre: .{0,160}(?:timed out|was lost|was evicted)"),
    ("hung-task", r"INFO: task .{1,64} blocked for more than (?P<code>\d{1,6}) seconds"),
    ("soft-lockup", r"BUG: soft lockup|rcu: INFO: rcu_\w+ (?:self-)?detected stall"),
    (
        "cpu-hot",
        r"temperature above threshold, cpu clock throttled|Core temperature above threshold"
        r"|Package temperature above threshold",
    ),
    ("machine-check", r"Machine check events logged|\[Hardware Error\]: "),
    ("efa-error", rf"\befa {_PCI}: .{{0,120}}(?:[Ff]ail|[Ee]rror|timed? ?out)"),
    ("ena-error", rf"\bena {_PCI}.{{0,120}}(?:[Ff]ail|[Ee]rror|timed? ?out|Keep alive watchdog|[Rr]eset|missing)"),
)
"""Topic and pattern, the more telling first. A line yields one event, of the first topic that fits.

`code` is the Xid, the watts of a slot, the port of a SYN flood or the seconds of a hung task. `aer` covers corrected and
uncorrected errors: the message says which. Lines with these words in other logs do not pass: a kernel stamp or a driver's own
prefix is part of the recognition.
"""

_PATTERNS = tuple((topic, regex(pattern)) for topic, pattern in TOPICS)
_HINT = regex(
    r"NVRM|SXid|[Ff]abric-?manager|nvidia-nv|mlx5_core|PCIe|Link is|ownshift|bond|AER: |DMAR|AMD-Vi|arm-smmu"
    r"|nf_conntrack|[Nn]eighbou?r|SYN flooding"
    r"|martian|duplicate address|ddress conflict|DAD failed|oom|[Oo]ut of memory: Kill|page allocation|TCP: |nfs: |Lustre"
    r"|INFO: task|soft lockup|rcu: |temperature"
    r"|hw csum|rxd?_err|receive error|CRC error|FCS error|[Mm]achine check|Hardware Error|segfault at|general protection|NETDEV WATCHDOG|TX timeout|health|\befa |\bena |[Ff]irmware|wait_fw_init|Waiting for FW"
)
_STAMP = regex(r"^\W{0,3}\[\s*(?P<seconds>\d{1,9}\.\d{1,9})\]\s*")
_CLOCK = regex(
    r"^(?:\[?\w{3} +\w{3} +\d{1,2} (?P<c>\d\d:\d\d:\d\d) \d{4}\] ?"
    r"|\w{3} +\d{1,2} (?P<s>\d\d:\d\d:\d\d(?:\.\d{1,6})?) (?P<shost>[\w.-]{1,64}) "
    r"|\d{4}-\d\d-\d\d[T ](?P<i>\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)? (?P<ihost>[\w.-]{1,64}) )"
)
_KERNEL = regex(
    r"^(?:<\d{1,3}>)?(?:\[\s*(?P<seconds>\d{1,9}\.\d{1,9})\]\s*)?"
    r"(?P<tag>[\w.-]{1,48}(?:\[\d{1,9}\])?): (?:\[\s*(?P<inner>\d{1,9}\.\d{1,9})\]\s*)?"
)
_BARE = regex(
    rf"NVRM: |SXid \(|mlx5_core {_PCI}|NETDEV WATCHDOG|nf_conntrack: |[Nn]eighbou?r table overflow|neighbou?r: "
    r"|Possible SYN flooding|martian source \d"
    r"|invoked oom-killer|[Oo]ut of memory: Kill|PCIe Bus Error: |\bAER: |DMAR: |AMD-Vi: |nfs: server "
    r"|INFO: task |\]: segfault at |\bbond\w{0,12}: \(slave |Link is (?:[Uu]p|[Dd]own)|[Dd]ownshift occurred from"
    rf"|\be[fn]a {_PCI}|\b(?:bnxt_en|ice|i40e|ixgbe|qed|cxgb4) {_PCI}|LustreError: |available PCIe bandwidth|insufficient power on the PCIe slot"
    r"|duplicate address .{1,60} detected!|\bnv-fabricmanager\[\d{1,9}\]: "
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        if not _HINT.search(line):
            continue
        at_s, host, message = _unstamped(line)
        if message is None:
            continue
        topic, found = next(((topic, found) for topic, pattern in _PATTERNS if (found := pattern.search(message))), ("", None))
        if found is None:
            continue
        groups = found.groupdict()
        code = groups.get("code") or groups.get("code2")
        device = groups.get("device") or groups.get("device2") or _pci_address(message)
        yield KernelEvent(
            source=source(lines, "kernel log", host),
            quotes=(quote(lines, index, line),),
            topic=topic,
            message=message,
            device=device,
            code_number=int(code) if code else None,
            at_s=at_s,
        )


def _pci_address(message: str) -> str | None:
    found = _DEVICE.search(message)
    return found[0] if found else None


def _unstamped(line: str) -> tuple[float | None, str | None, str | None]:
    """Time, host and message of a kernel line; no message where the line is not the kernel's.

    The kernel's own clock is preferred; a clock time gives the second of the day.
    """
    stamp = _STAMP.match(line)
    if stamp:
        return float(stamp["seconds"]), None, line[stamp.end() :].strip()
    clock = _CLOCK.match(line)
    if clock is None:
        return None, None, line.strip().removeprefix("kernel: ") if _BARE.search(line) else None
    at_s = _second_of_day(clock["c"] or clock["s"] or clock["i"])
    host = clock["shost"] or clock["ihost"]
    rest = line[clock.end() :]
    kernel = _KERNEL.match(rest) if host else None
    if kernel and kernel["tag"] == "kernel":
        inner = kernel["inner"]
        return float(inner) if inner else at_s, host, rest[kernel.end() :].strip()
    if host and not (kernel and "abric" in kernel["tag"]) and not _BARE.search(rest):
        return None, None, None
    return at_s, host, rest.strip()


def _second_of_day(clock: str) -> float:
    hours, minutes, seconds = clock.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


READER = Reader(
    title=Text(en="kernel log", zh="内核日志"),
    gives=(KernelEvent,),
    recognises=marked(
        _HINT, confirmed=lambda sample: any(_HINT.search(line) and _unstamped(line)[2] is not None for line in sample.splitlines())
    ),
    read=_read,
    obtained_by=("dmesg -T", "journalctl -k"),
)

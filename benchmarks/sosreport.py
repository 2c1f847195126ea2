"""A sosreport-like archive of one GPU host, the same each time: healthy but for one fault, which several members bear witness to.

Names and layout follow the plugins of the sos project (networking, infiniband, nvidia, pci, kernel, logs, process, kubernetes);
contents are synthetic, or the readers' own test samples. Most bytes are logs, as in the field: lines of many forms (in
`sosreport_lines.tsv`) with ever new times, addresses, identifiers and figures. Journals, accounting files and a crash dump hardly compress.
"""

import gzip
import io
import random
import re
import tarfile
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path

HOST = "node-a"
ROOT = f"sosreport-{HOST}-2026-01-09-abcdefg"
MEMBER_COUNT = 2_000
FLAPPING = "ens2f3np3"
"""The interface whose link goes down and comes back: the planted fault."""
EXPECTED_CAUSE = "link-flapping"
FLAPS_COUNT = 6
MB = 1_000_000
LARGE_COUNT = 66
"""Members of `_logs` and `_bytes_that_hardly_compress`."""
FULL_SCALE = 0.92
"""Makes the archive 300 MB at scale 1."""
LINKS = tuple(f"ens{slot}f{port}np{port}" for slot in (1, 2) for port in range(4))
PCI = {name: f"0000:{0x17 + 0x20 * (at // 4):02x}:00.{at % 4}" for at, name in enumerate(LINKS)}
_SAMPLES = Path(__file__).parents[1] / "tests" / "data" / "readers" / "tools"
_LINES = Path(__file__).with_name("sosreport_lines.tsv")
_START_S = 4 * 86_400
_FIELD = re.compile(r"<(?P<name>hex|uuid|pod|name|word|address|\d+(?=:))(?::(?P<amount>\d+))?>")
_NAMES = (
    "vllm-decode",
    "vllm-prefill",
    "coredns",
    "cilium",
    "dcgm-exporter",
    "gpu-feature-discovery",
    "ingress-nginx",
    "kube-proxy",
)
_WORDS = ("volume", "secret", "token", "lease", "endpoint", "config", "image", "probe", "sandbox", "snapshot", "layer", "task")
_ENDING = "bcdfghjklmnpqrstvwxz2456789"

Chance = random.Random
Member = tuple[str, bytes]


# --- lines of logs -----------------------------------------------------------------------------------------------------------


def _field(name: str, amount: str | None) -> Callable[[Chance], str]:
    """What stands for a field of a form: `<hex:8>`, `<uuid>`, `<low:high>` with as many digits as low is written with, and names."""
    if name.isdigit():
        low, span = int(name), int(amount or 0) - int(name)
        return lambda chance: f"{low + int(chance.random() * span):0{len(name)}}"
    if name == "hex":
        digits = int(amount or 8)
        return lambda chance: f"{chance.getrandbits(4 * digits):0{digits}x}"
    return _NAMED_FIELDS[name]


def _uuid(chance: Chance) -> str:
    whole = f"{chance.getrandbits(128):032x}"
    return f"{whole[:8]}-{whole[8:12]}-{whole[12:16]}-{whole[16:20]}-{whole[20:]}"


def _pod(chance: Chance) -> str:
    return f"{chance.choice(_NAMES)}-{chance.getrandbits(40):010x}-{''.join(chance.choices(_ENDING, k=5))}"


_NAMED_FIELDS: dict[str, Callable[[Chance], str]] = {
    "uuid": _uuid,
    "pod": _pod,
    "name": lambda chance: chance.choice(_NAMES),
    "word": lambda chance: chance.choice(_WORDS),
    "address": lambda chance: f"10.{chance.getrandbits(2)}.{chance.getrandbits(8)}.{1 + chance.getrandbits(7)}",
}


class Forms:
    """The forms of one kind of log, and lines of them in their proportions."""

    def __init__(self, kind: str) -> None:
        rows = [line.split("\t") for line in _LINES.read_text(encoding="utf-8").splitlines()]
        own = [row[1:] for row in rows if row[0] == kind]
        self._bounds = list(accumulate(int(weight) for weight, *_ in own))
        self._forms = [self._parts(f"{speaker}: {text}" if speaker else text) for _, speaker, text in own]

    @staticmethod
    def _parts(form: str) -> tuple[str, tuple[Callable[[Chance], str], ...]]:
        fields = tuple(_field(found["name"], found["amount"]) for found in _FIELD.finditer(form))
        return _FIELD.sub("%s", form.replace("%", "%%")), fields

    def lines(self, chance: Chance, count: int) -> list[str]:
        """So many lines, without their ends."""
        chosen = chance.choices(self._forms, cum_weights=self._bounds, k=count)
        return [form % tuple(field(chance) for field in fields) for form, fields in chosen]


@cache
def _forms(kind: str) -> Forms:
    return Forms(kind)


def _clock(second: float) -> str:
    whole = int(second)
    return f"Jan {1 + whole // 86_400:>2} {whole % 86_400 // 3600:02}:{whole % 3600 // 60:02}:{whole % 60:02} {HOST} "


def system_log(chance: Chance, size_bytes: int, flaps_count: int = 0) -> bytes:
    """A system log. An interface flaps so many times in its middle half."""
    out = io.BytesIO()
    second = float(_START_S)
    planted = [size_bytes * (0.25 + 0.5 * (number + 0.5) / flaps_count) for number in range(flaps_count)]
    while out.tell() < size_bytes:
        said = []
        for line in _forms("system").lines(chance, 500):
            second += chance.random() * 0.1
            said.append(_clock(second) + line)
        if planted and out.tell() >= planted[0]:
            planted.pop(0)
            for after_s, state in ((1.0, "down"), (4.0, "up")):
                said.append(f"{_clock(second + after_s)}kernel: mlx5_core {PCI[FLAPPING]} {FLAPPING}: Link {state}")
            second += 4.0
        out.write(("\n".join(said) + "\n").encode())
    return out.getvalue()


def boot_log(chance: Chance, lines_count: int) -> bytes:
    """What the kernel said at boot."""
    lines = _forms("boot").lines(chance, lines_count)
    return "".join(f"[{at * 0.01:>12.6f}] {line}\n" for at, line in enumerate(lines)).encode()


def pod_log(chance: Chance, size_bytes: int) -> bytes:
    """What the container runtime keeps of a server's output."""
    out = io.BytesIO()
    second = 0.0
    while out.tell() < size_bytes:
        said = []
        for line in _forms("pod").lines(chance, 500):
            second += chance.random() * 0.05
            whole = int(second)
            stamp = f"2026-01-09T{whole // 3600 % 24:02}:{whole // 60 % 60:02}:{whole % 60:02}.{chance.getrandbits(29):09}Z"
            said.append(f"{stamp} stdout F {line}\n")
        out.write("".join(said).encode())
    return out.getvalue()


def training_log(chance: Chance, size_bytes: int, rank: int) -> bytes:
    """NCCL starting up, then steps of one length, with the loader's chatter between."""
    out = io.BytesIO()
    front = f"{HOST}:{4000 + rank}:{4100 + rank} [{rank}] NCCL INFO "
    peer = (rank + 1) % 8
    said = [f"NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB {LINKS[0]}:192.0.2.1<0>"]
    said += [f"Channel {number:02}/0 : {rank}[{rank}] -> {peer}[{peer}] via P2P/CUMEM/read" for number in range(32)]
    said += [f"ncclCommInitRank comm 0x55d0c0ffee rank {rank} nranks 16 cudaDev {rank} - Init COMPLETE"]
    out.write("".join(f"{front}{one}\n" for one in said).encode())
    step = 0
    while out.tell() < size_bytes:
        step += 1
        out.write(
            f"[2026-01-09 {step // 3600 % 24:02}:{step // 60 % 60:02}:{step % 60:02}] iteration {step:>8}/ 900000 | consumed samples: "
            f"{step * 512:>12} | elapsed time per iteration (ms): {1012.0 + chance.random() * 4:.1f} | learning rate: 3.000E-04 | "
            f"global batch size:   512 | lm loss: {2.0 + chance.random() / 10:.6E} | grad norm: {chance.random():.3f} |\n".encode()
        )
        if step % 5 == 0:
            out.write(f"loader: shard {chance.getrandbits(64):016x} of s3://data/train/{_uuid(chance)}.tar opened\n".encode())
    return out.getvalue()


# --- what commands printed ---------------------------------------------------------------------------------------------------


def _sample(reader: str, case: str) -> bytes:
    return next((_SAMPLES / reader / case).glob("input.*")).read_bytes()


def _ethtool(chance: Chance, link: str) -> Iterator[Member]:
    place = "sos_commands/networking/ethtool"
    yield (
        f"{place}_{link}",
        (
            f"Settings for {link}:\n\tSupported ports: [ Backplane ]\n\tSpeed: 400000Mb/s\n\tDuplex: Full\n\tAuto-negotiation: on\n\tPort: Direct Attach "
            "Copper\n\tPHYAD: 0\n\tTransceiver: internal\n\tLink detected: yes\n"
        ).encode(),
    )
    counters = {f"rx{queue}_packets": chance.getrandbits(38) for queue in range(63)} | {
        f"tx{queue}_packets": chance.getrandbits(38) for queue in range(63)
    }
    counters |= {f"rx_prio{priority}_bytes": chance.getrandbits(44) for priority in range(8)}
    counters |= dict.fromkeys(
        ("rx_out_of_buffer", "rx_crc_errors_phy", "rx_symbol_err_phy", "rx_discards_phy", "tx_discards_phy", "tx_pause_ctrl_phy"), 0
    )
    counters["link_down_events_phy"] = FLAPS_COUNT if link == FLAPPING else 0
    yield (
        f"{place}_-S_{link}",
        ("NIC statistics:\n" + "".join(f"     {name}: {count}\n" for name, count in counters.items())).encode(),
    )
    rings = "RX:\t\t{}\nRX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t{}\n"
    yield (
        f"{place}_-g_{link}",
        (
            f"Ring parameters for {link}:\nPre-set maximums:\n{rings.format(8192, 8192)}Current hardware settings:\n{rings.format(8192, 8192)}"
        ).encode(),
    )
    yield (
        f"{place}_-i_{link}",
        (
            f"driver: mlx5_core\nversion: 24.10-1.1.4\nfirmware-version: 28.43.1014 (MT_0000000834)\nexpansion-rom-version: \nbus-info: {PCI[link]}\n"
            "supports-statistics: yes\nsupports-test: yes\nsupports-eeprom-access: no\nsupports-register-dump: no\nsupports-priv-flags: yes\n"
        ).encode(),
    )
    yield f"{place}_-a_{link}", f"Pause parameters for {link}:\nAutonegotiate:\toff\nRX:\t\toff\nTX:\t\toff\n".encode()
    yield (
        f"{place}_-k_{link}",
        (
            f"Features for {link}:\nrx-checksumming: on\ntx-checksumming: on\nscatter-gather: on\ntcp-segmentation-offload: on\n"
            "generic-segmentation-offload: on\ngeneric-receive-offload: on\nlarge-receive-offload: off [fixed]\nrx-vlan-offload: on\n"
        ).encode(),
    )
    yield (
        f"{place}_-l_{link}",
        (
            f"Channel parameters for {link}:\nPre-set maximums:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\tn/a\nCombined:\t63\n"
            "Current hardware settings:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\tn/a\nCombined:\t63\n"
        ).encode(),
    )


def _networking() -> Iterator[Member]:
    links = "".join(
        f"{at}: {link}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP mode DEFAULT group default qlen 1000\n"
        f"    link/ether 02:00:00:00:00:{at:02x} brd ff:ff:ff:ff:ff:ff promiscuity 0  allmulti 0 minmtu 68 maxmtu 9978\n"
        "    RX:     bytes    packets errors dropped  missed   mcast\n    9182736450 918273645      0       0       0    1202\n"
        "    TX:     bytes    packets errors dropped carrier collsns\n    8172635440 817263544      0       0       0       0\n"
        for at, link in enumerate(LINKS, 2)
    )
    place = "sos_commands/networking"
    yield f"{place}/ip_-s_-d_link", links.encode()
    yield (
        f"{place}/ip_-d_address",
        "".join(
            f"{at}: {link}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP group default qlen 1000\n"
            f"    link/ether 02:00:00:00:00:{at:02x} brd ff:ff:ff:ff:ff:ff\n    inet 192.0.2.{at}/31 scope global {link}\n"
            for at, link in enumerate(LINKS, 2)
        ).encode(),
    )
    yield f"{place}/ip_route_show_table_all", f"default via 192.0.2.254 dev {LINKS[0]} proto static metric 100\n".encode()
    yield f"{place}/nstat_-zas", _sample("tcp_counters", "nstat")
    yield "sos_commands/numa/numactl_--hardware", _sample("numactl", "this_machine")
    yield "sos_commands/kernel/lsmod", _sample("kernel_modules", "full_lsmod")
    yield "sos_commands/pci/lspci_-tv", _sample("lspci", "tree_this_machine")


def _pci_devices() -> bytes:
    return "".join(
        f"{address[5:]} Ethernet controller [0200]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]\n\tNUMA node: {at // 4}\n"
        "\t\tDevCtl:\tCorrErr+ NonFatalErr+ FatalErr+ UnsupReq+\n\t\t\tMaxPayload 256 bytes, MaxReadReq 4096 bytes\n"
        "\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n\t\tLnkSta:\tSpeed 32GT/s, Width x16\n\tKernel driver in use: mlx5_core\n\n"
        for at, address in enumerate(PCI.values())
    ).encode()


def _filler(chance: Chance, count: int) -> Iterator[Member]:
    """Commands that tell nothing of networks: packages, processes, services, open files."""
    yield (
        "sos_commands/rpm/rpm_-qa",
        "".join(
            f"{name}-{number}.{chance.getrandbits(6)}.el9.x86_64  Fri 09 Jan 2026 10:00:00 AM UTC\n"
            for number in range(180)
            for name in _NAMES
        ).encode(),
    )
    yield (
        "sos_commands/process/lsof_M_-n_-l_-c",
        "".join(
            f"{chance.choice(_NAMES)[:9]:<10}{number:>8}  0  {chance.getrandbits(9):>4}u  REG  259,2  {chance.getrandbits(30):>12} {chance.getrandbits(28):>10} /var/lib/{_uuid(chance)}\n"
            for number in range(12_000)
        ).encode(),
    )
    yield (
        "sos_commands/process/ps_auxwww",
        "".join(
            f"root     {number:>7}  0.{chance.getrandbits(3)}  0.0 {chance.getrandbits(20):>7} {chance.getrandbits(14):>5} ?        Ssl  Jan05   0:{number % 60:02} /usr/bin/{chance.choice(_NAMES)} --id {chance.getrandbits(32):08x}\n"
            for number in range(2_500)
        ).encode(),
    )
    for number in range(count):
        rows = "".join(
            f"  {chance.choice(_WORDS)}-{chance.getrandbits(16):04x}.service loaded active running {chance.choice(_NAMES)}\n"
            for _ in range(20 + number % 60)
        )
        yield f"sos_commands/systemd/systemctl_show_{chance.choice(_NAMES)}_{number}", rows.encode()


def _proc(chance: Chance, processes_count: int) -> Iterator[Member]:
    yield "proc/sys/kernel/hostname", f"{HOST}\n".encode()
    yield "proc/sys/kernel/osrelease", b"5.14.0-503.15.1.el9_5.x86_64\n"
    yield "proc/cmdline", b"BOOT_IMAGE=(hd0,gpt2)/vmlinuz-5.14.0 root=/dev/nvme0n1p3 ro iommu=pt\n"
    yield "proc/meminfo", b"MemTotal:       2113437696 kB\nMemFree:        1803437696 kB\nMemAvailable:   1903437696 kB\n"
    yield (
        "proc/cpuinfo",
        b"".join(
            b"processor\t: %d\nmodel name\t: Intel(R) Xeon(R) Platinum 8480C\nflags\t\t: fpu sse avx512f amx\n\n" % cpu
            for cpu in range(64)
        ),
    )
    cpus = "".join(f"{f'CPU{cpu}':>11}" for cpu in range(64))
    yield "proc/interrupts", (
        cpus + "\n" + "".join(f"{irq:>4}:" + "".join(f"{chance.getrandbits(20):>11}" for _ in range(64)) + f"  IR-PCI-MSIX-{PCI[LINKS[irq % 8]]} {irq}-edge mlx5_comp{irq}\n" for irq in range(60, 300))
    ).encode()  # fmt: skip
    yield "proc/softirqs", (cpus + "\n" + "".join(f"{name:>12}:" + "".join(f"{chance.getrandbits(24):>11}" for _ in range(64)) + "\n" for name in ("TIMER", "NET_TX", "NET_RX", "SCHED", "RCU"))).encode()  # fmt: skip
    yield (
        "proc/net/softnet_stat",
        "".join(f"{chance.getrandbits(28):08x} 00000000 00000000 {'00000000 ' * 9}{cpu:08x}\n" for cpu in range(64)).encode(),
    )
    yield "proc/net/dev", ("Inter-|   Receive\n face |bytes    packets errs\n" + "".join(f"{link}: 9182736450 918273645 0 0 0 0 0 1202 8172635440 817263544 0 0 0 0 0 0\n" for link in LINKS)).encode()  # fmt: skip
    for name in ("snmp", "netstat", "sockstat", "arp", "route", "protocols", "raw", "udp", "unix", "packet"):
        yield f"proc/net/{name}", f"{name}: inuse {chance.getrandbits(9)} mem {chance.getrandbits(9)}\n".encode() * 12
    for number in range(processes_count):
        pid = 1000 + number
        yield (
            f"proc/{pid}/status",
            f"Name:\t{chance.choice(_NAMES)}\nState:\tS (sleeping)\nPid:\t{pid}\nVmRSS:\t{chance.getrandbits(20)} kB\nThreads:\t{chance.getrandbits(5)}\n".encode(),
        )
        yield f"proc/{pid}/cgroup", f"0::/kubepods.slice/kubepods-pod{_uuid(chance)}.slice\n".encode()
        yield f"proc/{pid}/stat", f"{pid} (python3) S 1 {' '.join(str(chance.getrandbits(12)) for _ in range(48))}\n".encode()
        yield f"proc/{pid}/limits", _sample("process_limits", "proc-self")


def _sys(chance: Chance, modules_count: int) -> Iterator[Member]:
    names = [
        f"{way}_{what}" for way in ("rx", "tx") for what in ("bytes", "packets", "errors", "dropped", "fifo_errors", "compressed")
    ]
    for link in LINKS:
        place = f"sys/devices/pci0000:15/{PCI[link]}/net/{link}"
        yield f"{place}/flags", b"0x1003\n"
        yield f"{place}/mtu", b"9000\n"
        yield f"{place}/carrier_changes", b"2\n"
        for name in (*names, "collisions", "multicast"):
            count = chance.getrandbits(40) if name.endswith(("bytes", "packets")) else 0
            yield f"{place}/statistics/{name}", f"{count}\n".encode()
    for number in range(modules_count):
        module = f"{chance.choice(_WORDS)}_{number}"
        yield f"sys/module/{module}/initstate", b"live\n"
        yield f"sys/module/{module}/refcnt", f"{chance.getrandbits(4)}\n".encode()
        yield f"sys/module/{module}/parameters/{chance.choice(_WORDS)}", f"{chance.getrandbits(8)}\n".encode()


def _etc(chance: Chance, count: int) -> Iterator[Member]:
    yield "etc/hostname", f"{HOST}\n".encode()
    yield "etc/os-release", b'NAME="Red Hat Enterprise Linux"\nPRETTY_NAME="Red Hat Enterprise Linux 9.5 (Plow)"\n'
    yield "etc/resolv.conf", b"search example.com\nnameserver 192.0.2.53\n"
    for number in range(count):
        rows = "".join(
            f"# {chance.choice(_WORDS)} of {chance.choice(_NAMES)}\n{chance.choice(_WORDS)}_{chance.choice(_WORDS)} = {chance.getrandbits(10)}\n"
            for _ in range(12 + number % 40)
        )
        yield f"etc/{chance.choice(_NAMES)}.d/{number:03}-{chance.choice(_WORDS)}.conf", rows.encode()


def _logs(chance: Chance, scale: float) -> Iterator[Member]:
    journal = system_log(chance, int(95 * MB * scale), FLAPS_COUNT)
    yield "sos_commands/logs/journalctl_--no-pager", journal
    yield "sos_commands/logs/journalctl_--no-pager_--boot", journal[len(journal) // 3 :].partition(b"\n")[2]
    yield "var/log/messages", system_log(chance, int(60 * MB * scale))
    for day in range(1, 5):
        yield f"var/log/messages-2026010{day}.gz", gzip.compress(system_log(chance, int(25 * MB * scale)), compresslevel=1, mtime=0)
    yield "sos_commands/kernel/dmesg", boot_log(chance, 6_000)
    yield "var/log/dmesg", boot_log(chance, 6_000)
    for rank in range(8):
        yield f"var/log/training/rank{rank}.log", training_log(chance, int(4 * MB * scale), rank)
    for number in range(12):
        yield f"var/log/pods/serving_{_pod(chance)}_{_uuid(chance)}/vllm/{number % 3}.log", pod_log(chance, int(3 * MB * scale))


def _bytes_that_hardly_compress(chance: Chance, scale: float) -> Iterator[Member]:
    for number in range(6):
        place = f"var/log/journal/{chance.getrandbits(128):032x}"
        yield (
            f"{place}/system@{chance.getrandbits(128):032x}-{number:016x}.journal",
            b"LPKSHHRH" + chance.randbytes(int(32 * MB * scale)),
        )
    for day in range(1, 31):
        yield f"var/log/sa/sa{day:02}", bytes([0x96, 0xD5, 0x75, 0x21]) + chance.randbytes(int(0.5 * MB * scale))
    yield "var/crash/127.0.0.1-2026-01-08/vmcore.flat", b"makedumpfile\0\0\0\0" + chance.randbytes(int(20 * MB * scale))


def members(scale: float, seed: int = 7) -> Iterator[Member]:
    """Paths and contents, `MEMBER_COUNT` of them; `scale` 1 makes an archive of some 300 MB."""
    chance = random.Random(seed)
    few: list[Member] = [
        *_networking(),
        ("sos_commands/pci/lspci_-nnvv", _pci_devices()),
        *_proc(chance, 120),
        *_sys(chance, 150),
        *_etc(chance, 160),
    ]
    for link in LINKS:
        few += _ethtool(chance, link)
    few += [("version.txt", b"sosreport: 4.8.2\n"), ("sos_commands/date/date", b"Fri Jan  9 12:00:00 UTC 2026\n")]
    few += _filler(chance, MEMBER_COUNT - len(few) - LARGE_COUNT - 3)
    yield from few
    yield from _logs(chance, scale * FULL_SCALE)
    yield from _bytes_that_hardly_compress(chance, scale * FULL_SCALE)


def write(place: Path, scale: float = 1.0, seed: int = 7) -> tuple[int, int]:
    """Write the archive; returns how many members it has and how many bytes they have."""
    count = content_bytes = 0
    with tarfile.open(place, "w:gz", compresslevel=1) as archive:
        for link in LINKS:
            entry = tarfile.TarInfo(f"{ROOT}/sys/class/net/{link}")
            entry.type, entry.linkname = tarfile.SYMTYPE, f"../../devices/pci0000:15/{PCI[link]}/net/{link}"
            archive.addfile(entry)
        for path, content in members(scale, seed):
            entry = tarfile.TarInfo(f"{ROOT}/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
            count += 1
            content_bytes += len(content)
    return count, content_bytes

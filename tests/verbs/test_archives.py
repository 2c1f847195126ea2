"""The whole way from a support archive to findings: facts of its machine, outputs by their commands, logs, and whose they are."""

import gzip
import io
import tarfile
from pathlib import Path

import wirespeed
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.facts.host import Sysctl
from wirespeed.model.facts.link import Counter
from wirespeed.model.finding import Finding
from wirespeed.model.progress import Update
from wirespeed.verbs import diagnose

LOG = "".join(
    f"Jan  5 1{hour}:00:0{second} node-a kernel: mlx5_core 0000:17:00.0 ens1f0np0: Link {state}\n"
    for hour in range(6)
    for second, state in ((1, "down"), (4, "up"))
)
COUNTERS = "NIC statistics:\n     rx_packets: 1\n     link_down_events_phy: 6\n"
NOTE = "we think the network drops packets and the cable is broken, nothing else changed\n"


def _sosreport(place: Path, **files: str) -> Path:
    with tarfile.open(place, "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(f"sosreport-node-a-2026-01-09-abcdefg/{name}")
            content = text.encode()
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return place


def _surest(path: Path) -> Finding:
    return wirespeed.diagnose(str(path)).findings[0]


def test_a_sosreport_is_diagnosed(tmp_path: Path) -> None:
    files = {
        "proc/sys/kernel/hostname": "node-a\n",
        "proc/sys/net/core/rmem_max": "212992\n",
        "sys/class/net/ens1f0np0/mtu": "9000\n",
        "sos_commands/networking/ethtool_-S_ens1f0np0": COUNTERS,
        "sos_commands/kernel/dmesg": "[    0.000000] Linux version 5.14.0\n",
        "var/log/messages": LOG,
        "var/log/notes": NOTE,
    }
    answer = wirespeed.diagnose(str(_sosreport(tmp_path / "sos.tar.gz", **files)))
    assert answer.findings[0].cause == "link-flapping"
    quoted = {quote.source.rpartition("abcdefg/")[2] for one in answer.findings[0].evidence for quote in one.quotes}
    assert quoted == {"var/log/messages", "sos_commands/networking/ethtool_-S_ens1f0np0"}
    assert [one.recognised_as for one in answer.inputs[:1]] == ["machine"]
    assert not any("prose" in (one.recognised_as, *one.also) for one in answer.inputs)


def test_counters_in_a_sosreport_belong_to_the_interface_of_the_files_name(tmp_path: Path) -> None:
    place = _sosreport(
        tmp_path / "sos.tar.gz", **{"sos_commands/networking/ethtool_-S_ens1f0np0": COUNTERS, "etc/hostname": "node-a\n"}
    )
    _, case = diagnose.examine(diagnose.Options(inputs=(str(place),)))
    counters = case.every(Counter)
    assert {(one.scope, one.host) for one in counters} == {("ens1f0np0", "node-a")}
    assert [(quote.line_index, quote.text) for quote in counters[-1].quotes] == [(2, "     link_down_events_phy: 6")]


def test_a_bug_report_is_diagnosed(tmp_path: Path) -> None:
    rule = "_" * 44
    text = (
        f"{rule}\n\nStart of NVIDIA bug report log file.\n\nDate: Fri Jan  9 12:00:00 UTC 2026\nuname: Linux node-a 5.15.0 x86_64\n\n"
        f"{rule}\n\ndmesg:\n\n[ 100.000000] NVRM: Xid (PCI:0000:17:00): 79, pid=1, GPU has fallen off the bus.\n\n"
        f"{rule}\n\n*** /proc/cmdline\n*** ls: -r--r--r-- 1 root root 0 2026 /proc/cmdline\nroot=/dev/sda1\n\n"
    )
    (tmp_path / "nvidia-bug-report.log.gz").write_bytes(gzip.compress(text.encode()))
    found = _surest(tmp_path / "nvidia-bug-report.log.gz")
    assert found.rule == "gpu_xid"
    assert found.evidence[0].quotes[0].source.endswith("nvidia-bug-report.log.gz!dmesg")


def test_the_same_tree_unpacked_gives_the_same_findings(tmp_path: Path) -> None:
    files = {"proc/sys/kernel/hostname": "node-a\n", "sys/class/net/ens1f0np0/mtu": "9000\n", "var/log/messages": LOG}
    packed = wirespeed.diagnose(str(_sosreport(tmp_path / "sos.tar.gz", **files)))
    for name, text in files.items():
        place = tmp_path / "unpacked" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    unpacked = wirespeed.diagnose(str(tmp_path / "unpacked"))
    assert [(one.cause, one.confidence_ratio) for one in packed.findings] == [
        (one.cause, one.confidence_ratio) for one in unpacked.findings
    ]


def test_a_saved_case_of_an_archive_holds_what_told_something_and_says_the_same(tmp_path: Path) -> None:
    noise = "".join(f"Jan  5 10:00:00 node-a app[{number}]: request {number:x} of pod-{number} done\n" for number in range(30_000))
    files = {
        "proc/sys/kernel/hostname": "node-a\n",
        "sos_commands/networking/ethtool_-S_ens1f0np0": COUNTERS,
        "var/log/messages": noise + LOG + noise,
        "var/log/telling-nothing": "x" * 1000 + "\n",
    }
    saved = tmp_path / "case.json"
    first = wirespeed.diagnose(str(_sosreport(tmp_path / "sos.tar.gz", **files)), save=str(saved))
    assert saved.stat().st_size < 200_000
    again = wirespeed.diagnose(str(saved))
    assert (again.findings[0].cause, again.findings[0].confidence_ratio) == (
        first.findings[0].cause,
        first.findings[0].confidence_ratio,
    )
    assert {Path(one.path.rpartition("!")[2]).name for one in again.inputs} >= {"messages", "ethtool_-S_ens1f0np0"}
    assert not any("telling-nothing" in one.path for one in again.inputs)


def test_the_machine_of_an_archive_is_inspected(tmp_path: Path) -> None:
    files = {"proc/sys/kernel/hostname": "node-a\n", "proc/sys/net/core/rmem_max": "212992\n", "sys/class/net/eth0/mtu": "9000\n"}
    answer = wirespeed.inspect(str(_sosreport(tmp_path / "sos.tar.gz", **files)), only=("sysctls",))
    assert answer.host == "node-a"
    assert [one.setting for group in answer.facts for one in group.records if isinstance(one, Sysctl)] == ["212992"]


def test_what_two_interfaces_print_alike_is_read_twice_and_copies_once(tmp_path: Path) -> None:
    files = {f"sos_commands/networking/ethtool_-S_eth{number}": COUNTERS for number in range(2)}
    files |= {f"var/log/messages-{number}": LOG for number in range(4)}
    place = _sosreport(tmp_path / "sos.tar.gz", **files)
    answer, case = diagnose.examine(diagnose.Options(inputs=(str(place),)))
    assert {one.scope for one in case.every(Counter)} == {"eth0", "eth1"}
    assert len(case.every(KernelEvent)) == 12
    assert "3 files say the same as others and were read once" in [one.why.en for one in answer.problems]


def test_facts_of_two_machines_are_quoted_in_their_archives(tmp_path: Path) -> None:
    for host in ("node-a", "node-b"):
        files = {"proc/sys/kernel/hostname": f"{host}\n", "proc/sys/net/core/rmem_max": "212992\n", "sys/x": "1\n"}
        _sosreport(tmp_path / f"{host}.tar.gz", **files)
    _, case = diagnose.examine(diagnose.Options(inputs=(str(tmp_path),)))
    found = {one.host: one.quotes[0].source for one in case.every(Sysctl, name="net.core.rmem_max")}
    start = "sosreport-node-a-2026-01-09-abcdefg/proc/sys/net/core/rmem_max"
    assert found == {host: f"{tmp_path}/{host}.tar.gz!{start}" for host in ("node-a", "node-b")}


def test_it_says_how_far_it_has_come(tmp_path: Path) -> None:
    heard: list[Update] = []
    files = {f"var/log/{number}": f"line {number}\n" * 100 for number in range(20)}
    diagnose.run(diagnose.Options(inputs=(str(_sosreport(tmp_path / "sos.tar.gz", **files)),)), heard.append)
    ratios = [one.done_ratio for one in heard if one.done_ratio is not None]
    assert len(ratios) == 20
    assert ratios == sorted(ratios)
    assert ratios[0] == 0.0
    assert 0.9 < ratios[-1] < 1.0
    assert heard[1].says.en.startswith("sos.tar.gz: 1 of 20 files, ")

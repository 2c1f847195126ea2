"""Texts that are many texts are cut; parts keep what printed them. Rebuilt after nvidia-bug-report.sh 390.48 and kubectl's clusterinfo_dump.go."""

import gzip
from pathlib import Path

from wirespeed.machines.opening import Found, open_inputs
from wirespeed.model.lines import Lines
from wirespeed.model.source import Problem

RULE = "_" * 44
REPORT = f"""{RULE}

Start of NVIDIA bug report log file.  Please include this file, along
with a detailed description of your problem, when reporting a graphics
driver bug via the NVIDIA Linux forum (see devtalk.nvidia.com)
or by sending email to 'linux-bugs@nvidia.com'.

nvidia-bug-report.sh Version: 23400452

Date: Fri Jan  9 12:00:00 UTC 2026
uname: Linux node-a 5.15.0-91-generic #101-Ubuntu SMP x86_64 GNU/Linux
command line flags:

{RULE}

*** /etc/issue
*** ls: -rw-r--r-- 1 root root 26 2025-08-02 12:00:00.000000000 +0000 /etc/issue
Ubuntu 22.04.5 LTS \\n \\l

{RULE}

/usr/bin/lspci -d "10de:*" -v -xxx

17:00.0 3D controller: NVIDIA Corporation GH100 (rev a1)

{RULE}

dmesg:

[ 1234.500000] NVRM: Xid (PCI:0000:17:00): 79, pid=1, GPU has fallen off the bus.

{RULE}

*** /proc/cmdline
*** ls: -r--r--r-- 1 root root 0 2026-01-09 12:00:00.000000000 +0000 /proc/cmdline
BOOT_IMAGE=/vmlinuz root=/dev/sda1 iommu=pt

{RULE}

*** /proc/pci does not exist

{RULE}

/usr/bin/nvidia-debugdump -D

TlZEQQ==

{RULE}

End of NVIDIA bug report log file.
"""
DUMP = """{
    "kind": "NodeList",
    "apiVersion": "v1",
    "items": []
}
{
    "kind": "PodList",
    "items": []
}
==== START logs for container coredns of pod kube-system/coredns-1 ====
[ERROR] plugin/errors: 2 example.com. A: read udp 192.0.2.1:1->192.0.2.53:53: i/o timeout
==== END logs for container coredns of pod kube-system/coredns-1 ====
==== START logs for container coredns of pod kube-system/coredns-1 ====
again
==== END logs for container coredns of pod kube-system/coredns-1 ====
"""


def parts(place: Path) -> tuple[list[Found], dict[str, Lines], list[Problem]]:
    items = list(open_inputs((str(place),)))
    texts = [one for one in items if not isinstance(one, Found | Problem)]
    return (
        [one for one in items if isinstance(one, Found)],
        {one.path.partition("!")[2]: one for one in texts},
        [one for one in items if isinstance(one, Problem)],
    )


def lines_of(text: Lines) -> list[str]:
    return [line for _, line in text if line]


def test_a_bug_report_is_cut_into_what_it_is_made_of(tmp_path: Path) -> None:
    (tmp_path / "nvidia-bug-report.log.gz").write_bytes(gzip.compress(REPORT.encode()))
    found, texts, problems = parts(tmp_path / "nvidia-bug-report.log.gz")
    assert [one.machine.host for one in found] == ["node-a"]
    assert found[0].machine.read("/proc/cmdline").decode().startswith("BOOT_IMAGE")
    lspci = texts['/usr/bin/lspci -d "10de:*" -v -xxx']
    assert lspci.origin.command == '/usr/bin/lspci -d "10de:*" -v -xxx'
    assert lspci.origin.host == "node-a"
    assert lines_of(lspci) == ["17:00.0 3D controller: NVIDIA Corporation GH100 (rev a1)"]
    assert texts["dmesg"].origin.command == "dmesg"
    assert lines_of(texts["dmesg"])[0].startswith("[ 1234.5")
    assert lines_of(texts["etc/issue"]) == ["Ubuntu 22.04.5 LTS \\n \\l"]
    assert texts["etc/issue"].origin.command is None
    assert not any("debugdump" in name for name in texts)
    assert [one.why.en for one in problems] == ["1 dumps that only the maker can decode were not read"]


def test_a_report_that_is_cut_or_odd_is_still_read(tmp_path: Path) -> None:
    for at in (len(RULE) + 60, 700, 900, 1100, len(REPORT) - 20):
        (tmp_path / "report.log").write_text(REPORT[:at])
        _, texts, _ = parts(tmp_path / "report.log")
        assert texts
    (tmp_path / "report.log").write_bytes(REPORT.replace("\n", "\r\n").encode())
    _, texts, _ = parts(tmp_path / "report.log")
    assert lines_of(texts["dmesg"])[0].startswith("[ 1234.5")
    (tmp_path / "report.log").write_text(f"{RULE}\n\nStart of NVIDIA bug report log file.\n" + f"{RULE}\n" * 3)
    assert parts(tmp_path / "report.log")[1]


def test_a_dump_of_a_cluster_is_cut_at_its_logs(tmp_path: Path) -> None:
    (tmp_path / "dump").write_text(DUMP)
    found, texts, _ = parts(tmp_path / "dump")
    assert not found
    assert list(texts) == ["objects", "logs kube-system/coredns-1/coredns", "logs kube-system/coredns-1/coredns (2)"]
    assert lines_of(texts["logs kube-system/coredns-1/coredns"])[0].startswith("[ERROR] plugin/errors")
    assert lines_of(texts["logs kube-system/coredns-1/coredns (2)"]) == ["again"]
    assert all(one.origin.is_collected for one in texts.values())


def test_a_text_that_merely_tells_of_a_report_is_one_text(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("It says: Start of NVIDIA bug report log file\nand nothing else\n")
    _, texts, _ = parts(tmp_path / "note")
    assert list(texts) == [""]

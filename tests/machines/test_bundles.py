"""Support archives: whose they are, what printed each file, and that a hostile one does no harm. Contents are synthetic."""

import gzip
import io
import lzma
import os
import tarfile
from pathlib import Path

import pytest

from wirespeed.machines import archives, bundles, opening
from wirespeed.machines.bundles import command_of, roots_of
from wirespeed.machines.captured import MOST_LINKS
from wirespeed.machines.machine import MachineProblem
from wirespeed.machines.opening import Found, open_inputs
from wirespeed.model.lines import Lines
from wirespeed.model.source import Problem

SOS = {
    "proc/sys/kernel/hostname": "node-a\n",
    "proc/meminfo": "MemTotal:       1000 kB\n",
    "proc/1234/status": "Name:\tpython\n",
    "proc/net/bonding/bond0": "Ethernet Channel Bonding Driver: v5.14\n",
    "sys/devices/pci0000:00/0000:17:00.0/net/eth0/mtu": "9000\n",
    "sys/module/nothing/refcnt": "0\n",
    "etc/hostname": "node-a\n",
    "etc/nccl.conf": "NCCL_SOCKET_IFNAME=eth0\n",
    "sos_commands/networking/ethtool_-S_eth0": "NIC statistics:\n     link_down_events_phy: 3\n",
    "sos_logs/sos.log": "2026-01-09 12:00:00,000 INFO: collecting\n",
}
LINKS = {"sys/class/net/eth0": "../../devices/pci0000:00/0000:17:00.0/net/eth0"}
Packed = tuple[list[Found], dict[str, Lines], list[Problem]]


def opened(*places: Path) -> Packed:
    items = list(open_inputs(tuple(str(place) for place in places)))
    return (
        [one for one in items if isinstance(one, Found)],
        {one.path.rpartition("!")[2]: one for one in items if not isinstance(one, Found | Problem)},
        [one for one in items if isinstance(one, Problem)],
    )


def tar_of(
    place: Path, files: dict[str, str], links: dict[str, str] | None = None, root: str = "sosreport-node-a-2026-01-09-abcdefg"
) -> Path:
    start = f"{root}/" if root else ""
    with tarfile.open(place, "w:xz") as archive:
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(start + name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
        for name, text in files.items():
            info = tarfile.TarInfo(start + name)
            content = text.encode()
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return place


def lay_out(root: Path, files: dict[str, str], links: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name, target in links.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(target)
    return root


@pytest.fixture(params=["tar", "tar without a folder", "folder", "folder in a folder"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The same sosreport in every form it is sent in."""
    if request.param == "tar":
        return tar_of(tmp_path / "sos.tar.xz", SOS, LINKS)
    if request.param == "tar without a folder":
        return tar_of(tmp_path / "sos.tar.xz", SOS, LINKS, root="")
    folder = tmp_path / "sent" / "deeper" if request.param == "folder in a folder" else tmp_path / "sent"
    lay_out(folder, SOS, LINKS)
    return tmp_path / "sent"


def test_its_machine_answers_as_a_copied_one(place: Path) -> None:
    ((found,), _, _) = opened(place)
    assert found.machine.host == "node-a"
    assert found.machine.read("/proc/meminfo") == b"MemTotal:       1000 kB\n"
    assert found.machine.listing("/sys/class/net") == ("eth0",)
    assert found.machine.read("/sys/class/net/eth0/mtu") == b"9000\n"
    assert found.machine.link("/sys/class/net/eth0").endswith("net/eth0")
    with pytest.raises(MachineProblem) as absent:
        found.machine.read("/proc/cmdline")
    assert absent.value.reason == "absent"
    with pytest.raises(MachineProblem) as unknown:
        found.machine.listing("/dev/infiniband")
    assert unknown.value.reason == "unsupported"


def test_its_texts_know_their_host_and_command(place: Path) -> None:
    _, texts, _ = opened(place)
    by_end = {name.rpartition("/")[2]: one for name, one in texts.items()}
    assert by_end["ethtool_-S_eth0"].origin.command == "ethtool -S eth0"
    assert {one.origin.host for one in texts.values()} == {"node-a"}
    assert all(one.origin.is_collected for one in texts.values())
    assert by_end["bond0"].origin.command is None


def test_what_tells_nothing_is_left_out_and_counted(place: Path) -> None:
    _, texts, problems = opened(place)
    names = {name.rpartition("/")[2] for name in texts}
    assert names == {"hostname", "meminfo", "bond0", "nccl.conf", "ethtool_-S_eth0"}
    told = [one.why.en for one in problems]
    assert "1 files of single processes under /proc were not read" in told
    assert any(one.endswith("about the gathering itself were not read") for one in told)
    assert any("of /sys and /proc/sys that no collector asks for" in one for one in told)
    assert not any("links" in one for one in told)


def test_files_whose_facts_were_taken_are_not_read_again(place: Path) -> None:
    names = []
    for item in open_inputs((str(place),)):
        if isinstance(item, Found):
            item.machine.read("/proc/meminfo")
            item.machine.read("/sys/class/net/eth0/mtu")
        elif not isinstance(item, Problem):
            names.append(item.path.rpartition("/")[2])
    assert "meminfo" not in names
    assert "bond0" in names


def test_other_network_namespaces_are_left_out(tmp_path: Path) -> None:
    files = SOS | {"sos_commands/networking/namespaces/cni-1/ip_netns_exec_cni-1_ip_-d_address_show": "2: eth0: mtu 1450\n"}
    _, texts, problems = opened(tar_of(tmp_path / "sos.tar.xz", files))
    assert not any("namespaces" in name for name in texts)
    assert any(one.why.en.startswith("1 outputs of other network namespaces") for one in problems)


def test_a_snapshot_names_the_command_above_each_output(tmp_path: Path) -> None:
    files = {
        "commands_txt_output/ethtool_S_eth0.txt": "Invoked Command: ethtool -S eth0\nNIC statistics:\n     rx_packets: 1\n",
        "commands_txt_output/other.txt": "no command here\n",
    }
    _, texts, _ = opened(tar_of(tmp_path / "snap.tgz", files, root="sysinfo-snapshot-v3.7.9-node-e-20260109-1201"))
    assert [one.origin.command for one in texts.values()] == ["ethtool -S eth0", None]


def test_an_archive_in_a_gathered_tree_is_of_its_machine(tmp_path: Path) -> None:
    inner = tar_of(tmp_path / "inner.tar.xz", {"some/log": "text\n"}, root="").read_bytes()
    outer = tmp_path / "sos.tar"
    with tarfile.open(outer, "w") as archive:
        for name, content in (("etc/hostname", b"node-a\n"), ("sos_commands/a/b", b"x\n"), ("var/log/old.tar.xz", inner)):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    _, texts, _ = opened(outer)
    assert texts["some/log"].origin.host == "node-a"
    assert texts["some/log"].origin.is_collected
    assert texts["some/log"].origin.command is None


def test_two_hosts_are_kept_apart(tmp_path: Path) -> None:
    other = SOS | {"proc/sys/kernel/hostname": "node-b\n"}
    tar_of(tmp_path / "a.tar.xz", SOS, LINKS)
    tar_of(tmp_path / "b.tar.xz", other, LINKS, root="sosreport-node-b-2026-01-09-bcdefgh")
    lay_out(tmp_path / "c", SOS | {"proc/sys/kernel/hostname": "node-c\n"}, LINKS)
    found, texts, _ = opened(tmp_path)
    assert sorted(one.machine.host or "" for one in found) == ["node-a", "node-b", "node-c"]
    assert {one.origin.host for name, one in texts.items() if name.endswith("ethtool_-S_eth0")} == {"node-a", "node-b", "node-c"}


@pytest.mark.parametrize(
    ("root", "files", "host"),
    [
        ("sosreport-host0-2026-01-09-abcdefg-obfuscated", {"sos_commands/x/date": "x"}, "host0"),
        ("sosreport-gpu-node-7-01234567-2026-01-09-abcdefg", {"sos_commands/x/date": "x"}, "gpu-node-7"),
        ("sosreport-x", {"sos_commands/host/hostname": "node-d\n"}, "node-d"),
        ("sosreport-x", {"sos_commands/host/hostname": "\n"}, None),
        ("sysinfo-snapshot-v3.7.9-node-e-20260109-1201", {"commands_txt_output/hostname.txt": "x"}, "node-e"),
        ("anything", {"sos_commands/a/b": "x", "etc/hostname": "node-f\n"}, "node-f"),
    ],
)
def test_the_host_by_whatever_names_it(tmp_path: Path, root: str, files: dict[str, str], host: str | None) -> None:
    _, texts, _ = opened(tar_of(tmp_path / "some.tar.xz", files, root=root))
    assert {one.origin.host for one in texts.values()} == {host}


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("ethtool_-S_ens1f0np0", "ethtool -S ens1f0np0"),
        ("ip_-s_-d_link", "ip -s -d link"),
        ("ibv_devinfo_-v", "ibv_devinfo -v"),
        ("nvidia-smi_-q_-d_ECC", "nvidia-smi -q -d ECC"),
        ("journalctl_--no-pager_--boot_-1", "journalctl --no-pager --boot -1"),
        ("ip_netns_exec_ns1_ip_-d_address_show", "ip netns exec ns1 ip -d address show"),
    ],
)
def test_the_command_by_the_name_of_its_file(name: str, command: str) -> None:
    assert command_of(name) == command


def test_roots() -> None:
    names = [
        "a/sos_commands/x/y",
        "a/deep/proc/1",
        "a/deep/sys/1",
        "b/proc/1",
        "b/etc/x",
        "c/d/e/f/sos_commands/x",
        "g/nodes.json",
        "g/kube-system/pods.json",
    ]
    assert roots_of(names) == {"a": "sos", "g": "cluster"}
    assert roots_of(["proc/1", "sys/1"]) == {"": "copy"}
    assert roots_of(["tmp/ibdiagnet2/ibdiagnet2.log", "tmp/ibdiagnet2/ibdiagnet2.pm"]) == {"tmp/ibdiagnet2": "fabric"}
    assert roots_of(["x/cluster-scoped-resources/a", "x/namespaces/b"]) == {"x": "cluster"}
    assert roots_of([]) == {}


# --- archives made to harm ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "links",
    [
        {"sys/class/net": "../../sys/class/net"},
        {"sys/a": "b", "sys/b": "a", "sys/class": "a"},
        {f"sys/l{at}": f"l{at + 1}" for at in range(MOST_LINKS + 5)} | {"sys/class": "l0"},
        {"sys/class/net": "../../../../../../etc"},
        {"proc/sys": "/"},
        {"sys/class/net": "/" + "x/" * 3000},
    ],
    ids=["to itself", "in a circle", "too many", "out", "to the root", "long"],
)
def test_links_made_to_harm(tmp_path: Path, links: dict[str, str]) -> None:
    (tmp_path / "outside").write_text("secret\n")
    ((found,), _, _) = opened(
        tar_of(tmp_path / "bad.tar.xz", {"proc/version": "x\n", "sys/y": "1\n", "etc/passwd": "root\n"}, links)
    )
    for path in ("/sys/class/net", "/sys/class/net/eth0/mtu", "/proc/sys/kernel/hostname", "/sys/../../../etc/shadow"):
        for ask in (found.machine.read, found.machine.listing):
            try:
                answer = ask(path)
            except MachineProblem:
                continue
            assert answer in (("passwd",), (), ("y",), ("version",)), path


def test_a_file_where_a_directory_should_be(tmp_path: Path) -> None:
    files = {
        "proc": "x\n",
        "sys/class": "y\n",
        "sos_commands/networking/ethtool_eth0": "Speed: 1000Mb/s\n",
        "sos_commands/networking": "z\n",
    }
    _, texts, _ = opened(tar_of(tmp_path / "odd.tar.xz", files))
    assert {name.rpartition("/")[2] for name in texts} == {"proc", "ethtool_eth0", "networking"}


def test_members_that_stand_twice_count_as_the_last(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "twice.tar", "w") as archive:
        for text in ("first\n", "second\n"):
            info = tarfile.TarInfo("./a/log")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
        info = tarfile.TarInfo("a//log2")
        archive.addfile(info)
    _, texts, problems = opened(tmp_path / "twice.tar")
    assert next(line for _, line in texts["./a/log"]) == "second"
    assert ["further on" in one.why.en for one in problems] == [True]


def test_a_name_that_is_no_utf8(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "odd.tar", "w", encoding="utf-8", errors="surrogateescape") as archive:
        info = tarfile.TarInfo(os.fsdecode(b"sos_commands/x/log_\xff\xfe"))
        info.size = 5
        archive.addfile(info, io.BytesIO(b"text\n"))
    _, texts, _ = opened(tmp_path / "odd.tar")
    (only,) = texts.values()
    assert only.path.endswith("log_??")
    assert only.origin.command is not None
    only.origin.command.encode("utf-8", "surrogateescape")


def test_a_member_that_is_cut_gives_what_is_there(tmp_path: Path) -> None:
    whole = tar_of(tmp_path / "x.tar.xz", {"proc/a": "1\n" * 2_000, "sys/b": "2\n"})
    content = lzma.decompress(whole.read_bytes())
    (tmp_path / "cut.tar").write_bytes(content[:2_000])
    _, texts, problems = opened(tmp_path / "cut.tar")
    ((_, first), *_) = next(iter(texts.values()))
    assert first == "1"
    assert any("cut short" in one.why.en for one in problems)


def test_a_bomb_among_the_members_costs_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "RATIO_COUNTS_FROM_BYTES", 1_000_000)
    tar = tmp_path / "sos.tar"
    with tarfile.open(tar, "w") as archive:
        for name, content in (("sos_commands/a/b", b"text\n"), ("var/log/messages-1.gz", gzip.compress(bytes(5_000_000)))):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    _, texts, problems = opened(tar)
    assert list(texts) == ["sos_commands/a/b"]
    assert "times its size" in problems[0].why.en


def test_a_great_many_members_are_listed_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "Budget", lambda: archives.Budget(left_members=20))
    files = {f"proc/{at}/stat": "1\n" for at in range(50)}
    _, texts, problems = opened(tar_of(tmp_path / "many.tar.xz", files | {"sys/x": "1\n"}))
    assert len(texts) <= 20
    assert any("left out" in one.why.en for one in problems)


def test_a_deep_folder_is_not_searched_for_roots(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*"abcdefgh")
    lay_out(deep, SOS, {})
    assert bundles.bundles_below(tmp_path) == ()

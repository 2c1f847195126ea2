"""Make a lab: check what is needed, start its guard, and write down where it is."""

import contextlib
import errno
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from wirespeed.emulation import groups, topology
from wirespeed.emulation.hands import Hands
from wirespeed.emulation.keeper import KNOWN, MOST_MESSAGE_BYTES, Mandate, Report
from wirespeed.emulation.lab import Lab, named
from wirespeed.emulation.state import (
    DEFAULT_NAME,
    LOG_NAME,
    Guard,
    LabState,
    lab_directory,
    locked,
    make_directory,
    read_state,
    root_directory,
    started_count,
    write_state,
)
from wirespeed.emulation.topology import Spec
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.text import Text

NEEDED_PROGRAMS = {"ip": "iproute2", "tc": "iproute2", "nsenter": "util-linux"}
DEFAULT_LIFETIME_S = 8 * 3600.0
UP_PATIENCE_S = 30.0
_FORBIDDEN = frozenset({errno.EPERM, errno.EACCES, errno.ENOSPC, errno.EUSERS})
"""How a kernel refuses namespaces: no right to them, or none left (user.max_*_namespaces)."""


def up(spec: Spec, keeper_module: str, *, name: str = DEFAULT_NAME, lifetime_s: float = DEFAULT_LIFETIME_S) -> Lab:
    """Make a lab and return when every link is up.

    `keeper_module` is run as a program with the channel's descriptor as its argument; it must call `keeper.guard`.
    Raises BadRequest for a drawing that makes no sense, CouldNot where the machine does not permit it or the lab exists.
    """
    _check(spec, lifetime_s)
    missing = next((program for program in NEEDED_PROGRAMS if shutil.which(program) is None), None)
    if missing is not None:
        package = NEEDED_PROGRAMS[missing]
        raise CouldNot(
            Text(
                en=f"the program {missing} is missing; install the package {package}",
                zh=f"缺少程序 {missing}；请安装软件包 {package}",
            )
        )
    with locked(root_directory()):
        directory = lab_directory(name)
        if read_state(directory) is not None:
            raise CouldNot(
                Text(
                    en=f"the lab {name} is up already; end it with `wirespeed lab down{named(name)}`, or give another --name",
                    zh=f"实验室 {name} 已在运行；请用 `wirespeed lab down{named(name)}` 结束它，或另取 --name",
                )
            )
        groups.remove_all(directory)
        make_directory(name)
        is_up = False
        try:
            lab = _founded(directory, name, spec, keeper_module, lifetime_s)
            is_up = True
            return lab
        finally:
            if not is_up:
                shutil.rmtree(directory, ignore_errors=True)


def _check(spec: Spec, lifetime_s: float) -> None:
    def refuse(en: str, zh: str) -> None:
        raise BadRequest(Text(en=en, zh=zh))

    if not 1 <= spec.leaves_count <= topology.MOST_LEAVES:
        refuse(f"--leaves is 1 to {topology.MOST_LEAVES}", f"--leaves 取 1 到 {topology.MOST_LEAVES}")
    if not 1 <= spec.spines_count <= topology.MOST_SPINES:
        refuse(f"--spines is 1 to {topology.MOST_SPINES}", f"--spines 取 1 到 {topology.MOST_SPINES}")
    if not max(2, spec.leaves_count) <= spec.hosts_count <= topology.MOST_HOSTS:
        refuse(
            f"--hosts is at least two, at least one a leaf, and at most {topology.MOST_HOSTS}",
            f"--hosts 至少两台、每个叶交换机至少一台，至多 {topology.MOST_HOSTS} 台",
        )
    if not all(1e6 <= rate <= 100e9 for rate in (spec.host_rate_bits_per_s, spec.uplink_rate_bits_per_s)):
        refuse("a link's rate is 1 to 100,000 Mbit/s", "链路速率取 1 到 100,000 Mbit/s")
    if not 0 <= spec.delay_s <= 1 or not 0 <= spec.loss_ratio < 1:
        refuse("a delay is 0 to 1 s, and a loss below 1", "时延取 0 到 1 秒，丢包率小于 1")
    if not 1 <= lifetime_s <= 7 * 86400:
        refuse("--for is 1 s to 7 days", "--for 取 1 秒到 7 天")


def _founded(directory: Path, name: str, spec: Spec, keeper_module: str, lifetime_s: float) -> Lab:
    drawing = topology.drawn(spec)
    for place in drawing.places:
        (directory / place.name).mkdir()
        (directory / place.name / "hosts").write_text(topology.hosts_file(drawing, place.name), encoding="utf-8")
        (directory / place.name / "resolv.conf").write_text(topology.RESOLVER_FILE, encoding="utf-8")
    mandate = Mandate(directory=str(directory), drawing=drawing, lifetime_s=lifetime_s)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            ours.sendall(msgspec.json.encode(mandate))
            _start_guard(keeper_module, theirs, directory)
        ours.settimeout(UP_PATIENCE_S)
        try:
            said = ours.recv(MOST_MESSAGE_BYTES)
        except TimeoutError:
            said = b""
        report = msgspec.json.decode(said, type=Report) if said else Report(error="the keeper ended")
        guard = Guard(pid=report.pid, started_count=started_count(report.pid) or 0)
        if report.error is not None:
            raise _not_founded(report, directory)
        now_s = time.time()
        state = LabState(
            name=name,
            created_at_s=now_s,
            ends_at_s=now_s + lifetime_s,
            guard=guard,
            is_in_user_namespace=report.is_in_user_namespace,
            drawing=drawing,
            pids=report.pids,
        )
        lab = Lab(directory, state)
        if spec.delay_s or spec.loss_ratio:
            lab = _with_long_links(lab, spec)
        write_state(directory, lab.state)
        ours.sendall(KNOWN)
    return lab


def _with_long_links(lab: Lab, spec: Spec) -> Lab:
    """The same lab with delay and loss on every host's link; these belong to the lab, so no way back is kept."""
    hands = Hands(lab, lambda undo: None, "lab")
    wires = {}
    for number, host in enumerate(lab.hosts):
        inner = hands.far(host.name, spec.delay_s, spec.loss_ratio, number)
        if inner is not None:
            wires[host.name] = inner
    return Lab(lab.directory, msgspec.structs.replace(lab.state, wires=wires))


def _not_founded(report: Report, directory: Path) -> CouldNot:
    """Why there is no lab, and what would permit it."""
    if report.error_code in _FORBIDDEN:
        return CouldNot(
            Text(
                en="this kernel does not permit namespaces here: run as root, or allow user namespaces (sysctl user.max_user_namespaces "
                "above 0, kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, where they exist); "
                f"it said: {report.error}",
                zh="此处内核不允许创建命名空间：请以 root 运行，或允许用户命名空间（sysctl user.max_user_namespaces 大于 0、"
                "kernel.unprivileged_userns_clone=1、kernel.apparmor_restrict_unprivileged_userns=0，以系统实有者为准）；"
                f"内核提示：{report.error}",
            )
        )
    with contextlib.suppress(OSError):
        last = (directory / LOG_NAME).read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        said = "; ".join(filter(None, (report.error, *last)))
        return CouldNot(Text(en=f"the lab could not be made: {said}", zh=f"无法建立实验室：{said}"))
    return CouldNot(Text(en=f"the lab could not be made: {report.error}", zh=f"无法建立实验室：{report.error}"))


def _start_guard(keeper_module: str, channel: socket.socket, directory: Path) -> None:
    package_root = str(Path(__file__).parents[2])
    search = os.pathsep.join(filter(None, (package_root, os.environ.get("PYTHONPATH"))))
    with (directory / LOG_NAME).open("wb") as log:
        subprocess.run(  # noqa: S603 - our own interpreter
            (sys.executable, "-P", "-m", keeper_module, str(channel.fileno())),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(channel.fileno(),),
            env={**os.environ, "PYTHONPATH": search},
            cwd="/",
            check=False,
        )

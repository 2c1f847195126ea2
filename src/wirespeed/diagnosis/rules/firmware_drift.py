"""One machine carries another firmware, driver or setting than its peers."""

from collections import Counter as Tally
from collections.abc import Iterator

from wirespeed.diagnosis.rules._pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.facts.link import Link
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import STRONG, Change, Check, LookAlike, Value, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.text import Text

LEAST_HOSTS = 3
"""Below three machines there is no majority to differ from."""


def _judge(case: Case) -> Verdict:
    odd = tuple(_odd(case))
    values: dict[str, Value] = {"hosts": ", ".join(sorted({one.host or "?" for one in odd})) or "HOST"}
    return Verdict(evidence=piece(_DIFFERS, STRONG, odd), values=values)


def _odd(case: Case) -> Iterator[Record]:
    """Records whose firmware or driver differs from the majority of the same model over the hosts."""
    groups: dict[tuple[str, str], list[tuple[str, Record]]] = {}
    for port in case.every(RdmaPort, lambda one: one.firmware is not None and one.host is not None):
        groups.setdefault(("firmware", port.board or ""), []).append((port.firmware or "", port))
    for link in case.every(Link, lambda one: one.firmware is not None and one.host is not None):
        groups.setdefault((link.driver or "", link.driver or ""), []).append((f"{link.firmware} {link.driver_version}", link))
    for group in groups.values():
        hosts = {record.host for _, record in group}
        usual, count = Tally(version for version, _ in group).most_common(1)[0]
        if len(hosts) >= LEAST_HOSTS and count > len(group) / 2:
            yield from (record for version, record in group if version != usual)


_DIFFERS = Text(en="firmware or driver differs from the majority of the same model", zh="固件或驱动与同型号多数不同")

RULE = Rule(
    cause="configuration-drift",
    title=Text(en="A machine differs from its peers", zh="有机器与同类不同"),
    summary=Text(
        en="NIC firmware or driver on {hosts} is not what the other machines of the same model run. Long jobs then fail on that machine first.",
        zh="{hosts} 的网卡固件或驱动与同型号其他机器不同；长任务往往先在该机器上失败。",
    ),
    needs=(
        (wants(RdmaPort, lambda one: one.firmware is not None and one.host is not None),),
        (wants(Link, lambda one: one.firmware is not None and one.host is not None),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Uneven upgrades leave one host behind; boards of another id may rightly differ, so they are compared within their model.",
            zh="升级不齐会落下某台主机；不同板卡编号可以不同，因此只在同型号内比较。",
        ),
        shows=Text(
            en="ethtool -i or ibv_devinfo fw_ver differs from the majority.", zh="ethtool -i 或 ibv_devinfo fw_ver 与多数不同。"
        ),
        sources=("AMD-AGI/Primus#712 (majority and outliers)", "facebookresearch/gcm"),
    ),
    told_apart_from=(
        LookAlike(
            cause="version-mismatch",
            because=Text(
                en="there software that must talk to each other disagrees; here one host is merely different",
                zh="彼处须互通的软件不兼容；此处只是某台不同",
            ),
        ),
    ),
    changes=(Change(what=Text(en="Align the odd machine in a maintenance window", zh="在维护窗口对齐该机器")),),
    checks=(
        Check(
            what=Text(en="One value in every group", zh="每组只有一个值"),
            commands=("ethtool -i IFACE", "ibv_devinfo | grep -E 'fw_ver|board_id'"),
        ),
    ),
    gain=Text(en="Removes one reason for sporadic failures", zh="消除偶发故障的一个原因"),
    severity="low",
)

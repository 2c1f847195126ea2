"""Some ranks load a network plugin and others use NCCL's own transport, or another plugin."""

from wirespeed.diagnosis.joins.cluster import host_of
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclNetwork, NcclPlugin
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text


def _judge(case: Case) -> Verdict:
    networks = _one_a_choice(tuple((one.name, one) for one in case.every(NcclNetwork)))
    plugins = _one_a_choice(tuple((one.name or "none", one) for one in case.every(NcclPlugin)))
    stands_mixed = case.said("groups-do-not-mix")
    evidence = (
        *piece(_NETWORKS, STRONG + SLIGHT, networks),
        *piece(_PLUGINS, FAIR, plugins),
        *piece(_GROUPS, FAIR, stands_mixed if networks or plugins or case.said("plugin-differs") else ()),
        *piece(_SAID, FAIR + SLIGHT, case.said("plugin-differs")),
    )
    return Verdict(evidence=evidence)


def _one_a_choice(found: tuple[tuple[str, Record], ...]) -> tuple[Record, ...]:
    """One record of each choice, when hosts made different ones; two choices of one process are attempts, not a mismatch."""
    by_host: dict[str, dict[str, Record]] = {}
    for name, record in found:
        by_host.setdefault(host_of(record) or "", {})[name] = record
    choices = {next(iter(chosen)): next(iter(chosen.values())) for host, chosen in by_host.items() if host and len(chosen) == 1}
    return tuple(choices.values()) if len(choices) > 1 else ()


_NETWORKS = Text(en="hosts of one job chose different networks", zh="同一作业的主机选择了不同网络")
_PLUGINS = Text(en="the plugin is loaded on some hosts only", zh="仅部分主机加载了插件")
_GROUPS = Text(en="each group of hosts works by itself, mixed they fail", zh="每组主机各自正常，混用则失败")
_SAID = Text(en="the network plugin differs between the hosts", zh="各主机的网络插件不同")

RULE = Rule(
    cause="nccl-plugin-mismatch",
    title=Text(en="Ranks use different NCCL network plugins", zh="各 rank 使用不同的 NCCL 网络插件"),
    summary=Text(
        en="Two plugins do not speak the same set-up on the wire, so mixed groups hang although each half works alone.",
        zh="两种插件建立连接的方式不同，混合的组会挂起，而各半独立运行正常。",
    ),
    needs=((NcclNetwork,), (NcclPlugin,), (Statement,)),
    silence_needs=((wants(NcclNetwork, hosts_count=2),), (wants(NcclPlugin, hosts_count=2),)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="NCCL takes whatever libnccl-net.so the loader finds; images or hosts that differ in HPC-X or OFI plugins choose differently.",
            zh="NCCL 使用加载器找到的 libnccl-net.so；HPC-X 或 OFI 插件不同的镜像或主机会作出不同选择。",
        ),
        shows=Text(
            en="Using network IB on some hosts and IBext_v8 on others; a hang without an error in mixed groups only.",
            zh="部分主机 Using network IB，另一部分 IBext_v8；仅混合时无报错挂起。",
        ),
        sources=(
            "NVIDIA/nccl#1634",
            "NCCL user guide: NCCL_NET_PLUGIN",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="version-mismatch",
            because=Text(en="there the plugin is the same and a library version differs", zh="彼处插件相同，库版本不同"),
        ),
        LookAlike(
            cause="nccl-wrong-hca",
            because=Text(en="there the network is the same and the devices differ", zh="彼处网络相同，设备不同"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Use the same plugin on all hosts, or none", zh="所有主机使用同一插件，或都不用"),
            commands=("export NCCL_NET_PLUGIN=none",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="One line of choice for all hosts", zh="所有主机选择一致"),
            commands=("NCCL_DEBUG=INFO ... 2>&1 | grep -o 'Using network .*' | sort | uniq -c",),
        ),
    ),
    gain=Text(en="The job no longer hangs", zh="作业不再挂起"),
    severity="high",
    explains=(
        "version-mismatch",
        "collective-timeout-too-short",
        "ib-disabled-socket-fallback",
    ),
)

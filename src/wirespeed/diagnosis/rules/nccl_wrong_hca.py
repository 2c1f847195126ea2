"""Wrong, too few or mismatching RDMA devices are used."""

import re

from wirespeed.diagnosis.joins.cluster import IpAddress, address_of, host_of, in_one_network, rdma_ports_active, variables
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclChannel, NcclHca, NcclWarning
from wirespeed.model.facts.gpu import DevicePath
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.facts.path import Address
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_NIC = re.compile(r"(?:mlx|bnxt_re|irdma|rocep|ibp|hns_|NIC)\w*\d")


def _judge(case: Case) -> Verdict:
    listed = variables(case, "NCCL_IB_HCA")
    timed_out = case.every(NcclWarning, lambda one: one.topic == "modify-qp-failed" and one.status_code in (110, 101, 113))
    not_opened = case.every(NcclWarning, lambda one: "unable to open device" in one.message.lower())
    if len({one.message for one in not_opened}) > 1 and not case.first(NcclHca, lambda one: one.device is not None):
        not_opened = ()  # none can be opened: the device files are missing, and another choice would not help
    no_match = case.every(NcclHca, device=None) if listed and rdma_ports_active(case) else ()
    evidence = (
        *piece(_MISMATCH, PROVES, case.every(NcclWarning, topic="device-mismatch")),
        *piece(_COUNTS, STRONG, _unequal_counts(case)),
        *piece(_APART, STRONG, _ports_in_different_networks(case)),
        *piece(_ONE_OF_LIST, FAIR, timed_out if any("," in (one.setting or "") for one in listed) else ()),
        *piece(_NO_MATCH, STRONG, (*listed, *no_match) if no_match else ()),
        *piece(_FEW, STRONG, _fewer_than_present(case) or _fewer_than_named(case) or _fewer_than_near(case)),
        *piece(_SHARED, STRONG, _shared_on_one_host(case)),
        *piece(_UNEQUAL, STRONG, _unequal_rates(case)),
        *piece(_UNCHECKED, STRONG, variables(case, "NCCL_IGNORE_NET_MISMATCH")),
        *piece(_NOT_OPENED, FAIR, not_opened),
        *piece(_MIXED, FAIR, _mixed_layers(case)),
        *piece(_PREFIX, STRONG, _more_than_named(case)),
        *piece(_NAMES, STRONG, _names_absent_device(case)),
        *piece(_SAID, FAIR + SLIGHT, case.said("hca-wrong")),
        *piece(_HELPS, STRONG, case.said("hca-choice-helps")),
    )
    return Verdict(evidence=evidence)


def _unequal_counts(case: Case) -> tuple[Record, ...]:
    """Hosts that list different numbers of adapters."""
    by_host: dict[str, dict[str, NcclHca]] = {}
    for one in case.every(NcclHca, lambda one: one.device is not None):
        by_host.setdefault(host_of(one) or "", {})[f"{one.device}:{one.port}"] = one
    counts = {host: len(found) for host, found in by_host.items() if host}
    if len(set(counts.values())) < 2:
        return ()
    return tuple(next(iter(found.values())) for found in by_host.values())


def _ports_in_different_networks(case: Case) -> tuple[Record, ...]:
    """Addresses of RDMA interfaces, one host against another, that share no network although others do."""
    named = re.compile(r"(?i)^(?:roce|mlx|ib\d|rdma|bnxt_re|irdma|rocep|enp.*np\d)")
    placed = [(one, found) for one in case.every(Address) if named.match(one.link) and (found := address_of(one.address))]
    if len({host_of(one) for one, _ in placed}) < 2:
        return ()
    lonely = [one for one, found in placed if not any(_meets(one, found, other, far) for other, far in placed)]
    return tuple(lonely) if 0 < len(lonely) < len(placed) else ()


def _meets(one: Address, found: IpAddress, other: Address, far: IpAddress) -> bool:
    if host_of(one) == host_of(other) or found.is_link_local:
        return False
    return in_one_network(found, far, one.prefix_length_number or (24 if found.version == 4 else 64))


def _fewer_than_present(case: Case) -> tuple[Record, ...]:
    """NCCL uses at most half of the active ports of one link layer and rate."""
    used = {one.device for one in case.every(NcclHca) if one.device} or _named_exactly(case)
    active = rdma_ports_active(case)
    fastest = max((one.link_rate_bits_per_s or 0.0 for one in active), default=0.0)
    alike = {one.device for one in active if (one.link_rate_bits_per_s or 0.0) == fastest}
    if used and used <= {one.device for one in active} and len(used & alike) * 2 <= len(alike):
        return (*(case.every(NcclHca)[:1] or variables(case, "NCCL_IB_HCA")[:1]), *active)
    return ()


def _named_exactly(case: Case) -> set[str]:
    """Ports of the host that a list in NCCL_IB_HCA names in full."""
    names = {
        name.split(":")[0] for one in variables(case, "NCCL_IB_HCA") for name in (one.setting or "").lstrip("=").split(",") if name
    }
    return names & {one.device for one in case.every(RdmaPort)}


def _fewer_than_named(case: Case) -> tuple[Record, ...]:
    """NCCL lists at most half of the adapters that the user says a machine has."""
    used = {one.device for one in case.every(NcclHca) if one.device}
    named = case.first(Statement, lambda one: one.topic == "rdma-card-count" and 2 * len(used) <= (one.value or 0))
    return (*case.every(NcclHca)[:1], named) if used and named else ()


def _fewer_than_near(case: Case) -> tuple[Record, ...]:
    """NCCL_IB_HCA names in full at most half of the adapters that stand next to a GPU in the topology."""
    near = case.every(
        DevicePath, lambda one: one.near.startswith("GPU") and one.path_class in ("PIX", "PXB") and bool(_NIC.match(one.far))
    )
    devices = {one.far for one in near}
    for variable in variables(case, "NCCL_IB_HCA"):
        names = {name.split(":")[0] for name in (variable.setting or "").lstrip("=").split(",") if name}
        if names and names <= devices and 2 * len(names) <= len(devices):
            return (variable, *(one for one in near if one.far not in names))
    return ()


def _shared_on_one_host(case: Case) -> tuple[NcclChannel, ...]:
    """Ranks of one host that send over one adapter, where as many ranks of another host have one each."""
    sending = case.every(
        NcclChannel, lambda one: one.transport.startswith("NET/IB/") and _is_sent(one) and host_of(one) is not None
    )
    groups: dict[tuple[int, str], dict[int, NcclChannel]] = {}
    for one in sending:
        groups.setdefault((one.channel_index, host_of(one) or ""), {}).setdefault(one.from_rank, one)
    ranks = {key: list(found.values()) for key, found in groups.items() if len(found) > 1}
    for (channel, _), found in ranks.items():
        devices = {one.transport for one in found}
        if any(
            number == channel and len(other) == len(found) == len({one.transport for one in other}) > len(devices)
            for (number, _), other in ranks.items()
        ):
            return tuple(found)
    return ()


def _is_sent(channel: NcclChannel) -> bool:
    return not any("[receive]" in quote.text for quote in channel.quotes)


def _unequal_rates(case: Case) -> tuple[Record, ...]:
    """Adapters that NCCL uses, or that a prefix in NCCL_IB_HCA lets it use, of which one has at most half the rate of another."""
    used = {one.device for one in case.every(NcclHca) if one.device}
    prefixes = [one.setting or "" for one in variables(case, "NCCL_IB_HCA")]
    allowed = [
        one
        for one in case.every(RdmaPort)
        if one.link_rate_bits_per_s and (one.device in used or any(_lets_in(prefix, one.device) for prefix in prefixes))
    ]
    slowest = min(allowed, key=lambda one: one.link_rate_bits_per_s or 0.0, default=None)
    fastest = max(allowed, key=lambda one: one.link_rate_bits_per_s or 0.0, default=None)
    if slowest is None or fastest is None or 2 * (slowest.link_rate_bits_per_s or 0.0) > (fastest.link_rate_bits_per_s or 0.0):
        return ()
    return (slowest, fastest)


def _lets_in(setting: str, device: str) -> bool:
    """Whether a list of NCCL_IB_HCA, by prefix or exactly after `=`, holds the device."""
    names = [name.split(":")[0] for name in setting.lstrip("=").split(",") if name]
    if setting.startswith("^"):
        return False
    return device in names if setting.startswith("=") else any(device.startswith(name) for name in names)


def _more_than_named(case: Case) -> tuple[Record, ...]:
    """Adapters that a name in NCCL_IB_HCA lets in only because it is the beginning of theirs: `mlx5_1` takes `mlx5_10` too."""
    for variable in variables(case, "NCCL_IB_HCA"):
        names = [name.split(":")[0] for name in (variable.setting or "").split(",") if name]
        if (variable.setting or "").startswith(("=", "^")):
            continue
        extra = case.every(
            NcclHca,
            lambda one, names=names: (
                one.device is not None  # type: ignore[misc]
                and one.device not in names
                and any(one.device[: len(name)] == name and name[-1:].isdigit() for name in names)
            ),
        )
        if extra:
            return (variable, *extra)
    return ()


def _mixed_layers(case: Case) -> tuple[Record, ...]:
    found = case.every(NcclHca, lambda one: one.link_layer is not None)
    layers = {(one.link_layer or "").split("/")[0].lower() for one in found}
    return found if {"ib", "roce"} <= layers else ()


def _names_absent_device(case: Case) -> tuple[Record, ...]:
    """NCCL_IB_HCA names no device of those the host lists."""
    devices = {one.device for one in case.every(RdmaPort)}
    for variable in variables(case, "NCCL_IB_HCA"):
        names = [name.split(":")[0] for name in (variable.setting or "").lstrip("=").split(",") if name]
        excluded = (variable.setting or "").startswith("^")
        if devices and names and not excluded and not any(device.startswith(name) for device in devices for name in names):
            return (variable, *case.every(RdmaPort)[:1])
    return ()


_MISMATCH = Text(en="NCCL says that the adapters of two ranks do not fit together", zh="NCCL 报告两个 rank 的网卡不匹配")
_SHARED = Text(
    en="ranks of one host share an adapter, where those of another have one each",
    zh="某主机的多个 rank 共用一块网卡，而另一主机的每个 rank 各有一块",
)
_COUNTS = Text(en="hosts list different numbers of RDMA devices", zh="各主机列出的 RDMA 设备数不同")
_APART = Text(
    en="an RDMA interface shares no network with any port of the other host", zh="某个 RDMA 接口与对端主机任何端口都不在同一网络"
)
_ONE_OF_LIST = Text(en="a queue pair of one listed device cannot reach its peer", zh="列表中某个设备的队列对无法到达对端")
_NO_MATCH = Text(en="active ports exist and NCCL_IB_HCA matches none", zh="存在激活端口，但 NCCL_IB_HCA 未匹配到任何设备")
_FEW = Text(en="NCCL uses at most half of the equal active ports", zh="NCCL 只用了不超过一半的同类激活端口")
_UNCHECKED = Text(en="NCCL's check that ranks use the same adapters is switched off", zh="NCCL 对各 rank 网卡是否一致的检查被关闭")
_NOT_OPENED = Text(en="one rank cannot open an adapter that others may use", zh="某个 rank 打不开其他 rank 可能使用的网卡")
_UNEQUAL = Text(en="adapters of very different rates are used together", zh="混用了速率相差很大的网卡")
_MIXED = Text(en="InfiniBand and RoCE ports are used together", zh="InfiniBand 与 RoCE 端口混用")
_PREFIX = Text(
    en="NCCL_IB_HCA matches by prefix and lets in more adapters than it names", zh="NCCL_IB_HCA 按前缀匹配，纳入了未指名的网卡"
)
_NAMES = Text(en="NCCL_IB_HCA names a device this host does not have", zh="NCCL_IB_HCA 指定了本机没有的设备")
_SAID = Text(en="the RDMA devices in use are not the intended ones", zh="使用的 RDMA 设备并非期望的设备")
_HELPS = Text(en="choosing the devices makes it work", zh="指定设备后正常")

RULE = Rule(
    cause="nccl-wrong-hca",
    title=Text(en="NCCL uses the wrong or mismatching RDMA devices", zh="NCCL 使用了错误或不匹配的 RDMA 设备"),
    summary=Text(
        en="Devices are paired across hosts by position, so a storage port, a dead port or a port of another fabric in the list breaks or slows the job.",
        zh="设备按位置在主机间配对，列表中若含存储口、断开的口或属于另一网络的口，作业就会失败或变慢。",
    ),
    needs=(
        (NcclHca,),
        (wants(NcclChannel, lambda one: one.transport.startswith("NET/IB/")),),
        (wants(EnvVar, lambda one: one.name in ("NCCL_IB_HCA", "NCCL_IGNORE_NET_MISMATCH")),),
        (wants(NcclWarning, lambda one: one.topic in ("modify-qp-failed", "device-mismatch", "create-resource-failed")),),
        (Statement,),
    ),
    silence_needs=((NcclHca,), (wants(EnvVar, lambda one: one.name in ("NCCL_IB_HCA", "NCCL_IGNORE_NET_MISMATCH")),)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="NCCL_IB_HCA is a prefix list (mlx5_1 also matches mlx5_10) and every host must offer devices of the same fabric in the same order.",
            zh="NCCL_IB_HCA 是前缀列表（mlx5_1 也匹配 mlx5_10），每台主机须按相同顺序提供同一网络的设备。",
        ),
        shows=Text(
            en="modify_qp fails with 110 on one device, hosts list unequal numbers of devices, or busbw is half or a quarter of the expected.",
            zh="某设备 modify_qp 报 110，各主机设备数不等，或 busbw 为预期的一半或四分之一。",
        ),
        sources=(
            "getainode/ainode#89",
            "NCCL user guide: NCCL_IB_HCA",
            "NVIDIA/nccl#2013",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="roce-unreachable-path",
            because=Text(
                en="there the right ports are chosen and routing between them is missing", zh="彼处端口选对了，缺的是它们之间的路由"
            ),
        ),
        LookAlike(
            cause="roce-gid-index-wrong",
            because=Text(en="there the port is right and its address index is not", zh="彼处端口正确，地址索引不对"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="List only the ports of the compute fabric, the same on every host (= for exact names, ^ to exclude)",
                zh="只列出计算网络的端口，各主机一致（= 精确匹配，^ 排除）",
            ),
            commands=(
                "export NCCL_IB_HCA==mlx5_0:1,mlx5_1:1",
                "ibdev2netdev",
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(en="NET/IB lists the same devices on every host", zh="NET/IB 在每台主机列出相同设备"),
            commands=("NCCL_DEBUG=INFO ... 2>&1 | grep 'NET/IB : Using'",),
        ),
    ),
    gain=Text(en="The job starts, or uses all rails instead of some", zh="作业可启动，或由部分网卡变为全部网卡参与"),
    severity="high",
    explains=(
        "roce-unreachable-path",
        "link-speed-lower-than-assumed",
    ),
    settled_by=(
        "ibv_devinfo",
        "show_gids",
    ),
)

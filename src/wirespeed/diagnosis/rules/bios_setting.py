"""A firmware setting limits input and output."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.facts.host import NumaNode, PciDevice
from wirespeed.model.finding import FAIR, SLIGHT, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

WHOLE_SOCKET_CPUS = 32
"""More CPUs in one node than a quarter of the largest socket of these generations has."""
SMALL_READ_BYTES = 512
"""Max_Read_Request of 512 bytes is a common firmware default; fast NICs want 4,096."""


def _judge(case: Case) -> Verdict:
    said = case.said("firmware-option")
    twin = case.said("healthy-twin")
    split = _unsplit_epyc(case)
    small = case.every(
        PciDevice,
        lambda one: one.device_class == "nic" and (one.max_read_request_bytes or SMALL_READ_BYTES + 1) <= SMALL_READ_BYTES,
    )
    return Verdict(
        evidence=(
            *piece(_SAID, FAIR + SLIGHT, said),
            *piece(_TWIN, SLIGHT, twin if said else ()),
            *piece(_SMALL, FAIR, small),
            *against(_NO_EFFECT, FAIR, case.said("setting-without-effect") if not split else ()),
            *piece(_UNSPLIT, FAIR, split),
            *piece(_ASKS, SLIGHT, case.said("asks-for-a-setting") if split or said else ()),
        )
    )


def _unsplit_epyc(case: Case) -> tuple[Record, ...]:
    """One or two large NUMA nodes on a machine that is called an EPYC: one node per socket, the default."""
    nodes = case.every(NumaNode, lambda one: len(one.cpus) >= WHOLE_SOCKET_CPUS)
    named = case.said("epyc-named")
    return (*nodes, *named[:1]) if named and 0 < len(nodes) <= 2 and len(nodes) == len(case.every(NumaNode)) else ()


_UNSPLIT = Text(en="an EPYC machine has one NUMA node per socket (NPS1)", zh="EPYC 机器每插槽只有一个 NUMA 节点（NPS1）")
_ASKS = Text(en="a setting to change is asked for", zh="询问应修改的设置")
_SAID = Text(en="a firmware or power setting is reported", zh="描述提到固件或电源设置")
_TWIN = Text(en="an equal machine does better", zh="同样的机器表现更好")
_NO_EFFECT = Text(en="a setting is said to change nothing", zh="描述称某设置没有效果")
_SMALL = Text(en="the NIC may read only 512 bytes at a time from memory", zh="网卡每次只能从内存读取 512 字节")

RULE = Rule(
    cause="bios-setting",
    title=Text(en="A firmware setting limits the machine's input and output", zh="固件设置限制了机器的输入输出"),
    summary=Text(
        en="NUMA splitting, power saving, relaxed ordering, read-request size or similar options are set for something else than this work.",
        zh="NUMA 拆分、节能、宽松排序、读请求大小等选项并非为此类负载设置。",
    ),
    needs=(
        (wants(NumaNode, lambda one: len(one.cpus) >= WHOLE_SOCKET_CPUS), wants(Statement, lambda one: one.topic == "epyc-named")),
        (wants(PciDevice, lambda one: one.max_read_request_bytes is not None),),
        (wants(Statement, lambda one: one.topic == "firmware-option"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Such options change how PCIe transactions are ordered, cached or clocked, and differ by vendor default.",
            zh="这些选项改变 PCIe 事务的排序、缓存或时钟，厂商默认各异。",
        ),
        shows=Text(
            en="Equal machines differ; small-packet latency high when idle; bandwidth short on AMD until relaxed ordering is on.",
            zh="同样机器表现不同；空闲时小包时延高；AMD 平台在开启宽松排序前带宽不足。",
        ),
        sources=("ENA Linux best practices (C-states)", "NVIDIA and AMD tuning guides for EPYC (NPS, relaxed ordering)"),
    ),
    told_apart_from=(
        LookAlike(cause="pcie-link-degraded", because=Text(en="there width or speed reads low", zh="彼处宽度或速度读数偏低")),
        LookAlike(
            cause="numa-mismatch",
            because=Text(en="there placement, not firmware, is changed to cure it", zh="彼处靠调整放置而非固件解决"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Compare the firmware settings with a healthy twin or the vendor's profile for this work",
                zh="与健康的同型机或厂商推荐配置比较固件设置",
            ),
            risk=Text(en="Needs a reboot", zh="需要重启"),
        ),
    ),
    checks=(Check(what=Text(en="The same test before and after, on the same machine", zh="同机前后同一测试")),),
    gain=Text(en="5 to 50 %, by setting", zh="5% 至 50%，视设置而定"),
    severity="medium",
    explains=("no-fault-hardware-limit", "p2p-unsupported-gpu"),
)

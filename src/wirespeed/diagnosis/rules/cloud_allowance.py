"""The cloud instance used up its allowance for bandwidth, packets or connections."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.diagnosis.joins.transfer_moments import collapsed
from wirespeed.model.case import Case
from wirespeed.model.facts.link import Counter
from wirespeed.model.finding import PROVES, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import TransferProgress
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_NAMES = ("allowance_exceeded", "conntrack_allowance_exceeded", "linklocal_allowance_exceeded")


def _judge(case: Case) -> Verdict:
    counted = case.every(Counter, lambda one: one.canonical in _NAMES and one.value_count > 0)
    flat = case.every(Counter, lambda one: one.canonical in _NAMES and one.value_count == 0)
    fallen = collapsed(case, is_local=False)
    return Verdict(
        evidence=(
            *piece(_COUNTED, PROVES, counted),
            *piece(
                _FALLS,
                SLIGHT,
                (fallen.before, fallen.after) if fallen else (),
                fast_bits_per_s=fallen.fast_bits_per_s if fallen else None,
                slow_bits_per_s=fallen.slow_bits_per_s if fallen else None,
            ),
            *piece(_SAID, STRONG, case.said("cloud-cap")),
            *against(_NONE, STRONG, flat if not counted else ()),
        )
    )


_FALLS = Text(
    en="the transfer goes at {fast_bits_per_s} at first and at {slow_bits_per_s} from some place on",
    zh="传输起初为 {fast_bits_per_s}，之后降至 {slow_bits_per_s}",
)
_SAID = Text(en="a limit, burst credit or allowance of the instance is reported", zh="描述提到实例的限额、突发积分或额度")
_NONE = Text(en="an allowance counter stands at zero", zh="有额度计数为零")
_COUNTED = Text(en="the instance's shaper held packets back or dropped them", zh="实例整形器滞留或丢弃了数据包")

RULE = Rule(
    cause="cloud-allowance-exceeded",
    title=Text(en="The cloud instance exceeds its network allowance", zh="云实例超出网络额度"),
    summary=Text(
        en="The provider shapes each instance by bandwidth, packets per second, tracked connections and link-local traffic; beyond that, packets wait or are dropped where the operating system cannot see it.",
        zh="云厂商按带宽、每秒包数、跟踪连接数和链路本地流量对实例整形；超出后数据包会在操作系统看不到的地方排队或丢弃。",
    ),
    needs=(
        (wants(Counter, lambda one: one.canonical in _NAMES),),
        (TransferProgress,),
        (wants(Statement, lambda one: one.topic == "cloud-cap"),),
    ),
    silence_needs=((wants(Counter, lambda one: one.canonical in _NAMES),),),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Allowances depend on the instance size, and small sizes have burst credits.",
            zh="额度取决于实例规格，小规格有突发积分。",
        ),
        shows=Text(
            en="ENA counters bw_in_allowance_exceeded, pps_allowance_exceeded and others grow.",
            zh="ENA 计数 bw_in_allowance_exceeded、pps_allowance_exceeded 等增长。",
        ),
        sources=("amzn-drivers ena_ethtool.c", "ENA Linux best practices"),
    ),
    told_apart_from=(
        LookAlike(
            cause="nic-ring-too-small",
            because=Text(en="queue stops without allowance counters are the host's own", zh="无额度计数而队列停止，是主机自身问题"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Larger instance, jumbo frames to cut packets per second, reuse connections, cache DNS",
                zh="更大规格、巨帧以降低包速率、复用连接、缓存 DNS",
            )
        ),
    ),
    checks=(
        Check(what=Text(en="The allowance counters stay flat", zh="额度计数不变"), commands=("ethtool -S IFACE | grep allowance",)),
    ),
    gain=Text(en="Removes the cap", zh="消除上限"),
    severity="medium",
    explains=("bandwidth-insufficient", "packet-loss", "dns-slow"),
)

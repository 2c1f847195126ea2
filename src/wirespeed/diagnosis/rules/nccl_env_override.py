"""A left-over NCCL variable forces a bad path."""

from collections.abc import Mapping

from wirespeed.diagnosis.joins.cluster import is_switched_on, is_tried_out, variables
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclChannel
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_FORBIDS_PEER = {"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"}
_FORCES = {"NCCL_ALGO", "NCCL_PROTO"}
_NO_LEVEL = {"LOC", "0"}
_MODEST = {"NCCL_MAX_NCHANNELS": 8, "NCCL_MAX_CTAS": 8}
"""Fewer channels than NCCL takes by itself on machines with NVLink or several fast NICs (16 to 32)."""
_SMALL = {"NCCL_MAX_NCHANNELS": 2, "NCCL_MAX_CTAS": 2, "NCCL_MAX_P2P_NCHANNELS": 1, "NCCL_NTHREADS": 64, "NCCL_BUFFSIZE": 1 << 20}
"""At or below these the setting bounds bandwidth on any machine with NVLink or 100 Gb/s (NCCL defaults: 4 MiB buffers, 2 to 32 channels)."""


def _judge(case: Case) -> Verdict:
    closed = tuple(one for one in case.every(EnvVar) if _closes_a_path(one) and not is_tried_out(one))
    bounded = tuple(one for one in case.every(EnvVar) if _bounds_bandwidth(one, _SMALL) and not is_tried_out(one))
    modest = tuple(one for one in case.every(EnvVar) if _bounds_bandwidth(one, _MODEST) and not is_tried_out(one))
    forced = tuple(one for one in case.every(EnvVar) if one.name in _FORCES and one.setting)
    rdma_off = tuple(one for one in variables(case, "NCCL_IB_DISABLE") if is_switched_on(one) and not is_tried_out(one))
    over_memory = case.every(NcclChannel, lambda one: one.transport.startswith("SHM"))
    nvlink = case.said("nvlink-machine")
    suffers = over_memory or nvlink or case.said("variable-left-over")
    consumer = case.said("consumer-gpus") if closed and not nvlink else ()
    is_ll = any(one.name == "NCCL_PROTO" and (one.setting or "").upper() == "LL" for one in forced)
    evidence = (
        *_naming(_CLOSED, STRONG if suffers else FAIR + 0.5, closed),
        *piece(_RDMA_OFF, FAIR, rdma_off),
        *_naming(_BOUNDED, STRONG, bounded),
        *_naming(_BOUNDED, FAIR + 0.5, modest if not bounded else ()),
        *_naming(_FORCED, FAIR if is_ll else SLIGHT, forced),
        *piece(_OVER_MEMORY, FAIR, over_memory if closed else ()),
        *piece(_NVLINK, SLIGHT, nvlink if closed else ()),
        *piece(_SAID, FAIR + SLIGHT, case.said("variable-left-over")),
        *(contradicts(_CONSUMER, FAIR, one) for one in consumer[:1]),
    )
    name = next((one.name for one in (*closed, *bounded, *modest, *rdma_off, *forced)), "NCCL_VARIABLE")
    return Verdict(evidence=evidence, values={"variable": name})


def _naming(says: Text, weight_nats: float, found: tuple[EnvVar, ...]) -> tuple[Evidence, ...]:
    """Evidence that names the first of these variables and its setting."""
    return piece(says, weight_nats, found, variable=found[0].name, setting=found[0].setting) if found else ()


def _closes_a_path(variable: EnvVar) -> bool:
    setting = (variable.setting or "").strip().rstrip(".,;").upper()
    if variable.name in ("NCCL_P2P_LEVEL", "NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_READ"):
        return setting in _NO_LEVEL
    return variable.name in _FORBIDS_PEER and is_switched_on(variable)


def _bounds_bandwidth(variable: EnvVar, limits: Mapping[str, int]) -> bool:
    limit = limits.get(variable.name)
    setting = (variable.setting or "").strip().rstrip(".,;")
    return limit is not None and setting.isdigit() and 0 < int(setting) <= limit


_CLOSED = Text(
    en="{variable}={setting} closes a fast path between GPUs or to the NIC",
    zh="{variable}={setting} 关闭了 GPU 之间或到网卡的快速通路",
)
_RDMA_OFF = Text(en="NCCL_IB_DISABLE=1 forbids RDMA", zh="NCCL_IB_DISABLE=1 禁止 RDMA")
_BOUNDED = Text(en="{variable}={setting} bounds the bandwidth", zh="{variable}={setting} 限制了带宽")
_FORCED = Text(
    en="{variable}={setting} takes the choice away from NCCL's tuner", zh="{variable}={setting} 使 NCCL 调优器无法自行选择"
)
_OVER_MEMORY = Text(en="GPUs of one machine talk through host memory", zh="同一机器的 GPU 经主机内存通信")
_NVLINK = Text(en="the machine has NVLink", zh="该机器有 NVLink")
_CONSUMER = Text(
    en="these GPUs have no peer access that the variable could take away", zh="这类 GPU 本就没有可被该变量关闭的对等访问"
)
_SAID = Text(en="it works or is fast without the variables", zh="去掉这些变量后正常或变快")

RULE = Rule(
    cause="nccl-env-override",
    title=Text(en="A left-over NCCL variable forces a bad path: {variable}", zh="遗留的 NCCL 变量强制走差的通路：{variable}"),
    summary=Text(
        en="An environment variable, often copied from another machine or an old workaround, switches off or bounds the path NCCL would have chosen.",
        zh="某个环境变量（多为从别的机器或旧方案抄来）关闭或限制了 NCCL 本会选择的通路。",
    ),
    needs=((wants(EnvVar, lambda one: one.name.startswith("NCCL_") and one.setting is not None),), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="NCCL obeys its variables without checking that they fit the machine; files such as /etc/nccl.conf set them unseen.",
            zh="NCCL 会照办这些变量而不检查是否适合本机；/etc/nccl.conf 等文件会悄悄设置它们。",
        ),
        shows=Text(
            en="Lines `set by environment to`; channels via SHM or NET where P2P was expected; bandwidth far below a clean shell.",
            zh="日志出现 set by environment to；本应 P2P 的通道走 SHM 或 NET；带宽远低于干净环境。",
        ),
        sources=(
            "NVIDIA/nccl-tests#166",
            "NCCL user guide: environment variables",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="nvlink-missing",
            because=Text(en="there the link itself is down and the environment is clean", zh="彼处链路本身断开，环境变量干净"),
        ),
        LookAlike(
            cause="ib-disabled-socket-fallback",
            because=Text(en="there the result is TCP; here any path may be forced", zh="彼处结果是走 TCP；此处可能是任何通路"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Run once with no NCCL variable but NCCL_DEBUG, then add back only what has a measured reason",
                zh="除 NCCL_DEBUG 外清空所有 NCCL 变量运行一次，再只加回有实测依据的变量",
            ),
            commands=(
                "env -u {variable} ...",
                "grep -s . /etc/nccl.conf ~/.nccl.conf",
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The log shows no override and the expected transport", zh="日志中没有覆盖项，传输方式符合预期"),
            commands=("NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,P2P,NET ... 2>&1 | grep -E 'set by environment|via '",),
        ),
    ),
    gain=Text(en="Returns the path NCCL would choose on this machine", zh="恢复 NCCL 在本机自行选择的通路"),
    severity="high",
    explains=(
        "nvlink-missing",
        "p2p-unsupported-gpu",
        "shm-too-small",
        "gdr-disabled",
    ),
)

"""The kubelet pulls one image at a time, so start-up waits for each in turn."""

from wirespeed.diagnosis.joins.pieces import ALONE, against, configured, is_setting_named, lines_of, piece, quantities
from wirespeed.model.case import Case
from wirespeed.model.facts.cluster import ClusterEvent
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Setting, Statement
from wirespeed.model.text import Text

_SERIALIZE = r"serialize_image_pulls$"
SMALL_IMAGE_BYTES = 2e8
"""200 MB take seconds on any network that pulls model images."""
LONG_WAIT_S = 10.0
_PARALLEL = r"max_parallel_image_pulls$"


def _judge(case: Case) -> Verdict:
    serial = [one.record for one in configured(case, _SERIALIZE) if one.setting.strip().lower().startswith("true")]
    serial += [one.record for one in configured(case, _PARALLEL) if one.setting.strip() == "1"]
    parallel = [one.record for one in configured(case, _SERIALIZE) if one.setting.strip().lower().startswith("false")]
    pulls = case.every(ClusterEvent, lambda one: one.waited_s is not None)
    queued = [one for one in pulls if _waited_s(one) >= max(LONG_WAIT_S, one.took_s or 0.0)]
    waits = [one for one in case.said("image-pull-waiting") if one.quotes and not pulls]
    evidence: list[Evidence] = []
    longest = max(queued, key=_waited_s, default=None)
    if longest is not None:
        evidence += piece(_QUEUED, STRONG, queued, took_s=longest.took_s, waited_s=_waited_s(longest))
    evidence += piece(_SERIAL, STRONG, serial)
    evidence += piece(_ONE_BY_ONE, STRONG if not serial else SLIGHT, case.said("image-pull-one-by-one"))
    evidence += piece(_WAITING, FAIR, waits)
    slow = [one for one in case.said("image-pull-took-minutes") if (one.value or 0) >= 1]
    small = [one for one in quantities(case, "size") if 0 < one.value <= SMALL_IMAGE_BYTES]
    if len(lines_of(slow)) > 1 or (slow and (small or case.said("image-already-there"))):
        evidence += piece(_TOGETHER, ALONE, slow)
        evidence += piece(_SMALL, FAIR, [*case.said("image-already-there"), *small])
    if evidence:
        evidence += piece(_PULLS, FAIR, case.said("image-pull"))
    evidence += against(_NOT, STRONG, parallel)
    evidence += against(_AT_ONCE, FAIR, pulls if len(pulls) > 1 and not queued else ())
    return Verdict(evidence=tuple(evidence))


def _waited_s(pull: ClusterEvent) -> float:
    """Time a pull waited before its own transfer began."""
    return (pull.waited_s or 0.0) - (pull.took_s or 0.0)


_QUEUED = Text(
    en="a pull that took {took_s} had waited {waited_s} for other pulls", zh="一次耗时 {took_s} 的拉取此前等待其他拉取 {waited_s}"
)
_AT_ONCE = Text(en="no pull waited for another", zh="没有拉取在等待其他拉取")
_TOGETHER = Text(en="several pulls take minutes each", zh="多次拉取各需数分钟")
_SMALL = Text(en="among them an image that is small or already there", zh="其中有很小的或已在本地的镜像")
_SERIAL = Text(en="the kubelet is set to pull one image at a time", zh="kubelet 设为逐个拉取镜像")
_ONE_BY_ONE = Text(en="images come one after the other", zh="镜像一个接一个地拉取")
_WAITING = Text(en="a pull waited for other pulls", zh="一次拉取在等待其他拉取")
_PULLS = Text(en="start-up waits for images", zh="启动在等镜像")
_NOT = Text(en="the kubelet pulls in parallel", zh="kubelet 并行拉取")

RULE = Rule(
    cause="image-pull-serialized",
    title=Text(en="Images are pulled one after the other", zh="镜像逐个拉取"),
    summary=Text(
        en="The node pulls a single image at a time, so neither network nor disk nor CPU is full while pods wait.",
        zh="节点一次只拉一个镜像，Pod 等待时网络、磁盘和 CPU 都不满。",
    ),
    needs=(
        (wants(Setting, lambda one: is_setting_named(one, r"image_pulls")),),
        (wants(ClusterEvent, lambda one: one.waited_s is not None),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="serializeImagePulls is true by default; a large image then holds up all others, and one pull cannot fill the link because unpacking is serial.",
            zh="serializeImagePulls 默认为 true；大镜像挡住其余镜像，且解包串行使单次拉取无法占满链路。",
        ),
        shows=Text(
            en="`Successfully pulled image ... in 8s (1m40s including waiting)`; no resource near its limit.",
            zh="Successfully pulled image ... in 8s (1m40s including waiting)；没有资源接近上限。",
        ),
        sources=(
            "Kubernetes KubeletConfiguration: serializeImagePulls, maxParallelImagePulls",
            "kubernetes/kubernetes#111704 (time including waiting)",
        ),
    ),
    told_apart_from=(
        LookAlike(cause="origin-rate-limited", because=Text(en="a throttling registry answers 429", zh="被限流的仓库返回 429")),
        LookAlike(
            cause="download-single-stream",
            because=Text(
                en="there one large object is the limit, not the queue of objects", zh="那里限制在于单个大对象，而不是对象队列"
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Pull in parallel with a bound", zh="有上限地并行拉取"),
            commands=("serializeImagePulls: false", "maxParallelImagePulls: 5"),
            risk=Text(en="Unpacking in parallel loads the disk", zh="并行解包会加重磁盘负载"),
        ),
    ),
    checks=(
        Check(
            what=Text(en="Events show little waiting", zh="事件中等待时间很短"),
            commands=("kubectl get events -A | grep 'including waiting'",),
        ),
    ),
    gain=Text(
        en="Bring-up takes about the time of the largest image instead of the sum", zh="启动时间接近最大镜像的时间，而非总和"
    ),
    severity="medium",
    explains=("download-single-stream",),
)

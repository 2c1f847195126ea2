"""Events of Kubernetes as text: `kubectl get events` in any width, the table at the end of `kubectl describe`, and the kubelet's log."""

from collections.abc import Iterator

from wirespeed.model.facts.cluster import ClusterEvent
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.kubernetes import event_of
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_LINE_CHARACTERS = 8_000
TOOL = "kubectl get events"

_KNOWN = (
    r"FailedScheduling|Scheduled|Pulling|Pulled|BackOff|Failed|FailedCreatePodSandBox|FailedCreatePodContainer|SandboxChanged|Unhealthy|Killing"
    r"|OOMKilling|SystemOOM|Evicted|Preempted|NodeNotReady|NodeNotSchedulable|NetworkNotReady|FailedMount|FailedAttachVolume|FailedCreate"
    r"|DNSConfigForming|UnexpectedAdmissionError|OutOf\w{1,40}|InsufficientResource|AddedInterface|NoNetworkFound|Rebooted|Started|Created"
)
_WIDE = regex(
    r"(?m)(?:^|[\s|])(?P<type>Normal|Warning)(?:[ \t]{2,}|\t)(?P<reason>[A-Z][A-Za-z]{2,60})(?:[ \t]{2,}|\t)(?P<rest>\S.*)$"
)
_NARROW = regex(rf"(?m)(?:^|[\s|])(?P<type>Normal|Warning)[ \t](?P<reason>{_KNOWN})[ \t](?P<rest>\S.*)$")
_KLOG = regex(
    r"\bEvent\(v1\.ObjectReference\{Kind:\"(?P<kind>\w+)\", Namespace:\"[^\"]*\", Name:\"(?P<name>[^\"]+)\".{0,400}?\}\): type: '(?P<type>\w+)'"
    r" reason: '(?P<reason>\w+)' (?P<rest>.*)$"
)
_AGE = regex(r"^(?:<unknown>|<invalid>|(?:\d+[smhdy])+)(?:[ \t]\(x(?P<count>\d{1,9}) over [\dsmhdy]+\))?(?:[ \t]{1,}|$)")
_OBJECT = regex(
    r"^(?P<object>(?:pod|node|job|service|replicaset|daemonset|deployment|statefulset|[a-z]{3,30})/[a-z0-9][a-z0-9.-]{0,252})\s+"
)
_SPEAKER = regex(r"^(?P<speaker>\{?[a-z][\w.-]{0,60}(?:, ?[\w.-]{1,253}| [\w.-]{1,253}\})?\}?)(?:\s{2,}|\t)")
_SUBOBJECT = regex(r"^spec\.\w{1,30}\{[^}]{1,253}\}\s+")
_SPEAKERS = regex(
    r"^(?:kubelet|default-scheduler|multus|\w[\w-]{0,60}-(?:controller|scheduler|operator|manager))(?:, [\w.-]{1,253})? +"
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        if "Normal" not in line and "Warning" not in line:
            continue
        text = line[:MOST_LINE_CHARACTERS]
        logged = _KLOG.search(text)
        found = logged or _WIDE.search(text) or _NARROW.search(text)
        if found is None:
            continue
        subject, count, message = (None, None, found["rest"]) if logged else _parts(found["rest"])
        yield event_of(
            source(lines, TOOL),
            (quote(lines, index, line),),
            found["reason"],
            message.strip(),
            is_warning=found["type"] == "Warning",
            subject=f"{logged['kind'].lower()}/{logged['name']}" if logged else subject,
            times_count=count,
        )


def _parts(rest: str) -> tuple[str | None, int | None, str]:
    """Object, count and message of what follows the reason: `35s (x12 over 2m)  kubelet  MESSAGE` or `pod/a  MESSAGE`."""
    subject, count = None, None
    age = _AGE.match(rest)
    if age:
        count = int(age["count"]) if age["count"] else None
        rest = rest[age.end() :].lstrip()
        speaker = _SPEAKER.match(rest) or _SPEAKERS.match(rest)
        return subject, count, rest[speaker.end() :].lstrip() if speaker else rest
    named = _OBJECT.match(rest)
    if named:
        subject, rest = named["object"], rest[named.end() :]
    part = _SUBOBJECT.match(rest)
    rest = rest[part.end() :] if part else rest
    speaker = _SPEAKER.match(rest) or _SPEAKERS.match(rest)
    return subject, count, rest[speaker.end() :] if speaker else rest


READER = Reader(
    title=Text(en="Kubernetes events", zh="Kubernetes 事件"),
    gives=(ClusterEvent,),
    recognises=marked(_WIDE, _NARROW, _KLOG),
    read=_read,
    obtained_by=("kubectl get events -A --sort-by=.lastTimestamp",),
    voice="loose",
)

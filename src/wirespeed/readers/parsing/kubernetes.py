"""What Kubernetes writes the same way in YAML, JSON and `kubectl describe`: quantities, settings, events, and how containers ended."""

import re

from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.facts.cluster import ClusterEvent
from wirespeed.model.secrets import REDACTED, is_secret_name
from wirespeed.model.settings import Setting
from wirespeed.model.source import Quote, Source
from wirespeed.model.units import scale_of, time_in_s
from wirespeed.readers.parsing.regex import regex

TOOL = "kubernetes"
MOST_MESSAGE_CHARACTERS = 500
SIGNALLED_CODE = 128
"""An exit code above is 128 and the number of the signal that ended the process (POSIX shells, container runtimes)."""

PLACE_LABEL = regex(
    r"(?i)(?:^|[/.\-_])(?:zone|rack|block|superpod|pod-?set|leaf|spine|switch|clique|hypernode|topology-?domain|network-node-layer-\d|island)"
    r"(?:[.\-_]?(?:id|name))?$"
)
"""Keys of node labels that name a place in the fabric: `topology.kubernetes.io/zone`, `nvidia.com/gpu.clique`,
`topology.k8s.aws/network-node-layer-1` (AWS), `cloud.google.com/gce-topology-block` (GKE), `volcano.sh/hypernode`."""

_QUANTITY = regex(r"^(?P<number>-?\d+(?:\.\d+)?)(?P<suffix>m|[kMGTP]|[KMGT]i|[A-Za-z]{1,12})?$")
_GO_PART = regex(r"(\d+(?:\.\d+)?)(ms|us|µs|[hms])")
_GO_DURATION = regex(r"^(?:\d+(?:\.\d+)?(?:ms|us|µs|[hms])){1,4}$")
_GO_COMPOUND = regex(r"^(?:\d+(?:\.\d+)?(?:ms|us|µs|[hms])){2,4}$")
_PULLED = regex(
    r"\bpulled image(?: \"?[^\"]{1,500}\"?)? in (?P<took>[\dhmsuµ.]{2,24})(?: \((?P<waited>[\dhmsuµ.]{2,24}) including waiting\))?",
    re.I,
)
_IMAGE_SIZE = regex(r"\bImage size: (?P<size>\d{1,15}) bytes")
_MORE_DIGITS = 20


def setting_of(source: Source, quotes: tuple[Quote, ...], name: str, text: str) -> Setting:
    """One `key: value`; quantities get a number and a suffix, times a duration."""
    found = _QUANTITY.match(text) if len(text) <= _MORE_DIGITS else None
    number = float(found["number"]) if found else None
    unit = found["suffix"] if found else None
    return Setting(
        source=source,
        quotes=quotes,
        name=name,
        setting=REDACTED if is_secret_name(name) else text,
        value=number,
        unit=unit,
        duration_s=_duration_s(name, text, number, unit),
    )


def _duration_s(name: str, text: str, number: float | None, unit: str | None) -> float | None:
    """A time as Go writes it (`4h0m0s`), or a number whose name speaks of time; Kubernetes and ingress-nginx then mean seconds."""
    if _GO_COMPOUND.match(text):
        return go_duration_s(text)
    is_time = "time" in name.lower() or name.lower().endswith(("seconds", "period", "interval", "duration", "age"))
    return time_in_s(number, unit or "s") if is_time and number is not None else None


def go_duration_s(text: str) -> float | None:
    """A duration as Go prints it: `8s`, `1m40.5s`, `350ms`; None for anything else."""
    if not _GO_DURATION.match(text):
        return None
    parts = [time_in_s(float(count), unit) for count, unit in _GO_PART.findall(text)]
    return round(sum(part for part in parts if part is not None), 9)


def cpus_of(text: str) -> float | None:
    """CPUs of a quantity: `500m` is half of one."""
    found = _QUANTITY.match(text)
    if not found or found["suffix"] not in (None, "m"):
        return None
    return float(found["number"]) / (1000.0 if found["suffix"] else 1.0)


def bytes_of(text: str) -> int | None:
    """Bytes of a quantity: `16Gi` is binary, `16G` decimal."""
    found = _QUANTITY.match(text)
    if not found:
        return None
    try:
        return int(min(float(found["number"]), 1e15) * scale_of(found["suffix"] or ""))
    except KeyError:
        return None


def event_of(
    source: Source,
    quotes: tuple[Quote, ...],
    reason: str,
    message: str,
    *,
    is_warning: bool | None = None,
    subject: str | None = None,
    times_count: int | None = None,
) -> ClusterEvent:
    """An event, with the times of an image pull where it tells of one."""
    pulled, size = _PULLED.search(message), _IMAGE_SIZE.search(message)
    return ClusterEvent(
        source=source,
        quotes=quotes,
        reason=reason,
        message=message[:MOST_MESSAGE_CHARACTERS],
        is_warning=is_warning,
        subject=subject,
        times_count=times_count,
        took_s=go_duration_s(pulled["took"].rstrip(".")) if pulled else None,
        waited_s=go_duration_s(pulled["waited"].rstrip(".")) if pulled and pulled["waited"] else None,
        image_bytes=int(size["size"]) if size else None,
    )


def ended(source: Source, quotes: tuple[Quote, ...], container: str, reason: str, code: int | None) -> FrameworkEvent | None:
    """A container that was killed or crashed; None where it ended well, or by an error of its own (a code up to 128)."""
    signal = code - SIGNALLED_CODE if code is not None and code > SIGNALLED_CODE else None
    if reason != "OOMKilled" and signal is None:
        return None
    how = f"exit code: {code}" if code is not None else ""
    return FrameworkEvent(
        source=source,
        quotes=quotes,
        topic="process-died",
        message=f"container {container} terminated: {reason} {how} {f'(signal {signal})' if signal else ''}".strip(),
    )

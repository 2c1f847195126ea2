"""Statistics of proxies: nginx' status page and Envoy's `/stats` (text or Prometheus), as the events that they count.

Each counter that is above zero, and above a thousandth of the requests where those are counted, becomes one `ServerEvent`.
Names: Envoy docs, configuration/upstream/cluster_manager/cluster_stats; nginx ngx_http_stub_status_module.
"""

from collections.abc import Iterator

from wirespeed.model.events.log import ServerEvent
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

NOTABLE_RATIO = 0.001
MOST_CLUSTERS = 10_000

_TOPICS = {
    "upstream_cx_overflow": "too-many-connections", "upstream_cx_pool_overflow": "too-many-connections",
    "upstream_rq_pending_overflow": "too-many-connections", "upstream_rq_timeout": "upstream-timeout",
    "upstream_rq_per_try_timeout": "upstream-timeout", "upstream_cx_connect_timeout": "upstream-timeout",
    "upstream_cx_connect_fail": "upstream-refused", "upstream_cx_none_healthy": "no-live-upstream",
    "upstream_cx_destroy_remote_with_active_rq": "upstream-closed", "upstream_rq_rx_reset": "upstream-closed",
    "ratelimit_over_limit": "rate-limited",
}  # fmt: skip
_TOTALS = ("upstream_rq_total", "upstream_cx_total")
_NAMES = "|".join((*_TOPICS, *_TOTALS))
_TEXT = regex(rf"(?m)^[ \t]*cluster\.(?P<cluster>[^\s:]{{1,200}}?)\.(?P<name>{_NAMES}): (?P<count>\d{{1,18}})[ \t]*$")
_PROMETHEUS = regex(
    rf"(?m)^[ \t]*envoy_cluster_(?P<name>{_NAMES})\{{[^}}\n]{{0,400}}?envoy_cluster_name=\"(?P<cluster>[^\"\n]{{1,200}})\"[^}}\n]{{0,400}}\}} (?P<count>\d{{1,18}})[ \t]*$"
)
_STATUS_HEADING = regex(r"^\s*server accepts handled requests\s*$")
_STATUS_COUNTS = regex(r"^\s*(?P<accepts>\d{1,18}) (?P<handled>\d{1,18}) (?P<requests>\d{1,18})(?: \d{1,18})?\s*$")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    counted: dict[str, dict[str, tuple[int, Quote]]] = {}
    is_status = False
    for index, line in lines:
        found = _TEXT.match(line) or _PROMETHEUS.match(line)
        if found and (found["cluster"] in counted or len(counted) < MOST_CLUSTERS):
            counted.setdefault(found["cluster"], {})[found["name"]] = (int(found["count"]), quote(lines, index, line))
            continue
        status = _STATUS_COUNTS.match(line) if is_status else None
        if status and int(status["accepts"]) > int(status["handled"]):
            dropped = int(status["accepts"]) - int(status["handled"])
            yield _event(
                lines, quote(lines, index, line), "nginx", "too-many-connections", f"{dropped} connections accepted and not handled"
            )
        is_status = _STATUS_HEADING.match(line) is not None
    for cluster, counters in counted.items():
        total = max((counters[name][0] for name in _TOTALS if name in counters), default=0)
        for name, topic in _TOPICS.items():
            count, said = counters.get(name, (0, None))
            if said is not None and count > NOTABLE_RATIO * total:
                yield _event(lines, said, "envoy", topic, f"{cluster}: {name} {count}")


def _event(lines: Lines, said: Quote, server: str, topic: str, message: str) -> ServerEvent:
    return ServerEvent(source=source(lines, f"{server} statistics"), quotes=(said,), topic=topic, message=message, server=server)


READER = Reader(
    title=Text(en="statistics of nginx and Envoy", zh="nginx 与 Envoy 统计"),
    gives=(ServerEvent,),
    recognises=marked(_TEXT, _PROMETHEUS, r"(?m)^[ \t]*server accepts handled requests[ \t]*$"),
    read=_read,
    obtained_by=("curl -s localhost:9901/stats | grep upstream_", "curl -s localhost/basic_status"),
)

"""What people say of names that resolve slowly or not at all."""

from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.model.text import Text

_NAMING = r"(?:\bdns\b|name resolution|resolution of names|\blook[- ]?ups?\b|\bresolv(?:e|es|ing|er)\b|getaddrinfo|nslookup|namelookup|core-?dns|kube-?dns|nodelocal)"
_SLOW = r"(?:slow|stall|hang|latency|delay|time[sd]? ?-?out|takes|took|seconds|\b[1-9]\d* ?s\b|\b\d{3,} ?ms\b)"

SYMPTOMS = Symptoms(
    title=Text(en="names", zh="域名解析"),
    topics={
        "dns-stall": Topic(
            wordings=(
                rf"{_NAMING}.{{0,70}}{_SLOW}",
                rf"{_SLOW}.{{0,40}}(?:in|on|for|of|at|by|to|waiting for)\s+(?:the\s+)?{_NAMING}",
                rf"(?:sporadic|slow|flaky|intermittent|random(?:ly)?|occasional)\s+{_NAMING}",
                r"\bEAI_AGAIN\b|temporary failure in name resolution",
                r"lookup \S+ on \S+:53: .{0,60}(?:i/o timeout|timed out)",
                r"(?:\bconnect\(\w+ |\bto |\bsendto\b.{0,40}|:)\S*:(?:53|domain)\b.{0,60}(?:time ?-?out|timed out|no (?:answer|reply|response))",
                r"(?:second|next|other|another) (?:dns|name ?server|resolver)\b.{0,30}(?:answers?|replies|responds?|works?|is tried|at once)",
                r"connection timed out; no servers could be reached",
            )
        ),
        "dns-five-seconds": Topic(
            wordings=(
                r"multiples? of (?:5|five) ?s",
                r"\b(?:exactly|almost|about|around|just over|always)\s+(?:5|10|15|five)(?:\.0\d?)? ?s(?:ec(?:ond)?s?)?\b.{0,60}(?:dns|look-?up|resol|pod|name)",
                rf"{_NAMING}.{{0,60}}\b(?:5|10|15)(?:\.0\d*)? ?s(?:ec(?:ond)?s?)?\b",
                rf"{_NAMING}.{{0,60}}\b5,?0\d\d ?ms",
                r"\b(?:5|five)[- ]second (?:dns|delay|stall|pause|latency|hang)",
                rf"\b(?:5|10|15)(?:\.0\d*)? ?s(?:ec(?:ond)?s?)?\b.{{0,40}}{_NAMING}",
            )
        ),
        "dns-parallel-queries": Topic(
            wordings=(
                r"\bA (?:and|\+|/|&) ?AAAA\b",
                r"AAAA quer\w+.{0,60}(?:lost|drop|missing|no (?:answer|reply)|unanswered|time)",
                r"single-request(?:-reopen)?|use-vc",
                r"\binsert_failed\b.{0,80}(?:dns|53|udp|grow|rise|increas|climb)",
                r"(?:udp|dns).{0,60}\binsert_failed\b",
                r"race.{0,40}conntrack|conntrack.{0,40}race",
            ),
            negatable=False,
        ),
        "dns-search-expansion": Topic(
            wordings=(
                r"ndots[:= ]*[3-9]",
                r"search (?:domain|path|list|suffix).{0,60}(?:appended|tried|expan|queries|NXDOMAIN)",
                r"NXDOMAIN.{0,60}(?:most|many|\d+ ?%|each|every|svc\.cluster\.local|queries)",
                r"(?:4|5|6|8|10|four|five|six|eight|ten)\s+(?:dns )?queries (?:for|per) (?:each|every|one|a)?\s*(?:name|host|request|lookup)",
            )
        ),
        "dns-server-busy": Topic(
            wordings=(
                r"\b(?:dns |name ?|resolver'?s? )?server (?:only )?(?:answers|replies to|responds to) (?:only )?(?:the first|the|\d+|a few|some)\b.{0,40}\b(?:quer(?:y|ies)|questions?|look-?ups?|requests?)\b.{0,60}\b(?:rest|others?|later|remaining|not|without|never|then)\b",
                r"\bresponse rate limit\w*|\brrl\b|\b(?:dns |quer(?:y|ies) |name ?server.{0,30})(?:rate[- ]limit\w*|throttl\w*)",
                r"(?:core-?dns|kube-?dns|dns (?:server|pod)s?).{0,60}(?:cpu|throttl|overload|saturat|restart|oom|one replica|single replica|queue)",
                r"(?:upstream|external|corporate) (?:dns|resolver|name ?server).{0,50}(?:slow|down|unreachable|dead|time)",
                r"first (?:dns|name ?server).{0,60}(?:dead|down|unreachable|gone|removed|no answer|does not answer)",
            )
        ),
        "resolver-gives-up": Topic(
            wordings=(r"\bEAI_AGAIN\b|temporary failure in name resolution|getaddrinfo\b.{0,40}(?:try again|-3\b)",)
        ),
        "libc-musl": Topic(wordings=(r"\balpine\b|\bmusl\b",)),
    },
)

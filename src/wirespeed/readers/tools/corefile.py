"""CoreDNS' configuration (a Corefile, also inside its ConfigMap): one `Directive` a plug-in and option, with the zone block it stands in."""

from collections.abc import Iterator

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Directive
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_DEPTH = 4
MOST_LINE_CHARACTERS = 1_000

_OPENING = regex(
    r"^\s*(?P<zones>(?:[\w.*-]+(?::\d{1,5})?|\.(?::\d{1,5})?)(?:[ ,]+(?:[\w.*-]+(?::\d{1,5})?|\.(?::\d{1,5})?))*)\s*\{\s*$"
)
_PLUGINS = frozenset(
    {
        "any", "autopath", "bind", "bufsize", "cache", "cancel", "chaos", "debug", "dns64", "dnssec", "errors", "etcd",
        "erratic", "file", "forward", "grpc", "header", "health", "hosts", "import", "k8s_external", "kubernetes",
        "loadbalance", "local", "log", "loop", "metadata", "metrics", "nsid", "pprof", "prometheus", "proxy", "ready",
        "reload", "rewrite", "root", "route53", "secondary", "sign", "template", "tls", "trace", "transfer", "upstream",
        "view", "whoami",
    }
)  # fmt: skip
_TELLING = regex(r"(?m)^[ \t]*(?:(?:forward|proxy) \. \S|kubernetes [\w.-]+\.(?:local|internal|lan)\b|errors[ \t]*$)")
_OPEN_LINE = regex(
    r"(?m)^[ \t]*(?:\.|[\w*-]+(?:\.[\w*-]+)*\.?)(?::\d{1,5})(?:[ \t]+\S{1,255}){0,8}[ \t]*\{[ \t]*$|^[ \t]*\.[ \t]*\{[ \t]*$"
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    path: list[str] = []
    for index, line in lines:
        text = line[:MOST_LINE_CHARACTERS].split("#", 1)[0].strip()
        if not path:
            found = _OPENING.match(text) if _OPEN_LINE.match(text) else None
            path = [found["zones"]] if found else []
            continue
        if text == "}":
            path.pop()
            continue
        words = text.rstrip("{").split()
        if not words:
            continue
        if len(path) == 1 and words[0] not in _PLUGINS:
            path = []
            continue
        yield Directive(
            source=source(lines, "corefile"),
            quotes=(quote(lines, index, line),),
            server="coredns",
            name=words[0],
            arguments=tuple(words[1:]),
            block=" ".join(path),
        )
        if text.endswith("{"):
            path.append(words[0])
            path = path if len(path) <= MOST_DEPTH else []


READER = Reader(
    title=Text(en="CoreDNS configuration", zh="CoreDNS 配置"),
    gives=(Directive,),
    recognises=marked(
        _TELLING, confirmed=lambda sample: _TELLING.search(sample) is not None and _OPEN_LINE.search(sample) is not None
    ),
    read=_read,
    obtained_by=("kubectl -n kube-system get configmap coredns -o yaml",),
    voice="loose",
)

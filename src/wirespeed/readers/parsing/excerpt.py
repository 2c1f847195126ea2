"""What surrounds a tool's output in a transcript: prompts with commands, launcher tags, and the host a line came from."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wirespeed.model.lines import Lines, quote
from wirespeed.model.source import Quote
from wirespeed.readers.parsing.regex import regex

_LAUNCHER_TAG = regex(r"^\s*(?:\[(?:default)?\d*rank\d+\]:|\[\d+,\d+\](?:<\w+>)?:|\([\w. ]*\bpid=\d+[^)]*\))\s?")
_HOST_PREFIX = regex(r"^(?P<host>[A-Za-z0-9][\w.-]*): ?(?=\S|\s)")
_PROMPT = regex(
    r"^\s*(?:\([\w.-]+\)\s*)?"
    r"(?:\[?[\w.-]+@(?P<host>[\w.-]+)(?:[: ][^\s$#]*)?[$#]|(?P<bare>[A-Za-z][\w.-]*)(?: ?\$|#)|[$+%])\s+"
    r"(?P<command>[a-z./_(][^\n]*)$"
)
_ROOT_PROMPT = regex(
    r"^\s*#\s+(?P<command>(?:sudo|ssh|for|time|watch|ethtool|ip|ss|netstat|nstat|ifconfig|arp|route|tc|sysctl"
    r"|cat|grep|egrep|ls|echo|head|tail|awk|df"
    r"|mount|ulimit|prlimit|conntrack|mpstat|top|ps|ping|dig|getent|iperf3?|curl|dmesg|lspci|numactl|lscpu|rdma"
    r"|dcb|mlnx_qos|show_gids|ib\w+|ucx_\w+"
    r"|nvidia-smi|docker|podman|kubectl|mpirun|mpiexec|srun|torchrun|python3?)\b[^\n]*)$"
)
"""`# ` opens comments more often than it is root's prompt: here the program must be one that people show the output of."""
_LOOP = regex(r"\bfor\s+\w+\s+in\s+(?P<hosts>[^;$]{1,2000});\s*do\b")
_HEADING = regex(r"^\W{0,20}(?P<host>[A-Za-z0-9][\w.-]{0,252})(?:\W{0,20}| \| (?:CHANGED|SUCCESS|FAILED)\b[^|]*\| rc=-?\d+ >>)$")
"""A line that holds a name and signs around it, as loops over hosts print it; what Ansible puts above a host's output."""
_ANSIBLE = regex(r" \| (?:CHANGED|SUCCESS|FAILED)\b[^|]*\| rc=-?\d+ >>$")
_ABSURD_NUMBER = regex(r"\d{40}")
"""A 64-bit counter has 20 digits; a line with twice that is damaged, and Python refuses to convert very long numbers."""
_LONG_GAP = regex(r"\s{100,}")
"""Padding of wide tables (ss pads to the terminal's width) means no more than a short gap, and patterns must not walk it twice."""
_COMMAND_END = frozenset({"|", ";", "&&", "||", ">", "2>&1"})


@dataclass(frozen=True, slots=True)
class Seen:
    """One line as a reader wants it: without launcher tag and host prefix, with the last command before it."""

    index: int
    line: str
    text: str
    host: str | None
    command: tuple[str, ...]
    is_prompt: bool

    def quoted(self, lines: Lines) -> Quote:
        """The quotation of this line, as it stands in the input."""
        return quote(lines, self.index, self.line)


def excerpt(lines: Lines, is_own: Callable[[str], object], programs: tuple[str, ...] = ()) -> Iterator[Seen]:
    """Every line with what is known of its surroundings; of a line with an impossibly long number, nothing is left.

    A word and a colon in front (`node-a: `, as pdsh prints) are taken for a host only when the line is not of the reader's own
    format as it stands, and is without them. A line that starts with one of `programs` is a command even without a prompt.
    Below a loop over hosts, a line that is one of their names says whose output follows.
    """
    command: tuple[str, ...] = ()
    prompt_host: str | None = None
    looped: frozenset[str] = frozenset()
    for index, line in lines:
        text = "" if _ABSURD_NUMBER.search(line) else _LAUNCHER_TAG.sub("", _LONG_GAP.sub("  ", line), count=1)
        spoken = _spoken(text, programs)
        if spoken is not None:
            prompt_host, command = spoken
            looped = _looped_over(text)
            yield Seen(index, line, text, prompt_host, command, True)
            continue
        heading = _headed_by(text, looped)
        if heading is not None:
            prompt_host = heading
        host = prompt_host
        if not is_own(text):
            found = _HOST_PREFIX.match(text)
            if found and is_own(text[found.end() :]):
                text = text[found.end() :]
                host = None if found["host"].isdigit() else found["host"]
        yield Seen(index, line, text, host, command, False)


def _spoken(text: str, programs: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]] | None:
    found = _PROMPT.match(text) or _ROOT_PROMPT.match(text)
    if found:
        words = tuple(found["command"].split())
        groups = found.groupdict()
        return _remote_host(words) or groups.get("host") or groups.get("bare"), words
    words = tuple(text.split(maxsplit=20))
    start = 1 if words[:1] == ("sudo",) else 0
    if programs and len(words) > start and _base(words[start]) in programs and not words[start].endswith(":"):
        return None, words
    return None


def _looped_over(command: str) -> frozenset[str]:
    """The words that a shell loop goes through: `for n in node-1 node-2; do ssh $n ip addr; done`."""
    found = _LOOP.search(command)
    return frozenset(found["hosts"].split()) if found else frozenset()


def _headed_by(text: str, looped: frozenset[str]) -> str | None:
    """The host whose output begins below this line, where it is such a heading."""
    found = _HEADING.match(text.rstrip()) if looped or " >>" in text else None
    return found["host"] if found and (found["host"] in looped or _ANSIBLE.search(text.rstrip())) else None


def _remote_host(words: tuple[str, ...]) -> str | None:
    if words[0] != "ssh":
        return None
    named = next((word for word in words[1:] if not word.startswith("-")), None)
    return named.rpartition("@")[2] if named else None


def arguments_of(command: tuple[str, ...], program: str) -> tuple[str, ...] | None:
    """Arguments of `program` wherever it stands in a command (after sudo, ssh ...), to the end of its pipe; None without it."""
    for place, word in enumerate(command):
        if _base(word) == program:
            rest = command[place + 1 :]
            end = next((at for at, one in enumerate(rest) if one in _COMMAND_END), len(rest))
            return tuple(one.strip("'\";") for one in rest[:end])
    return None


def _base(word: str) -> str:
    return word.strip("'\"`(;").rpartition("/")[2]

"""Command lines that were quoted: after a prompt, alone on a line, in backticks, in a unit file, or with an option in prose.

After a prompt (`$`, `user@host:~#`) any program counts. Without one only programs that bear on training, serving or the network do,
and only when an option, a subcommand or an argument that looks like one follows: `nginx is slow` is a sentence. Pipes and lists
give one `Command` a part. Leading assignments, `sudo`, `time`, `nohup`, `exec` and `env` are skipped; a program's path is cut off.
"""

import re
import shlex
from collections.abc import Iterator

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Command
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_CONTINUED_LINES = 80
MOST_COMMAND_CHARACTERS = 8_192
MOST_ARGUMENTS = 200

_PROGRAMS = (
    "torchrun|mpirun|mpiexec|deepspeed|accelerate|horovodrun|srun|sbatch|ray|python3?|vllm|sglang|ollama|llama-server|tritonserver"
    "|text-generation-launcher|trtllm-serve|lmdeploy|gunicorn|uvicorn|hypercorn|nginx|haproxy|envoy|traefik|node|caddy"
    "|iperf3?|netperf|qperf|nuttcp|ib_(?:write|read|send)_(?:bw|lat)|perftest|all_reduce_perf|all_gather_perf|reduce_scatter_perf"
    "|alltoall_perf|broadcast_perf|sendrecv_perf|hey|wrk2?|ab|oha|locust|k6|genai-perf|aiperf|curl|wget|rsync|scp|aws|gsutil|s5cmd"
    "|rclone|huggingface-cli|hf|dd|fio|docker|podman|nerdctl|kubectl|helm|crictl|ctr|nc|ncat|ssh|ping6?|mtr|traceroute"
    "|tracepath|dig"
    "|ethtool|ip|tc|ss|sysctl|numactl|taskset|nvidia-smi|ibv_devinfo|ibstat|ucx_info|fi_info|tcpdump|redis-server|enroot"
    "|singularity"
    "|apptainer|cma_roce_mode|mlnx_qos|mlxconfig|mst|nccl-tests|ulimit|conntrack|modprobe|lspci"
)
_SUBCOMMANDS = (
    r"(?:run|serve|start|stop|up|pull|push|launch|download|bench|list|ps|exec|get|describe|logs|apply|create|upgrade|install"
    r"|cp|sync"
    r"|link|addr|route|neigh|qdisc|topo|reload|status|s3|show|config)"
)
_KNOWN = regex(rf"^(?:\S*/)?(?:{_PROGRAMS})$")
_PROMPT = regex(
    r"^\s*(?:\([\w.\-]+\)\s)?(?:(?:[\w.\-]+@)?[\w.\-]{1,64}(?::[\w~/.\-]{1,80})?\s?|\[[^\]]{1,80}\]\s?"
    r"|~\s?)?(?P<sign>[$#%❯>])\s+(?P<command>\S.*)$"
)
_ALONE = regex(
    rf"^\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:(?:Exec(?:Start|StartPre)=|CMD |ENTRYPOINT |RUN |command:\s*|cmd:\s*)[-+@]?)?"
    rf"(?P<command>(?:[A-Za-z_]\w*=\S*\s+|(?:sudo|time|nohup|exec|env)\s+)*(?:\S*/)?(?:{_PROGRAMS})(?:\s+\S.*|\s*))$"
)
_BACKTICKS = regex(rf"`(?P<command>(?:\S*/)?(?:{_PROGRAMS})(?:\s[^`]{{0,2000}})?)`")
_INLINE = regex(rf"(?:^|[\s(:\"'])(?P<command>(?:{_PROGRAMS})\s+(?:{_SUBCOMMANDS}\s+(?:[^\s-]\S*\s+){{0,2}})?--?[A-Za-z].*)$")
_ARGUMENT = regex(rf"^(?:-|{_SUBCOMMANDS}$|(?!\d+$)\S*[=/:@.\d]\S*$|\"|')")
_EXEC_LIST = regex(r'^\s*(?:CMD|ENTRYPOINT|command:|args:)\s*\[(?P<list>"[^\]]*)\]\s*$')
_SEPARATORS = frozenset({"|", "||", "&&", ";", "&", "|&"})
_REDIRECT = regex(r"^\d?[<>]")
_WRAPPERS = frozenset({"sudo", "time", "nohup", "exec", "env", "-E", "then", "do"})
_ASSIGNMENT = regex(r"^[A-Za-z_]\w*=")
_SENTENCE_WORD = regex(
    r"(?i)^(?:and|but|gives?|shows?|on|from|with|between|then|is|are|reports?|works?|fails?|hangs?|to|in|both|it|or|for|the)$"
)
_RECOGNISED = regex(rf"(?m)^[^\n$]{{0,120}}\$ +\S|\b(?:{_PROGRAMS})(?:\s|$)")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    pending: list[tuple[int, str]] = []
    for index, line in lines:
        if not pending and (line.lstrip().startswith("#SBATCH") or not _may_hold_command(line)):
            continue
        pending.append((index, line))
        if line.rstrip().endswith("\\") and len(pending) < MOST_CONTINUED_LINES:
            continue
        yield from _written(lines, pending)
        pending = []
    yield from _written(lines, pending)


def _may_hold_command(line: str) -> bool:
    return _RECOGNISED.search(line) is not None or _PROMPT.match(line) is not None or "`" in line or '["' in line


def _written(lines: Lines, written: list[tuple[int, str]]) -> Iterator[Command]:
    if not written:
        return
    joined = " ".join(line.rstrip().removesuffix("\\") for _, line in written)[:MOST_COMMAND_CHARACTERS]
    quotes = tuple(quote(lines, index, line) for index, line in written)
    for command, is_prose in _commands(joined):
        for words in _parts(_words(command)):
            cut = _until_sentence(words) if is_prose else words
            if cut:
                yield _record(lines, quotes, cut)


def _commands(line: str) -> Iterator[tuple[str, bool]]:
    """Command texts of one line, each with whether prose may follow in it."""
    exec_list = _EXEC_LIST.match(line)
    prompt = _PROMPT.match(line)
    if exec_list:
        yield " ".join(shlex.quote(word) for word in re.findall(r'"([^"]*)"', exec_list["list"])), False
    elif prompt and (prompt["sign"] == "$" or _KNOWN.match(prompt["command"].split()[0])):
        yield prompt["command"], False
    elif "`" in line:
        yield from ((found["command"], False) for found in _BACKTICKS.finditer(line) if _looks_called(found["command"]))
    else:
        alone = _ALONE.match(line)
        if alone and _looks_called(alone["command"]):
            yield alone["command"], True
        elif not alone and (found := _INLINE.search(line)):
            yield found["command"], True


def _looks_called(command: str) -> bool:
    """A program with something behind it that only a command has."""
    words = [word for word in command.split() if not _ASSIGNMENT.match(word) and word not in _WRAPPERS]
    return len(words) > 1 and _ARGUMENT.match(words[1]) is not None


def _words(command: str) -> list[str]:
    """Words as a shell splits them, separators apart; an unclosed quote falls back to blanks."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|&;")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    try:
        return list(lexer)
    except ValueError:
        return command.split()


def _parts(words: list[str]) -> Iterator[list[str]]:
    """Simple commands of a pipe or list, without what precedes the program."""
    part: list[str] = []
    for word in [*words, ";"]:
        if word in _SEPARATORS:
            if part:
                yield part
            part = []
        elif part or not (_ASSIGNMENT.match(word) or word in _WRAPPERS):
            part.append(word)


def _until_sentence(words: list[str]) -> list[str]:
    """Words up to where prose goes on: a comma or full stop at a word's end, or a word no command has."""
    kept: list[str] = []
    for word in words:
        if kept and _SENTENCE_WORD.match(word):
            break
        kept.append(word.rstrip(",;:)") if len(word) > 1 else word)
        if word.endswith((",", ";", ":", ")")) or (word.endswith(".") and not word.endswith("..")):
            kept[-1] = kept[-1].rstrip(".")
            break
    return [word for word in kept if word]


def _record(lines: Lines, quotes: tuple[Quote, ...], words: list[str]) -> Command:
    arguments = [word for word in words[1:] if not _REDIRECT.match(word)]
    program = words[0].rsplit("/", 1)[-1] or words[0]
    return Command(source=source(lines, "command"), quotes=quotes, program=program, arguments=tuple(arguments[:MOST_ARGUMENTS]))


READER = Reader(
    title=Text(en="quoted command lines", zh="引用的命令行"),
    gives=(Command,),
    recognises=marked(_RECOGNISED, r'\["'),
    read=_read,
    voice="loose",
)

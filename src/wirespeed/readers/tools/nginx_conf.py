"""nginx configuration: whole files, `nginx -T`, fragments of one line, grep output, and ingress annotations.

Brackets and quotes are read as nginx reads them. Since a text may hold prose around a fragment, a statement outside every block must
begin with a directive that nginx has and end on its line; inside a block any lower-case name will do.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Directive
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_QUOTED_LINES = 4
MOST_STATEMENT_LINES = 60
MOST_OPEN_QUOTE_LINES = 10
"""A quotation mark open for longer is taken for damage, and the lines after it are read again."""
MOST_DEPTH = 32

_ALONE = regex(
    r"(?:(?:proxy|grpc|fastcgi|uwsgi|gzip|brotli|large_client_header|types_hash|server_names_hash|variables_hash)_\w+"
    r"|client_(?:max_body_size|body_\w+|header_\w+)|limit_(?:req|conn|rate)\w*|keepalive(?:_timeout|_requests|_time|_disable)?"
    r"|worker_(?:connections|processes|rlimit_\w+|shutdown_timeout|cpu_affinity)|lingering_(?:close|time|timeout)"
    r"|ssl_(?:certificate\w*|protocols|ciphers|session_\w+|prefer_\w+|buffer_size|early_data|stapling\w*|verify\w*)"
    r"|resolver(?:_timeout)?|real_ip_\w+|set_real_ip_from|auth_request\w*|server_name|server_tokens|listen|error_log|access_log|log_format"
    r"|sendfile|send_timeout|tcp_nodelay|tcp_nopush|chunked_transfer_encoding|add_header|gzip|brotli|http2|default_type|reset_timedout_connection"
    r"|least_conn|ip_hash|multi_accept|postpone_output|output_buffers|load_module)(?=[ \t;])(?![ \t]*[=(])"
    r"|(?:server|http|events|stream)(?=[ \t]*\{)|upstream(?=[ \t]+[\w.-]+[ \t]*\{)|location(?=[ \t]+[=~^/@])|(?:map|geo)(?=[ \t]+\S*\$)"
    r"|include(?=[ \t]+\S+;)|user(?=[ \t]+[\w-]+;)"
)
"""Directives that no other language has: one of them is enough to know a line for nginx."""
_INSIDE = regex(
    rf"{_ALONE.pattern}|(?:if|return|set|rewrite|try_files|root|alias|index|allow|deny|expires|error_page|internal|stub_status|hash|random|zone"
    r"|mirror|aio|directio|server|upstream|location|include)(?=[ \t;{])"
)
"""Directives of a block: one of them at the start of a line shows that the line above lacks its semicolon."""
_NAME = regex(r"[a-z_][a-z0-9_.]*\Z")
_FREE_NAMES = frozenset({"map", "types", "geo", "split_clients", "charset_map", "match"})
"""Blocks whose entries are values, not directives."""
_GREP_PREFIX = regex(r"^\s*[\w./-]+\.(?:conf|cfg|template|tmpl)[:-](?:\d{1,15}[:-])?(?=\s|[a-z#}])")
_DUMPED_FILE = regex(r"^# configuration file (?P<path>\S+):\s*$")
_ANNOTATION = regex(r"\bnginx\.(?:ingress\.kubernetes\.io|org)/(?P<name>[a-z0-9-]+)\"?\s*[:=]\s*(?P<setting>\S.*?),?\s*$")
_TEXT_FOLLOWS = frozenset({"|", ">", "|-", ">-"})
"""YAML marks of a snippet: its lines are read as configuration of their own."""
_MARK = regex(
    rf"(?m)^[ \t]*(?:[\w./-]+\.conf[:-](?:\d{{1,15}}[:-])?[ \t]*)?(?:{_ALONE.pattern})[^;{{}}\n]{{0,400}}[;{{]|^# configuration file \S+:\s*$"
    r"|nginx\.(?:ingress\.kubernetes\.io|org)/[a-z]"
)


@dataclass(slots=True)
class _State:
    """What is open at this point of the text."""

    blocks: list[tuple[str, Quote]] = field(default_factory=list)
    """Open blocks, outermost first: how they are shown, and the line that opened them."""
    words: list[str] = field(default_factory=list)
    rows: list[Quote] = field(default_factory=list)
    """Lines of the statement that is being read."""
    mark: str | None = None
    """The quotation mark that is open."""
    part: str = ""
    """The word that is open."""
    has_part: bool = False
    code_depth: int = 0
    """Braces open inside a Lua block, whose text is not ours."""
    held: list[Quote] = field(default_factory=list)
    """Lines read since a quotation mark was opened."""
    has_blocks: bool = False
    is_dump: bool = False
    """The text is a file as `nginx -T` prints it, so every line is configuration."""

    def forget_statement(self) -> None:
        """Drop what is half read."""
        self.words, self.rows, self.mark, self.part, self.has_part, self.held = [], [], None, "", False, []


def _read(lines: Lines) -> Iterator[Record | Problem]:
    state = _State()
    for index, line in lines:
        row = quote(lines, index, line)
        dumped = _DUMPED_FILE.match(line)
        annotation = _ANNOTATION.search(line)
        if dumped:
            yield from _closed(lines, state)
            state = _State(is_dump=True)
        elif annotation and not state.words:
            if annotation["setting"] in _TEXT_FOLLOWS:
                continue
            yield _annotated(lines, row, annotation)
        else:
            yield from _take(lines, state, row)
    yield from _closed(lines, state)


def _take(lines: Lines, state: _State, row: Quote) -> Iterator[Directive | Problem]:
    """Read one line; where a quotation mark stays open too long, say so and read the lines after it again."""
    text = _GREP_PREFIX.sub("", row.text, count=1)
    if state.mark is None and not state.code_depth and not _belongs(state, text):
        return
    if state.words and not state.code_depth and _INSIDE.match(text.strip()) and _may_start(text):
        if state.mark is not None:
            yield from _give_up_quote(lines, state)
        elif state.words:
            yield _problem(lines, state.rows[-1], Text(en="a semicolon is missing here", zh="此处缺少分号"))
            yield from _statement(lines, state)
    yield from _characters(lines, state, row, text)
    if state.mark is not None:
        state.held.append(row)
        if len(state.held) > MOST_OPEN_QUOTE_LINES:
            yield from _give_up_quote(lines, state)
    else:
        state.held = []
        if len(state.rows) > MOST_STATEMENT_LINES:
            yield _problem(lines, state.rows[0], Text(en="this statement does not end", zh="该语句没有结束"))
            state.forget_statement()


def _may_start(text: str) -> bool:
    """Whether a line that begins with a directive's name is a statement of its own, not the arguments of another."""
    stripped = text.split(" #", 1)[0].rstrip()
    return stripped.endswith((";", "{", "}")) and len(stripped.split()) > 1


def _belongs(state: _State, text: str) -> bool:
    """Whether the line is configuration: it goes on with something open, or can begin a statement."""
    stripped = text.strip()
    if not stripped or stripped.startswith("#"):
        return False
    if state.words:
        return True
    if stripped.startswith("}"):
        return bool(state.blocks) or (state.has_blocks and stripped.strip("} ") == "")
    if state.is_dump:
        return True
    if state.blocks:
        return state.blocks[-1][0].split(" ")[0] in _FREE_NAMES or re.match(r"[a-z_\"'{}]", stripped) is not None
    ends = stripped.split(" #", 1)[0].rstrip()
    return _ALONE.match(stripped) is not None and (
        ends.endswith((";", "{", "}")) or stripped.startswith(("log_format ", "add_header "))
    )


def _characters(lines: Lines, state: _State, row: Quote, text: str) -> Iterator[Directive | Problem]:
    position = 0
    while position < len(text):
        character = text[position]
        position += 1
        if state.code_depth:
            yield from _code(state, character)
        elif state.mark is not None:
            if character == "\\" and position < len(text):
                state.part += character + text[position] if text[position] != state.mark else text[position]
                position += 1
            elif character == state.mark:
                state.mark = None
            else:
                state.part += character
        elif character in "\"'" and not state.has_part:
            _note_row(state, row)
            state.mark, state.has_part = character, True
        elif character == "#" and not state.has_part:
            return
        elif character.isspace():
            _end_word(state)
        elif character == "$" and text[position : position + 1] == "{" and "}" in text[position:]:
            end = text.index("}", position) + 1
            state.part += text[position - 1 : end]
            state.has_part, position = True, end
        elif character in "{};":
            _end_word(state)
            yield from _mark_of(lines, state, row, character)
        else:
            _note_row(state, row)
            escaped = text[position : position + 1] if character == "\\" else ""
            state.part += character + escaped
            state.has_part, position = True, position + len(escaped)
    if state.mark is None:
        _end_word(state)


def _code(state: _State, character: str) -> Iterator[Directive]:
    """Pass over the text of a Lua block up to its closing brace."""
    state.code_depth += {"{": 1, "}": -1}.get(character, 0)
    if not state.code_depth and state.blocks:
        state.blocks.pop()
    yield from ()


def _note_row(state: _State, row: Quote) -> None:
    if not state.rows or state.rows[-1].line_index != row.line_index:
        state.rows.append(row)


def _end_word(state: _State) -> None:
    if state.has_part:
        state.words.append(state.part)
    state.part, state.has_part = "", False


def _mark_of(lines: Lines, state: _State, row: Quote, character: str) -> Iterator[Directive | Problem]:
    _note_row(state, row)
    words, rows = state.words, tuple(state.rows[:MOST_QUOTED_LINES])
    if character == "}":
        if words:
            yield _problem(lines, row, Text(en="a semicolon is missing before this brace", zh="此花括号前缺少分号"))
            yield from _statement(lines, state)
        if state.blocks:
            state.blocks.pop()
        else:
            yield _problem(lines, row, Text(en="this closing brace has no opening one", zh="此右花括号没有对应的左花括号"))
    elif words:
        yield from _statement(lines, state)
        if character == "{":
            _open(state, words, rows[0])
    elif character == "{":
        yield _problem(lines, row, Text(en="this opening brace has no name", zh="此左花括号前没有名称"))
    state.words, state.rows = [], []


def _statement(lines: Lines, state: _State) -> Iterator[Directive]:
    """The statement that is read, as a directive; words that cannot be one are passed over."""
    if state.words and (_NAME.match(state.words[0]) or _is_free(state)):
        yield _directive(lines, state.words, tuple(state.rows[:MOST_QUOTED_LINES]), _block(state))
    state.forget_statement()


def _is_free(state: _State) -> bool:
    return bool(state.blocks) and state.blocks[-1][0].split(" ")[0] in _FREE_NAMES


def _open(state: _State, words: list[str], row: Quote) -> None:
    if len(state.blocks) < MOST_DEPTH:
        state.blocks.append((" ".join(words), row))
        state.has_blocks = True
    if words[0].endswith("_by_lua_block"):
        state.code_depth = 1


def _block(state: _State) -> str:
    return "/".join(shown for shown, _ in state.blocks)


def _directive(lines: Lines, words: list[str], rows: tuple[Quote, ...], block: str) -> Directive:
    return Directive(
        source=source(lines, "nginx"), quotes=rows, server="nginx", name=words[0], arguments=tuple(words[1:]), block=block
    )


def _annotated(lines: Lines, row: Quote, found: re.Match[str]) -> Directive:
    """An annotation of an ingress sets the directive of the same name for its locations."""
    name = found["name"].replace("-", "_")
    setting = found["setting"].strip("'\"")
    return _directive(lines, [name, *setting.split()], (row,), "ingress annotation")


def _give_up_quote(lines: Lines, state: _State) -> Iterator[Directive | Problem]:
    held = state.held
    yield _problem(lines, held[0], Text(en="a quotation mark is not closed here", zh="此处引号没有闭合"))
    state.forget_statement()
    for row in held[1:]:
        yield from _take(lines, state, row)


def _closed(lines: Lines, state: _State) -> Iterator[Directive | Problem]:
    """What is still open at the end of a file."""
    while state.mark is not None and state.held:
        yield from _give_up_quote(lines, state)
    if state.words and state.rows:
        yield _problem(lines, state.rows[-1], Text(en="the text ends inside this statement", zh="文本在该语句中间结束"))
    for _, row in state.blocks:
        yield _problem(lines, row, Text(en="this block is not closed", zh="该块没有闭合"))


def _problem(lines: Lines, row: Quote, why: Text) -> Problem:
    return Problem(source=source(lines, "nginx"), why=why, line_index=row.line_index)


READER = Reader(
    title=Text(en="nginx configuration", zh="nginx 配置"),
    gives=(Directive,),
    recognises=marked(_MARK),
    read=_read,
    obtained_by=("nginx -T",),
)

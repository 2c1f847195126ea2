"""What is a secret in names, values and texts: the one definition that everything which keeps data shares.

A secret is found by the name it is given (`password=...`, `--api-key ...`, `"token": ...`, `X-Api-Key: ...`), by its place (the user part
of an address, the data of a Kubernetes Secret, a private key block), or by its own shape (`hf_...`). Names are looked at as words, so that
`hf_token` is one and `max_tokens`, `tokenizer`, `time_per_output_token` are none. Every pattern is linear in its input: a name is
matched once and never given back, and characters repeated without end are possessive. Groups are not: Python before 3.11.5 matches a
possessive group that holds further repetition wrongly (gh-106052), and 3.11.2 is what Debian 12 has.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

REDACTED = "[redacted]"


def _vocabulary(words: str) -> frozenset[str]:
    return frozenset(words.split())


_HINT = re.compile(r"(?i)secret|passw|passphrase|passcode|pwd|psk|token|key|credential|auth|requirepass|密码|口令|密钥|令牌")
_MAY_HOLD = re.compile(
    rf"{_HINT.pattern}|cookie|bearer|basic|[?&]sig|signature=|[?&]code=|-u|user|sshpass|mysql|redis-cli|login|community"
)
"""What a text has in which any of the patterns below finds something."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[\u4e00-\u9fff]+")
_SECRET_WORDS = re.compile(
    r"secret|passw(?:or)?d|passphrase|passcode|credential|requirepass|masterauth|密码|口令|密钥|令牌"
    r"|(?:pwd|(?:^|_)(?:wpa)?psk|bearer|authorization)(?:$|_(?:hash|value))|pwd_|(?:^|_)psk_"
    r"|(?:api|app|access|private|auth|signing|encrypt|encryption|master|shared|account|license|subscription|session|deploy|storage|hmac"
    r"|ssh|functions|goog|fastopen|wandb|openai|anthropic|ngc|comet|datadog)_?keys?(?:_|$)"
)
_ABOUT_A_SECRET = _vocabulary(
    "name names file files path paths dir ref refs type kind url uri endpoint count counts len length size policy provider enabled timeout "
    "ttl expiry expires expiration algorithm version authentication authenticator mount mounts format required attempts"
)
"""Last words of names that tell something about a secret and do not hold it: `password_file`, `secretName`."""
_COUNTED_BEFORE = _vocabulary(
    "per first next inter each every eos bos pad unk sep cls mask special stop new last max min num total kv batched decode prefill image "
    "audio text cached reasoning draft speculative output input prompt completion generated generation gen moe context vision"
)
_MEASURED_AFTER = _vocabulary(
    "id ids type types count counts latency ms s us seconds time times budget limit limits length len rate throughput usage size index ring "
    "bucket per parallel speed interval number num level drop dispatch dispatcher routing embedding embeddings probs logprob logprobs list "
    "logits dim shift position positions pool cache"
)
"""With one of these before or after it, a token is a piece of text and no credential."""
_TWO_WORDS = re.compile(r"(?i)(?<![a-z])(?:api|access|secret|private|auth|license|encryption|signing|master)[ \t]\Z")
_IN_QUERY = re.compile(r"(?i)sig|signature|key|code|se?cret|x-(?:amz|goog|oss)-(?:signature|credential|security-token)")

_NO_VALUE = _vocabulary(
    "none null nil true false yes no on off str string int bool bytes any optional required missing unset empty undefined digest apikey "
    "negotiate bearer basic ntlm"
)
_PROSE = _vocabulary(
    "invalid valid wrong incorrect expired not a an the is are to and or in from for of with set needed used unknown given sent received "
    "generated emitted returned produced slow late too still only also being correct ok there now what how token tokens auth "
    "authentication authorization scheme header flag option file"
)
"""What follows a name in a sentence without being its value."""
_REFERENCE = re.compile(
    r"\$\{?\{?[ ]?[A-Za-z_][\w.]*[ ]?\}{0,2}|\{\{[^{}]*\}\}|\*+|%[sdr]|/(?:etc|var|run|home|root|usr|opt|mnt|tmp)/[\w./-]*"
)
"""A value that names where the secret is: a variable, a template, a file."""
_LOOKED_UP = ("os.environ", "os.getenv(", "getenv(", "process.env")
_QUANTITY = re.compile(r"(?i)\d{1,5}|[\d,]*\d\.\d+|\d[\d,]*(?:\.\d+)?(?:%|x|k|m|b|[mun]?s|tok(?:ens?)?(?:/s)?)")

_QUOTED = re.compile(r"(?P<open>\\{0,7}[\"'])(?P<secret>(?:[^\\\"'\n]|\\++(?![\"'])|(?!(?P=open))\\*+[\"'])*)(?P<close>(?P=open))?")
"""Up to the same quote, escaped as often; to the end of the line where it was cut off."""
_BARE = re.compile(r"(?:(?!\\{1,7}[\"']|\\n|</)[^\s\"',;&])+(?:[,;&](?![\w.-]{0,60}[=:])(?:(?!\\{1,7}[\"']|\\n|</)[^\s\"',;&])+)*")
_ITEM = re.compile(rf"[ \t,]{{0,8}}{_QUOTED.pattern}")
_BLOCK_SCALAR = re.compile(r"[|>][+-]?\d?[+-]?[ \t]*(?:#[^\n]*)?\r?(?=\n)")

_Q = r"\\{0,7}[\"']"
_ASSIGNED = re.compile(
    rf"(?<![\w.-])(?P<name>[\w.-]++)(?P<close>(?:{_Q})?\]?)"
    r"[ \t]{0,4}(?::[ \t]?(?:str|bytes|string|SecretStr)[ \t]?=|=>|:=|(?:=|:(?!:)|：)=?|(?<=[\w.-])>)[ \t]{0,4}"
)
_FLAG = re.compile(
    rf"(?<![\w-])--?(?P<name>[A-Za-z][\w-]*+)(?P<close>(?:{_Q})?)(?:[ \t]{{1,4}}(?:\\\r?\n[ \t]{{0,200}})?|[ \t]{{0,4}},[ \t]{{0,4}}(?={_Q})"
    rf"|[ \t]{{0,8}},?[ \t]{{0,8}}\r?\n[ \t]{{0,200}}(?:-[ \t]{{1,8}}|(?={_Q})))(?!(?:{_Q})?-)"
)
_PAIR = re.compile(
    rf"(?i)(?<![\w.-])(?:name|key)(?:{_Q})?[ \t]{{0,4}}[:=][ \t]{{0,4}}(?:{_Q})?(?P<name>[\w.-]++)(?P<close>(?:{_Q})?)[ \t]{{0,8}},?[ \t]{{0,8}}"
    rf"(?:\r?\n[ \t]{{0,200}})?(?:{_Q})?value(?:{_Q})?[ \t]{{0,4}}[:=][ \t]{{0,4}}"
)
"""`name: HF_TOKEN` and, beside it or on the next line, `value: ...`."""
_SET_VARIABLE = re.compile(r"(?m)^[ \t]{0,40}(?:ENV|setenv)[ \t]{1,8}(?P<name>[\w.-]++)(?P<close>)[ \t]{1,8}")
_SET_HEADER = re.compile(
    r"(?i)(?:[_-]header|RequestHeader[ \t]{1,4}(?:set|add))[ \t]{1,8}[\"']?(?P<name>[\w-]++)(?P<close>[\"']?)[ \t]{1,8}"
)
_WHOLE_HEADER = re.compile(
    rf"(?i)(?<![\w.-])(?P<name>(?:[a-z]{{1,12}}-)?authorization|(?:set-)?cookie2?)(?P<close>(?:{_Q})?)[ \t]{{0,4}}(?P<joint>[:=])[ \t]{{0,4}}"
)
_SAID = re.compile(
    r"(?i)(?P<mine>(?<![a-z])(?:my|our|api|access|auth|hf|bearer)[ _-]{1,2})?(?<![a-z])(?P<name>password|passwd|pwd|passphrase|passcode"
    r"|(?:api|access|secret|private)[ _-]?key|secret|token|credentials?)(?P<close>)[ \t]{1,4}(?:is|was|are)(?:[ \t]{0,2}:)?[ \t]{1,4}"
)
_SAID_ZH = re.compile(r"(?P<name>密码|口令|密钥|令牌)(?P<close>)[ \t]{0,4}(?:[：:=]|是|为)[：:]?[ \t]{0,4}")
_NAMELESS = re.compile(
    rf"(?:\bsshpass[ \t]{{1,4}}-p[ \t]{{0,4}}|\bmysql(?:dump|admin)?\b[^\n]{{0,80}}?[ \t]-p|\bredis-cli\b[^\n]{{0,80}}?[ \t]-a[ \t]{{1,4}}"
    rf"|(?<![\w-])(?:-u|-U|--user|--proxy-user)(?:{_Q})?[ \t=,]{{0,4}}(?:{_Q})?[^\s:\"'/]{{1,60}}:(?=[^\s:/])"
    r"|\blogin[ \t]{1,4}[^\s]{1,80}[ \t]{1,4}password[ \t]{1,4}|(?m:^[ \t]{0,40})(?:requirepass|masterauth|r[ow]community6?)[ \t]{1,8}"
    r"|\bsnmp-server[ \t]{1,4}community[ \t]{1,4}|\b(?:password|secret)[ \t]{1,4}[05-9][ \t]{1,4}(?=\S{0,60}\d)"
    r"|(?i:(?<![\w-])bearer)[ \t]{1,4}(?=[\w.~+/=-]{3})|\"auth\"[ \t]{0,4}:[ \t]{0,4}(?=\"[\w+/=]{8})"
    r"|(?<![\w-])Basic[ \t]{1,4}(?=[\w+/]{6,400}=))(?P<close>)"
)
_SCHEME = re.compile(r"(?i)(?:bearer|basic|digest|apikey|negotiate|token|ntlm|aws4-hmac-sha256)[ \t]{1,4}")

_USER_IN_URL = re.compile(r"://(?P<user>[^/\s\"'<>]*)@")
_KNOWN_SHAPES = re.compile(
    r"(?<!\w)(?:hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|gh[opusr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|xox[abeprs]-[A-Za-z0-9-]{10,}"
    r"|A(?:KIA|SIA)[A-Z0-9]{16}|nvapi-[A-Za-z0-9_-]{20,}|glpat-[A-Za-z0-9_-]{10,}|npm_[A-Za-z0-9]{16,}|AIza[A-Za-z0-9_-]{20,}"
    r"|[rsp]k_(?:live|test)_[A-Za-z0-9]{8,}|dckr_pat_[A-Za-z0-9_-]{16,}|pypi-[A-Za-z0-9_-]{40,}|hv[sb]\.[A-Za-z0-9_-]{20,}"
    r"|ya29\.[A-Za-z0-9_-]{20,}|gsk_[A-Za-z0-9]{20,}|dop_v1_[a-f0-9]{32,})"
    r"|(?<![\w-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+"
)
_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(
    r"[A-Za-z0-9+/=]*+(?:\r?\n[ \t]{0,200}(?:[A-Za-z0-9+/=]{0,200}|[A-Z][\w-]{1,30}: [^\n]{1,200})(?=\r?\n|\Z))*"
)
LONGEST_KEY_CHARACTERS = 65_536
_WRITTEN = re.compile(r"\S[^\n]*")
_SECRET_KIND = re.compile(r"(?P<lead>[ \t]*(?:- +)?)kind:[ \t]*[\"']?Secret[\"']?[ \t]*\r?")
_SECRET_DATA = re.compile(r"(?P<lead>[ \t]*(?:- +)?)(?:data|stringData):[ \t]*\r?")
_MAPPED = re.compile(r"(?P<head>[ \t]*[\"']?[\w.-]+[\"']?:[ \t]+)(?P<secret>\S[^\n]*)")
_JSON_SECRET = re.compile(rf"{_Q}kind{_Q}[ \t]{{0,4}}:[ \t]{{0,4}}{_Q}Secret{_Q}")
_JSON_DATA = re.compile(rf"{_Q}(?:data|stringData){_Q}[ \t]{{0,4}}:[ \t]{{0,4}}\{{(?P<body>[^{{}}]*+)\}}")
_JSON_VALUE = re.compile(rf"(?P<head>:[ \t]{{0,4}}(?P<open>{_Q}))(?P<secret>[^\"'\\]*+)(?=(?P=open))")

Span = tuple[int, int, str]
"""Where a secret begins and ends, and what stands there instead."""


@lru_cache(maxsize=8192)
def is_secret_name(name: str) -> bool:
    """Whether a variable or field of this name holds a secret."""
    if _HINT.search(name) is None or name in ("PWD", "OLDPWD"):
        return False
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or words[-1] in _ABOUT_A_SECRET:
        return False
    return _SECRET_WORDS.search("_".join(words)) is not None or any(_is_credential(words, at) for at in range(len(words)))


def _is_credential(words: list[str], at: int) -> bool:
    """Whether the token among these words is one that gives access, not one that a model reads or writes."""
    if not words[at].endswith("token"):
        return False
    before, after = words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
    return before not in _COUNTED_BEFORE and after not in _MEASURED_AFTER


def without_secrets(text: str) -> str:
    """The text with passwords, tokens and keys replaced by a mark; everything else, the lines included, as it was."""
    return _cleaned(text, set())


def spread_secrets(text: str) -> frozenset[str]:
    """Secrets of a text that stand on another line than the name that tells them: a line alone does not show what it holds."""
    spread: set[str] = set()
    _cleaned(text, spread)
    return frozenset(one for one in (each.strip().strip("\"'") for each in spread) if len(one) > 2)


def _cleaned(text: str, spread: set[str]) -> str:
    text = _without_private_keys(text, spread)
    text = _without_kubernetes_secrets(text, spread)
    text = _USER_IN_URL.sub(_without_user, text)
    text = _KNOWN_SHAPES.sub(REDACTED, text)
    if _MAY_HOLD.search(text):
        for pattern, find in _SHAPES:
            text = _replaced(text, pattern, find, spread)
    return text


def _replaced(text: str, pattern: re.Pattern[str], find: Callable[[str, re.Match[str]], Span | None], spread: set[str]) -> str:
    """Every secret that follows a match replaced; what stands inside a replaced one is not looked at again."""
    parts: list[str] = []
    at = 0
    for head in pattern.finditer(text):
        span = find(text, head) if head.end() >= at else None
        if span is None or span[0] < at:
            continue
        begin, end, mark = span
        if "\n" in text[head.start() : begin] or "\n" in mark:
            spread.update(text[begin:end].split("\n"))
        parts += (text[at:begin], mark)
        at = end
    return "".join((*parts, text[at:])) if parts else text


def _assigned(text: str, head: re.Match[str]) -> Span | None:
    name = head["name"]
    start = head.start("name")
    before = text[max(0, start - 24) : start]
    is_named = is_secret_name(name) or (name.lower() in ("key", "keys") and _TWO_WORDS.search(before) is not None)
    is_in_query = before.endswith(("?", "&")) and _IN_QUERY.fullmatch(name) is not None
    if (not is_named and not is_in_query) or name.lower().endswith("authorization"):
        return None
    if text[head.end() - 1] == ">" and not before.endswith("<") and "=>" not in head[0]:
        return None
    if "token" in name.lower() and _is_piece_of_text(before):
        return None
    return _value(text, head, name)


def _is_piece_of_text(before: str) -> bool:
    """Whether what stands before the word token makes it one that is read or written: `first token`, `ms/token`, `#token`."""
    last = before.rstrip(" ").rpartition(" ")[2].rpartition("\n")[2].lower()
    return before.endswith(("/", "#")) or last in ("a", "one") or last in _COUNTED_BEFORE


def _flagged(text: str, head: re.Match[str]) -> Span | None:
    span = _named(text, head)
    return None if span is None or text[span[0] : span[1]].lower() in _PROSE else span


def _named(text: str, head: re.Match[str]) -> Span | None:
    return _value(text, head, head["name"]) if is_secret_name(head["name"]) else None


def _set_header(text: str, head: re.Match[str]) -> Span | None:
    if not is_secret_name(head["name"]) and not head["name"].lower().endswith("cookie"):
        return None
    if text[head.end() : head.end() + 1] in ('"', "'"):
        return _value(text, head, head["name"])
    end = _first_of(text, ";\n", head.end())
    return _marked(text, head.end(), end, "")


def _whole_header(text: str, head: re.Match[str]) -> Span | None:
    """Everything the header holds: to the quote that encloses it, or to the end of its line."""
    begin = head.end()
    if head["joint"] == "=" and head["name"].lower().endswith("cookie"):
        return None
    if _QUOTED.match(text, begin) or text.startswith("[", begin) or (head["joint"] == "=" and not _SCHEME.match(text, begin)):
        return _value(text, head, head["name"])
    lead = text[max(text.rfind("\n", max(0, head.start() - 200), head.start()), head.start() - 200, -1) + 1 : head.start()]
    is_whole_line = not lead.strip(" \t<>*") or text[begin : begin + 6].lower() == "digest"
    end = _first_of(text, "\n" if is_whole_line else "\n\"'", begin)
    while end > begin and text[end - 1] in "\\\r":
        end -= 1
    return _marked(text, begin, end, head["name"])


def _said(text: str, head: re.Match[str]) -> Span | None:
    span = _value(text, head, head["name"])
    if span is None or text[span[0] : span[1]].lower().rstrip(".,!?:") in _PROSE:
        return None
    if head["mine"] or head["name"].lower().startswith("pass") or head["name"].lower() == "pwd":
        return span
    secret = text[span[0] : span[1]]
    return span if re.search(r"\d|[a-z][A-Z]|[_-]", secret) else None


def _nameless(text: str, head: re.Match[str]) -> Span | None:
    span = _value(text, head, "")
    if span is None:
        return None
    secret = text[span[0] : span[1]]
    is_user_number = head[0].rstrip(":")[-1:].isdigit() and secret.isdigit()
    return None if is_user_number or secret.lower().rstrip(".,!?:") in _PROSE else span


def _value(text: str, head: re.Match[str], name: str) -> Span | None:
    """The value that begins where the head ends: quoted, enclosed with its name, a block of lines, a list, or a word."""
    begin = head.end()
    if block := _BLOCK_SCALAR.match(text, begin):
        return _block(text, head, block.end())
    if text[begin : begin + 1] == "[" and (first := _ITEM.match(text, begin + 1)):
        return _items(text, begin, first)
    if text.startswith("[", begin) and not text.startswith(REDACTED, begin):
        return _marked(text, begin + 1, _first_of(text, "]\n", begin), name)
    if quoted := _QUOTED.match(text, begin):
        return _marked(text, quoted.start("secret"), quoted.end("secret"), name)
    enclosing = text[head.start() - 1] if head.start() else ""
    if enclosing in ("'", '"') and not head["close"]:
        end = _first_of(text, enclosing + "\n", begin)
        if text[end : end + 1] == enclosing:
            return _marked(text, begin, end - (text[end - 1] == "\\"), name)
    word = _BARE.match(text, begin)
    if word is None or word[0][0] == "{":
        return None
    end = word.end()
    while end > begin + 1 and text[end - 1] in ")]}":
        end -= 1
    return _marked(text, begin, end, name, in_json=head["close"].endswith('"'))


def _marked(text: str, begin: int, end: int, name: str, in_json: bool = False) -> Span | None:
    """The span with its mark, unless what stands there is no secret. The scheme of a header stays."""
    secret = text[begin:end]
    if name.lower().endswith("authorization") and (scheme := _SCHEME.match(secret)):
        begin += scheme.end()
        secret = text[begin:end]
    if not secret.strip() or secret.lower().rstrip(".,!?)") in _NO_VALUE or secret in (REDACTED, REDACTED[:-1]):
        return None
    if _REFERENCE.fullmatch(secret) or secret.startswith(_LOOKED_UP) or (name.lower() == "pwd" and secret.startswith("/")):
        return None
    if "token" in name.lower() and _QUANTITY.fullmatch(secret):
        return None
    return begin, end, f'"{REDACTED}"' if in_json else REDACTED


def _items(text: str, begin: int, first: re.Match[str]) -> Span | None:
    """All quoted values of a list as one mark."""
    last = first
    while following := _ITEM.match(text, last.end()):
        last = following
    mark = f"[{first['open']}{REDACTED}{first['close'] or ''}"
    return None if text[begin : last.end()] == mark else (begin, last.end(), mark)


def _block(text: str, head: re.Match[str], begin: int) -> Span | None:
    """The lines below a YAML key that are further in than the key."""
    line_start = text.rfind("\n", 0, head.start()) + 1
    indent = _indent(text[line_start : head.start() + 1])
    end = begin
    while end < len(text):
        next_end = text.find("\n", end + 1)
        line = text[end + 1 : next_end if next_end >= 0 else len(text)]
        if line.strip() and _indent(line) <= indent:
            break
        end = next_end if next_end >= 0 else len(text)
    return (begin, end, _lines_marked(text[begin:end])) if end > begin else None


def _lines_marked(block: str) -> str:
    """Each line a mark, further in as it was: what follows keeps its line number."""
    return _WRITTEN.sub(REDACTED, block)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _first_of(text: str, ends: str, begin: int) -> int:
    found = [at for at in (text.find(end, begin) for end in ends) if at >= 0]
    return min(found, default=len(text))


def _without_user(found: re.Match[str]) -> str:
    """An address without user and password; a user alone stays unless the scheme is one where it is a token."""
    is_web = found.string[max(0, found.start() - 5) : found.start()].lower().endswith(("http", "https"))
    return f"://{REDACTED}@" if ":" in found["user"] or (is_web and found["user"]) else found[0]


def _without_private_keys(text: str, spread: set[str]) -> str:
    parts: list[str] = []
    at = 0
    end: re.Match[str] | None = None
    is_searched = False
    for begin in _KEY_BEGIN.finditer(text):
        if begin.start() < at:
            continue
        if not is_searched or (end is not None and end.start() < begin.end()):
            end, is_searched = _KEY_END.search(text, begin.end()), True
        stop = (
            end.end() if end is not None and end.start() - begin.end() <= LONGEST_KEY_CHARACTERS else _body_end(text, begin.end())
        )
        block = text[begin.start() : stop]
        if "\n" in block:
            spread.update(block.split("\n"))
        parts += (text[at : begin.start()], _lines_marked(block))
        at = stop
    return "".join((*parts, text[at:])) if parts else text


def _body_end(text: str, begin: int) -> int:
    body = _KEY_BODY.match(text, begin)
    return body.end() if body else begin


def _without_kubernetes_secrets(text: str, spread: set[str]) -> str:
    if _JSON_SECRET.search(text):
        text = _JSON_DATA.sub(lambda found: _without_values(found, spread), text)
    if "kind:" not in text or "Secret" not in text:
        return text
    lines = text.split("\n")
    for start, end, column in _secret_documents(lines):
        inside = False
        for index in range(start, end):
            line = lines[index]
            data = _SECRET_DATA.fullmatch(line)
            if data is not None and len(data["lead"]) == column:
                inside = True
            elif inside and line.strip() and _indent(line) <= column:
                inside = False
            elif inside and line.strip():
                lines[index] = _without_mapped(line, spread)
    return "\n".join(lines)


def _secret_documents(lines: list[str]) -> Iterator[tuple[int, int, int]]:
    """First line, line after the last, and column of every YAML mapping that is a Secret."""
    reached: dict[int, int] = {}
    for index, line in enumerate(lines):
        kind = _SECRET_KIND.fullmatch(line)
        if kind is None or index < reached.get(len(kind["lead"]), 0):
            continue
        column = len(kind["lead"])
        start = index
        while start > 0 and not _is_first(lines[start], column) and _belongs(lines[start - 1], column):
            start -= 1
        end = index + 1
        while end < len(lines) and _belongs(lines[end], column) and not _is_first(lines[end], column):
            end += 1
        reached[column] = end
        yield start, end, column


def _is_first(line: str, column: int) -> bool:
    """Whether the line opens an item of the list whose items' keys stand in this column."""
    return column >= 2 and line.lstrip(" \t").startswith("- ") and _indent(line) < column


def _belongs(line: str, column: int) -> bool:
    return not line.strip() or (not line.startswith("---") and (_indent(line) >= column or _is_first(line, column)))


def _without_mapped(line: str, spread: set[str]) -> str:
    found = _MAPPED.fullmatch(line)
    if found is None:
        if line.rstrip().endswith(":"):
            return line
        spread.add(line)
        return _lines_marked(line)
    if _BLOCK_SCALAR.match(found["secret"] + "\n"):
        return line
    spread.add(found["secret"])
    return found["head"] + REDACTED


def _without_values(found: re.Match[str], spread: set[str]) -> str:
    spread.update(value["secret"] for value in _JSON_VALUE.finditer(found[0]))
    return _JSON_VALUE.sub(lambda value: value["head"] + REDACTED, found[0])


_SHAPES = (
    (_PAIR, _named),
    (_WHOLE_HEADER, _whole_header),
    (_SET_HEADER, _set_header),
    (_SET_VARIABLE, _named),
    (_NAMELESS, _nameless),
    (_FLAG, _flagged),
    (_ASSIGNED, _assigned),
    (_SAID, _said),
    (_SAID_ZH, lambda text, head: _value(text, head, head["name"])),
)

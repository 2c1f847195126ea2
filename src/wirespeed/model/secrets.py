"""What is a secret in names, values and texts: the one definition that everything which keeps data shares."""

import re

REDACTED = "[redacted]"

_NAME_WORDS = r"secret|passw(?:or)?d|passphrase|api_?key|access_?key|private_?key|auth_?key|credentials?|(?<![a-z])token(?!s|iz)"
_SECRET_NAME = re.compile(rf"(?i){_NAME_WORDS}")
_IN_URL = re.compile(r"(?<=://)[^/@\s:\"']{1,200}:[^/@\s\"']{1,200}(?=@)")
_ASSIGNED = re.compile(
    rf"(?i)(?P<head>\b[\w.-]{{0,60}}(?:{_NAME_WORDS})[\w.-]{{0,60}}[\"']?\s{{0,4}}[=:]\s{{0,4}}[\"']?)(?P<secret>[^\s\"',;&]{{4,}})"
)
_HEADER = re.compile(
    r"(?i)(?P<head>\b(?:proxy-)?authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:bearer|basic|token)\s+)(?P<secret>[^\s\"']+)"
)
_FLAG = re.compile(
    rf"(?i)(?P<head>(?<!\w)--?[\w-]{{0,40}}(?:{_NAME_WORDS}|api-key|auth)[\w-]{{0,40}}(?:\s{{1,4}}|=)[\"']?)(?P<secret>[^\s\"'-][^\s\"']{{3,}})"
)
"""A flag and its value: `--api-key abc123`."""
_NAMED_HEADER = re.compile(
    r"(?i)(?P<head>\b(?:x-)?(?:api|auth|access|goog-api|functions)[-_](?:key|token)[\"']?(?:\s{0,4}[:=]\s{0,4}|\s{1,4})[\"']?)(?P<secret>[^\s\"',;]{4,})"
)
_COOKIE = re.compile(r"(?i)(?P<head>\b(?:set-)?cookie[\"']?\s{0,4}:\s{0,4})(?P<secret>[^\r\n\"']+)")
_PASSWORD_OPTION = re.compile(
    r"(?P<head>\b(?:sshpass\s+-p\s*|mysql\b[^\n]{0,80}?\s-p|curl\b[^\n]{0,200}?\s(?:-u|--user)\s+[^\s:]{1,60}:))(?P<secret>[^\s\"']{3,})"
)
_KNOWN_SHAPES = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|ghp_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|xox[abpr]-[A-Za-z0-9-]{10,}"
    r"|AKIA[A-Z0-9]{16}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}|nvapi-[A-Za-z0-9_-]{20,})"
)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.{0,16384}?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)


def is_secret_name(name: str) -> bool:
    """Whether a variable or field of this name holds a secret."""
    return _SECRET_NAME.search(name) is not None


def without_secrets(text: str) -> str:
    """The text with passwords, tokens and keys replaced by a mark; everything else as it was."""
    text = _PRIVATE_KEY.sub(REDACTED, text)
    text = _IN_URL.sub(REDACTED, text)
    text = _HEADER.sub(rf"\g<head>{REDACTED}", text)
    text = _KNOWN_SHAPES.sub(REDACTED, text)
    for shape in (_FLAG, _NAMED_HEADER, _COOKIE, _PASSWORD_OPTION):
        text = shape.sub(_assigned, text)
    return _ASSIGNED.sub(_assigned, text)


def _assigned(found: re.Match[str]) -> str:
    secret = found["secret"]
    harmless = secret.lower() in ("none", "null", "true", "false") or secret.startswith("[redacted") or secret.isdigit()
    return found[0] if harmless else found["head"] + REDACTED

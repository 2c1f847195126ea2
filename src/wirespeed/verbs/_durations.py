"""Times that people write on the command line."""

from wirespeed.model.errors import BadRequest
from wirespeed.model.text import Text
from wirespeed.model.units import duration_in_s

SHORTEST_S = 1e-9
"""Zero is no time to do anything in; where it may be given, `least_s` is 0."""


def asked_s(text: str, flag: str, least_s: float = SHORTEST_S, most_s: float = float("inf")) -> float:
    """Seconds of `30s`, `100ms`, `5m`. Raises BadRequest where it is no time, or out of bounds."""
    found = duration_in_s(text)
    if found is None:
        raise BadRequest(
            Text(en=f"{flag} {text!r} is no time; write 30s, 100ms or 5m", zh=f"{flag} {text!r} 不是时间；请写作 30s、100ms 或 5m")
        )
    if not least_s <= found <= most_s:
        raise BadRequest(Text(en=f"{flag} {text} is out of bounds", zh=f"{flag} {text} 超出范围"))
    return found

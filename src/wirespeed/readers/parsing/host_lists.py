"""Host lists as Slurm and pdsh write them: `node[001-004,007],login1`, also with several brackets in a name."""

from itertools import product

from wirespeed.readers.parsing.regex import regex

MOST_HOSTS = 20_000
MOST_CHARACTERS = 65_536

_PIECE = regex(r"\[([0-9,\-]{1,4096})\]|([^\[\],]{1,255})")
_SPAN = regex(r"^(\d{1,9})(?:-(\d{1,9}))?$")


def expanded(text: str) -> tuple[str, ...]:
    """The hosts of a list, in its order; none where the list is empty, damaged or names more than `MOST_HOSTS`."""
    if len(text) > MOST_CHARACTERS or text in ("", "(null)", "N/A", "None assigned", "None"):
        return ()
    hosts: list[str] = []
    for name in _names(text):
        found = _of_name(name, MOST_HOSTS - len(hosts))
        if found is None:
            return ()
        hosts.extend(found)
    return tuple(hosts)


def _names(text: str) -> list[str]:
    """Parts of the list between commas that stand outside brackets."""
    names, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            names.append(text[start:at])
            start = at + 1
    return [*names, text[start:]]


def _of_name(name: str, room: int) -> list[str] | None:
    """Every host of one name; None where it is damaged or holds more than there is room for."""
    choices: list[list[str]] = []
    end, count = 0, 1
    for found in _PIECE.finditer(name):
        if found.start() != end:
            return None
        end = found.end()
        piece = [found[2]] if found[2] is not None else _numbers(found[1], room)
        count *= len(piece or ())
        if not piece or count > room:
            return None
        choices.append(piece)
    return ["".join(parts) for parts in product(*choices)] if name and end == len(name) else None


def _numbers(ranges: str, room: int) -> list[str]:
    """Numbers of `001-004,007` with the leading zeros of their beginning."""
    numbers: list[str] = []
    for span in ranges.split(","):
        found = _SPAN.match(span)
        if not found:
            return []
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first or last - first >= room - len(numbers):
            return []
        numbers.extend(str(number).zfill(len(found[1])) for number in range(first, last + 1))
    return numbers

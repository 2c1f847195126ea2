"""The `[key] ...` rows under "Status code distribution" and "Error distribution": hey's summary, which oha prints too."""

from dataclasses import dataclass, field

from wirespeed.readers.parsing.regex import regex

MOST_ERROR_KINDS = 32
MOST_ERROR_CHARACTERS = 160
_COUNTED = regex(r"^\s*\[(?P<key>\d{1,15})\]\s+(?P<rest>\S.*)$")
_RESPONSES = regex(r"^(?P<count>\d{1,15}) responses")


@dataclass(slots=True)
class LoadCounts:
    """Responses by status code and failed requests by message, as far as one run of text was read."""

    responses: dict[str, int] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    is_in_errors: bool = False

    def take(self, line: str) -> bool:
        """Take a counted row; false when the line is none. A heading only tells which distribution follows."""
        counted = _COUNTED.match(line)
        if counted is None:
            if "distribution:" in line:
                self.is_in_errors = "Error distribution" in line
            return False
        key, rest = counted["key"], counted["rest"]
        if responses := _RESPONSES.match(rest):
            self.responses[key] = int(responses["count"])
        elif self.is_in_errors and len(self.errors) < MOST_ERROR_KINDS:
            self.errors[rest.strip()[:MOST_ERROR_CHARACTERS]] = int(key)
        else:
            return False
        return True

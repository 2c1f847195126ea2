"""The vocabulary of causes that comes with the package."""

from functools import cache
from importlib.resources import files

import msgspec

from wirespeed.model.vocabulary import Vocabulary


@cache
def vocabulary() -> Vocabulary:
    """How much each word tells of each cause; learned by `make words`."""
    return msgspec.json.decode((files("wirespeed") / "bundled" / "words.json").read_bytes(), type=Vocabulary)

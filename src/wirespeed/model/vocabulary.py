"""How much each word tells of each cause: learned once from published failures and from the rules' own explanations."""

import msgspec

from wirespeed.model.labels import Label


class Vocabulary(msgspec.Struct, frozen=True, kw_only=True):
    """Words and pairs of words, each with the causes it speaks for.

    `terms` holds, under each term, pairs of a place in `causes` and a weight (dimensionless, in thousandths), flattened.
    `learned_from` names what it was learned from, for people.
    """

    learned_from: str
    causes: tuple[Label, ...]
    terms: dict[str, tuple[int, ...]]

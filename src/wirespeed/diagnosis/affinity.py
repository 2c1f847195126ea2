"""How much the user's words are those a cause is told in: weak evidence, quoted, for when nothing stronger speaks.

A vocabulary says how much each word (and pair of neighbouring words) tells of each cause. It is learned from the rules' own
explanations and from published failures (`make words`): each text is a vector of damped counts times inverse document
frequency, and a cause is the direction of its explanation and of what people wrote who had it. What a user says is
compared with all causes, and only how far one stands out among them counts. Measured on 118 published faults that neither rules nor
vocabulary had seen: docs/decisions/0005.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

from wirespeed.model.finding import Evidence
from wirespeed.model.labels import Label
from wirespeed.model.lines import QUESTION_PATH
from wirespeed.model.source import Quote
from wirespeed.model.text import Text
from wirespeed.model.vocabulary import Vocabulary

NATS_A_DEVIATION = 1.3
"""Nominal weight of one standard deviation above the mean of all causes (like all that people say, it counts half)."""
MOST_DEVIATIONS = 5.0
"""What lies further out is no surer: then the text merely speaks of one thing only."""
STANDS_OUT_DEVIATIONS = 0.5
"""Below this a cause is told in nobody's words in particular."""
FEWEST_SHARED_WORDS = 3
MOST_SHARED_WORDS_SHOWN = 5
MOST_QUOTES = 2
MOST_WORDS_A_TEXT = 20_000
EXPLAINED_WEIGHT = 8.0
"""How many users' texts the rules' own explanation of a cause is worth when its words are learned."""
FEWEST_TEXTS = 2
"""A term of one text alone tells nothing of the next."""
MOST_TERMS_A_CAUSE = 400
STORED_UNIT = 0.001

_WORD = re.compile(r"[a-z][a-z0-9_]{2,}|[\u4e00-\u9fff]{2}")
_CHINESE_RUN = re.compile(r"[\u4e00-\u9fff]{3,}")
_ENDINGS = ("ing", "ed", "es", "s")
_COMMON_WORDS = (
    "the and for with from that this not are was were when then than all but who how where there here they them their "
    "our you your its out over under more less most other same each every any some only also after before while does did "
    "has have had can could would should may might will just very what which why into per via yes true false none null "
)
_COMMON = frozenset(_COMMON_WORDS.split())


class Affinity:
    """A vocabulary, and the comparison of a user's words with it."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def evidence(self, texts: Mapping[str, str]) -> dict[Label, Evidence]:
        """Evidence by cause, for the causes whose words stand out in the texts (by input name)."""
        said = Counter(term for text in texts.values() for term in terms_of(text))
        scores, telling = self._scores(said)
        mean = sum(scores) / max(1, len(scores))
        deviation = math.sqrt(sum((score - mean) ** 2 for score in scores) / max(1, len(scores)))
        found = {}
        for cause, score, terms in zip(self._vocabulary.causes, scores, telling, strict=True):
            deviations = (score - mean) / deviation if deviation else 0.0
            if deviations >= STANDS_OUT_DEVIATIONS and len(terms) >= FEWEST_SHARED_WORDS:
                most = [term for _, term in sorted(terms, key=lambda pair: (-pair[0], pair[1]))[:MOST_SHARED_WORDS_SHOWN]]
                found[cause] = Evidence(
                    says=_SAYS,
                    weight_nats=NATS_A_DEVIATION * min(deviations, MOST_DEVIATIONS),
                    values={"words": ", ".join(most)},
                    quotes=_quotes(most, texts),
                )
        return found

    def _scores(self, said: Counter[str]) -> tuple[list[float], list[list[tuple[float, str]]]]:
        """Of each cause in the vocabulary's order: its score, and the terms that make it up."""
        scores = [0.0] * len(self._vocabulary.causes)
        telling: list[list[tuple[float, str]]] = [[] for _ in scores]
        for term, count in said.items():
            weights = self._vocabulary.terms.get(term, ())
            for place, weight in zip(weights[::2], weights[1::2], strict=True):
                part = (1.0 + math.log(count)) * weight * STORED_UNIT
                scores[place] += part
                telling[place].append((part, term))
        return scores, telling


def learned(explained: Mapping[Label, str], told: Iterable[tuple[Label, str]], learned_from: str) -> Vocabulary:
    """The vocabulary of causes, from an explanation of each and from texts of people who had it.

    Rocchio's centroid of unit vectors (Manning, Raghavan, Schuetze, Introduction to Information Retrieval, section 14.2), with
    the explanation weighed as `EXPLAINED_WEIGHT` texts, and the terms' inverse document frequency folded into the weights.
    """
    explanations = {cause: Counter(terms_of(text)) for cause, text in explained.items()}
    tellings = [(cause, Counter(terms_of(text))) for cause, text in told]
    everything = [*explanations.values(), *(counts for _, counts in tellings)]
    spread = Counter(term for counts in everything for term in counts)
    rarity = {term: math.log(1.0 + len(everything) / count) for term, count in spread.items() if count >= FEWEST_TEXTS}
    sums = {cause: _scaled(_direction(counts, rarity), EXPLAINED_WEIGHT) for cause, counts in explanations.items()}
    for cause, counts in tellings:
        for term, weight in _direction(counts, rarity).items():
            sums[cause][term] = sums[cause].get(term, 0.0) + weight
    terms: dict[str, list[int]] = {}
    for place, total in enumerate(sums.values()):
        size = math.sqrt(sum(weight * weight for weight in total.values())) or 1.0
        weighed = {term: weight * rarity[term] / size for term, weight in total.items()}
        for term in sorted(weighed, key=lambda term: (-weighed[term], term))[:MOST_TERMS_A_CAUSE]:
            stored = round(weighed[term] / STORED_UNIT)
            if stored:
                terms.setdefault(term, []).extend((place, stored))
    return Vocabulary(
        learned_from=learned_from,
        causes=tuple(explanations),
        terms={term: tuple(weights) for term, weights in sorted(terms.items())},
    )


def _direction(counts: Counter[str], rarity: Mapping[str, float]) -> dict[str, float]:
    """A text as a vector of length one."""
    weights = {term: (1.0 + math.log(count)) * rarity[term] for term, count in counts.items() if term in rarity}
    return _scaled(weights, 1.0 / (math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0))


def _scaled(weights: Mapping[str, float], factor: float) -> dict[str, float]:
    return {term: weight * factor for term, weight in weights.items()}


def terms_of(text: str) -> list[str]:
    """The words of a text's beginning, and each pair of neighbours."""
    words = words_of(text)[:MOST_WORDS_A_TEXT]
    return [*words, *(f"{one} {other}" for one, other in pairwise(words))]


def words_of(text: str) -> list[str]:
    """Words without endings, and pairs of Chinese characters; common words left out."""
    low = text.lower()
    plain = [_stem(word) for word in _WORD.findall(low) if word not in _COMMON]
    pairs = [run[at : at + 2] for run in _CHINESE_RUN.findall(low) for at in range(1, len(run) - 1, 2)]
    return plain + pairs


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _quotes(telling: list[str], texts: Mapping[str, str]) -> tuple[Quote, ...]:
    """The input lines that hold most of the telling words."""
    wanted = {word for term in telling for word in term.split()}
    found = []
    for path, text in texts.items():
        for index, line in enumerate(text.split("\n")):
            count = len(wanted & set(words_of(line)))
            if count and path != QUESTION_PATH:
                found.append((count, Quote(source=path, line_index=index, text=line)))
    found.sort(key=lambda pair: -pair[0])
    return tuple(quote for _, quote in found[:MOST_QUOTES])


_SAYS = Text(en="wording only: it is told in words of this cause ({words})", zh="仅为用词：描述中出现该原因的用词（{words}）")

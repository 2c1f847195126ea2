"""How much the user's words are those a cause is explained with: weak evidence, for when nothing stronger speaks.

Each rule is a small document: its title, summary, explanation, changes and checks. Words are weighed by how few rules use them
(inverse document frequency), and a rule's score is compared with the scores of all rules, so that only a rule that stands out
gets any weight. Measured on 97 published faults before any rule was improved with them: rules alone 0.54 of causes first and
0.64 among the first three, with this 0.64 and 0.78 (`make bench-diagnosis`, decision 5).
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from wirespeed.model.finding import Evidence
from wirespeed.model.kinds import Rule
from wirespeed.model.lines import QUESTION_PATH
from wirespeed.model.source import Quote
from wirespeed.model.text import Text

NATS_A_DEVIATION = 0.7
"""Weight of one standard deviation above the mean of all rules."""
MOST_NATS = 2.4
"""What words can weigh at most: alone they leave a cause below one in three."""
STANDS_OUT_DEVIATIONS = 1.5
FEWEST_SHARED_WORDS = 3
MOST_SHARED_WORDS_SHOWN = 5
MOST_QUOTES = 2
MOST_WORDS_A_TEXT = 20_000

_WORD = re.compile(r"[a-z][a-z0-9_]{2,}|[\u4e00-\u9fff]{2}")
_CHINESE_RUN = re.compile(r"[\u4e00-\u9fff]{3,}")
_ENDINGS = ("ing", "ed", "es", "s")
_COMMON = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "from",
        "that",
        "this",
        "not",
        "are",
        "was",
        "were",
        "when",
        "then",
        "than",
        "all",
        "but",
        "who",
        "how",
        "where",
        "there",
        "here",
        "they",
        "them",
        "their",
        "our",
        "you",
        "your",
        "its",
        "out",
        "over",
        "under",
        "more",
        "less",
        "most",
        "other",
        "same",
        "each",
        "every",
        "any",
        "some",
        "only",
        "also",
        "after",
        "before",
        "while",
        "does",
        "did",
        "has",
        "have",
        "had",
        "can",
        "could",
        "would",
        "should",
        "may",
        "might",
        "will",
        "just",
        "very",
        "what",
        "which",
        "why",
        "into",
        "per",
        "via",
        "yes",
        "true",
        "false",
        "none",
        "null",
    ]
)


@dataclass(frozen=True, slots=True)
class _Document:
    weights: dict[str, float]
    norm: float


class Affinity:
    """The rules' documents, made once, and the comparison of a user's words with them."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        counts = {name: Counter(words_of(_told(rule))) for name, rule in rules.items()}
        spread = Counter(word for words in counts.values() for word in words)
        self._rarity = {word: math.log(1.0 + len(counts) / count) for word, count in spread.items()}
        self._documents = {name: self._document(words) for name, words in counts.items()}

    def evidence(self, texts: Mapping[str, str]) -> dict[str, Evidence]:
        """Evidence by rule id, for the rules whose words stand out in the texts (by input name)."""
        said = self._document(Counter(word for text in texts.values() for word in words_of(text)[:MOST_WORDS_A_TEXT]))
        scores = {name: _overlap(said, document) for name, document in self._documents.items()}
        mean = sum(scores.values()) / max(1, len(scores))
        deviation = math.sqrt(sum((score - mean) ** 2 for score in scores.values()) / max(1, len(scores)))
        if deviation == 0.0:
            return {}
        outstanding = {name: (score - mean) / deviation for name, score in scores.items()}
        return {
            name: made
            for name, deviations in outstanding.items()
            if deviations >= STANDS_OUT_DEVIATIONS and (made := self._evidence(name, deviations, said, texts)) is not None
        }

    def _document(self, words: Counter[str]) -> _Document:
        weights = {word: (1.0 + math.log(count)) * self._rarity[word] for word, count in words.items() if word in self._rarity}
        return _Document(weights, math.sqrt(sum(weight * weight for weight in weights.values())))

    def _evidence(self, name: str, deviations: float, said: _Document, texts: Mapping[str, str]) -> Evidence | None:
        document = self._documents[name]
        shared = sorted(said.weights.keys() & document.weights.keys(), key=lambda word: (-self._rarity[word], word))
        if len(shared) < FEWEST_SHARED_WORDS:
            return None
        telling = shared[:MOST_SHARED_WORDS_SHOWN]
        return Evidence(
            says=_SAYS,
            weight_nats=_weight_nats(deviations),
            values={"words": ", ".join(telling)},
            quotes=_quotes(telling, texts),
        )


def _weight_nats(deviations: float) -> float:
    """Grows with the deviations and flattens towards `MOST_NATS`, so that order is kept."""
    return MOST_NATS * (1.0 - math.exp(-NATS_A_DEVIATION * deviations / MOST_NATS))


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


def _told(rule: Rule) -> str:
    """Everything a rule says of its cause, in both languages."""
    texts = [rule.title, rule.summary, rule.explain.what, rule.explain.shows]
    texts += [change.what for change in rule.changes] + [check.what for check in rule.checks]
    commands = [line for change in rule.changes for line in change.commands] + [
        line for check in rule.checks for line in check.commands
    ]
    return " ".join([rule.cause.replace("-", " "), *commands, *(f"{text.en} {text.zh}" for text in texts)])


def _overlap(said: _Document, document: _Document) -> float:
    """Shared weight, with long documents damped by the root of their norm only: a longer explanation knows more words."""
    if document.norm == 0.0:
        return 0.0
    shared = sum(weight * document.weights[word] for word, weight in said.weights.items() if word in document.weights)
    return shared / math.sqrt(document.norm)


def _quotes(telling: list[str], texts: Mapping[str, str]) -> tuple[Quote, ...]:
    """The input lines that hold most of the telling words."""
    found = []
    for path, text in texts.items():
        for index, line in enumerate(text.split("\n")):
            count = len(set(telling) & set(words_of(line)))
            if count and path != QUESTION_PATH:
                found.append((count, Quote(source=path, line_index=index, text=line)))
    found.sort(key=lambda pair: -pair[0])
    return tuple(quote for _, quote in found[:MOST_QUOTES])


_SAYS = Text(en="wording only: it is told in words of this cause ({words})", zh="仅为用词：描述中出现该原因的用词（{words}）")

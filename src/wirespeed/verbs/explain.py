"""Tell the whole story of a cause: what it is, how it shows, what it is mistaken for, how to prove, fix and verify it."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Annotated

import msgspec

from wirespeed.diagnosis import rules
from wirespeed.diagnosis.judge import unknown_values
from wirespeed.diagnosis.settling import Settling, Way
from wirespeed.model import shelf
from wirespeed.model.document import AnyBlock, Document, FactList, Grid, Headline, Prose, Steps
from wirespeed.model.errors import BadRequest
from wirespeed.model.finding import Change, Check, LookAlike, Severity
from wirespeed.model.kinds import Option, Reader, Rule
from wirespeed.model.labels import MEANINGS, Bearing, Label
from wirespeed.model.text import Text, same
from wirespeed.readers import tools
from wirespeed.report import words
from wirespeed.report.numbers import seconds
from wirespeed.report.verdict import filled_change, filled_check

SCHEMA = "wirespeed/explain/1"
MOST_MATCHES = 6
LIKENESS_RATIO = 0.55
"""Names less alike than this are not what was meant."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which cause."""

    cause: Annotated[
        str | None,
        Option(
            help=Text(
                en="a cause as diagnose names it (mtu-mismatch) or a rule (mtu_mismatch); nothing lists them",
                zh="diagnose 给出的原因名（mtu-mismatch）或规则名（mtu_mismatch）；不给则列出全部",
            ),
            is_argument=True,
            metavar="CAUSE",
        ),
    ] = None


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """One output that bears on a cause; `commands` are ways to have it, any of which will do. None: it stands in a file of the user's."""

    title: Text
    commands: tuple[str, ...]
    takes_s: float | None


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one rule tells of its cause."""

    cause: Label
    rule: str
    family: str
    bearing: Bearing
    severity: Severity
    title: Text
    meaning: Text
    summary: Text
    what: Text
    shows: Text
    told_apart_from: tuple[LookAlike, ...]
    mistaken_from: tuple[Label, ...]
    """Causes that name this one among what they are mistaken for."""
    explains: tuple[Label, ...]
    explained_by: tuple[Label, ...]
    proofs: tuple[tuple[Output, ...], ...]
    """Alternatives, cheapest first: each is a list of outputs that are needed together."""
    changes: tuple[Change, ...]
    checks: tuple[Check, ...]
    gain: Text
    sources: tuple[str, ...]


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """One cause of the list."""

    cause: Label
    family: str
    rules: tuple[str, ...]
    meaning: Text


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `explain`: the stories of the cause asked for, or the list of all causes."""

    schema: str = SCHEMA
    stories: tuple[Story, ...] = ()
    causes: tuple[Known, ...] = ()


def run(options: Options) -> Answer:
    """The stories of a cause, or all causes by family. Raises BadRequest for a name that is none, with those that are like it."""
    shelved = shelf.every(rules, Rule)
    if options.cause is None:
        return Answer(causes=tuple(_known(label, shelved) for label in _by_family()))
    chosen = _chosen(options.cause, shelved)
    settling = Settling(shelf.every(tools, Reader))
    return Answer(stories=tuple(_story(name, shelved, settling) for name in chosen))


def _by_family() -> list[Label]:
    families = list(words.FAMILY)
    return sorted(MEANINGS, key=lambda label: families.index(MEANINGS[label].family))


def _known(label: Label, shelved: Mapping[str, Rule]) -> Known:
    meaning = MEANINGS[label]
    named = tuple(name for name, rule in shelved.items() if rule.cause == label)
    return Known(cause=label, family=meaning.family, rules=named, meaning=meaning.text)


def _chosen(name: str, shelved: Mapping[str, Rule]) -> list[str]:
    """The rule of this id, or the rules of this label; however people write hyphens and capitals."""
    if (exact := name.strip().lower()) in shelved and "_" in exact:
        return [exact]
    asked = name.strip().lower().replace("_", "-").replace(" ", "-")
    by_cause = [rule_id for rule_id, rule in shelved.items() if rule.cause == asked]
    found = by_cause or [rule_id for rule_id in shelved if rule_id.replace("_", "-") == asked]
    if found:
        return found
    near = _near(asked, {*(rule.cause for rule in shelved.values()), *(rule_id.replace("_", "-") for rule_id in shelved)})
    shown = ", ".join(near)
    raise BadRequest(
        Text(
            en=f"no cause is called {name}" + (f"; near it: {shown}" if near else "; `wirespeed explain` lists them"),
            zh=f"没有名为 {name} 的原因" + (f"；相近的有：{shown}" if near else "；`wirespeed explain` 列出全部"),
        )
    )


def _near(asked: str, names: Iterable[str]) -> list[str]:
    """Names that hold the word, then names that are spelt alike."""
    known = sorted(names)
    holding = [one for one in known if asked and (asked in one or set(asked.split("-")) & set(one.split("-")))]
    alike = get_close_matches(asked, known, n=MOST_MATCHES, cutoff=LIKENESS_RATIO)
    return list(dict.fromkeys((*alike, *holding)))[:MOST_MATCHES]


def _story(rule_id: str, shelved: Mapping[str, Rule], settling: Settling) -> Story:
    rule = shelved[rule_id]
    meaning = MEANINGS[rule.cause]
    values = {name: str(value) for name, value in unknown_values(rule).items()}
    return Story(
        cause=rule.cause,
        rule=rule_id,
        family=meaning.family,
        bearing=meaning.bearing,
        severity=rule.severity,
        title=rule.title.filled(values),
        meaning=meaning.text,
        summary=rule.summary.filled(values),
        what=rule.explain.what,
        shows=rule.explain.shows,
        told_apart_from=rule.told_apart_from,
        mistaken_from=_causes(one for one in shelved.values() if any(like.cause == rule.cause for like in one.told_apart_from)),
        explains=rule.explains,
        explained_by=_causes(one for one in shelved.values() if rule.cause in one.explains),
        proofs=tuple(tuple(_output(ways) for ways in together) for together in settling.proofs_of(rule)),
        changes=tuple(filled_change(one, values) for one in rule.changes),
        checks=tuple(filled_check(one, values) for one in rule.checks),
        gain=rule.gain.filled(values),
        sources=rule.explain.sources,
    )


def _causes(found: Iterable[Rule]) -> tuple[Label, ...]:
    return tuple(dict.fromkeys(one.cause for one in found))


def _output(ways: tuple[Way, ...]) -> Output:
    return Output(
        title=ways[0].title,
        commands=tuple(way.command for way in ways if way.command is not None),
        takes_s=ways[0].takes_s,
    )


def present(answer: Answer, options: Options) -> Document:
    """The stories one after the other, or the list."""
    blocks = [block for story in answer.stories for block in _told(story)] or _listed(answer.causes)
    return Document(title=Text(en="wirespeed explain", zh="wirespeed 原因说明"), blocks=tuple(blocks))


def _listed(causes: tuple[Known, ...]) -> list[AnyBlock]:
    blocks: list[AnyBlock] = [
        Headline(text=Text(en=f"{len(causes)} causes; explain one by its name", zh=f"共 {len(causes)} 个原因；按名称逐一说明"))
    ]
    for family in dict.fromkeys(one.family for one in causes):
        blocks.append(Headline(text=words.FAMILY[family], level=2))
        blocks.append(FactList(rows=tuple((same(one.cause), one.meaning) for one in causes if one.family == family)))
    return blocks


def _told(story: Story) -> list[AnyBlock]:
    blocks: list[AnyBlock] = [
        Headline(text=story.title, tone=words.TONE_OF_SEVERITY[story.severity]),
        FactList(rows=_facts(story)),
        Prose(text=story.summary),
        *_section(_WHAT, Prose(text=story.what)),
        *_section(_SHOWS, Prose(text=story.shows)),
        *_section(words.NOT_TO_CONFUSE, _apart(story)),
    ]
    if story.mistaken_from:
        blocks.append(_named(_ALSO, story.mistaken_from))
    blocks.append(Steps(title=_PROOF if story.proofs else _NO_PROOF, steps=tuple(_proof(together) for together in story.proofs)))
    blocks.append(Steps(title=words.FIX, steps=tuple(_fix(change) for change in story.changes)))
    blocks.append(Steps(title=words.VERIFY, steps=tuple((check.what, check.commands) for check in story.checks)))
    blocks.append(FactList(rows=((words.GAIN, story.gain),)))
    blocks.append(Steps(title=_SOURCES, steps=tuple((same(source), ()) for source in story.sources)))
    return blocks


def _section(title: Text, block: AnyBlock) -> tuple[AnyBlock, AnyBlock]:
    return Headline(text=title, level=2), block


def _named(title: Text, causes: tuple[Label, ...]) -> Prose:
    named = ", ".join(causes)
    return Prose(text=Text(en=f"{title.en}: {named}", zh=f"{title.zh}：{named}"))


def _facts(story: Story) -> tuple[tuple[Text, Text], ...]:
    rows = [
        (_CAUSE, same(story.cause)),
        (_RULE, same(story.rule)),
        (_FAMILY, words.FAMILY[story.family]),
        (_BEARING, words.BEARING[story.bearing]),
        (_SEVERITY, words.SEVERITY[story.severity]),
    ]
    if story.explains:
        rows.append((words.EXPLAINS, same(", ".join(story.explains))))
    if story.explained_by:
        rows.append((words.EXPLAINED_BY, same(", ".join(story.explained_by))))
    return tuple(rows)


def _apart(story: Story) -> Grid:
    return Grid(
        columns=(_CAUSE, Text(en="what tells them apart", zh="如何区分")),
        rows=tuple((same(like.cause), like.because) for like in story.told_apart_from),
    )


def _proof(together: tuple[Output, ...]) -> tuple[Text, tuple[str, ...]]:
    """One alternative: the outputs it takes, and the time of those that are commands."""
    en = " + ".join(_timed(one, one.title.en) for one in together)
    zh = " + ".join(_timed(one, one.title.zh) for one in together)
    return Text(en=en, zh=zh), tuple(dict.fromkeys(command for one in together for command in one.commands))


def _timed(output: Output, title: str) -> str:
    return title if output.takes_s is None else f"{title} ({seconds(output.takes_s)})"


def _fix(change: Change) -> tuple[Text, tuple[str, ...]]:
    said = {"en": change.what.en, "zh": change.what.zh}
    if change.side != "both":
        side = words.FOR_SIDE[change.side]
        said = {"en": f"({side.en}) {said['en']}", "zh": f"（{side.zh}）{said['zh']}"}
    if change.risk is not None:
        said["en"] += f". {words.RISK.en}: {change.risk.en}"
        said["zh"] += f"。{words.RISK.zh}：{change.risk.zh}"
    return Text(**said), change.commands


_CAUSE = Text(en="cause", zh="原因")
_RULE = Text(en="rule", zh="规则")
_FAMILY = Text(en="family", zh="类别")
_BEARING = Text(en="it means", zh="意味着")
_SEVERITY = Text(en="severity", zh="严重程度")
_WHAT = Text(en="What it is", zh="机理")
_SHOWS = Text(en="How it shows", zh="表现")
_ALSO = Text(en="These are mistaken for it too", zh="以下原因也会被误认为它")
_PROOF = Text(en="How to prove it (any one of these, cheapest first)", zh="如何证明（任取其一，代价小的在前）")
_NO_PROOF = Text(
    en="No tool's output proves it: only what people know of their set-up", zh="没有工具输出能证明；只能依据对环境的了解"
)
_SOURCES = Text(en="Sources", zh="来源")

"""List the runs that were kept, newest first."""

from pathlib import Path
from typing import Annotated

import msgspec

from wirespeed.archive.runs_directory import head_of, size_of
from wirespeed.archive.store import list_runs
from wirespeed.model.document import AnyBlock, Document, Grid, Headline, Prose
from wirespeed.model.errors import BadRequest
from wirespeed.model.kinds import Option
from wirespeed.model.run import RAW_NAME, RECORDS_NAME, SERIES_NAME
from wirespeed.model.text import Text, same
from wirespeed.report.numbers import printed
from wirespeed.verbs.runs._shared import WHERE, folder_of, trouble_with

SCHEMA = "wirespeed/runs-list/1"
_HOLDS = {
    "facts": Text(en="facts", zh="配置信息"),
    "series": Text(en="series", zh="序列"),
}


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which runs."""

    runs: Annotated[str | None, WHERE] = None
    most_count: Annotated[
        int,
        Option(
            help=Text(en="show this many of the newest; 0 means all", zh="只显示最新的若干个；0 表示全部"),
            flags=("--most",),
            metavar="N",
        ),
    ] = 30


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One run. `is_readable` is False where its manifest is damaged."""

    name: str
    is_readable: bool = True
    host: str | None = None
    started_at_s: float | None = None
    made_by: str = ""
    duration_s: float | None = None
    """Of the recording in it; None without one."""
    ended: str | None = None
    holds: tuple[str, ...] = ()
    size_bytes: int | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `runs list`."""

    schema: str = SCHEMA
    folder: str
    runs: tuple[Item, ...]
    total_count: int


def run(options: Options) -> Answer:
    """Read the heads of the newest runs. Raises CouldNot where the directory may not be read."""
    if options.most_count < 0:
        raise BadRequest(Text(en="--most cannot be negative", zh="--most 不能为负"))
    folder = folder_of(options.runs)
    with trouble_with(folder):
        places = list_runs(folder)[::-1]
        items = tuple(map(_item, places[: options.most_count or None]))
    return Answer(folder=str(folder), runs=items, total_count=len(places))


def _item(place: Path) -> Item:
    head = head_of(place)
    size_bytes = size_of(place)
    if head is None:
        return Item(name=place.name, is_readable=False, size_bytes=size_bytes)
    parts = {"facts": RAW_NAME, "series": SERIES_NAME, "records": RECORDS_NAME}
    return Item(
        name=place.name,
        host=head.host,
        started_at_s=head.started_at_s,
        made_by=head.made_by,
        duration_s=head.recording.duration_s if head.recording else None,
        ended=head.recording.ended if head.recording else None,
        holds=tuple(part for part, name in parts.items() if _has_something(place / name)),
        size_bytes=size_bytes,
    )


def _has_something(path: Path) -> bool:
    try:
        return any(path.iterdir()) if path.is_dir() else path.stat().st_size > 0
    except OSError:
        return False


def present(answer: Answer, options: Options) -> Document:
    """A table, newest first."""
    blocks: list[AnyBlock] = [Headline(text=_headline(answer))]
    if answer.runs:
        columns = (
            Text(en="run", zh="运行"),
            Text(en="time", zh="时间"),
            Text(en="made by", zh="来源"),
            Text(en="recorded", zh="记录时长"),
            Text(en="holds", zh="内容"),
            Text(en="size", zh="大小"),
        )
        blocks.append(Grid(columns=columns, rows=tuple(map(_row, answer.runs))))
    else:
        blocks.append(Prose(text=Text(en="`wirespeed baseline` makes one.", zh="可用 wirespeed baseline 创建。")))
    if len(answer.runs) < answer.total_count:
        more = answer.total_count - len(answer.runs)
        blocks.append(
            Prose(text=Text(en=f"{more} older ones: --most 0 shows all", zh=f"另有 {more} 个较早的运行：--most 0 显示全部"))
        )
    return Document(title=Text(en="wirespeed runs", zh="wirespeed 运行列表"), blocks=tuple(blocks))


def _headline(answer: Answer) -> Text:
    count = answer.total_count
    if not count:
        return Text(en=f"There are no runs in {answer.folder} yet", zh=f"{answer.folder} 中还没有运行")
    return Text(en=f"{count} run{'' if count == 1 else 's'} in {answer.folder}", zh=f"{answer.folder} 中有 {count} 个运行")


def _row(item: Item) -> tuple[Text, ...]:
    if not item.is_readable:
        damaged = Text(en="manifest unreadable", zh="清单无法读取")
        return (same(item.name), same(""), damaged, same(""), same(""), same(printed("size_bytes", item.size_bytes)))
    holds = [_HOLDS[part] for part in item.holds if part in _HOLDS]
    return (
        same(item.name),
        same(printed("started_at_s", item.started_at_s)),
        same(item.made_by),
        same("" if item.duration_s is None else printed("duration_s", item.duration_s)),
        Text(en=", ".join(part.en for part in holds), zh="、".join(part.zh for part in holds)),
        same(printed("size_bytes", item.size_bytes)),
    )

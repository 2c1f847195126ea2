"""Answer link tests of other hosts for a while: only who has the token can use it, and only within bounds."""

import contextlib
import os
import secrets
import sys
import time
from typing import Annotated

import msgspec

from wirespeed.benches.links.protocol import DEFAULT_PORT
from wirespeed.benches.links.responder import Tally, listen_at, serve
from wirespeed.benches.links.spec import Limits
from wirespeed.model.document import Document, FactList, Headline
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.kinds import Option
from wirespeed.model.progress import Progress, Update, unheard
from wirespeed.model.text import Text, same
from wirespeed.report.numbers import printed
from wirespeed.verbs._durations import asked_s
from wirespeed.verbs._quantities import address_of, place, rate

SCHEMA = "wirespeed/peer/1"
TOKEN_VARIABLE = "WIRESPEED_TOKEN"  # noqa: S105 - the name of a variable
SHORTEST_TOKEN_CHARACTERS = 8
BITS_PER_BYTE = 8.0


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to listen, for whom, and how much is allowed."""

    listen: Annotated[
        str,
        Option(
            help=Text(
                en="address of this host to listen at; the default is reachable from this host only",
                zh="监听的本机地址；默认仅本机可达",
            ),
            metavar="ADDR[:PORT]",
        ),
    ] = f"127.0.0.1:{DEFAULT_PORT}"
    token: Annotated[
        str | None,
        Option(
            help=Text(
                en=f"what a client must know, at least {SHORTEST_TOKEN_CHARACTERS} characters; better in {TOKEN_VARIABLE}, where no process list shows it. On a terminal one is made up and shown",
                zh=f"客户端须持有的口令，至少 {SHORTEST_TOKEN_CHARACTERS} 个字符；放在环境变量 {TOKEN_VARIABLE} 中更好，不会出现在进程列表里。在终端上不给则自动生成并显示",
            ),
            metavar="TOKEN",
        ),
    ] = None
    for_: Annotated[
        str, Option(help=Text(en="after which it ends by itself", zh="到时自行结束"), flags=("--for",), metavar="TIME")
    ] = "10m"
    most_rate: Annotated[
        str, Option(help=Text(en="of one session's traffic, each direction", zh="单个会话每个方向的流量上限"), metavar="RATE")
    ] = "100Gb/s"
    most_sessions_count: Annotated[
        int, Option(flags=("--most-sessions",), help=Text(en="at the same time", zh="同时进行的会话数上限"), metavar="N")
    ] = 32
    mesh: Annotated[
        bool,
        Option(
            help=Text(
                en="also test paths to other peers with the same token when a client asks, for `bench links --mesh`",
                zh="客户端要求时，也测试到持有相同口令的其他对端的路径（供 `bench links --mesh` 使用）",
            )
        ),
    ] = False


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `peer`, once it has ended; its JSON is the contract `wirespeed/peer/1`. The token is not in it."""

    schema: str = SCHEMA
    address: str
    port: int
    duration_s: float
    sessions_count: int
    refused_count: int
    strangers_count: int


def run(options: Options, progress: Progress = unheard) -> Answer:
    """Serve until the time is over. Raises BadRequest for options that make no sense, CouldNot where the address cannot be had."""
    host, port = place(options.listen, DEFAULT_PORT)
    for_s = asked_s(options.for_, "--for")
    limits = Limits(
        most_bytes_per_s=rate(options.most_rate, "--most-rate") / BITS_PER_BYTE,
        most_sessions_count=options.most_sessions_count,
        may_reach_others=options.mesh,
    )
    if options.most_sessions_count < 1 or limits.most_bytes_per_s <= 0:
        raise BadRequest(
            Text(
                en="--most-rate and --most-sessions must be above zero",
                zh="--most-rate 和 --most-sessions 必须大于零",
            )
        )
    token, is_made_up = _token(options)
    try:
        listening = listen_at(address_of(host), port)
    except OSError as error:
        raise CouldNot(
            Text(en=f"cannot listen at {options.listen}: {error.strerror}", zh=f"无法监听 {options.listen}：{error.strerror}")
        ) from error
    address, port = listening.getsockname()[:2]
    start_s, tally = time.monotonic(), Tally()

    def told(now: Tally) -> None:
        nonlocal tally
        tally = now
        left_s = max(0.0, for_s - (time.monotonic() - start_s))
        progress(Update(says=_says(tally), remaining_s=left_s, view=_view(address, port, token if is_made_up else None)))

    told(tally)
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is how a peer is ended by hand
        serve(listening, token, for_s, limits, told)
    return Answer(
        address=address,
        port=port,
        duration_s=time.monotonic() - start_s,
        sessions_count=tally.sessions_count,
        refused_count=tally.refused_count,
        strangers_count=tally.strangers_count,
    )


def _token(options: Options) -> tuple[str, bool]:
    """The token and whether it was made up here, which only makes sense where somebody can read it."""
    given = options.token or os.environ.get(TOKEN_VARIABLE)
    if given is None:
        if sys.stderr is None or not sys.stderr.isatty():
            raise BadRequest(
                Text(
                    en=f"without a terminal to show one at, give the token in {TOKEN_VARIABLE} or with --token",
                    zh=f"没有终端可显示生成的口令，请用环境变量 {TOKEN_VARIABLE} 或 --token 给出",
                )
            )
        return secrets.token_urlsafe(16), True
    if len(given) < SHORTEST_TOKEN_CHARACTERS:
        raise BadRequest(
            Text(
                en=f"the token has fewer than {SHORTEST_TOKEN_CHARACTERS} characters",
                zh=f"口令少于 {SHORTEST_TOKEN_CHARACTERS} 个字符",
            )
        )
    return given, False


def _says(tally: Tally) -> Text:
    return Text(
        en=f"{tally.running_count} running, {tally.sessions_count} served, {tally.refused_count} refused",
        zh=f"进行中 {tally.running_count}，已服务 {tally.sessions_count}，已拒绝 {tally.refused_count}",
    )


def _view(address: str, port: int, token: str | None) -> Document:
    shown = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    rows = [(Text(en="listening at", zh="监听于"), same(shown))]
    if token is not None:
        rows.append((Text(en="token", zh="口令"), same(token)))
        rows.append(
            (Text(en="on the other host", zh="在另一台主机上"), same(f"{TOKEN_VARIABLE}={token} wirespeed bench links {shown}"))
        )
    return Document(title=same("wirespeed peer"), blocks=(FactList(rows=tuple(rows)),))


def present(answer: Answer, options: Options) -> Document:
    """What it did while it ran."""
    served = f"{answer.sessions_count}"
    return Document(
        title=same("wirespeed peer"),
        blocks=(
            Headline(
                text=Text(
                    en=f"Served {served} sessions in {printed('duration_s', answer.duration_s)}",
                    zh=f"在 {printed('duration_s', answer.duration_s)} 内服务了 {served} 个会话",
                )
            ),
            FactList(
                rows=(
                    (
                        Text(en="refused (token, version, too many)", zh="已拒绝（口令、版本、会话过多）"),
                        same(str(answer.refused_count)),
                    ),
                    (Text(en="strangers", zh="陌生连接"), same(str(answer.strangers_count))),
                )
            ),
        ),
    )

"""The command: arguments from option structs, output through the report room, exit codes.

0 done, 1 findings at or above the asked severity, 2 wrong use, 3 could not be done.
"""

import importlib
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from wirespeed import __version__, verbs
from wirespeed.faces.cli.progress import at_work
from wirespeed.model import shelf
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.text import Language, Text
from wirespeed.report.plain import visible

FORMATS = ("text", "json", "html", "markdown")
WRONG_USE, COULD_NOT, INTERRUPTED = 2, 3, 130
TRACEBACK_VARIABLE = "WIRESPEED_TRACEBACK"
OVERVIEW = "Find what limits large-model training or inference on the network, prove it, and give the fix."


class Verbs(click.Group):
    """The verbs are the files of the verbs shelf; a verb is imported only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the verbs."""
        return [name.replace("_", "-") for name in shelf.ids(verbs)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One verb as a command, or None where there is no such verb."""
        name = cmd_name.replace("-", "_")
        return _command(name) if name in shelf.ids(verbs) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview: each verb's first line, read from its file without importing it."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, _first_line(name.replace("-", "_"))) for name in self.list_commands(ctx)])


def _first_line(name: str) -> str:
    source = Path(verbs.__path__[0]) / f"{name}.py"
    with source.open(encoding="utf-8") as text:
        return text.readline().strip().strip('"')


def _command(name: str) -> click.Command:
    from wirespeed.faces.cli.arguments import parameters

    module = importlib.import_module(f"{verbs.__name__}.{name}")
    shown = [
        click.Option(
            ["--format", "output_format"], type=click.Choice(FORMATS), default="text", show_default=True, help="how to print"
        ),
        click.Option(["--lang"], type=click.Choice(["en", "zh"]), help="language (default: LANG)"),
        click.Option(["--output"], metavar="FILE", help="write there instead of standard output"),
    ]
    return click.Command(
        name.replace("_", "-"),
        params=[*parameters(module.Options), *shown],
        callback=lambda **given: _run(module, given),
        help=module.__doc__,
    )


def _run(module: Any, given: dict[str, Any]) -> None:
    output_format, lang, output = given.pop("output_format"), given.pop("lang"), given.pop("output")
    language: Language = lang or ("zh" if _locale().startswith("zh") else "en")
    try:
        options = module.Options(**given)
        _refuse_overwriting(output, given)
        with at_work(module.__name__.rpartition(".")[2]):
            answer = module.run(options)
        _write(_printed(module, answer, options, output_format, language, output), output)
    except BadRequest as error:
        _leave(error.why[language], WRONG_USE)
    except CouldNot as error:
        _leave(error.why[language], COULD_NOT)
    sys.exit(module.exit_code(answer, options) if hasattr(module, "exit_code") else 0)


def _refuse_overwriting(output: str | None, given: dict[str, Any]) -> None:
    """The answer must not replace what it is made from, nor what is saved beside it."""
    if output is None:
        return
    named = [*given.get("inputs", ()), given.get("save"), given.get("from_")]
    if any(other and os.path.realpath(other) == os.path.realpath(output) for other in named):
        raise BadRequest(
            Text(en=f"--output {output} would replace an input or what is saved", zh=f"--output {output} 会覆盖输入或所保存的文件")
        )


def _printed(module: Any, answer: Any, options: Any, output_format: str, language: Language, output: str | None) -> str | None:
    if output_format == "json":
        return _json(answer)
    document = module.present(answer, options)
    if output_format == "text" and output is None and sys.stdout is not None and sys.stdout.isatty():
        _print_in_colour(document, language)
        return None
    from wirespeed.model.kinds import Renderer
    from wirespeed.report import renderers

    return shelf.take(renderers, output_format, Renderer).render(document, language, _width())


def _json(answer: Any) -> str:
    import msgspec

    try:
        return msgspec.json.format(msgspec.json.encode(answer), indent=2).decode() + "\n"
    except UnicodeEncodeError:  # a file name that is no UTF-8: its odd bytes are escaped
        import json

        return json.dumps(msgspec.to_builtins(answer), indent=2) + "\n"


def _print_in_colour(document: Any, language: Language) -> None:
    from rich.console import Console

    from wirespeed.report.renderers.text import rendered

    Console(highlight=False).print(rendered(document, language), crop=False)


def _write(text: str | None, output: str | None) -> None:
    """Print, or write the file whole or not at all."""
    if text is None:
        return
    content = text.encode("utf-8", "backslashreplace")
    if output is None:
        if sys.stdout is None:
            _leave("standard output is closed", COULD_NOT)
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    draft = Path(f"{output}.{os.getpid()}.part")
    try:
        draft.write_bytes(content)
        draft.replace(output)
    except OSError as error:
        _leave(f"{output}: {error.strerror}", COULD_NOT)
    finally:
        draft.unlink(missing_ok=True)


def _width() -> int:
    import shutil

    return max(60, min(120, shutil.get_terminal_size((100, 24)).columns))


def _locale() -> str:
    return os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""


def _leave(why: str, code: int) -> NoReturn:
    if sys.stderr is not None:
        sys.stderr.write(f"wirespeed: {visible(why)}\n")
    sys.exit(code)


@click.group(cls=Verbs, help=OVERVIEW, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def _root() -> None:
    pass


def main() -> None:
    """Entry point of the command."""
    try:
        _root.main(standalone_mode=False)
    except click.Abort:
        sys.exit(INTERRUPTED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(WRONG_USE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        _leave(f"cannot go on: {error.strerror or error}", COULD_NOT)
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        said = f"{type(error).__name__}: {error}"
        _leave(f"this is our mistake: {said} (run again with {TRACEBACK_VARIABLE}=1 and send us what it prints)", COULD_NOT)

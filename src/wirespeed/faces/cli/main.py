"""The command: arguments from option structs, output through the report room, exit codes.

0 done, 1 findings at or above the asked severity, 2 wrong use, 3 could not be done.
"""

import importlib
import inspect
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import click

from wirespeed import __version__, verbs
from wirespeed.faces.cli.conversation import Conversation
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
    """The verbs are the files of a shelf, and groups of verbs its packages; a verb is imported only when it is used."""

    def __init__(self, package: ModuleType, **given: Any) -> None:
        super().__init__(**given)
        self.package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the verbs and groups."""
        return sorted(spoken(name) for name in (*shelf.ids(self.package), *shelf.groups(self.package)))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One verb or group as a command, or None where there is no such."""
        for name in shelf.groups(self.package):
            if spoken(name) == cmd_name:
                inner = importlib.import_module(f"{self.package.__name__}.{name}")
                return Verbs(inner, name=cmd_name, help=inner.__doc__)
        for name in shelf.ids(self.package):
            if spoken(name) == cmd_name:
                return _command(f"{self.package.__name__}.{name}", cmd_name)
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview: each verb's first line, read from its file without importing it."""
        root = Path(self.package.__path__[0])
        files = {spoken(name): root / f"{name}.py" for name in shelf.ids(self.package)}
        files |= {spoken(name): root / name / "__init__.py" for name in shelf.groups(self.package)}
        with formatter.section("Verbs"):
            formatter.write_dl([(name, _first_line(files[name])) for name in self.list_commands(ctx)])


def spoken(name: str) -> str:
    """A module's name as a verb: a verb that is a word of Python has an underscore at its end."""
    return name.strip("_").replace("_", "-")


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8") as text:
        return text.readline().strip().strip('"')


def _command(module_name: str, name: str) -> click.Command:
    from wirespeed.faces.cli.arguments import parameters, takes_a_command

    module = importlib.import_module(module_name)
    shown = [
        click.Option(
            ["--format", "output_format"], type=click.Choice(FORMATS), default="text", show_default=True, help="how to print"
        ),
        click.Option(["--lang"], type=click.Choice(["en", "zh"]), help="language (default: LANG)"),
        click.Option(["--output"], metavar="FILE", help="write there instead of standard output"),
    ]
    return click.Command(
        name,
        params=[*parameters(module.Options), *shown],
        callback=lambda **given: _run(module, given),
        help=module.__doc__,
        context_settings={"allow_interspersed_args": not takes_a_command(module.Options)},
    )


def _run(module: Any, given: dict[str, Any]) -> None:
    output_format, lang, output = given.pop("output_format"), given.pop("lang"), given.pop("output")
    language: Language = lang or ("zh" if _locale().startswith("zh") else "en")
    try:
        options = module.Options(**given)
        _refuse_overwriting(output, given)
        answer = _answer(module, options, language)
        _write(_printed(module, answer, options, output_format, language, output), output)
    except BadRequest as error:
        _leave(error.why[language], WRONG_USE)
    except CouldNot as error:
        _leave(error.why[language], COULD_NOT)
    sys.exit(module.exit_code(answer, options) if hasattr(module, "exit_code") else 0)


def _answer(module: Any, options: Any, language: Language) -> Any:
    """Run the verb: in a conversation where it asks, else telling on the terminal how far it is where the verb says so."""
    parameters = inspect.signature(module.run).parameters
    if "talk" in parameters:
        return module.run(options, talk=Conversation(language))
    with at_work(spoken(module.__name__.rpartition(".")[2]), language) as progress:
        return module.run(options, progress) if "progress" in parameters else module.run(options)


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
    if not document.blocks and output_format == "text":
        return None  # the verb has nothing to add to what was printed meanwhile
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


_root = click.version_option(__version__)(
    Verbs(verbs, name="wirespeed", help=OVERVIEW, context_settings={"help_option_names": ["-h", "--help"]})
)


def main() -> None:
    """Entry point of the command."""
    try:
        _root.main(standalone_mode=False)
    except click.Abort:
        sys.exit(INTERRUPTED)
    except KeyboardInterrupt:
        _leave("interrupted; nothing was kept", INTERRUPTED)
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

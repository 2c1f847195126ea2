"""wirespeed: find what limits a training job or an inference service, prove it, change it with a way back, verify.

Every verb of the command is a function here: `wirespeed.diagnose("nccl.log", question="Why?")` returns the verb's typed answer. The
keyword arguments are the fields of the verb's `Options`. Importing the package loads no verb.
"""

import importlib
from typing import TYPE_CHECKING, Any, Literal

__version__ = "0.1.0"

if TYPE_CHECKING:
    from wirespeed.model.talk import Talk
    from wirespeed.verbs import ask as _ask
    from wirespeed.verbs import baseline as _baseline
    from wirespeed.verbs import diagnose as _diagnose
    from wirespeed.verbs import explain as _explain
    from wirespeed.verbs import inspect as _inspect

    def diagnose(
        *inputs: str, question: str = "", side: Literal["training", "serving"] | None = None, save: str | None = None
    ) -> _diagnose.Answer:
        """Ranked causes with quoted evidence, from files, directories, archives, saved cases, or (without inputs) this machine."""

    def ask(*inputs: str, talk: Talk, save: str | None = None, redact: bool = False) -> _ask.Answer:
        """The cause found in a conversation: `talk` shows what is asked and hears the answers."""

    def explain(*, cause: str | None = None) -> _explain.Answer:
        """The whole story of a cause, or the list of all."""

    def baseline(
        *, for_: str = "5m", every: str = "100ms", peers: tuple[str, ...] = (), token: str | None = None, runs: str | None = None
    ) -> _baseline.Answer:
        """Facts, a recording and the paths to peers of this machine, kept as one run."""

    def inspect(
        *inputs: str, save: str | None = None, redact: bool = False, only: tuple[str, ...] = (), look_up: str | None = None
    ) -> _inspect.Answer:
        """The facts of this machine, or of a saved one."""


def __getattr__(name: str) -> Any:
    """Load a verb, or a group of verbs, on first use; an import error from inside the verb is let through."""
    if name.startswith("_"):
        raise AttributeError(name)
    return _spoken("wirespeed.verbs", name)


def _spoken(package: str, name: str) -> Any:
    module = _module(package, name) or _module(package, f"{name}_")
    if module is None:
        raise AttributeError(f"{package} has no verb {name!r}")
    if hasattr(module, "__path__"):
        return _Group(module.__name__)
    return _verb(module, name)


def _module(package: str, name: str) -> Any:
    try:
        return importlib.import_module(f"{package}.{name}")
    except ModuleNotFoundError as error:
        if error.name == f"{package}.{name}":
            return None
        raise


class _Group:
    """Verbs below one word, such as `wirespeed.lab.up()`."""

    def __init__(self, package: str) -> None:
        self._package = package

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _spoken(self._package, name)


def _verb(module: Any, name: str) -> Any:
    from inspect import signature

    def verb(*inputs: str, **options: Any) -> Any:
        parameters = signature(module.run).parameters
        handed = {name: options.pop(name) for name in ("progress", "talk") if name in parameters and name in options}
        given = {"inputs": inputs} if inputs else {}
        return module.run(module.Options(**given, **options), **handed)

    verb.__doc__ = module.__doc__
    verb.__name__ = name
    return verb


def __dir__() -> list[str]:
    """The verbs and the version."""
    from wirespeed import verbs
    from wirespeed.model import shelf

    return ["__version__", *shelf.ids(verbs), *shelf.groups(verbs)]

"""wirespeed: find what limits a training job or an inference service, prove it, change it with a way back, verify.

Every verb of the command is a function here: `wirespeed.diagnose("nccl.log", question="Why?")` returns the verb's typed answer. The
keyword arguments are the fields of the verb's `Options`. Importing the package loads no verb.
"""

import importlib
from typing import TYPE_CHECKING, Any, Literal

__version__ = "0.1.0"

if TYPE_CHECKING:
    from wirespeed.verbs import diagnose as _diagnose
    from wirespeed.verbs import inspect as _inspect

    def diagnose(
        *inputs: str, question: str = "", side: Literal["training", "serving"] | None = None, save: str | None = None
    ) -> _diagnose.Answer:
        """Ranked causes with quoted evidence, from files, directories, archives, saved cases, or (without inputs) this machine."""

    def inspect(
        *inputs: str, save: str | None = None, redact: bool = False, only: tuple[str, ...] = (), look_up: str | None = None
    ) -> _inspect.Answer:
        """The facts of this machine, or of a saved one."""


def __getattr__(name: str) -> Any:
    """Load a verb on first use; an import error from inside the verb is let through."""
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        module = importlib.import_module(f"wirespeed.verbs.{name}")
    except ModuleNotFoundError as error:
        if error.name == f"wirespeed.verbs.{name}":
            raise AttributeError(f"wirespeed has no verb {name!r}") from None
        raise

    def verb(*inputs: str, **options: Any) -> Any:
        given = {"inputs": inputs} if inputs else {}
        return module.run(module.Options(**given, **options))

    verb.__doc__ = module.__doc__
    verb.__name__ = name
    return verb


def __dir__() -> list[str]:
    """The verbs and the version."""
    from wirespeed import verbs
    from wirespeed.model import shelf

    return ["__version__", *shelf.ids(verbs)]

"""wirespeed: find what limits a training job or an inference service, prove it, change it with a way back, verify.

Every verb of the command is a function here: `wirespeed.diagnose(...)`. Importing the package loads no verb.
"""

import importlib
from typing import Any

__version__ = "0.1.0"


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
        return module.run(module.Options(inputs=inputs, **options))

    return verb

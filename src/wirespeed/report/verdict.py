"""What a rule proposes, with its sentences and commands filled."""

from collections.abc import Mapping

from wirespeed.model.finding import Change, Check


def filled_change(change: Change, shown: Mapping[str, str]) -> Change:
    """The change for these printed values. Raises KeyError for a value that is not there."""
    return Change(what=change.what.filled(shown), commands=_filled_all(change.commands, shown), side=change.side, risk=change.risk)


def filled_check(check: Check, shown: Mapping[str, str]) -> Check:
    """The check for these printed values. Raises KeyError for a value that is not there."""
    return Check(what=check.what.filled(shown), commands=_filled_all(check.commands, shown))


def _filled_all(commands: tuple[str, ...], shown: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(command.format_map(shown) for command in commands)

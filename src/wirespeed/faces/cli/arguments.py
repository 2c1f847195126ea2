"""Command-line arguments made from a verb's option struct: types, flags and help come from the struct alone."""

import types
import typing
from typing import Any, Literal, get_args, get_origin

import click
import msgspec

from wirespeed.model.kinds import Option


def parameters(options: type[msgspec.Struct]) -> list[click.Parameter]:
    """One click parameter for each field of an option struct."""
    hints = typing.get_type_hints(options, include_extras=True)
    return [_parameter(field, hints[field.name]) for field in msgspec.structs.fields(options)]


def _parameter(field: msgspec.structs.FieldInfo, hint: Any) -> click.Parameter:
    plain, option = _split(hint)
    if option.is_argument:
        return _argument(field, plain, option)
    flags = option.flags or ("--" + field.name.strip("_").replace("_", "-"),)
    if plain is bool:
        return click.Option([*flags, field.name], is_flag=True, default=field.default, help=option.help.en)
    kind: Any = click.Choice(list(option.choices)) if option.choices else _scalar(plain)
    return click.Option(
        [*flags, field.name],
        type=kind,
        default=field.default,
        multiple=get_origin(plain) is tuple,
        help=option.help.en,
        metavar=option.metavar,
        show_default=field.default not in (None, "", ()),
    )


def takes_a_command(options: type[msgspec.Struct]) -> bool:
    """Whether the verb's last words are somebody else's command line, whose flags are not ours."""
    hints = typing.get_type_hints(options, include_extras=True)
    return any(_split(hints[field.name])[1].is_command for field in msgspec.structs.fields(options))


def _argument(field: msgspec.structs.FieldInfo, plain: Any, option: Option) -> click.Argument:
    """A positional argument: required where the struct has no default, and many where it is a tuple."""
    shown = option.metavar or field.name.upper()
    is_required = field.default is msgspec.NODEFAULT
    if get_origin(plain) is tuple:
        return click.Argument(
            [field.name], nargs=-1, required=is_required, metavar=f"{shown} ..." if is_required else f"[{shown} ...]"
        )
    default = None if is_required else field.default
    metavar = shown if is_required else f"[{shown}]"
    kind: Any = click.Choice(list(option.choices)) if option.choices else _scalar(plain)
    return click.Argument([field.name], type=kind, required=is_required, default=default, metavar=metavar)


def _split(hint: Any) -> tuple[Any, Option]:
    """The bare type and the option's description of an annotated field."""
    plain, *rest = get_args(hint) if hasattr(hint, "__metadata__") else (hint,)
    (option,) = [extra for extra in rest if isinstance(extra, Option)]
    return plain, option


def _scalar(plain: Any) -> Any:
    """The type click converts to: the first of `X | None`, the item of a tuple, or the type itself."""
    if isinstance(plain, types.UnionType) or get_origin(plain) is typing.Union:
        return _scalar(next(kind for kind in get_args(plain) if kind is not type(None)))
    if get_origin(plain) is tuple:
        return _scalar(get_args(plain)[0])
    return str if get_origin(plain) is Literal else plain

"""What a file on the shelf of faults offers."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias

from wirespeed.emulation.hands import Hands
from wirespeed.model.labels import Label
from wirespeed.model.text import Text

Seat: TypeAlias = Literal["host", "leaf", "uplink", "pair", "neighbours"]
"""What a fault is put on: a host, a leaf, a cable `leaf1-spine2`, two hosts `h1-h3` of
different leaves, or two of one leaf."""
Need: TypeAlias = Literal["nft", "nft-egress", "wire", "cgroup-cpu", "ecmp-fields", "two-leaves", "two-spines", "two-hosts-a-leaf"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that goes wrong. The module's name is its id.

    `break_` does it with the hands it is given, which write down each step back before they take the step; so healing is the
    same for all faults, and works after `break_` was killed midway. It returns what was drawn, for whoever asks.
    """

    title: Text
    cause: Label
    rule: str
    """The rule of `diagnosis/rules` that this must make present."""
    needs: tuple[Need, ...] = ()
    where: Seat
    break_: Callable[[Hands, str, Random], dict[str, str]]
    moves: tuple[str, ...]
    """What is seen of it: ids of `lab-signatures.yaml`, or what was measured."""
    is_counted: bool = True
    """False for a look-alike that is no fault of the network and has no rule of its own."""

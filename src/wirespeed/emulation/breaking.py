"""Put faults into a lab and take them out again, leaving what was there before."""

import secrets
from random import Random

import msgspec

from wirespeed.emulation import faults, features
from wirespeed.emulation.fault import Fault, Seat
from wirespeed.emulation.hands import Hands, take_back
from wirespeed.emulation.lab import Lab, open_lab
from wirespeed.emulation.state import FaultInForce, LabState, Undo, locked, write_state
from wirespeed.emulation.topology import Drawing
from wirespeed.model import shelf
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.text import Text


def known() -> dict[str, Fault]:
    """All faults by id."""
    return shelf.every(faults, Fault)


def put_in(
    name: str, fault_id: str, *, where: str | None = None, seed: int | None = None, also: bool = False, is_told: bool = True
) -> FaultInForce:
    """Break the lab. What is not said is drawn from the seed, and an unsaid seed from the machine.

    Raises BadRequest for an unknown fault or place, CouldNot where a need is not met, where another fault is in force (unless
    `also`), or where the kernel refuses; then everything done so far is taken back.
    """
    if fault_id not in shelf.ids(faults):
        raise BadRequest(
            Text(
                en=f"there is no fault called {fault_id}; `wirespeed lab faults` lists them",
                zh=f"没有名为 {fault_id} 的故障；`wirespeed lab faults` 可列出全部",
            )
        )
    fault = shelf.take(faults, fault_id, Fault)
    number = secrets.randbelow(2**32) if seed is None else seed
    with locked(open_lab(name).directory):
        lab = open_lab(name)
        _check(lab, fault, fault_id, also)
        chance = Random(f"{fault_id} {number}")  # noqa: S311 - a seed must give the same fault again
        place = chance.choice(seats(lab.state.drawing, fault.where)) if where is None else checked_seat(lab, fault.where, where)
        ledger = _Ledger(lab, FaultInForce(fault=fault_id, where=place, seed_number=number, details={}, is_told=is_told))
        try:
            details = fault.break_(Hands(lab, ledger.record, secrets.token_hex(2)), place, chance)
        except CouldNot:
            _undone(lab, ledger.fault)
            ledger.drop()
            raise
        ledger.done(details)
        return ledger.fault


def take_out(name: str, fault_id: str | None = None) -> tuple[FaultInForce, ...]:
    """Heal one fault, or all; the last put in is the first taken out. Raises BadRequest when the one named is not in force."""
    with locked(open_lab(name).directory):
        lab = open_lab(name)
        chosen = tuple(one for one in lab.state.faults if fault_id in (None, one.fault))
        if fault_id is not None and not chosen:
            raise BadRequest(Text(en=f"{fault_id} is not in force", zh=f"{fault_id} 并未生效"))
        for one in reversed(chosen):
            _undone(lab, one)
            state = open_lab(name).state
            write_state(lab.directory, msgspec.structs.replace(state, faults=tuple(each for each in state.faults if each != one)))
        return chosen


def seats(drawing: Drawing, where: Seat) -> tuple[str, ...]:
    """All places a fault of this kind can be put on."""
    hosts = drawing.of_role("host")
    if where == "host":
        return tuple(host.name for host in hosts)
    if where == "leaf":
        return tuple(leaf.name for leaf in drawing.of_role("leaf"))
    if where == "uplink":
        return tuple(f"{link.near}-{link.far}" for link in drawing.links if link.near_port != "eth0")
    pairs = [(a, b) for a in hosts for b in hosts if a.name < b.name]
    apart = [(a, b) for a, b in pairs if a.leaf != b.leaf] if where == "pair" else [(a, b) for a, b in pairs if a.leaf == b.leaf]
    return tuple(f"{a.name}-{b.name}" for a, b in apart)


def checked_seat(lab: Lab, where: Seat, said: str) -> str:
    """The place itself. Raises BadRequest naming those there are."""
    possible = seats(lab.state.drawing, where)
    if said not in possible:
        some = ", ".join(possible[:12])
        raise BadRequest(
            Text(en=f"this fault cannot be put on {said}; it can on {some}", zh=f"该故障不能放在 {said}；可放在 {some}")
        )
    return said


def _check(lab: Lab, fault: Fault, fault_id: str, also: bool) -> None:
    in_force = [one.fault for one in lab.state.faults]
    if in_force and not also:
        names = ", ".join(in_force)
        raise CouldNot(
            Text(
                en=f"{names} is in force already; heal it first with `wirespeed lab heal`, or say --also",
                zh=f"{names} 已经生效；请先 `wirespeed lab heal`，或加 --also",
            )
        )
    if fault_id in in_force:
        raise CouldNot(Text(en=f"{fault_id} is in force already", zh=f"{fault_id} 已经生效"))
    missing = features.lacking(fault, features.present(), lab.state.drawing)
    if missing:
        title = features.TITLES[missing[0]]
        raise CouldNot(Text(en=f"{fault_id} needs {title.en}", zh=f"{fault_id} 需要{title.zh}"))


def _undone(lab: Lab, fault: FaultInForce) -> None:
    """Every step back, also after one that fails. Raises CouldNot with the first failure."""
    failure: CouldNot | None = None
    for undo in reversed(fault.undo):
        try:
            take_back(lab, undo)
        except CouldNot as error:
            failure = failure or error
    if failure is not None:
        raise failure


class _Ledger:
    """The fault in force as it grows, written to the lab's state before each step."""

    def __init__(self, lab: Lab, fault: FaultInForce) -> None:
        self.lab = lab
        self.before: LabState = lab.state
        self.fault = fault

    def record(self, undo: Undo) -> None:
        self.fault = msgspec.structs.replace(self.fault, undo=(*self.fault.undo, undo))
        self._write()

    def done(self, details: dict[str, str]) -> None:
        self.fault = msgspec.structs.replace(self.fault, details=details)
        self._write()

    def drop(self) -> None:
        write_state(self.lab.directory, self.before)

    def _write(self) -> None:
        write_state(self.lab.directory, msgspec.structs.replace(self.before, faults=(*self.before.faults, self.fault)))

"""A far host accepts only a small receive window."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    delay_s, most = chance.choice((0.005, 0.010)), chance.choice((16_384, 32_768))
    hands.far(where, delay_s)
    hands.sysctl(where, "net/ipv4/tcp_rmem", f"4096 {most // 2} {most}")
    return {"delay": f"{delay_s * 1e3:.0f} ms one way", "tcp_rmem": str(most)}


FAULT = Fault(
    title=Text(en="The receive window is too small for the path", zh="接收窗口对该路径而言过小"),
    cause="tcp-window-limited",
    rule="tcp_window_limited",
    needs=("wire",),
    where="host",
    break_=_break,
    moves=("tiny_rmem",),
)

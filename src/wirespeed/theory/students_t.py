"""Tail of Student's t distribution, from the continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8)."""

import math

_TINY = 1e-300
_ROUNDS = 300


def tail_ratio(t: float, degrees_of_freedom: float) -> float:
    """Probability of a value as far from zero as `t`, on either side."""
    if degrees_of_freedom <= 0:
        return 1.0
    if math.isinf(t):
        return 0.0
    x = degrees_of_freedom / (degrees_of_freedom + t * t)
    return _incomplete_beta(degrees_of_freedom / 2.0, 0.5, x)


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function."""
    if x <= 0.0 or x >= 1.0:
        return min(1.0, max(0.0, x))
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, 1.0 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Lentz's evaluation."""
    c, d = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _ROUNDS):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _away_from_zero(1.0 + step * d)
            c = _away_from_zero(1.0 + step / c)
            value *= c * d
        if abs(c * d - 1.0) < 1e-14:
            break
    return value


def _away_from_zero(number: float) -> float:
    return number if abs(number) > _TINY else _TINY

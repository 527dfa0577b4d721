"""Checks of parameters: what was expected, what came, what to do."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from rankloom.errors import InputError

_COPIES = 4  # of the weights: as they are learned, as they are kept, and what learning needs beside them
_BYTES = 8


def one_of(name: str, value: Any, allowed: Sequence[str]) -> str:
    """A text that is one of these."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{name} must be one of {', '.join(allowed)}, got {value!r:.60}")
    return value


def number(name: str, value: Any, low: float, high: float = math.inf, *, open_low: bool = True) -> float:
    """A finite number above `low` (or from it) up to `high`."""
    fits = not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    if not fits or not (low < value if open_low else low <= value) or value > high:
        least = f"a number > {low:g}" if open_low else f"a number from {low:g}"
        most = "" if high == math.inf else f" up to {high:g}"
        raise InputError(f"{name} must be {least}{most}, got {value!r:.60}")
    return float(value)


def whole(name: str, value: Any, low: int, why: str = "") -> int:
    """A whole number from `low`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < low:
        raise InputError(f"{name} must be a whole number from {low}{why}, got {value!r:.60}")
    return int(value)


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if value not in (True, False):
        raise InputError(f"{name} must be True or False, got {value!r:.60}")
    return bool(value)


def share(name: str, value: Any) -> float:
    """A part of a whole: False is none of it, True is half of it, else a number from 0 to 1."""
    if isinstance(value, bool):
        return 0.5 if value else 0.0
    return number(name, value, 0.0, 1.0, open_low=False)


def unused(name: str, value: Any, default: Any, needs: str) -> None:
    """Refuse a parameter that was set and would do nothing."""
    if value is not default and value != default:
        raise InputError(f"{name}={value!r:.60} needs {needs}; leave {name} out, or choose that")


def refuse_too_wide(n_features: int) -> None:
    """Refuse features whose weights would not fit into this machine: the system would end the process."""
    needed, there = _COPIES * _BYTES * n_features, memory()
    if needed > there:
        raise InputError(
            f"the largest feature is number {n_features:,}, and learning a weight for each up to it would "
            f"take {needed / 1e9:,.0f} GB of memory, where this machine has {there / 1e9:,.0f}; number the "
            "features in use from 1 on"
        )


def memory() -> int:
    """The bytes of memory that this machine has; without a bound where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 62

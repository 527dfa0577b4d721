"""Values as a table shows them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from rankloom.reports.parts import Table

DASH = "–"
_ONE = r"[<+\u2212-]?[\d.,]+(?:e[+-]?\d+)?"
_NUMBERS = re.compile(rf"{_ONE}(?: to {_ONE})?\*?")


def shown(value: Any, digits: int = 4) -> str:
    """A value in a cell: so many decimals, or as many digits with an exponent where decimals say little."""
    if value is None:
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**15 else f"{value:.3g}"
    if not isinstance(value, float):
        return str(value)
    if not math.isfinite(value):
        return DASH
    plain = value == 0.0 or 10.0**-digits <= abs(value) < 1e7
    return f"{value:,.{digits}f}" if plain else f"{value:.3g}"


def setting(value: Any) -> str:
    """A setting as it would be typed."""
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={setting(one)}" for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(setting, value))
    return str(value)


def is_number_column(table: Table, column: int) -> bool:
    """Whether a column is of numbers, also as texts, or from one to another; what is missing says nothing."""
    cells = [row[column] for row in table.rows if column < len(row)]
    told = [cell for cell in cells if cell not in (None, "", DASH, "-")]
    return bool(told) and all(_is_number(cell) for cell in told)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (int, float)) or _NUMBERS.fullmatch(str(cell)) is not None


def brief(value: Any) -> str:
    """A setting in few digits."""
    return f"{value:.4g}" if isinstance(value, float) else setting(value)

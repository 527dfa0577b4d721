"""A measure is a value: what is measured, how deep, and by whose convention. Its text is its name.

    Measure("ndcg", 10)                      ndcg@10
    Measure("ndcg", 10, preset="letor4")     ndcg@10/letor4
    Measure("ndcg", 10, ties="average")      ndcg@10:ties=average

Two measures are equal when they compute the same thing under the same name, whatever the way they were
written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from rankloom.errors import InputError
from rankloom.measures.presets import (
    ALIASES,
    DEFAULT,
    FIELDS,
    LOSSES,
    NEEDS_CUTOFF,
    POINTS,
    PRESETS,
    WITH_CUTOFF,
    convention,
)

CHOICES: dict[str, tuple[Any, ...]] = {
    "gain": ("exp2", "linear"),
    "discount": ("log2", "letor"),
    "ties": ("file", "average", "pessimistic", "optimistic", "docid"),
    "empty": (0, 1, "skip"),
    "denominator": ("relevant", "reachable", "found"),
    "short": ("truncate", "pad", "zero"),
    "binning": ("width", "mass"),
}
MAX_BINS = 10_000


@dataclass(frozen=True, init=False, repr=False)
class Measure:
    """One measure with its whole convention; fields that mean nothing for it are None.

    Fields are named as in `rankloom.measures.presets`; what is not given comes from the preset.
    """

    name: str
    k: int | None
    preset: str
    gain: str | tuple[float, ...] | None = None
    discount: str | None = None
    ties: str | None = None
    empty: int | str | None = None
    threshold: str | None = None
    denominator: str | None = None
    short: str | None = None
    max_grade: float | None = None
    bins: int | None = None
    binning: str | None = None
    _text: str = field(default="", compare=False)

    def __init__(self, name: str, k: int | None = None, *, preset: str = DEFAULT, **fields: Any) -> None:
        name = _measure_name(name)
        _check_preset(name, preset)
        usual = convention(name, preset)
        given = {key: _checked(name, key, value) for key, value in fields.items()}
        values = {**usual, **given}
        _check_combination(name, values)
        for key, value in {"name": name, "k": _checked_cutoff(name, k), "preset": preset, **values}.items():
            object.__setattr__(self, key, value)
        special = {key: value for key, value in values.items() if value != usual[key]}
        object.__setattr__(self, "_text", _spell(name, self.k, preset, special))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Measure.parse({self._text!r})"

    @staticmethod
    def parse(text: str | Measure) -> Measure:
        """Read a measure from its text, or from a name of ir_measures such as `nDCG(dcg='exp-log2')@10`."""
        if isinstance(text, Measure):
            return text
        from rankloom.measures.spelling import parse

        return parse(text)

    @property
    def fields(self) -> dict[str, Any]:
        """The convention in full: every field that means something for this measure."""
        return {key: getattr(self, key) for key in FIELDS[self.name]}

    @property
    def lower_is_better(self) -> bool:
        """True for losses and errors."""
        return self.name in LOSSES

    @property
    def lowest_relevant(self) -> float | None:
        """The smallest label that counts as relevant."""
        if self.threshold is None:
            return None
        if self.threshold.startswith(">="):
            return float(self.threshold[2:])
        return math.nextafter(float(self.threshold[1:]), math.inf)


def _measure_name(name: str) -> str:
    plain = str(name).strip().lower()
    plain = ALIASES.get(plain, plain)
    if plain not in FIELDS:
        raise InputError(f"no measure is called {name!r}; there are {', '.join(FIELDS)}")
    return plain


def _check_preset(name: str, preset: str) -> None:
    if preset not in PRESETS:
        raise InputError(f"no preset is called {preset!r}; there are {', '.join(PRESETS)}")
    covered = [measure for measure in PRESETS[preset] if measure]
    if name not in covered:
        raise InputError(
            f"preset {preset!r} says nothing about {name}, only about {', '.join(covered)}; "
            f"use {name} without a preset, or name its fields one by one"
        )


def _checked_cutoff(name: str, k: Any) -> int | None:
    if k is None:
        if name in NEEDS_CUTOFF:
            raise InputError(f"{name} needs a cutoff k, as in {name}@10")
        return None
    if name not in WITH_CUTOFF:
        raise InputError(f"{name} has no cutoff, got k={k!r}")
    if isinstance(k, bool) or not hasattr(k, "__index__") or not 1 <= (k := k.__index__()) < 2**31:
        raise InputError(f"k must be a whole number from 1, got {k!r}")
    return int(k)


def _checked(name: str, key: str, value: Any) -> Any:
    """One field as it is kept, or an error that says which values there are."""
    if key not in FIELDS[name]:
        fields = ", ".join(FIELDS[name]) or "none"
        raise InputError(f"{key!r} means nothing for {name}; the fields it has: {fields}")
    if key == "threshold":
        return _threshold(name, value)
    if key == "gain" and isinstance(value, list | tuple):
        return _gain_table(value)
    if key in CHOICES:
        if isinstance(value, bool) or value not in CHOICES[key]:
            allowed = ", ".join(str(choice) for choice in CHOICES[key])
            more = ", or a table of numbers" if key == "gain" else ""
            raise InputError(f"{key} must be one of {allowed}{more}, got {value!r}")
        return value
    number = _number(key, value)
    if key == "bins":
        if number != int(number) or not 1 <= number <= MAX_BINS:
            raise InputError(f"bins must be a whole number from 1 to {MAX_BINS}, got {value!r}")
        return int(number)
    if not 0.0 < number <= 1000.0:
        raise InputError(f"max_grade must be a number above 0, at most 1000, got {value!r}")
    return number


def _number(key: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise InputError(f"{key} must be a finite number, got {value!r}")
    return number


def _threshold(name: str, value: Any) -> str | None:
    """`1` and `">=1"` are the same: relevant from there on; `">1"` is relevant above. None: labels as they
    are.
    """
    if name in POINTS and (value is None or value == "none"):
        return None
    text = str(value).strip()
    sign = ">=" if text.startswith(">=") or not text.startswith(">") else ">"
    return f"{sign}{digits(_number('threshold', text.lstrip('>= ') if isinstance(value, str) else value))}"


def digits(number: float) -> str:
    """The shortest text that reads back as the same number."""
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


def _gain_table(value: Any) -> tuple[float, ...]:
    table = tuple(_number("gain", gain) for gain in value)
    if not table or table[0] < 0.0 or any(b < a for a, b in pairwise(table)):
        raise InputError(f"a table of gains must not be empty, nor fall, nor start below 0, got {value!r}")
    return table


def _check_combination(name: str, values: dict[str, Any]) -> None:
    if name == "map" and values["ties"] == "average" and values["denominator"] == "found":
        raise InputError(
            "map with ties=average has no closed form when it is divided by the rows found; "
            "use denominator=relevant or denominator=reachable"
        )
    if name == "err" and isinstance(values["gain"], tuple):
        raise InputError("err takes gain=exp2 or gain=linear, not a table: its gains are probabilities")


def _spell(name: str, k: int | None, preset: str, special: dict[str, Any]) -> str:
    text = name if k is None else f"{name}@{k}"
    if preset != DEFAULT:
        text += f"/{preset}"
    for key, value in special.items():
        if isinstance(value, tuple):
            value = ",".join(map(digits, value))
        elif isinstance(value, float):
            value = digits(value)
        elif key == "threshold" and value is not None:
            value = value.removeprefix(">=")
        text += f":{key}={'none' if value is None else value}"
    return text

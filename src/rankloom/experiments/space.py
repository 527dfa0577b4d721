"""What settings are tried: for each parameter a list of values, or a range from low to high.

    {"lam": (1e-6, 1e-1), "loss": ["hinge", "logistic"]}        one space, or a list of several

A range is searched by ratio where it spans a factor of ten or more above 0, evenly elsewhere. As a grid it
is so many points, ends included: (low, high, points); without a number one for each power of ten, and five at
least.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, NamedTuple, cast

import numpy as np

from rankloom.errors import InputError

Settings = dict[str, Any]
_PLAIN = (bool, int, float, str, type(None))
_DIGITS = 6
_FEWEST_POINTS = 5
_PATIENCE = 100  # random draws for each new one, before a space counts as exhausted


class Range(NamedTuple):
    """The numbers from low to high."""

    low: float
    high: float
    points: int | None
    whole: bool

    @property
    def by_ratio(self) -> bool:
        """Whether equal ratios, not equal differences, count alike."""
        return self.low > 0 and self.high >= 10 * self.low

    def grid(self) -> list[Any]:
        """Points from end to end, without repetitions."""
        count = self.points or self._own_count()
        return list(dict.fromkeys(self.at(place / (count - 1)) for place in range(count)))

    def _own_count(self) -> int:
        powers = round(math.log10(self.high / self.low)) + 1 if self.by_ratio else 0
        return max(powers, _FEWEST_POINTS)

    def at(self, part: float) -> Any:
        """The number at this part of the way from low to high, in few digits."""
        if part in (0.0, 1.0):
            value = self.low if part == 0.0 else self.high
        elif self.by_ratio:
            value = self.low * (self.high / self.low) ** part
        else:
            value = self.low + part * (self.high - self.low)
        return round(value) if self.whole else float(f"{value:.{_DIGITS}g}")


Choices = list[Any]
Space = dict[str, "Range | Choices"]


def checked_spaces(space: Any, ranker: Any) -> list[Space]:
    """Spaces as given, each parameter one that the ranker has."""
    several = [space] if isinstance(space, Mapping) else space
    if not isinstance(several, Sequence) or isinstance(several, str) or not several:
        raise InputError(f"space must be a dict of name and values, or a list of such, got {space!r:.60}")
    return [_checked(one, ranker) for one in several]


def _checked(space: Any, ranker: Any) -> Space:
    if not isinstance(space, Mapping):
        raise InputError(f"space must be a dict of name and values, got {space!r:.60}")
    if not space:
        raise InputError("space names no parameter; say what to search, such as {'lam': (1e-6, 1e-1)}")
    known = ranker.get_params(deep=True)
    return {_known(name, ranker, known): _values(name, values, known[name]) for name, values in space.items()}


def _known(name: Any, ranker: Any, known: Mapping[str, Any]) -> str:
    if name in known:
        return str(name)
    near = get_close_matches(str(name), list(known), n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    raise InputError(f"{type(ranker).__name__} has no parameter {name!r}{hint}; it has {', '.join(known)}")


def _values(name: str, values: Any, own: Any) -> Range | Choices:
    if isinstance(values, Range):
        values = (
            (values.low, values.high) if values.points is None else (values.low, values.high, values.points)
        )
    if isinstance(values, tuple):
        return _range(name, values, own)
    if not isinstance(values, (list, np.ndarray)):
        raise InputError(
            f"what to try for {name} must be a list of values or a range (low, high), got {values!r:.60}"
        )
    choices = [value.item() if isinstance(value, np.generic) else value for value in values]
    for value in choices:
        if not isinstance(value, _PLAIN) or (isinstance(value, float) and not math.isfinite(value)):
            raise InputError(f"a value to try for {name} must be a number, a text or None, got {value!r:.60}")
    if not choices:
        raise InputError(f"there is no value to try for {name}; name at least one, or leave it out")
    if len({_identity(value) for value in choices}) < len(choices):
        raise InputError(f"the values to try for {name} must be all different, got {choices!r:.80}")
    return choices


def _identity(value: Any) -> Any:
    return (type(value) is bool, value)


def _range(name: str, ends: tuple[Any, ...], own: Any) -> Range:
    if len(ends) not in (2, 3):
        raise InputError(f"a range for {name} is (low, high) or (low, high, count), got {ends!r:.60}")
    low, high = ends[:2]
    for end in (low, high):
        if isinstance(end, bool) or not isinstance(end, Real) or not math.isfinite(end):
            raise InputError(f"a range for {name} must go from number to number, got {ends!r:.60}")
    if not low < high:
        raise InputError(f"a range for {name} must rise, got {low:g} to {high:g}; for one value, set it")
    count = ends[2] if len(ends) == 3 else None
    if count is not None and (isinstance(count, bool) or not isinstance(count, Integral) or count < 2):
        raise InputError(f"the points of {name} must be a whole number from 2, got {count!r:.60}")
    whole = isinstance(low, Integral) and isinstance(high, Integral) and _may_be_whole(own)
    return Range(low, high, None if count is None else int(count), whole)


def _may_be_whole(own: Any) -> bool:
    """Whether the ranker's own value allows for whole numbers only: 0 to 1 for a float is all between."""
    return own is None or (isinstance(own, Integral) and not isinstance(own, bool))


def without(spaces: Sequence[Space], fixed: Mapping[str, Any]) -> list[Space]:
    """Default spaces where these parameters are set. Of several spaces, those that fit what is set.

    What tells spaces apart is a parameter of which each has one value.
    """
    if len(spaces) > 1:
        telling = {name for name in fixed if all(_is_one(space.get(name)) for space in spaces)}
        spaces = [space for space in spaces if all(fixed[name] in cast(Any, space[name]) for name in telling)]
    left = [{name: space[name] for name in space if name not in fixed} for space in spaces]
    return [space for space in left if space]


def _is_one(values: Any) -> bool:
    return isinstance(values, list) and len(values) == 1


def grid(spaces: Sequence[Space]) -> list[Settings]:
    """Every combination, the last parameter changing fastest."""
    made = []
    for space in spaces:
        columns = [values if isinstance(values, list) else values.grid() for values in space.values()]
        made += [dict(zip(space, row, strict=True)) for row in itertools.product(*columns)]
    return made


def random_settings(spaces: Sequence[Space], trials: int, seed: int) -> list[Settings]:
    """So many random combinations, all different; fewer where there are no more. More trials begin alike."""
    found: dict[str, Settings] = {}
    for draw in _draws(spaces, trials, seed):
        found.setdefault(repr(draw), draw)
        if len(found) == trials:
            break
    return list(found.values())


def _draws(spaces: Sequence[Space], trials: int, seed: int) -> Iterator[Settings]:
    for number in range(_PATIENCE * trials):
        rng = np.random.default_rng([seed, number])
        space = spaces[int(rng.integers(len(spaces)))]
        yield {
            name: values[int(rng.integers(len(values)))]
            if isinstance(values, list)
            else values.at(rng.random())
            for name, values in space.items()
        }

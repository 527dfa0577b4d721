"""What models share whatever their kind: they cannot be changed, know facts about themselves, and are kept.

Two models are equal where their files would be. A kind of model has `content()`, what its file holds, and
`from_content`, the way back.
"""

from __future__ import annotations

import json
import math
import os
from typing import Any, NoReturn, Self

import numpy as np

from rankloom.errors import InputError
from rankloom.models.files import Content, write_model


class KeptModel:
    """The base of models: immutable, compared, copied, pickled and saved by their content."""

    __slots__ = ("_about", "_names")

    _about: str
    _names: tuple[str, ...] | None

    def _hold(self, **values: Any) -> None:
        """Set what the model is made of, once."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        kind = type(self).__name__
        raise AttributeError(f"a {kind} is immutable: {name} cannot be set; build a new one instead")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is immutable: {name} cannot be deleted")

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """One name per feature, or None."""
        return self._names

    @property
    def needs_queries(self) -> bool:
        """Whether a row's score depends on the other rows of its query."""
        return False

    @property
    def about(self) -> dict[str, Any]:
        """The facts kept with the model, as a new copy."""
        return dict(json.loads(self._about))

    def with_about(self, **facts: Any) -> Self:
        """The same model with these facts added to, or in place of, those it has."""
        held = self.content()
        about = {**self.about, **facts}
        return self.from_content("", held._replace(facts={**held.facts, "about": about}))

    def content(self) -> Content:
        """What the model's file holds."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it holds")

    @classmethod
    def from_content(cls, path: Any, content: Content) -> Self:
        """The model that a file holds."""
        raise NotImplementedError(f"{cls.__name__} does not say how it is read")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, whole or not at all; `rankloom.load` reads it."""
        write_model(path, self.content())

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        own, its = self.content(), other.content()
        return (
            as_json(own.facts) == as_json(its.facts)
            and own.arrays.keys() == its.arrays.keys()
            and all(np.array_equal(own.arrays[name], its.arrays[name]) for name in own.arrays)
        )

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.content())


def _rebuilt(kind: type[KeptModel], content: Content) -> KeptModel:
    return kind.from_content("", content)


def finite(value: Any, what: str) -> float:
    """A number as a float, if it is one and has a bound."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} must be a finite number, got {value!r:.60}") from error
    if isinstance(value, str) or not math.isfinite(number):
        raise InputError(f"{what} must be a finite number, got {value!r:.60}")
    return number


def as_json(about: Any) -> str:
    """Facts as JSON text: equal facts are equal texts."""
    given = {} if about is None else about
    if not isinstance(given, dict):
        raise InputError(f"about must be a dict of facts, got {type(given).__name__}")
    try:
        return json.dumps(given, default=_plain, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"about must hold what JSON can say (texts, numbers, lists, None): {error}"
        ) from error


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's own."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a model file")

"""One text per row (doc ids, comments) or per column: arrays of strings, or `Texts` decoded on demand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import as_column, as_objects, check_length, is_missing
from rankloom.data.texts import Texts
from rankloom.errors import InputError


def is_texts(values: Any) -> bool:
    """True for texts kept as one blob of bytes with starts and ends."""
    return isinstance(values, Texts)


def text_column(values: Any, what: str, n_rows: int) -> Any:
    """One text per row, or None. Numbers become their digits; a missing entry becomes the empty text."""
    if values is None:
        return None
    texts = values if is_texts(values) else _as_strings(as_column(values, what), what)
    check_length(len(texts), n_rows, what)
    return texts


def _as_strings(array: NDArray[Any], what: str) -> NDArray[Any]:
    if array.dtype.kind in "iu":
        return array.astype(str)
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", "surrogateescape")
    if array.dtype.kind == "U":
        return array
    if array.dtype.kind not in "OT":
        raise InputError(f"{what} must be texts, got {array.dtype}")
    return as_objects([_as_string(value, what, row) for row, value in enumerate(array.tolist())])


def _as_string(value: Any, what: str, row: int) -> str:
    if isinstance(value, str):
        return str(value)
    if is_missing(value):
        return ""
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape")
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"{what} must be texts, got {type(value).__name__} at row {row}: {value!r:.60}")


def gather_texts(texts: Any, rows: NDArray[np.int64]) -> Any:
    """The texts of these rows, in this order."""
    return None if texts is None else texts.take(rows)


def slice_texts(texts: Any, start: int, stop: int) -> Any:
    """The texts of rows start:stop, over the same memory."""
    return None if texts is None else texts[start:stop]


def decoded(texts: Any) -> NDArray[Any]:
    """All texts as an object array of str."""
    return as_objects(list(texts))


def same_texts(first: Any, second: Any) -> bool:
    """The same texts in the same order, however they are kept; or None both."""
    if first is None or second is None:
        return first is second
    return len(first) == len(second) and all(a == b for a, b in zip(first, second, strict=True))


def names_of(names: Any, n_features: int) -> tuple[str, ...] | None:
    """Feature names as a tuple: one per column, all different."""
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(
            f"feature_names must be a sequence of names, got {type(names).__name__}: {names!r:.60}"
        )
    found = tuple(str(name) for name in names)
    if len(found) != n_features:
        raise InputError(
            f"feature_names must have one name per column: X has {n_features:,}, got {len(found):,} names"
        )
    if len(set(found)) < len(found):
        seen: set[str] = set()
        twice = next(name for name in found if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError(f"feature_names must be all different, got {twice!r} twice")
    return found

"""One column of anything (list, array, Series, Arrow array) as a NumPy array, and the checks for all columns.

Every message counts rows from 0, in the caller's order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError

Place = Callable[[int], str]


def row_place(row: int) -> str:
    """How a message names a row when its query is not known."""
    return f"row {row}"


def row_namer(qid: Any) -> Place:
    """How messages name rows when the query ids are at hand, in whatever form they were given."""

    def place(row: int) -> str:
        try:
            return f"row {row} (query {as_column(qid, 'qid')[row]})"
        except (InputError, IndexError):
            return row_place(row)

    return row_place if qid is None else place


def as_column(values: Any, what: str) -> NDArray[Any]:
    """`values` as a 1-D array of numbers, or of objects for strings. Missing entries become NaN or None."""
    if not isinstance(values, np.ndarray):
        values = _from_other(values, what)
    if isinstance(values, np.ma.MaskedArray):
        values = _unmasked(values)
    array = np.asarray(values)
    if array.ndim == 2 and 1 in array.shape:
        array = array.reshape(-1)
    if array.ndim != 1:
        raise InputError(f"{what} must have one value per row (1-D), got an array of shape {array.shape}")
    return array


def _unmasked(values: Any) -> NDArray[Any]:
    """A masked array as objects with None where it is masked, if it is anywhere."""
    mask = np.ma.getmaskarray(values)
    if not mask.any():
        return np.asarray(values.data)
    array = np.array(values.data, dtype=object)
    array[mask] = None
    return array


def _from_other(values: Any, what: str) -> NDArray[Any]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise InputError(
            f"{what} must be a sequence with one value per row, got {type(values).__name__}: {values!r:.60}"
        )
    if isinstance(values, (list, tuple)):
        return _from_list(values, what)
    if type(values).__module__.split(".")[0] in ("pandas", "polars", "pyarrow", "modin", "cudf", "narwhals"):
        from rankloom.data.frames import series_values

        return series_values(values, what)
    return np.asarray(values)


def _from_list(values: Any, what: str) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{what} must have one value per row, got lists of different lengths") from error
    if array.dtype.kind in "US" and array.ndim == 1:
        return as_objects(values)  # [1, "a"] must not quietly become ["1", "a"]
    return array


def as_objects(values: Any) -> NDArray[Any]:
    """A 1-D array of the very objects in `values`."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def is_missing(value: Any) -> bool:
    """True for None, NaN, NaT and pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def check_length(length: int, n_rows: int, what: str) -> None:
    """Refuse a column that does not have one value per row."""
    if length != n_rows:
        raise InputError(f"{what} must have one value per row: X has {n_rows:,} rows, {what} has {length:,}")


def number_column(values: Any, what: str, n_rows: int, place: Place = row_place) -> NDArray[np.float64]:
    """`values` as float64, one per row, all of them finite."""
    array = as_column(values, what)
    check_length(len(array), n_rows, what)
    numbers = as_numbers(array, what, place)
    if not all_finite(numbers):
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise InputError(f"{what} must be finite, got {describe(numbers[row])} at {place(row)}")
    return numbers


def weight_column(values: Any, what: str, n_rows: int, place: Place = row_place) -> NDArray[np.float64]:
    """`values` as float64, one per row, finite and not negative."""
    weights = number_column(values, what, n_rows, place)
    if len(weights) and weights.min() < 0:
        row = int(np.flatnonzero(weights < 0)[0])
        raise InputError(f"{what} must be 0 or more, got {weights[row]:g} at {place(row)}")
    return weights


def as_numbers(array: NDArray[Any], what: str, place: Place = row_place) -> NDArray[np.float64]:
    """A 1-D array as float64; missing objects become NaN, and what is no real number is refused."""
    if array.dtype.kind in "biuf":
        return np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind != "O":
        raise InputError(f"{what} must be numbers, got {array.dtype}")
    numbers = np.empty(len(array), dtype=np.float64)
    for row, value in enumerate(array):
        numbers[row] = _as_number(value, what, row, place)
    return numbers


def _as_number(value: Any, what: str, row: int, place: Place) -> float:
    if is_missing(value):
        return float("nan")
    if isinstance(value, (str, bytes, complex)):
        raise InputError(f"{what} must be numbers, got {value!r:.60} at {place(row)}")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} must be numbers, got {value!r:.60} at {place(row)}") from error


def all_finite(array: NDArray[Any]) -> bool:
    """True when no entry is NaN or infinite. Usually one sum: it is finite only when every term is."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return True
    return bool(np.isfinite(array).all())


def describe(value: Any) -> str:
    """A number as a message shows it."""
    return "NaN (a missing value)" if np.isnan(value) else f"{value:g}"


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory as a plain array that refuses to be written to."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view

"""Data frames (pandas, polars, Arrow and what else narwhals knows) as RankingData.

A frame has one row per document: a query id, a label, perhaps a doc id and weights, and features: every other
column, or one column that holds a list of numbers per row.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import Place, all_finite, as_numbers, describe, row_namer
from rankloom.data.features import Features
from rankloom.data.parts import Extras, PerRow, checked_parts
from rankloom.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals.stable.v2 as nw

    from rankloom.data.ranking_data import RankingData

AUTO = "auto"
NAMES = {
    "label": ("label", "relevance", "rel", "y"),
    "qid": ("qid", "query_id", "query"),
    "doc_id": ("doc_id", "docid", "did"),
    "comment": ("comment",),
    "weight": ("weight",),
    "query_weight": ("query_weight",),
}
_NEEDED = ("label", "qid")
_COLUMNS_AT_ONCE = 16  # one cache line of float32
_ROWS_AT_ONCE = 2048


class NoColumnError(InputError):
    """A table lacks a column that is needed unless the caller says that there is none; `role` is which."""

    def __init__(self, reason: str, role: str) -> None:
        self.role = role
        super().__init__(reason)


class Roles(NamedTuple):
    """Which column is what; None is no such column. `features` are the rest, or those asked for."""

    label: str | None
    qid: str | None
    doc_id: str | None
    comment: str | None
    weight: str | None
    query_weight: str | None
    features: tuple[str, ...]

    def taken(self) -> list[str]:
        """The columns that are not features."""
        return [name for name in self[: len(NAMES)] if isinstance(name, str)]


def from_frame(
    frame: Any,
    *,
    label: str | None = AUTO,
    qid: str | None = AUTO,
    doc_id: str | None = AUTO,
    comment: str | None = AUTO,
    weight: str | None = AUTO,
    query_weight: str | None = AUTO,
    features: str | Sequence[str] | None = None,
    allow_missing: bool = False,
) -> RankingData:
    """Build RankingData from a data frame.

    Each of the first arguments names a column, or is None for no such column, or "auto" for the usual names:
    label, relevance, rel or y; qid, query_id or query; doc_id, docid or did; comment; weight; query_weight.
    A label and a qid must be found or be None. `query_weight` must be the same in all rows of a query.
    `features` are the columns to use (all others by default), or one column with a list of numbers per row.
    """
    from rankloom.data.ranking_data import RankingData

    table = as_frame(frame)
    asked = (label, qid, doc_id, comment, weight, query_weight)
    roles = find_roles(table.columns, dict(zip(NAMES, asked, strict=True)), features)
    given = {role: _column(table, name) for role, name in zip(NAMES, roles, strict=False)}
    queries = None if given["qid"] is None else series_values(given["qid"], f"qid column {roles.qid!r}")
    values, names = feature_table(table, roles.features, allow_missing, row_namer(queries))
    per_query = None if given["query_weight"] is None else PerRow(given["query_weight"])
    extras = Extras(given["doc_id"], given["comment"], given["weight"], per_query, names)
    return RankingData.from_parts(checked_parts(dense(values), given["label"], queries, extras))


def _column(table: nw.DataFrame[Any], name: Any) -> Any:
    """A column by name, which in pandas may be a number."""
    return None if name is None else table.get_column(name)


def dense(values: NDArray[np.float32]) -> Features:
    """A table of values as features."""
    return Features(values, None, None, values.shape[1])


def as_frame(frame: Any) -> nw.DataFrame[Any]:
    """Any eager data frame through narwhals."""
    import narwhals.stable.v2 as nw

    if hasattr(frame, "collect") and hasattr(frame, "collect_schema"):
        raise InputError(
            "a lazy frame has no rows yet, got " + type(frame).__name__ + "; call collect() first"
        )
    try:
        return nw.from_native(frame, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"column names must be all different: {' '.join(str(error).split())}") from error
    except TypeError as error:
        got = type(frame).__name__
        raise InputError(f"expected a pandas, polars or Arrow table, got {got}") from error


def frame_values(
    frame: Any, allow_missing: bool, place: Place
) -> tuple[NDArray[np.float32], tuple[str, ...] | None]:
    """All columns of a frame as features, and their names."""
    table = as_frame(frame)
    return feature_table(table, tuple(table.columns), allow_missing, place)


def find_roles(
    columns: Sequence[str], asked: dict[str, str | None], features: str | Sequence[str] | None
) -> Roles:
    """Decide which column is what, by the names asked for or by the usual ones."""
    found = {role: _find(role, name, columns) for role, name in asked.items()}
    wanted = (features,) if isinstance(features, str) else features
    if wanted is None:
        return Roles(**found, features=tuple(name for name in columns if name not in found.values()))
    for name in wanted:
        if name not in columns:
            raise _no_column("features", name, columns)
    return Roles(**found, features=tuple(wanted))


def _find(role: str, name: str | None, columns: Sequence[str]) -> str | None:
    if name is None:
        return None
    if name != AUTO:
        if name not in columns:
            raise _no_column(role, name, columns)
        return name
    by_lower = {str(column).lower(): column for column in reversed(columns)}
    for usual in NAMES[role]:
        if usual in by_lower:
            return by_lower[usual]
    if role in _NEEDED:
        usual = ", ".join(NAMES[role])
        hint = f'say which it is with {role}="...", or {role}=None if there is none (a command: --{role} ...)'
        reason = f"no {role} column (looked for {usual}); the columns are {_listed(columns)}; {hint}"
        raise NoColumnError(reason, role)
    return None


def _no_column(role: str, name: str, columns: Sequence[str]) -> InputError:
    near = get_close_matches(str(name), [str(column) for column in columns], n=1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; the columns are {_listed(columns)}"
    return InputError(f"{role} must name a column of the table, got {name!r}{hint}")


def _listed(columns: Sequence[str]) -> str:
    shown = ", ".join(str(column) for column in columns[:12])
    return shown + (f" and {len(columns) - 12:,} more" if len(columns) > 12 else "")


def feature_table(
    table: nw.DataFrame[Any], columns: Sequence[str], allow_missing: bool, place: Place
) -> tuple[NDArray[np.float32], tuple[str, ...] | None]:
    """These columns as float32 rows, with their names; a single list column has no names."""
    if len(columns) == 1 and _is_nested(table.get_column(columns[0])):
        return _list_table(table.get_column(columns[0]), columns[0], allow_missing, place), None
    values = np.empty((len(table), len(columns)), dtype=np.float32)
    for first in range(0, len(columns), _COLUMNS_AT_ONCE):
        names = columns[first : first + _COLUMNS_AT_ONCE]
        ready = [_feature(table.get_column(name), name, allow_missing, place) for name in names]
        for start in range(0, len(table), _ROWS_AT_ONCE):
            stop = start + _ROWS_AT_ONCE
            for column, numbers in enumerate(ready, first):
                values[start:stop, column] = numbers[start:stop]
    return values, tuple(str(name) for name in columns)


def _feature(series: nw.Series[Any], name: str, allow_missing: bool, place: Place) -> NDArray[np.float32]:
    numbers = _numbers(series, f"feature column {name!r}")
    return checked_float32(numbers, allow_missing, lambda row: f"{place(row)} of feature column {name!r}")


def checked_float32(numbers: NDArray[Any], allow_missing: bool, place: Place) -> NDArray[np.float32]:
    """Numbers as float32, refusing what is infinite or does not fit, and what is missing unless allowed."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = numbers.astype(np.float32, copy=False)
    if all_finite(values):
        return values
    bad = np.isinf(values) if allow_missing else ~np.isfinite(values)
    if not bad.any():
        return values
    row = int(bad.argmax())
    got = f"got {describe(float(numbers[row]))} at {place(row)}"
    if np.isfinite(numbers[row]):
        raise InputError(f"features must fit float32 (up to 3.4e38), {got}; scale that feature")
    hint = "; fill it in, or pass allow_missing=True" if np.isnan(numbers[row]) else ""
    raise InputError(f"features must be finite, {got}{hint}")


def _numbers(series: nw.Series[Any], what: str) -> NDArray[Any]:
    """A numeric or boolean column as floats or integers, nulls as NaN."""
    import narwhals.stable.v2 as nw

    if series.dtype.is_decimal() or (series.dtype.is_numeric() and series.null_count()):
        series = series.cast(nw.Float64())
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        array = series.to_numpy()
        return array if array.dtype.kind in "biuf" else as_numbers(array, what)
    if series.dtype in (nw.Object, nw.Unknown):  # pandas: mixed objects, or a sparse column
        return as_numbers(np.asarray(series.to_native()), what)
    hint = "leave it out by naming the columns to use with features=[...], or turn it into numbers"
    raise InputError(f"{what} must be numbers, got {series.dtype}; {hint}")


def _is_nested(series: nw.Series[Any]) -> bool:
    """True for a column that holds a list or an array in each row."""
    import narwhals.stable.v2 as nw

    if series.dtype in (nw.List, nw.Array):
        return True
    return series.dtype == nw.Object and len(series) > 0 and isinstance(series[0], (list, tuple, np.ndarray))


def _list_table(series: nw.Series[Any], name: str, allow_missing: bool, place: Place) -> NDArray[np.float32]:
    """A column of lists, all of one length, as rows."""
    what = f"feature column {name!r}"
    if series.null_count():
        row = int(np.flatnonzero(series.is_null().to_numpy())[0])
        raise InputError(f"{what} must hold a list of numbers in every row, got none at {place(row)}")
    lengths, flat = _flattened(series, what)
    if len(lengths) and (lengths != lengths[0]).any():
        row = int((lengths != lengths[0]).argmax())
        got = f"{lengths[row]} at {place(row)} after {lengths[0]} before"
        raise InputError(f"{what} must hold equally many numbers in every row, got {got}")
    width = int(lengths[0]) if len(lengths) else 0
    if width == 0:
        return np.empty((len(lengths), 0), dtype=np.float32)
    values = checked_float32(flat, allow_missing, lambda entry: f"{place(entry // width)} of {what}")
    return np.ascontiguousarray(values).reshape(len(lengths), width)


def _flattened(series: nw.Series[Any], what: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The length of each list, and all their numbers one after the other."""
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if series.implementation.is_polars():
        inner = native.arr.to_list() if series.dtype == nw.Array else native
        lengths = inner.list.len().to_numpy().astype(np.int64)
        return lengths, _numbers(nw.from_native(inner.explode(), series_only=True), what)
    if series.implementation.is_pyarrow():
        import pyarrow.compute as pc

        flat = pc.list_flatten(native)
        lengths = pc.list_value_length(native).to_numpy().astype(np.int64)
        return lengths, _numbers(nw.from_native(flat, series_only=True), what)
    rows = [np.asarray(row) for row in native]
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    flat = np.concatenate(rows) if rows else np.zeros(0, dtype=np.float32)
    return lengths, flat if flat.dtype.kind in "biuf" else as_numbers(flat, what)


def series_values(values: Any, what: str) -> NDArray[Any]:
    """A Series or Arrow array as a NumPy array: numbers, or objects with None for missing strings."""
    import narwhals.stable.v2 as nw

    if type(values).__module__.startswith("pyarrow") and not hasattr(values, "chunks"):
        import pyarrow as pa

        values = pa.chunked_array([values])
    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return np.asarray(values)
    if series.dtype in (nw.Categorical, nw.Enum):
        series = _decoded(series)
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return _numbers(series, what)
    return np.asarray(series.to_numpy())


def _decoded(series: nw.Series[Any]) -> nw.Series[Any]:
    """A categorical column as a column of what its categories are, which need not be strings."""
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if series.implementation.is_pyarrow():
        return nw.from_native(native.cast(native.type.value_type), series_only=True)
    if series.implementation.is_polars():
        return series.cast(nw.String())
    return nw.from_native(native.astype(native.cat.categories.dtype), series_only=True)

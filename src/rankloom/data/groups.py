"""Rows to queries: any order, any type of id, without sorting where rows already lie together.

Rows are first cut into runs of equal ids, one comparison a row. When no id starts two runs, that is all.
Otherwise runs are moved together, stably, queries in the order of their first appearance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import as_column, as_objects, check_length, describe, is_missing
from rankloom.errors import InputError

_LARGEST = np.iinfo(np.int64).max


class Groups(NamedTuple):
    """Queries over rows: see the fields."""

    offsets: NDArray[np.int64]
    """Query q is rows offsets[q]:offsets[q+1] of the grouped order."""
    qids: NDArray[Any]
    """One per query, as given (whole numbers as int64, strings as objects), in order of first appearance."""
    order: NDArray[np.int64] | None
    """Grouped row i is the caller's row order[i]; None when rows already are grouped."""


def group_rows(qid: Any, n_rows: int) -> Groups:
    """Group rows by their query id; None is one query, numbered 0, over everything."""
    if qid is None:
        whole = np.array([0, n_rows] if n_rows else [0], dtype=np.int64)
        return Groups(whole, np.zeros(len(whole) - 1, dtype=np.int64), None)
    keys = query_keys(qid, n_rows)
    starts = _run_starts(keys)
    heads = _as_ids(keys[starts])
    edges = np.append(starts, n_rows)
    if _is_increasing(heads):
        return Groups(edges, heads, None)
    first, codes = _first_seen(heads)
    if len(first) == len(heads):
        return Groups(edges, heads, None)
    lengths = np.diff(edges)
    sizes = np.bincount(codes, weights=lengths, minlength=len(first)).astype(np.int64)
    runs = _stable_order(codes, len(first))
    order = expand_ranges(starts[runs], lengths[runs])
    return Groups(np.concatenate(([0], np.cumsum(sizes))), heads[first], order)


def expand_ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of all ranges starts[i] : starts[i] + lengths[i], one after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    numbers = np.arange(total, dtype=np.int64)
    numbers += np.repeat(starts - (ends - lengths), lengths)
    return numbers


def query_keys(qid: Any, n_rows: int) -> NDArray[Any]:
    """Query ids, one per row, as an array whose entries can be compared: integers, or strings of any kind."""
    array = as_column(qid, "qid")
    check_length(len(array), n_rows, "qid")
    kind = array.dtype.kind
    if kind == "f":
        return _whole_numbers(array)
    if kind in "bi":
        return array.astype(np.int64, copy=False)
    if kind == "u":
        return array if n_rows and array.max() > _LARGEST else array.astype(np.int64)
    if kind == "O":
        return _checked_objects(array)
    if kind in "UST":
        return array
    raise InputError(f"qid must be whole numbers or strings, got {array.dtype}; turn it into strings first")


def _whole_numbers(array: NDArray[Any]) -> NDArray[np.int64]:
    """Ids that came as floats, as from a column with a missing value or a text of numbers."""
    with np.errstate(invalid="ignore"):
        bad = ~((array == np.trunc(array)) & (np.abs(array) <= 2**53))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(f"qid must be whole numbers or strings, got {describe(array[row])} at row {row}")
    return array.astype(np.int64)


def _checked_objects(array: NDArray[Any]) -> NDArray[Any]:
    """Objects that are all strings, all bytes, or all numbers."""
    kinds = set(map(type, array.tolist()))
    if all(issubclass(kind, str) for kind in kinds):
        return array
    for row, value in enumerate(array):
        if is_missing(value):
            raise InputError(
                f"every row needs a qid, got {value!r} at row {row}; give those rows an id or leave them out"
            )
    if all(issubclass(kind, bytes) for kind in kinds):
        return as_objects([value.decode(errors="surrogateescape") for value in array])
    if all(issubclass(kind, (int, float, np.number)) for kind in kinds):
        numbers = np.array(array.tolist())
        if numbers.dtype.kind in "biuf":
            return query_keys(numbers, len(numbers))
        raise InputError("qid must fit 64 bits, got a larger number; turn the ids into strings first")
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise InputError(
        f"qid must be all whole numbers or all strings, got {names}; turn all of them into strings first"
    )


def _as_ids(heads: NDArray[Any]) -> NDArray[Any]:
    """Strings of any kind as Python strings; numbers as they are."""
    if heads.dtype.kind == "S":
        heads = np.char.decode(heads, "utf-8", "surrogateescape")
    return heads if heads.dtype.kind in "iu" else as_objects(heads.tolist())


def _run_starts(keys: NDArray[Any]) -> NDArray[np.int64]:
    """The first row of every run of equal ids."""
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    changes = np.flatnonzero(keys[1:] != keys[:-1]).astype(np.int64, copy=False)
    return np.concatenate((np.zeros(1, dtype=np.int64), changes + 1))


def _is_increasing(heads: NDArray[Any]) -> bool:
    return heads.dtype.kind in "iu" and bool((heads[1:] > heads[:-1]).all())


def _first_seen(heads: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each distinct id first appears, and each entry's id as a number in that order."""
    return _renumber(_first_positions(heads))


def _first_positions(heads: NDArray[Any]) -> NDArray[np.int64]:
    """For each entry, where its id first appears: by hash, by table if numbers lie close, else by sorting."""
    if heads.dtype.kind == "O":
        seen: dict[Any, int] = {}
        return np.array(
            [seen.setdefault(head, row) for row, head in enumerate(heads.tolist())], dtype=np.int64
        )
    positions = np.arange(len(heads), dtype=np.int64)
    low, high = int(heads.min()), int(heads.max())
    if high - low <= 4 * len(heads) + 1024:
        slots = (heads - heads.dtype.type(low)).astype(np.int64)
        table = np.zeros(high - low + 1, dtype=np.int64)
        table[slots[::-1]] = positions[::-1]  # the last one written, the first appearance, stays
        return np.asarray(table[slots])
    _, first, inverse = np.unique(heads, return_index=True, return_inverse=True)
    return np.asarray(first[inverse], dtype=np.int64)


def _renumber(first_of_each: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    is_first = first_of_each == np.arange(len(first_of_each))
    numbers = np.cumsum(is_first) - 1
    return np.flatnonzero(is_first), numbers[first_of_each]


def _stable_order(codes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Stable argsort of codes below `count`, 16 bits at a time: NumPy sorts those in linear time."""
    order = np.argsort((codes & 0xFFFF).astype(np.uint16), kind="stable")
    shift = 16
    while count >> shift:
        digits = ((codes[order] >> shift) & 0xFFFF).astype(np.uint16)
        order = order[np.argsort(digits, kind="stable")]
        shift += 16
    return order.astype(np.int64, copy=False)

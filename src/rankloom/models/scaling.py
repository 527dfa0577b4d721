"""A scaling of features: learned from rows, or from the rows of each query as they come.

x' = (x - shift) factor         shift and factor of each column, over all rows learned from, or over a query
x' = share of rows below x      "rank"

minmax      to [0, 1]                                  maxabs      largest |x| becomes 1, zeros stay
standard    mean 0, deviation 1                        deviation   deviation 1, zeros stay
rank        the smallest 0, the largest 1, equal values alike
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import all_finite, frozen, row_place
from rankloom.data.features import Features
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError

KINDS = ("minmax", "standard", "deviation", "maxabs", "rank")
SPARSE_KINDS = ("deviation", "maxabs")
PER = ("all", "query")
_KNOTS = 1001  # quantiles that stand for a column's distribution
_PER_QUERY = "/query"


class Scaling(NamedTuple):
    """What is done to each column. With per="query" nothing is learned, and all arrays are None."""

    kind: str
    per: str
    n_features: int
    shift: NDArray[np.float64] | None = None
    factor: NDArray[np.float64] | None = None
    knots: NDArray[np.float64] | None = None

    def applied(self, data: RankingData, threads: int | None = None) -> RankingData:
        """The same rows on the new scale; the same bits for any number of threads."""
        return data.with_features(data.features._replace(values=self.values(data, threads)))

    def values(self, data: RankingData, threads: int | None = None) -> NDArray[np.float32]:
        """The feature values on the new scale, new, where `data.values` are on the old one."""
        if data.n_features != self.n_features:
            told = f"the scaling has {self.n_features:,} features, the data {data.n_features:,}"
            raise InputError(f"{told}; give it the features that it was learned from")
        _refuse_sparse(self.kind, data)
        if self.per == "query":
            values, whole = _by_query(self.kind, data, threads)
        elif self.knots is not None:
            values, whole = _between_knots(self.knots, data.values), False
        else:
            values, whole = _by_column(data.features, self.shift, self.factor, threads)
        if not whole:
            _refuse_undefined(data, values)
        return values


def spelled(scale: Any) -> tuple[str, str]:
    """Kind and per of a text: "minmax", over all rows, or "minmax/query"."""
    if isinstance(scale, str):
        kind, per = scale.removesuffix(_PER_QUERY), "query" if scale.endswith(_PER_QUERY) else "all"
        if kind in KINDS:
            return kind, per
    known = ", ".join(KINDS)
    raise InputError(f'scale must be None or one of {known}, each also as "minmax/query", got {scale!r:.60}')


def learned_scaling(kind: str, per: str, data: RankingData) -> Scaling:
    """The scaling of these rows."""
    plain = Scaling(kind, per, data.n_features)
    _refuse_sparse(kind, data)
    if not all_finite(data.values):
        raise _missing(data)
    if per == "query":
        return plain
    if kind == "rank":
        places = np.linspace(0, data.n_rows - 1, min(_KNOTS, data.n_rows)).round().astype(np.int64)
        knots = np.sort(data.values, axis=0)[places].astype(np.float64)
        return plain._replace(knots=frozen(knots))
    shift, factor = _measured(kind, data)
    return plain._replace(shift=frozen(shift), factor=frozen(factor))


def _refuse_sparse(kind: str, data: RankingData) -> None:
    if data.is_sparse and kind not in SPARSE_KINDS:
        allowed = " or ".join(SPARSE_KINDS)
        raise InputError(
            f"{kind} would make numbers of all zeros that sparse data leave out; take {allowed}, which leave "
            "zeros alone, or make the data dense"
        )


def _number(kind: str) -> int:
    """How the kernels call a kind."""
    from rankloom.kernels import scaling as kernel

    numbers = kernel.MINMAX, kernel.STANDARD, kernel.DEVIATION, kernel.MAXABS
    return dict(zip(KINDS, numbers, strict=False))[kind]


def _measured(kind: str, data: RankingData) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shift and factor of each column over all rows."""
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.scaling import measure_dense, measure_sparse

    number, features, width = _number(kind), data.features, data.n_features
    shift, factor = np.zeros(width), np.zeros(width)
    values = as_kernel(features.values, np.float32)
    if features.columns is None:
        low, high = np.empty((2, width), dtype=np.float32)
        measure_dense(values, 0, data.n_rows, number, low, high, shift, factor)
    else:
        stored, total = np.zeros((2, width))
        columns = as_kernel(features.columns, np.uint32)
        measure_sparse(values, columns, 0, len(values), data.n_rows, number, stored, total, factor)
    return shift, factor


def _by_column(
    features: Features, shift: Any, factor: NDArray[np.float64] | None, threads: int | None
) -> tuple[NDArray[np.float32], bool]:
    """Every row by the shift and factor that were learned; and True if all are sure to be finite."""
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.scaling import apply_dense
    from rankloom.models.scoring import row_blocks

    assert factor is not None
    if features.columns is not None:
        with np.errstate(over="ignore"):
            return (features.values * factor[features.columns]).astype(np.float32), False
    out = np.empty_like(features.values)
    parts = (
        as_kernel(features.values, np.float32),
        as_kernel(shift, np.float64),
        as_kernel(factor, np.float64),
    )

    def work(start: int, stop: int) -> float:
        total: float = apply_dense(parts[0], start, stop, parts[1], parts[2], out)
        return total

    return out, _over(work, row_blocks(features), threads)


def _by_query(kind: str, data: RankingData, threads: int | None) -> tuple[NDArray[np.float32], bool]:
    """Every query by its own rows; and True if all values are sure to be finite."""
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.scaling import rank_queries, scale_queries_dense, scale_queries_sparse
    from rankloom.kernels.threads import query_blocks

    features, width = data.features, data.n_features
    values, offsets = as_kernel(features.values, np.float32), as_kernel(data.offsets, np.int64)
    out = np.empty_like(features.values)

    def dense(first: int, last: int) -> float:
        low, high = np.empty((2, width), dtype=np.float32)
        shift, factor = np.empty((2, width))
        edges = offsets[first : last + 1]
        total: float = scale_queries_dense(values, edges, _number(kind), low, high, shift, factor, out)
        return total

    def ranks(first: int, last: int) -> float:
        rank_queries(values, offsets[first : last + 1], out)
        return np.nan

    def sparse(first: int, last: int) -> float:
        stored, total, factor = np.zeros((3, width))
        columns = as_kernel(features.columns, np.uint32)
        rows, edges = as_kernel(features.row_offsets, np.int64), offsets[first : last + 1]
        scale_queries_sparse(values, columns, rows, edges, _number(kind), stored, total, factor, out)
        return np.nan

    work = sparse if data.is_sparse else ranks if kind == "rank" else dense
    return out, _over(work, query_blocks(data.offsets), threads)


def _over(work: Callable[[int, int], float], blocks: list[tuple[int, int]], threads: int | None) -> bool:
    """Do the work block by block; True if every block says a finite sum."""
    from rankloom.kernels.threads import ordered_map

    sums = list(ordered_map(lambda block: work(*block), blocks, threads if len(blocks) > 1 else 1))
    return bool(np.isfinite(sums).all())


def _between_knots(knots: NDArray[np.float64], values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Where each value stands among the rows learned from; of equal knots, in their middle."""
    levels, out = np.linspace(0.0, 1.0, len(knots)), np.empty_like(values)
    for column in range(values.shape[1]):
        known, given = knots[:, column], values[:, column].astype(np.float64)
        if not known[0] < known[-1]:
            out[:, column] = 0.0
            continue
        from_below = np.interp(given, known, levels)
        from_above = 1.0 - np.interp(-given, -known[::-1], levels)
        out[:, column] = (from_below + from_above) / 2.0
    return out


def _refuse_undefined(data: RankingData, values: NDArray[np.float32]) -> None:
    if all_finite(values):
        return
    if not all_finite(data.values):
        raise _missing(data)
    raise InputError(
        "scaled values are beyond float32: some are very far from all rows that the scaling was learned from"
    )


def _missing(data: RankingData) -> InputError:
    row = next(row for row in range(data.n_rows) if not all_finite(data.features.rows(row, row + 1).values))
    place = row_place(row if data.order is None else int(data.order[row]))
    return InputError(f"missing values (NaN) cannot be scaled, and {place} has one; fill them in")

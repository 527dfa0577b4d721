"""A covariance as a diagonal and a few directions, for features too many for a full one.

    1 / S = diag(p) + U U',        1 / S = 1 + sum over pairs learned of x x' / gamma   exactly (Equation 9)

By the Sherman-Morrison formula, Equation 9 adds x x' / gamma to the inverse of the covariance. Pairs wait
until there are BATCH of them; then B = [U, their x / sqrt(gamma)] is cut down to its strongest directions,
less what the strongest of the rest has (frequent directions: Ghashami, Liberty, Phillips & Woodruff 2016),
and the diagonal of what is cut off goes to p: the diagonal of 1 / S stays exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.online import State

BATCH = 32


class Held(NamedTuple):
    """Pairs that wait: rows of x, sparse, each times the root of its weight."""

    values: NDArray[np.float64]
    columns: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @classmethod
    def nothing(cls) -> Held:
        """No pair."""
        return cls(np.empty(0), np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64))


def joined(held: Held, differences: Any) -> Held:
    """With the rows of a CSR matrix at the end."""
    return Held(
        np.concatenate((held.values, differences.data)),
        np.concatenate((held.columns, differences.indices)),
        np.concatenate((held.offsets, held.offsets[-1] + differences.indptr[1:].astype(np.int64))),
    )


def settle(state: State, held: Held, gamma: float) -> tuple[State, Held]:
    """Let pairs that wait join the covariance, BATCH at a time; those left over go on waiting."""
    while len(held.offsets) > BATCH:
        state = _fold(state, _rows(held, BATCH, len(state.v)), gamma)
        start = held.offsets[BATCH]
        held = Held(held.values[start:], held.columns[start:], held.offsets[BATCH:] - start)
    return state, held


def _rows(held: Held, count: int, width: int) -> Any:
    from scipy.sparse import csr_array

    end = held.offsets[count]
    return csr_array((held.values[:end], held.columns[:end], held.offsets[: count + 1]), shape=(count, width))


def _fold(state: State, X: Any, gamma: float) -> State:
    """Let the rows of X join. What w is does not change."""
    from rankloom.kernels.eigen import diagonalise

    rank = state.table.shape[1]
    U = state.table / state.spread[:, None]
    p = 1.0 / state.spread
    X = X / np.sqrt(gamma)
    before = p + (U * U).sum(axis=1) + np.asarray(X.multiply(X).sum(axis=0)).ravel()
    cross = X @ U
    gram = np.block([[U.T @ U, cross.T], [cross, (X @ X.T).toarray()]])
    gram = np.ascontiguousarray((gram + gram.T) / 2.0)
    turns = np.empty_like(gram)
    diagonalise(gram, turns)
    order = np.argsort(-np.diag(gram), kind="stable")
    kept, least = np.diag(gram)[order[:rank]], max(float(gram[order[rank], order[rank]]), 0.0)
    turns = turns[order[:rank]].T
    shrink = np.sqrt(np.maximum(kept - least, 0.0) / np.where(kept > 0.0, kept, 1.0))
    U_new = (U @ turns[:rank] + X.T @ turns[rank:]) * shrink
    p_new = np.maximum(before - (U_new * U_new).sum(axis=1), 1.0)
    return with_precision(state, p_new, U_new)


def with_precision(state: State, p: NDArray[np.float64], U: NDArray[np.float64]) -> State:
    """The state with 1 / S = diag(p) + U U', and the same w."""
    rank = U.shape[1]
    table = np.ascontiguousarray(U / p[:, None])
    inner = np.linalg.inv(np.eye(rank) + U.T @ table)
    small = np.concatenate((np.zeros(rank), ((inner + inner.T) / 2.0).ravel()))
    return state._replace(v=weights_of(state), spread=1.0 / p, table=table, small=small)


def weights_of(state: State) -> NDArray[np.float64]:
    """w = v + G z."""
    moved: NDArray[np.float64] = state.v + state.table @ state.small[: state.table.shape[1]]
    return moved


def new_sketch(state: State, n_features: int, rank: int) -> State:
    """S = 1."""
    return with_precision(
        state._replace(table=np.zeros((n_features, rank)), small=np.zeros(rank + rank * rank)),
        np.ones(n_features),
        np.zeros((n_features, rank)),
    )

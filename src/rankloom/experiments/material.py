"""The data of a search: what each trial learns from and is measured on, as one store that all processes map.

With k folds, the store has the queries of folds 0, 1, .., k-1, 0, .., k-2, so that fold f and, after it, all
other folds lie together wherever f is: every part of every fold is a stretch of one mapping, and nothing is
copied by anyone. It is less than twice the data on the disk, for any number of folds and processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.data.splits import fold_numbers
from rankloom.data.store import load_store, save_store

Pair = tuple[RankingData, RankingData]


class Material(Protocol):
    """Pairs of data: what to learn from, what to measure on."""

    @property
    def n_folds(self) -> int:
        """How many pairs."""

    def pairs(self) -> Iterator[Pair]:
        """Each pair in turn."""


class HeldOut(NamedTuple):
    """Validation data of their own."""

    train: RankingData
    valid: RankingData

    @property
    def n_folds(self) -> int:
        """One pair."""
        return 1

    def pairs(self) -> Iterator[Pair]:
        """The one pair."""
        yield self.train, self.valid


class Stretches(NamedTuple):
    """Folds as stretches of queries, each fold but the last one there twice."""

    data: RankingData
    edges: Sequence[int]

    @property
    def n_folds(self) -> int:
        """How many folds."""
        return len(self.edges) // 2

    def pairs(self) -> Iterator[Pair]:
        """Fold f, and the folds after it."""
        for fold in range(self.n_folds):
            first, after, last = (self.edges[fold + shift] for shift in (0, 1, self.n_folds))
            yield self.data.take(slice(after, last)), self.data.take(slice(first, after))


class Folds(NamedTuple):
    """Folds of data in memory, copied out one at a time, with rows in the order that stretches have."""

    data: RankingData
    owners: NDArray[np.int64]

    @property
    def n_folds(self) -> int:
        """How many folds."""
        return int(self.owners.max()) + 1

    def pairs(self) -> Iterator[Pair]:
        """Fold f, and the folds after it."""
        queries = [np.flatnonzero(self.owners == fold) for fold in range(self.n_folds)]
        for fold in range(self.n_folds):
            others = np.concatenate(queries[fold + 1 :] + queries[:fold])
            yield self.data.take(others), self.data.take(queries[fold])


class Place(NamedTuple):
    """Where a process finds the material."""

    train: str
    valid: str | None
    edges: Sequence[int] | None

    def opened(self) -> Material:
        """The material, mapped."""
        train = bare(load_store(self.train))
        if self.edges is not None:
            return Stretches(train, self.edges)
        assert self.valid is not None
        return HeldOut(train, bare(load_store(self.valid)))


def bare(data: RankingData) -> RankingData:
    """The same rows without what neither learning nor measuring needs."""
    return RankingData.from_parts(data._parts._replace(order=None, doc_ids=None, comments=None))


def in_memory(train: RankingData, valid: RankingData | None, folds: int | None, seed: int) -> Material:
    """The material of a process that has the data."""
    if valid is not None:
        return HeldOut(bare(train), bare(valid))
    return Folds(bare(train), fold_numbers(train, int(folds or 0), seed=seed))


def laid_out(material: Material, folder: Path, stores: Sequence[Any]) -> Place:
    """Write the material where processes can map it; what is a store already stays where it is."""
    if isinstance(material, HeldOut):
        places = [
            _stored(data, folder / name, store)
            for data, name, store in zip(material, ("train.store", "valid.store"), stores, strict=True)
        ]
        return Place(places[0], places[1], None)
    assert isinstance(material, Folds)
    target, k = folder / "folds.store", material.n_folds
    queries = [np.flatnonzero(material.owners == fold % k) for fold in range(2 * k - 1)]
    edges = np.concatenate(([0], np.cumsum([len(some) for some in queries]))).tolist()
    save_store(
        (_numbered(material.data.take(some), first) for some, first in zip(queries, edges, strict=False)),
        target,
    )
    return Place(str(target), None, edges)


def _stored(data: RankingData, target: Path, store: Any) -> str:
    if store is not None:
        return str(Path(store).resolve())
    save_store(data, target)
    return str(target)


def _numbered(data: RankingData, first: int) -> RankingData:
    """Queries called by numbers from `first` on: a store takes no name twice."""
    numbers = np.arange(first, first + data.n_queries, dtype=np.int64)
    return RankingData.from_parts(data._parts._replace(qids=numbers))

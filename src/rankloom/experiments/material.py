"""The data of a search: what each trial learns from and is measured on, as one store that all processes map.

With k folds, the store has the queries of folds 0, 1, .., k-1, 0, .., k-2, so that fold f and, after it, all
other folds lie together wherever f is: every part of every fold is a stretch of one mapping, and nothing is
copied by anyone. It is less than twice the data on the disk, for any number of folds and processes. One fold
is exactly one copy of it, and what has been mapped for a trial is let go of when the trial is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rankloom.data.features import row_steps
from rankloom.data.ranking_data import RankingData
from rankloom.data.splits import fold_numbers
from rankloom.data.store import let_go, load_store, save_store

_PIECES = 32  # in which data are copied into a store, so that no copy of all of them is in memory

Pair = tuple[RankingData, RankingData]


class Material(Protocol):
    """Pairs of data: what to learn from, what to measure on."""

    @property
    def n_folds(self) -> int:
        """How many pairs."""

    def pair(self, fold: int, /) -> Pair:
        """One of them."""

    def let_go(self) -> None:
        """Give back the memory that the last pair took."""


class HeldOut(NamedTuple):
    """Validation data of their own."""

    train: RankingData
    valid: RankingData

    @property
    def n_folds(self) -> int:
        """One pair."""
        return 1

    def pair(self, _fold: int) -> Pair:
        """The one pair."""
        return self.train, self.valid

    def let_go(self) -> None:
        """Nothing: the next trial looks at the same."""


class Stretches(NamedTuple):
    """Folds as stretches of queries, each fold but the last one there twice."""

    data: RankingData
    edges: Sequence[int]

    @property
    def n_folds(self) -> int:
        """How many folds."""
        return len(self.edges) // 2

    def pair(self, fold: int) -> Pair:
        """The folds after this one, and this one."""
        first, after, last = (self.edges[fold + shift] for shift in (0, 1, self.n_folds))
        return self.data.take(slice(after, last)), self.data.take(slice(first, after))

    def let_go(self) -> None:
        """Have nothing mapped: the next trial may look at another stretch."""
        let_go(self.data)


class Folds:
    """Folds of data in memory, copied out one at a time, with rows in the order that stretches have."""

    def __init__(self, data: RankingData, owners: NDArray[np.int64]) -> None:
        self._data, self._queries = data, queries_of(owners)
        self._made: tuple[int, Pair] | None = None

    @property
    def n_folds(self) -> int:
        """How many folds."""
        return len(self._queries)

    def pair(self, fold: int) -> Pair:
        """The folds after this one, and this one; kept for the next trial."""
        if self._made is None or self._made[0] != fold:
            self._made = None
            others = np.concatenate(self._queries[fold + 1 :] + self._queries[:fold])
            self._made = fold, (self._data.take(others), self._data.take(self._queries[fold]))
        return self._made[1]

    def let_go(self) -> None:
        """Forget the copies."""
        self._made = None


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


class Source:
    """The data as they were given: for this process, and laid out, once, where processes can map them."""

    def __init__(
        self,
        train: RankingData,
        valid: RankingData | None,
        stores: Sequence[Any],
        owners: NDArray[np.int64] | None,
        folder: Callable[[], Path],
    ) -> None:
        self._train, self._valid = bare(train), None if valid is None else bare(valid)
        self._stores, self._owners, self._folder = stores, owners, folder
        self._place: Place | None = None

    @property
    def n_folds(self) -> int:
        """How many pairs there are."""
        return 1 if self._owners is None else int(self._owners.max()) + 1

    def here(self) -> Material:
        """The material of this process. Folds of a store are mapped too, not copied into memory."""
        if self._valid is not None:
            return HeldOut(self._train, self._valid)
        assert self._owners is not None
        return Folds(self._train, self._owners) if self._stores[0] is None else self.place().opened()

    def place(self) -> Place:
        """The material as stores; what is a store already stays where it is."""
        if self._place is None:
            self._place = self._laid_out(self._folder())
        return self._place

    def let_go(self) -> None:
        """Give back the memory of what is a store."""
        for data, store in zip((self._train, self._valid), self._stores, strict=True):
            if data is not None and store is not None:
                let_go(data)

    def _laid_out(self, folder: Path) -> Place:
        if self._valid is not None:
            names = ("train.store", "valid.store")
            every = zip((self._train, self._valid), names, self._stores, strict=True)
            train, valid = (_stored(data, folder / name, store) for data, name, store in every)
            return Place(train, valid, None)
        assert self._owners is not None
        folds = queries_of(self._owners)
        runs = folds + folds[:-1]
        save_store(self._pieces(runs), folder / "folds.store")
        edges = np.concatenate(([0], np.cumsum([len(run) for run in runs]))).tolist()
        return Place(str(folder / "folds.store"), None, edges)

    def _pieces(self, runs: Sequence[NDArray[np.int64]]) -> Iterator[RankingData]:
        """Runs of queries one after the other, copied a little at a time."""
        rows, first = self._train.n_rows // _PIECES + 1, 0
        for run in runs:
            edges = np.concatenate(([0], np.cumsum(self._train.lengths[run])))
            for start, stop in row_steps(edges, rows):
                yield _numbered(self._train.take(run[start:stop]), first)
                first += stop - start
                self.let_go()


def queries_of(owners: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The queries of each fold."""
    return [np.flatnonzero(owners == fold) for fold in range(int(owners.max()) + 1)]


def source_of(
    train: RankingData, valid: Any, stores: Sequence[Any], folds: Any, seed: int, folder: Callable[[], Path]
) -> Source:
    """The data as given; `folder` makes one where stores may be written."""
    owners = fold_numbers(train, folds, seed=seed) if valid is None else None
    return Source(train, valid, stores, owners, folder)


def bare(data: RankingData) -> RankingData:
    """The same rows without what neither learning nor measuring needs."""
    return RankingData.from_parts(data._parts._replace(order=None, doc_ids=None, comments=None))


def _stored(data: RankingData, target: Path, store: Any) -> str:
    if store is not None:
        return str(Path(store).resolve())
    save_store(data, target)
    return str(target)


def _numbered(data: RankingData, first: int) -> RankingData:
    """Queries called by numbers from `first` on: a store takes no name twice."""
    numbers = np.arange(first, first + data.n_queries, dtype=np.int64)
    return RankingData.from_parts(data._parts._replace(qids=numbers))

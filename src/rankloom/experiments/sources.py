"""What a protocol runs on: parts that are generated, given, read from files or folds, or cut by chance."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.letor import is_letor, read_folds
from rankloom.data.ranking_data import RankingData
from rankloom.data.read import read, source_kind
from rankloom.data.splits import split
from rankloom.errors import InputError

TEST_SHARE = 0.3


class Parts(NamedTuple):
    """What to learn from, what to measure on, and what to choose by, if there is such a part."""

    train: RankingData
    test: RankingData
    vali: RankingData | None
    name: str

    def by_name(self) -> dict[str, RankingData]:
        """The parts there are."""
        named = {"train": self.train, "vali": self.vali, "test": self.test}
        return {name: part for name, part in named.items() if part is not None}


class Given(NamedTuple):
    """How somebody said what to run on."""

    source: Any
    test: Any = None
    vali: Any = None
    fold: int | None = None
    n_features: int | None = None


def parts_of(given: Given, make: Callable[[], Parts], seed: int) -> Parts:
    """The parts; `make` makes them where no source was given."""
    if given.source is None:
        if given.test is not None or given.vali is not None or given.fold is not None:
            raise InputError("test, vali and fold need a source; give one, or leave them out")
        return make()
    if is_folds(given.source):
        return _fold(given)
    if given.fold is not None:
        raise InputError(
            f"fold={given.fold} needs a folder with Fold1, Fold2, ..., got {_name(given.source)}"
        )
    train, base = read_one(given.source, given.n_features)
    parts = [
        None if one is None else read_one(one, train.n_features, base)[0] for one in (given.test, given.vali)
    ]
    for what, part in (("train", train), *zip(("test", "vali"), parts, strict=True)):
        if part is not None:
            check_part(part, what)
    test, vali = parts
    if test is None:
        train, test = cut(train, TEST_SHARE, seed)
    return Parts(train, test, vali, _name(given.source))


def is_folds(source: Any) -> bool:
    """Whether it is a folder of LETOR folds."""
    if not isinstance(source, (str, os.PathLike)) or source == "-":
        return False
    return Path(source).is_dir() and is_letor(Path(source))


def _fold(given: Given) -> Parts:
    if given.test is not None or given.vali is not None:
        raise InputError("a folder of folds has its own test and vali parts; leave test and vali out")
    reading = {} if given.n_features is None else {"n_features": given.n_features}
    folds = read_folds(given.source, **reading)
    numbers = [fold.number for fold in folds]
    wanted = numbers[0] if given.fold is None else given.fold
    if wanted not in numbers:
        raise InputError(f"fold must be one of {', '.join(map(str, numbers))}, got {given.fold!r:.20}")
    fold = folds[numbers.index(wanted)]
    parts = Parts(fold.train, fold.test, fold.vali, f"fold {wanted} of {Path(given.source).name}")
    for name, part in parts.by_name().items():
        check_part(part, name)
    return parts


def read_one(
    source: Any, n_features: int | None = None, base: int | None = None
) -> tuple[RankingData, int | None]:
    """Data as they are or read, and the index of the first column where they are text."""
    if isinstance(source, RankingData):
        return source, base
    if source_kind(source) != "text":
        return read(source), base
    from rankloom.data.text import read_text_and_base

    return read_text_and_base(source, n_features=n_features, index_base="auto" if base is None else base)


def check_part(data: RankingData, name: str) -> None:
    """Refuse what nothing can be learned from or measured on."""
    if not data.n_rows:
        raise InputError(f"the {name} part is empty; give data with rows")
    if data.y is None:
        raise InputError(f"the {name} part has no labels; give data with labels")


def cut(data: RankingData, share: float, seed: int) -> tuple[RankingData, RankingData]:
    """Two parts, the second with this share: of the queries, or of the rows where all are one query."""
    check_part(data, "given")
    if data.n_queries > 1:
        first, second = split(data, [1.0 - share, share], seed=seed)
        return first, second
    kept, held = cut_rows(data.y, share, seed)
    return rows_of(data, kept), rows_of(data, held)


def cut_rows(y: Any, share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows in two parts, each label shared out alike: at least one of two and more rows goes to each part."""
    draw = np.random.default_rng(seed)
    held = []
    for label in np.unique(y):
        rows = draw.permutation(np.flatnonzero(y == label))
        count = round(share * len(rows))
        held.append(rows[: min(max(count, 1), len(rows) - 1)])
    second = np.sort(np.concatenate(held))
    return np.setdiff1d(np.arange(len(y)), second), second


def whole_of(source: Any, n_features: int | None = None) -> RankingData:
    """All queries of a source: of folds, each once, which is all of their test parts."""
    if not is_folds(source):
        data = read_one(source, n_features)[0]
        check_part(data, "given")
        return data
    reading = {} if n_features is None else {"n_features": n_features}
    folds = read_folds(source, **reading)
    if len(folds) > 1:
        return joined([fold.test for fold in folds])
    return joined([folds[0].train, folds[0].vali, folds[0].test])


def joined(parts: Sequence[RankingData]) -> RankingData:
    """The queries of several parts as one."""
    for part in parts:
        check_part(part, "given")
    qids = [qid for part in parts for qid in part.qids.tolist()]
    if len(set(qids)) < len(qids):
        twice = next(qid for qid in qids if qids.count(qid) > 1)
        raise InputError(f"query {twice} is in more than one of the parts; give data in which each is in one")
    qid = np.concatenate([np.repeat(part.qids, part.lengths) for part in parts])
    y = np.concatenate([np.asarray(part.y) for part in parts])
    if not any(part.is_sparse for part in parts):
        return RankingData(np.concatenate([part.X for part in parts]), y, qid)
    from scipy.sparse import csr_array, vstack

    return RankingData(vstack([csr_array(part.X) for part in parts], format="csr"), y, qid)


def rows_of(data: RankingData, rows: NDArray[np.int64], y: Any = None) -> RankingData:
    """Some rows as one query, with their labels or with others."""
    labels = data.y if y is None else y
    own = None if labels is None else np.asarray(labels)[rows]
    return RankingData.from_features(data.features.gather(rows), own, trusted=True)


def relabelled(data: RankingData, y: Any) -> RankingData:
    """The same rows, queries and weights with other labels, in the order of the rows."""
    qid = np.repeat(data.qids, data.lengths)
    weights: dict[str, Any] = {"weights": data.weights, "query_weights": data.query_weights}
    return RankingData.from_features(data.features, np.asarray(y, dtype=float), qid, trusted=True, **weights)


def _name(source: Any) -> str:
    if isinstance(source, RankingData):
        return "given data"
    return Path(source).name if isinstance(source, (str, os.PathLike)) else "given data"

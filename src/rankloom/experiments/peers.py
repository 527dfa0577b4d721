"""Other packages' rankers, as experiments put them beside ours: their own objectives, over a small grid."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.kernels.threads import thread_count

Scores = Callable[[RankingData], NDArray[np.float64]]


class Peer(NamedTuple):
    """The package, what is tried, and how it learns."""

    package: str
    grid: Mapping[str, list[Any]]
    learn: Callable[[RankingData, Mapping[str, Any], int], Scores]


def installed() -> list[str]:
    """The peers whose packages are there."""
    return [name for name, peer in PEERS.items() if importlib.util.find_spec(peer.package)]


def _lightgbm(data: RankingData, settings: Mapping[str, Any], seed: int) -> Scores:
    import lightgbm

    common = {"objective": "lambdarank", "verbosity": -1, "num_threads": thread_count(), "seed": seed}
    rows = lightgbm.Dataset(data.X, label=data.y, group=data.lengths)
    booster = lightgbm.train({**common, **settings}, rows, num_boost_round=100)
    return lambda other: np.asarray(booster.predict(other.X), dtype=np.float64)


def _xgboost(data: RankingData, settings: Mapping[str, Any], seed: int) -> Scores:
    import xgboost

    common = {"objective": "rank:ndcg", "verbosity": 0, "nthread": thread_count(), "seed": seed}
    rows = xgboost.DMatrix(data.X, label=data.y, group=data.lengths)
    booster = xgboost.train({**common, **settings}, rows, num_boost_round=100)
    return lambda other: np.asarray(booster.predict(xgboost.DMatrix(other.X)), dtype=np.float64)


def _catboost(data: RankingData, settings: Mapping[str, Any], seed: int) -> Scores:
    import catboost

    queries = np.repeat(np.arange(data.n_queries), data.lengths)
    rows = catboost.Pool(data.X, label=data.y, group_id=queries)
    common = {"loss_function": "YetiRank", "iterations": 100, "thread_count": thread_count()}
    made = catboost.CatBoost({**common, "logging_level": "Silent", "random_seed": seed, **settings})
    made.set_params(allow_writing_files=False).fit(rows)
    return lambda other: np.asarray(made.predict(other.X), dtype=np.float64)


PEERS = {
    "lightgbm": Peer("lightgbm", {"num_leaves": [7, 15, 31], "learning_rate": [0.05, 0.1]}, _lightgbm),
    "xgboost": Peer("xgboost", {"max_depth": [3, 4, 6], "learning_rate": [0.05, 0.1]}, _xgboost),
    "catboost": Peer("catboost", {"depth": [3, 4, 6], "learning_rate": [0.05, 0.1]}, _catboost),
}

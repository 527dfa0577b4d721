"""Click logs from a user who looks at some ranks more than at others, over a known ranking.

"position"   P(click at rank r on d) = examined(r) * attraction(d),       examined(r) = r^-eta
             (Richardson, Dominowska & Ragno, 2007; the power law: Joachims, Swaminathan & Schnabel, 2017)
"cascade"    the user reads from the top, clicks on d with probability attraction(d), and leaves at the first
             click (Craswell, Zoeter, Taylor & Ramsey, 2008)

attraction(d) = noise + (1 - noise) * (2^y - 1) / (2^max - 1)             (Ai, Bi, Luo, Guo & Croft, 2018)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.generate import check_count, random_numbers
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError

MODELS = ("position", "cascade")
_PURPOSE = 6


@dataclass(frozen=True)
class ClickLog:
    """What was shown and clicked, one entry for each document shown, and the truth behind it.

    Attributes:
        offsets: session s is entries offsets[s] : offsets[s + 1], in the order shown.
        query: the place of the session's query in `data.qids`, one per entry.
        row: the row of `data` shown. rank: where it was shown, from 1. clicked: whether it was clicked on.
        attraction: for each row of `data`, the true probability of a click once it is looked at.
        examined: the true probability that each rank is looked at, from rank 1; None for a cascade, where it
            depends on what is above.
    """

    offsets: NDArray[np.int64]
    query: NDArray[np.int64]
    row: NDArray[np.int64]
    rank: NDArray[np.int64]
    clicked: NDArray[np.bool_]
    attraction: NDArray[np.float64]
    examined: NDArray[np.float64] | None

    @property
    def n_sessions(self) -> int:
        """How many times a ranking was shown."""
        return len(self.offsets) - 1


def make_clicks(
    data: RankingData,
    scores: Any = None,
    *,
    n_sessions: int = 10_000,
    shown: int = 10,
    model: str = "position",
    eta: float = 1.0,
    examined: Any = None,
    noise: float = 0.1,
    attraction: Any = None,
    seed: int = 0,
) -> ClickLog:
    """Let users search and click.

    Args:
        data: queries, rows and labels. Queries are searched as often as their weights say, else equally.
        scores: the ranking that is shown, one number per row in the caller's order, equal ones in the order
            of rows; None shows rows in their own order.
        n_sessions: how many searches.
        shown: how many rows are shown, at most.
        model: "position" or "cascade".
        eta: how steeply attention falls with the rank.
        examined: the probability that each of the ranks shown is looked at, instead of eta.
        noise: how attractive rows with label 0 are.
        attraction: one probability per row in the caller's order, instead of what follows from labels and
            noise.
        seed: the same seed gives the same log.
    """
    if model not in MODELS:
        raise InputError(f"model must be one of {', '.join(MODELS)}, got {model!r}")
    attracts = _attraction(data, noise) if attraction is None else _given_attraction(data, attraction)
    top = _top_rows(data, scores, check_count("shown", shown))
    looks = _examined(examined, eta, shown)[: top.shape[1]]
    rng = random_numbers(seed, _PURPOSE)
    queries = _searches(rng, data, check_count("n_sessions", n_sessions))
    rows = top[queries]
    clicks = _clicks(rng, rows, attracts, looks if model == "position" else None)
    there = rows >= 0
    lengths = there.sum(axis=1)
    ranks = np.broadcast_to(np.arange(1, top.shape[1] + 1), rows.shape)
    return ClickLog(
        np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))),
        np.repeat(queries, lengths),
        rows[there],
        ranks[there],
        clicks[there],
        attracts,
        looks if model == "position" else None,
    )


def _attraction(data: RankingData, noise: float) -> NDArray[np.float64]:
    if not 0.0 <= noise <= 1.0:
        raise InputError(f"noise must be a probability, from 0 to 1, got {noise!r}")
    if data.y is None:
        raise InputError("clicks follow labels and the data has none; pass attraction, or data with labels")
    if data.y.max(initial=0.0) >= 1024.0:
        raise InputError(f"labels must be below 1024 to become clicks, got {data.y.max():g}; pass attraction")
    gains = np.exp2(np.maximum(data.y, 0.0)) - 1.0
    return noise + (1.0 - noise) * gains / (gains.max(initial=0.0) or 1.0)


def _given_attraction(data: RankingData, attraction: Any) -> NDArray[np.float64]:
    chances = np.array(data.in_query_order(attraction), dtype=np.float64)
    _check_probabilities("attraction", chances)
    return chances


def _examined(examined: Any, eta: float, shown: int) -> NDArray[np.float64]:
    if examined is None:
        if not 0.0 <= eta < np.inf:
            raise InputError(f"eta must be a number, 0 or more, got {eta!r}")
        return np.arange(1, shown + 1, dtype=np.float64) ** -eta
    chances = np.array(examined, dtype=np.float64)
    if chances.shape != (shown,):
        raise InputError(
            f"examined must have one probability for each of the {shown} ranks shown, "
            f"got shape {chances.shape}"
        )
    _check_probabilities("examined", chances)
    return chances


def _check_probabilities(name: str, chances: NDArray[np.float64]) -> None:
    bad = ~((chances >= 0.0) & (chances <= 1.0))
    if bad.any():
        place = int(bad.argmax())
        raise InputError(f"{name} must be probabilities, from 0 to 1, got {chances[place]:g} at {place}")


def _top_rows(data: RankingData, scores: Any, shown: int) -> NDArray[np.int64]:
    """The rows shown for each query from rank 1, -1 after the last one."""
    values = np.zeros(data.n_rows) if scores is None else np.asarray(data.in_query_order(scores), np.float64)
    if np.isnan(values).any():
        raise InputError(
            f"scores must be numbers, got nan at row {int(np.isnan(values).argmax())} of the data"
        )
    lengths = data.lengths
    query = np.repeat(np.arange(data.n_queries), lengths)
    ranked = np.lexsort((-values, query))
    rank = np.arange(data.n_rows) - np.repeat(data.offsets[:-1], lengths)
    width = int(min(shown, lengths.max(initial=1)))
    top = np.full((data.n_queries, width), -1, dtype=np.int64)
    kept = rank < width
    top[query[kept], rank[kept]] = ranked[kept]
    return top


def _searches(rng: np.random.Generator, data: RankingData, n_sessions: int) -> NDArray[np.int64]:
    """The query of each session."""
    if data.n_queries == 0:
        raise InputError("the data has no queries, so nobody can search; give at least one row")
    if data.query_weights is None:
        return rng.integers(0, data.n_queries, n_sessions)
    total = float(data.query_weights.sum())
    if total <= 0.0:
        raise InputError("query_weights are all 0, so no query is ever searched; give one of them a weight")
    return rng.choice(data.n_queries, size=n_sessions, p=data.query_weights / total)


def _clicks(
    rng: np.random.Generator,
    rows: NDArray[np.int64],
    attraction: NDArray[np.float64],
    examined: NDArray[np.float64] | None,
) -> NDArray[np.bool_]:
    """Whether each place of each session is clicked on; a cascade where nothing is said about ranks."""
    chances = np.where(rows >= 0, attraction[rows], 0.0)
    if examined is not None:
        clicked: NDArray[np.bool_] = rng.random(rows.shape) < chances * examined
        return clicked
    wanted = rng.random(rows.shape) < chances
    first: NDArray[np.bool_] = wanted & (np.cumsum(wanted, axis=1) == 1)
    return first

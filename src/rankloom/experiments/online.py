"""Learning to rank online (Wang et al. 2015, Section 5: Table 2, Figures 2 and 3).

Each query is ranked before it is learned from, in several random orders; measures are means over all queries
so far (Equation 3), and over the orders. Beside that stands what it costs to stay up to date: CPU time so far
against the queries received, for SOLAR, and for RankSVM trained anew on all queries so far.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.generate import make_letor
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.experiments.findings import Findings, Table, figure
from rankloom.experiments.kept import Kept
from rankloom.experiments.sources import whole_of
from rankloom.measures.evaluate import evaluate
from rankloom.measures.measure import Measure
from rankloom.measures.presets import POINTS
from rankloom.rankers.checks import number, whole
from rankloom.rankers.committee import CommitteePerceptron
from rankloom.rankers.prank import PRank
from rankloom.rankers.ranksvm import RankSVM
from rankloom.rankers.solar import SOLAR

# LETOR's gains and discounts, without its rule that a query with fewer than k documents counts 0.
MEASURES = tuple(f"ndcg@{cut}/letor4:short=truncate" for cut in (1, 5, 10))
CURVE = "map"
QUERIES = 784
LEARNERS = ("PRank, rows", "PRank, pairs", "committee", "SOLAR-I", "SOLAR-II", "SOLAR-II diagonal")
RETRAINED = ("RankSVM", "LinearSVC")
_POINTS = 200
# Table 2 of the paper, by the number of queries and rows: NDCG at 1, 5 and 10.
PUBLISHED: Mapping[tuple[int, int], Mapping[str, Sequence[float]]] = {
    (784, 15_211): {
        "PRank, rows": (0.2369, 0.3352, 0.4036),
        "PRank, pairs": (0.2834, 0.3823, 0.4403),
        "committee": (0.3378, 0.4415, 0.4885),
        "SOLAR-I": (0.3490, 0.4584, 0.5022),
        "SOLAR-II": (0.3594, 0.4680, 0.5107),
    }
}


class How(NamedTuple):
    """Settings of the learners."""

    C: float
    gamma: float
    experts: int
    seed: int


def online(
    source: Any = None,
    *,
    learners: Sequence[str] = LEARNERS,
    measures: Sequence[str] = MEASURES,
    orders: int = 10,
    C: float = 1e-5,
    gamma: float = 1e4,
    experts: int = 20,
    retrained: Sequence[str] = RETRAINED,
    points: int = 20,
    queries: int = QUERIES,
    seed: int = 0,
    n_features: int | None = None,
    record: Any = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Findings:
    """Measures over the stream, and the cost of staying current.

    Args:
        source: a folder of LETOR folds (all their queries), a file, a RankingData, or None: generated lists.
        learners: of PRank, rows; PRank, pairs; committee; SOLAR-I; SOLAR-II; SOLAR-II diagonal; SOLAR-II
            low-rank.
        measures: what to measure; the curve over the queries is of MAP.
        orders: how many random orders.
        C: of SOLAR-I.
        gamma: of SOLAR-II.
        experts: of the committee.
        retrained: RankSVM and LinearSVC (with pairs written out), trained anew on all queries so far.
        points: after how many of the queries these are trained; what lies between is interpolated. 0 is after
            each query, with RankSVM from its last weights beside it.
        queries: how many lists are generated, where there is no source.
        seed: of the orders, of the learners and of generated data.
        n_features: how many columns text has.
        record: a file with every learner and order that is done; with one that is there, it goes on.
        progress: called with how many of these are done, and how many there are.
    """
    how = How(
        number("C", C, 0.0), number("gamma", gamma, 0.0), whole("experts", experts, 1), whole("seed", seed, 0)
    )
    names = _names("learners", learners, (*LEARNERS, "SOLAR-II low-rank"))
    again = _names("retrained", retrained, RETRAINED)
    wanted = _measures(measures)
    data, name = _data(source, whole("queries", queries, 2), how.seed, n_features)
    head = {**how._asdict(), "measures": wanted, "data": data.fingerprint()}
    kept = Kept(record, "online", head)
    stops = _stops(data.n_queries, whole("points", points, 0))
    pieces: list[tuple[dict[str, Any], Callable[[], dict[str, Any]]]] = [
        ({"learner": one, "order": order}, partial(_stream, data, one, order, how, wanted))
        for one in names
        for order in range(whole("orders", orders, 1))
    ]
    n_streams = len(pieces)
    pieces += [
        ({"current": one}, partial(_learning, data, one, how)) for one in names if one.startswith("SOLAR")
    ]
    kinds = [*again, *(["RankSVM, warm"] if again and points == 0 else [])]
    pieces += [({"current": one, "points": points}, partial(_retrained, data, one, stops)) for one in kinds]
    done = []
    for place, (key, make) in enumerate(pieces, 1):
        done.append(kept.made(key, make))
        if progress is not None:
            progress(place, len(pieces))
    facts = _facts(data, name, names, wanted, done[:n_streams])
    facts |= {"settings": {**how._asdict(), "orders": orders}, "current": done[n_streams:], "points": points}
    return Findings("online", facts, table, {"all": data}, note(facts))


def _names(what: str, given: Sequence[str], known: Sequence[str]) -> list[str]:
    for name in given:
        if name not in known:
            raise InputError(f"{what} must be of {'; '.join(known)}, got {name!r:.40}")
    if not len(given) and what == "learners":
        raise InputError(f"{what} must name at least one of {'; '.join(known)}")
    return list(dict.fromkeys(given))


def _measures(given: Sequence[str]) -> list[str]:
    parsed = [Measure.parse(one) for one in given]
    for measure in parsed:
        if measure.name in POINTS:
            raise InputError(f"{measure} has no value for each query; leave it out")
    return list(dict.fromkeys([*(str(measure) for measure in parsed), CURVE]))


def _data(source: Any, queries: int, seed: int, n_features: int | None) -> tuple[RankingData, str]:
    if source is None:
        return make_letor(queries, seed=seed).data, "generated lists"
    data = whole_of(source, n_features)
    if data.n_queries < 2:
        raise InputError(
            f"online learning takes query after query, and the data have {data.n_queries}; give data with "
            "query ids"
        )
    return data, "given data" if isinstance(source, RankingData) else Path(source).name


def _learner(name: str, seed: int, how: How) -> Any:
    if name.startswith("PRank"):
        return PRank(name.removeprefix("PRank, "), seed=seed)
    if name == "committee":
        return CommitteePerceptron(how.experts, seed=seed)
    if name == "SOLAR-I":
        return SOLAR(order=1, C=how.C, seed=seed)
    form = name.removeprefix("SOLAR-II").strip()
    return SOLAR(order=2, gamma=how.gamma, covariance=form or "auto", seed=seed)


def shown(count: int, most: int = _POINTS) -> NDArray[np.int64]:
    """After which queries a curve has points: at most so many of them, the last among them."""
    return np.unique(np.round(np.linspace(1, count, min(count, most))).astype(np.int64))


def _stream(data: RankingData, name: str, order: int, how: How, measures: Sequence[str]) -> dict[str, Any]:
    """One learner over all queries in one order."""
    seed = how.seed + order
    shuffled = data.take(np.random.default_rng(seed).permutation(data.n_queries))
    _learner(name, seed, how).learn_many(shuffled.take(slice(0, 2)))  # compiles
    begin = time.process_time()
    scores = _learner(name, seed, how).learn_many(shuffled)
    seconds = time.process_time() - begin
    found = evaluate(scores, shuffled, measures=list(measures))
    so_far = np.nancumsum(found.per_query(CURVE)) / np.arange(1, data.n_queries + 1)
    return {
        "values": {measure: float(found[measure]) for measure in measures},
        "curve": so_far[shown(data.n_queries) - 1],
        "seconds": seconds,
    }


def _learning(data: RankingData, name: str, how: How) -> dict[str, Any]:
    """CPU seconds so far after each query, learning from each once."""
    queries = [data.take([place]) for place in range(data.n_queries)]
    learner = _learner(name, how.seed, how).begin(data.n_features)
    for one in queries[:2]:
        learner.learn_one_query(one.X, one.y)  # compiles
    learner = _learner(name, how.seed, how).begin(data.n_features)
    spent, begin = [], time.process_time()
    for one in queries:
        learner.learn_one_query(one.X, one.y)
        spent.append(time.process_time() - begin)
    at = shown(data.n_queries)
    return {"queries": at, "seconds": np.array(spent)[at - 1]}


def _stops(count: int, points: int) -> NDArray[np.int64]:
    """After how many queries to train anew."""
    return np.arange(1, count + 1) if points == 0 else shown(count, max(points, 2))


def _retrained(data: RankingData, name: str, stops: NDArray[np.int64]) -> dict[str, Any]:
    """CPU seconds so far of training on all queries so far after each, by what it costs at some of them."""
    train = {"RankSVM": _ranksvm, "LinearSVC": _linear_svc}.get(name) or _warm()
    train(data)  # compiles
    train = train if name != "RankSVM, warm" else _warm()
    costs = []
    for stop in stops:
        begin = time.process_time()
        train(data.take(slice(0, int(stop))))
        costs.append(time.process_time() - begin)
    return {"queries": stops, "costs": costs, "seconds": summed(stops, np.array(costs))}


def summed(stops: NDArray[np.int64], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The costs of all queries up to each stop, those between two stops on a line from one to the other."""
    every = np.interp(np.arange(1, int(stops[-1]) + 1), stops, costs)
    total: NDArray[np.float64] = np.cumsum(every)[stops - 1]
    return total


def _ranksvm(data: RankingData) -> None:
    """From nothing."""
    _fitted(RankSVM(n_jobs=1), data)


def _warm() -> Callable[[RankingData], None]:
    """From the last optimum."""
    ranker = RankSVM(warm_start=True, n_jobs=1)
    return lambda data: _fitted(ranker, data)


def _fitted(ranker: RankSVM, data: RankingData) -> None:
    if _has_pairs(data):
        ranker.fit(data)


def _has_pairs(data: RankingData) -> bool:
    y = np.asarray(data.y)
    starts = data.offsets[:-1]
    return bool((np.maximum.reduceat(y, starts) > np.minimum.reduceat(y, starts)).any())


def _linear_svc(data: RankingData) -> None:
    """All pairs so far, written out, into LIBLINEAR."""
    from sklearn.svm import LinearSVC

    y, X = np.asarray(data.y), data.X if not data.is_sparse else data.X.toarray()
    better, worse = [], []
    for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        above, below = np.nonzero(y[start:stop, None] > y[None, start:stop])
        better.append(above + start)
        worse.append(below + start)
    first, second = np.concatenate(better), np.concatenate(worse)
    if len(first) < 2:
        return
    signs = np.where(np.arange(len(first)) % 2, 1.0, -1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        svc = LinearSVC(C=1e-3, fit_intercept=False, dual=False, tol=1e-3)
        svc.fit((X[first] - X[second]) * signs[:, None], signs)


def _facts(
    data: RankingData,
    name: str,
    names: Sequence[str],
    measures: Sequence[str],
    done: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    rows = []
    for learner in names:
        mine = [entry for entry in done if entry["learner"] == learner]
        values = {measure: [entry["values"][measure] for entry in mine] for measure in measures}
        curves = np.array([entry["curve"] for entry in mine])
        rows.append(
            {
                "learner": learner,
                "means": {measure: np.mean(each) for measure, each in values.items()},
                "deviations": {measure: np.std(each) for measure, each in values.items()},
                "curve": curves.mean(axis=0),
                "low": curves.min(axis=0),
                "high": curves.max(axis=0),
                "seconds": np.mean([entry["seconds"] for entry in mine]),
            }
        )
    published = PUBLISHED.get((data.n_queries, data.n_rows))
    return {
        "source": name,
        "queries": data.n_queries,
        "rows": data.n_rows,
        "measures": list(measures),
        "curve_at": shown(data.n_queries),
        "learners": rows,
        "published": published and {"source": "Wang et al. 2015, Table 2", "figures": published},
    }


def table(facts: Mapping[str, Any]) -> Table:
    """Table 2: a row a learner, with the paper's figures where the data are the paper's."""
    there = facts["published"]
    headers = ["learner", *(["paper @1", "@5", "@10"] if there else []), *facts["measures"], "CPU s"]
    rows = []
    for row in facts["learners"]:
        cells = [row["learner"]]
        if there:
            cells += [figure(value) for value in there["figures"].get(row["learner"], (None, None, None))]
        cells += [figure(row["means"][measure]) for measure in facts["measures"]]
        rows.append([*cells, figure(row["seconds"], 3)])
    return headers, rows


def note(facts: Mapping[str, Any]) -> str:
    """What staying current costs, in words."""
    orders = facts["settings"]["orders"]
    lines = [f"means over {orders} orders of {facts['queries']:,} queries of {facts['source']}"]
    ends = {entry["current"]: entry["seconds"][-1] for entry in facts["current"]}
    base = ends.get("SOLAR-II")
    for name, seconds in ends.items():
        again = "" if name.startswith("SOLAR") else ", trained anew after each"
        times = f", {seconds / base:.1f} times SOLAR-II" if base and name != "SOLAR-II" else ""
        lines.append(f"staying current, {name}{again}: {seconds:.3f} CPU s{times}")
    return "\n".join(lines)

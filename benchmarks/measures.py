"""Measures beside their peers and the floor: `python benchmarks/measures.py [--rows 1000000] [--runs 5]`.

One million rows in 8,000 queries, graded labels, no ties; ten measures at once, which all peers call the
same: nDCG@5, @10, @100 and of the whole list, AP and AP@10, RR, P@5, P@10, R@100 (linear gain). Then pairwise
accuracy and Kendall's tau-b of one list. All times are CPU milliseconds of all threads, the least of some
runs, one thread unless it says otherwise; every peer is warm and gets its data as it likes it best:

    ranx          typed lists of arrays, sorted beforehand; and, once, the dictionaries its manual starts from
    pytrec_eval   an evaluator that knows the qrels, and the run as a dictionary
    ir_measures   an evaluator likewise
    scikit-learn  a matrix of queries by rows, and only the five of the ten that it has (nDCG four times, AP)

The floor is one sum over scores and labels. Values of peers are checked against ours.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.measures.evaluate import evaluate

TEN = ("ndcg@5", "ndcg@10", "ndcg@100", "ndcg", "map", "map@10", "mrr", "p@5", "p@10", "r@100")
OURS = tuple(f"{name}/ranx" for name in TEN)
RANX = (*TEN[:7], "precision@5", "precision@10", "recall@100")
TREC = ("ndcg_cut_5", "ndcg_cut_10", "ndcg_cut_100", "ndcg", "map", "map_cut_10", "recip_rank", "P_5", "P_10")
IR = ("nDCG@5", "nDCG@10", "nDCG@100", "nDCG", "AP", "AP@10", "RR", "P@5", "P@10", "R@100")
USUAL = ("ndcg@1", "ndcg@5", "ndcg@10", "ndcg", "map", "mrr", "err@20", "p@10", "r@10", "pairwise")


class Rows(NamedTuple):
    """Judged rows, all queries of one length."""

    scores: NDArray[np.float64]
    labels: NDArray[np.float64]
    qid: NDArray[np.int64]
    queries: int

    def matrix(self, column: NDArray[Any]) -> NDArray[Any]:
        return column.reshape(self.queries, -1)


class Peer(NamedTuple):
    """A call to time, how often, and the values it should give: a mean for each name of ours."""

    name: str
    call: Callable[[], Any]
    runs: int
    values: Callable[[Any], dict[str, float]]


def make_rows(n_rows: int) -> Rows:
    random = np.random.default_rng(0)
    queries = max(1, n_rows // 125)
    labels = random.choice(5, queries * 125, p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(float)
    scores = random.normal(size=len(labels)) + 0.5 * labels
    return Rows(scores, labels, np.repeat(np.arange(queries), 125), queries)


def milliseconds(call: Callable[[], Any], runs: int) -> tuple[float, float, Any]:
    """The least CPU time, the least wall-clock time, and what the call gave."""
    cpu, wall, result = np.inf, np.inf, None
    for _ in range(runs):
        start_cpu, start_wall = time.process_time(), time.perf_counter()
        result = call()
        wall = min(wall, time.perf_counter() - start_wall)
        cpu = min(cpu, time.process_time() - start_cpu)
    return 1e3 * cpu, 1e3 * wall, result


def dictionaries(rows: Rows) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """qrels and run, the form that most peers start from."""
    qrels, run = {}, {}
    names = [f"d{place:03d}" for place in range(len(rows.qid) // rows.queries)]
    labels, scores = rows.matrix(rows.labels.astype(int)).tolist(), rows.matrix(rows.scores).tolist()
    for query in range(rows.queries):
        qrels[f"q{query:05d}"] = dict(zip(names, labels[query], strict=True))
        run[f"q{query:05d}"] = dict(zip(names, scores[query], strict=True))
    return qrels, run


def ranx_peers(rows: Rows, qrels: Any, run: Any, runs: int) -> Iterator[Peer]:
    import ranx
    from numba.typed import List

    def named(found: dict[str, float]) -> dict[str, float]:
        return {ours: float(found[theirs]) for ours, theirs in zip(OURS, RANX, strict=True)}

    ids = np.arange(len(rows.qid) // rows.queries, dtype=float)
    judged, ranked = List(), List()
    for labels, scores in zip(rows.matrix(rows.labels), rows.matrix(rows.scores), strict=True):
        for column, target in ((labels, judged), (scores, ranked)):
            order = np.argsort(-column, kind="stable")
            target.append(np.column_stack((ids[order], column[order])))

    def ready() -> Any:
        return ranx.evaluate(judged, ranked, list(RANX), threads=1)

    def from_dictionaries() -> Any:
        return ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), list(RANX), threads=1)

    ready()
    small = {query: run[query] for query in list(run)[:20]}
    ranx.evaluate(
        ranx.Qrels({query: qrels[query] for query in small}), ranx.Run(small), list(RANX), threads=1
    )
    yield Peer("ranx, typed lists sorted before", ready, runs, named)
    yield Peer("ranx, from dictionaries", from_dictionaries, 1, named)


def trec_peer(qrels: Any, run: Any, runs: int) -> Iterator[Peer]:
    import pytrec_eval

    asked = {"ndcg_cut.5,10,100", "ndcg", "map", "map_cut.10", "recip_rank", "P.5,10", "recall.100"}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, asked)

    def named(found: dict[str, dict[str, float]]) -> dict[str, float]:
        theirs = (*TREC, "recall_100")
        means = [float(np.mean([values[name] for values in found.values()])) for name in theirs]
        return dict(zip(OURS, means, strict=True))

    yield Peer("pytrec_eval (trec_eval)", lambda: evaluator.evaluate(run), runs, named)


def ir_measures_peer(qrels: Any, run: Any, _runs: int) -> Iterator[Peer]:
    import ir_measures

    measures = [ir_measures.parse_measure(name) for name in IR]
    evaluator = ir_measures.evaluator(measures, qrels)

    def named(found: dict[Any, float]) -> dict[str, float]:
        return {ours: found[measure] for ours, measure in zip(OURS, measures, strict=True)}

    yield Peer("ir_measures", lambda: evaluator.calc_aggregate(run), 1, named)


def scikit_learn_peer(rows: Rows, runs: int) -> Iterator[Peer]:
    from sklearn.metrics import label_ranking_average_precision_score, ndcg_score

    labels, scores = rows.matrix(rows.labels), rows.matrix(rows.scores)
    relevant = (labels >= 1).astype(int)

    def five() -> dict[str, float]:
        found = {}
        for k in (5, 10, 100, None):
            name = "ndcg/ranx" if k is None else f"ndcg@{k}/ranx"
            found[name] = ndcg_score(labels, scores, k=k, ignore_ties=True)
        found["map/ranx"] = label_ranking_average_precision_score(relevant, scores)
        return found

    yield Peer("scikit-learn, 5 of the 10", five, max(1, runs // 2), dict)


def peers(rows: Rows, runs: int) -> Iterator[Peer]:
    """Those that are installed."""
    qrels, run = dictionaries(rows)
    makers: list[Callable[[], Iterator[Peer]]] = [
        lambda: ranx_peers(rows, qrels, run, runs),
        lambda: trec_peer(qrels, run, runs),
        lambda: ir_measures_peer(qrels, run, runs),
        lambda: scikit_learn_peer(rows, runs),
    ]
    for make in makers:
        try:
            yield from make()
        except ImportError as error:
            print(f"{error.name} is not installed")


def ten_measures(rows: Rows, runs: int) -> None:
    """The table of ten measures at once."""

    def ours(names: tuple[str, ...], threads: int) -> Any:
        return evaluate(rows.scores, rows.labels, qid=rows.qid, measures=names, threads=threads)

    print(f"\nTen measures, {len(rows.qid):,} rows in {rows.queries:,} queries")
    print(f"{'':<34}{'CPU ms':>10}{'wall ms':>10}{'times ours':>12}")
    floor, wall, _ = milliseconds(lambda: rows.scores.sum() + rows.labels.sum(), runs)
    print(f"{'floor: one sum over the rows':<34}{floor:>10,.1f}{wall:>10,.1f}")
    ours(OURS, 1)
    base, wall, found = milliseconds(lambda: ours(OURS, 1), 3 * runs)
    print(f"{'rankloom':<34}{base:>10,.1f}{wall:>10,.1f}{1:>12.1f}")
    cpu, wall, _ = milliseconds(lambda: ours(OURS, 2), 3 * runs)
    print(f"{'rankloom, two threads':<34}{cpu:>10,.1f}{wall:>10,.1f}{cpu / base:>12.1f}")
    ours(USUAL, 1)
    cpu, wall, _ = milliseconds(lambda: ours(USUAL, 1), 3 * runs)
    print(f"{'rankloom, ten with ERR and pairs':<34}{cpu:>10,.1f}{wall:>10,.1f}{cpu / base:>12.1f}")
    for peer in peers(rows, runs):
        cpu, wall, given = milliseconds(peer.call, peer.runs)
        wrong = [name for name, value in peer.values(given).items() if abs(value - found[name]) > 1e-6]
        note = f"   differs: {', '.join(wrong)}" if wrong else ""
        print(f"{peer.name:<34}{cpu:>10,.1f}{wall:>10,.1f}{cpu / base:>12.1f}{note}")


def one_list(runs: int) -> None:
    """How pairwise accuracy and tau-b grow with one list, all labels distinct."""
    print("\nOne list, all labels distinct, one thread; growth over n log n from the first line")
    print(f"{'rows':>10}{'pairwise ms':>14}{'growth':>9}{'tau-b ms':>12}{'scipy ms':>12}")
    first = None
    for rows in (10_000, 100_000, 1_000_000):
        random = np.random.default_rng(rows)
        labels = random.normal(size=rows)
        scores = labels + random.normal(size=rows)
        times = []
        for name in ("pairwise", "tau"):
            call = lambda name=name: evaluate(scores, labels, measures=name, threads=1)  # noqa: B023, E731
            call()
            times.append(milliseconds(call, 3 * runs)[0])
        work = rows * np.log2(rows)
        first = first or times[0] / work
        print(f"{rows:>10,}{times[0]:>14.2f}{times[0] / work / first:>9.2f}{times[1]:>12.2f}", end="")
        try:
            from scipy.stats import kendalltau
        except ImportError:
            print()
            continue
        print(f"{milliseconds(lambda: kendalltau(scores, labels), 2)[0]:>12.2f}")  # noqa: B023


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ten_measures(make_rows(options.rows), options.runs)
    one_list(options.runs)


if __name__ == "__main__":
    main()

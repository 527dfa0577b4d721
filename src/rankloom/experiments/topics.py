"""Topics one against all others (Sculley 2010, Section 4.2 and Table 1): values and ranking of rare events.

For each topic, rows that have it are 1 and all others 0, and three models are learned with logistic loss:
regression only (alpha 1), ranking only (alpha 0), and both (CRR, alpha 0.5). lam is chosen on a fifth of the
training rows, by MSE for regression, by AUC loss for ranking, and for CRR by the sum of the two beside the
best of each; then the model is learned from all training rows. Losses are those on the test part.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.features import Features
from rankloom.data.generate_topics import make_rcv1
from rankloom.data.ranking_data import RankingData
from rankloom.data.topics import Topics, read_topics
from rankloom.errors import InputError
from rankloom.experiments.findings import Findings, Table, figure, p_text
from rankloom.experiments.kept import Kept
from rankloom.experiments.sources import TEST_SHARE, cut_rows, rows_of
from rankloom.measures.evaluate import evaluate
from rankloom.measures.significance import wilcoxon_test
from rankloom.rankers.checks import number, one_of, whole
from rankloom.rankers.crr import CRR

SHARES = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)
LAMS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
ROWS = 60_000
METHODS = ("regression", "ranking", "crr")
ALL_METHODS = (*METHODS, "crr-twice", "crr-calibrated")
VALIDATION_SHARE = 0.2
RARE = 0.1
_DECIMALS = 3  # those of the paper's table
# What the paper says of its 40 topics of RCV1.
PUBLISHED = {
    "source": "Sculley 2010, Table 1: 40 topics of RCV1",
    "both": {"reached": 16, "of": 40},
    "rare_mse": {"better": 20, "of": 33, "p": 0.002},
}


class Side(NamedTuple):
    """A part: its rows, and the labels of each topic."""

    features: Features
    labels: Callable[[int], NDArray[np.float64]]

    def data(self, topic: int) -> RankingData:
        """The rows labelled by a topic."""
        return RankingData.from_features(self.features, self.labels(topic), trusted=True)


class Material(NamedTuple):
    """Both parts, and the topics that they have."""

    train: Side
    test: Side
    names: tuple[str, ...]
    name: str


class How(NamedTuple):
    """What is learned, and how."""

    methods: tuple[str, ...]
    alpha: float
    loss: str
    lams: tuple[float, ...]
    steps: int
    seed: int


def topics(
    source: Any = None,
    *,
    test: Any = None,
    names: Any = None,
    topics: Sequence[str] | None = None,
    min_positives: int = 20,
    min_share: float = 0.0,
    methods: Sequence[str] = METHODS,
    alpha: float = 0.5,
    loss: str = "logistic",
    lams: Sequence[float] = LAMS,
    steps: int = 200_000,
    rows: int = ROWS,
    seed: int = 0,
    n_features: int | None = None,
    record: Any = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Findings:
    """Regression, ranking and both, on each topic.

    Args:
        source: a multi-label file, a `Topics`, or None: a generated corpus.
        test: the test part; None is three rows in ten of the source.
        names: what topics are called, as for `read_topics`.
        topics: which topics, by name; None is all with enough positives.
        min_positives: the fewest positive training rows of a topic that is not asked for by name.
        min_share: the least share of positive training rows of such a topic.
        methods: of regression, ranking, crr, crr-twice (with twice the steps), crr-calibrated.
        alpha: of CRR.
        loss: "logistic", "hinge" or "squared".
        lams: what is chosen from.
        steps: how many steps for each model; the paper has a million.
        rows: how many rows are generated, where there is no source.
        seed: of the steps, of generated data and of the cuts.
        n_features: how many columns text has.
        record: a file with every topic that is done; with one that is there, it goes on.
        progress: called with how many topics are done, and how many there are.
    """
    how = _how(methods, alpha, loss, lams, steps, seed)
    if source is None:
        if test is not None or names is not None:
            raise InputError("test and names need a source; give one, or leave them out")
        material = _generated(whole("rows", rows, 10), how.seed)
    else:
        material = _given(source, test, names, n_features, how.seed)
    counts = _counts(material)
    chosen = _chosen(material, topics, counts, whole("min_positives", min_positives, 0), min_share)
    kept = Kept(record, "topics", {**how._asdict(), "data": _marks(material)})
    done = []
    for place, topic in enumerate(chosen, 1):
        key = {"topic": material.names[topic], "positives": counts[:, topic].tolist()}
        done.append(kept.made(key, partial(_losses, material, topic, how)))
        if progress is not None:
            progress(place, len(chosen))
    facts = _facts(material, done, how, len(material.names) - len(chosen))
    sides = {"train": material.train, "test": material.test}
    data = {name: RankingData.from_features(side.features, trusted=True) for name, side in sides.items()}
    return Findings("topics", facts, table, data, note(facts))


def _how(
    methods: Sequence[str], alpha: float, loss: str, lams: Sequence[float], steps: int, seed: int
) -> How:
    for name in methods:
        one_of("methods", name, ALL_METHODS)
    if not len(methods) or not len(lams):
        raise InputError("methods and lams must name at least one each")
    return How(
        tuple(dict.fromkeys(methods)),
        number("alpha", alpha, 0.0, 1.0, open_low=False),
        one_of("loss", loss, ("logistic", "hinge", "squared")),
        tuple(number("lams", lam, 0.0) for lam in lams),
        whole("steps", steps, 1),
        whole("seed", seed, 0),
    )


def _generated(rows: int, seed: int) -> Material:
    made = make_rcv1(rows, shares=SHARES, seed=seed)
    edge = rows - round(TEST_SHARE * rows)

    def labels(start: int, stop: int) -> Callable[[int], NDArray[np.float64]]:
        return lambda topic: np.asarray(made.topic(topic).data.y)[start:stop]

    features = made.data.features
    return Material(
        Side(features.rows(0, edge), labels(0, edge)),
        Side(features.rows(edge, rows), labels(edge, rows)),
        tuple(f"made {share:.2%}" for share in SHARES),
        "generated documents",
    )


def _given(source: Any, test: Any, names: Any, n_features: int | None, seed: int) -> Material:
    train = source if isinstance(source, Topics) else read_topics(source, n_features, names)
    name = Path(source).name if isinstance(source, (str, os.PathLike)) else "given topics"
    if test is None:
        order = np.random.default_rng(seed).permutation(train.data.n_rows)
        edge = train.data.n_rows - max(1, round(TEST_SHARE * train.data.n_rows))
        first, second = np.sort(order[:edge]), np.sort(order[edge:])
        return Material(_side(train, first), _side(train, second), train.names, name)
    if isinstance(test, Topics):
        other = test
    else:
        called = dict(zip(train.numbers, train.names, strict=True))
        other = read_topics(test, n_features, called, index_base=train.index_base)
    width = max(train.data.n_features, other.data.n_features)
    return Material(_wide(train, train.names, width), _wide(other, train.names, width), train.names, name)


def _side(part: Topics, rows: NDArray[np.int64]) -> Side:
    return Side(part.data.features.gather(rows), lambda topic: part.labels(topic)[rows])


def _wide(part: Topics, names: tuple[str, ...], width: int) -> Side:
    """A part with so many columns; topics go by the names of the training part."""

    def labels(topic: int) -> NDArray[np.float64]:
        known = names[topic] in part.names
        return part.labels(names[topic]) if known else np.zeros(part.data.n_rows)

    return Side(part.data.features._replace(n_features=width), labels)


def _counts(material: Material) -> NDArray[np.int64]:
    """How many rows of each topic the training and the test part have."""
    sides = material.train, material.test
    return np.array(
        [[int(side.labels(topic).sum()) for topic in range(len(material.names))] for side in sides]
    )


def _chosen(
    material: Material, wanted: Sequence[str] | None, counts: NDArray[np.int64], fewest: int, share: float
) -> list[int]:
    """Which topics, the rarest first."""
    n_train, n_test = material.train.features.n_rows, material.test.features.n_rows
    if wanted is None:
        least = max(fewest, 2, number("min_share", share, 0.0, 1.0, open_low=False) * n_train)
        fit = (counts[0] >= least) & (counts[0] < n_train - 1) & (counts[1] > 0) & (counts[1] < n_test)
        if not fit.any():
            raise InputError(
                f"no topic has {least:g} positive training rows and any in the test part; the most frequent "
                f"has {counts[0].max(initial=0):,}; lower min_positives and min_share, or give more rows"
            )
        return sorted(np.flatnonzero(fit).tolist(), key=lambda topic: counts[0][topic])
    places = []
    for name in dict.fromkeys(wanted):
        if name not in material.names:
            shown = ", ".join(material.names[:20]) + (", ..." if len(material.names) > 20 else "")
            raise InputError(f"there is no topic {name!r:.40}; topics are {shown}")
        places.append(material.names.index(name))
        _refuse_unfit(name, counts[:, places[-1]].tolist(), (n_train, n_test))
    if not places:
        raise InputError("topics must name at least one, or be left out for all")
    return sorted(places, key=lambda topic: counts[0][topic])


def _refuse_unfit(name: str, positives: list[int], sizes: tuple[int, int]) -> None:
    """A topic asked for, with nothing to learn or nothing to measure."""
    for part, fewest, count, size in zip(("train", "test"), (2, 1), positives, sizes, strict=True):
        if count < fewest:
            raise InputError(
                f"topic {name} has {count} positive rows in the {part} part, and needs {fewest}; leave it out"
            )
        if size - count < fewest:
            raise InputError(f"topic {name} has nearly all rows of the {part} part; leave it out")


def _marks(material: Material) -> dict[str, str]:
    sides = {"train": material.train, "test": material.test}
    return {
        name: RankingData.from_features(side.features, trusted=True).fingerprint()
        for name, side in sides.items()
    }


def _losses(material: Material, topic: int, how: How) -> dict[str, Any]:
    """What each method loses on the test part of a topic."""
    train, test = material.train.data(topic), material.test.data(topic)
    kept, held = cut_rows(train.y, VALIDATION_SHARE, how.seed)
    first, vali = rows_of(train, kept), rows_of(train, held)
    found = {}
    for method in how.methods:
        tried = [_loss(_ranker(method, lam, how).fit(first).model_, vali) for lam in how.lams]
        lam = how.lams[_best(method, np.array(tried))]
        begin = time.thread_time()
        model = _ranker(method, lam, how).fit(train).model_
        seconds = time.thread_time() - begin
        auc, mse = _loss(model, test)
        found[method] = {"auc-loss": auc, "mse": mse, "lam": lam, "seconds": seconds}
    return {"share": float(np.count_nonzero(material.train.labels(topic))) / train.n_rows, "methods": found}


def _ranker(method: str, lam: float, how: How) -> CRR:
    alpha = {"regression": 1.0, "ranking": 0.0}.get(method, how.alpha)
    steps = how.steps * (2 if method == "crr-twice" else 1)
    calibrate = True if method == "crr-calibrated" else None
    return CRR(alpha, how.loss, lam=lam, steps=steps, calibrate=calibrate, seed=how.seed)


def _loss(model: Any, data: RankingData) -> tuple[float, float]:
    """AUC loss and MSE."""
    scores = model.decision_function(data)
    mse = float(np.mean((model.values_of(scores) - data.y) ** 2))
    return float(evaluate(scores, data, measures="auc-loss")["auc-loss"]), mse


def _best(method: str, tried: NDArray[np.float64]) -> int:
    """Which lam, by the losses on the validation rows."""
    auc, mse = tried.T
    if method == "regression":
        return int(mse.argmin())
    if method == "ranking":
        return int(auc.argmin())
    tiny = 1e-9
    return int((auc / max(auc.min(), tiny) + mse / max(mse.min(), tiny)).argmin())


def _facts(material: Material, done: list[dict[str, Any]], how: How, left_out: int) -> dict[str, Any]:
    return {
        "source": material.name,
        "rows": {"train": material.train.features.n_rows, "test": material.test.features.n_rows},
        **how._asdict(),
        "left_out": left_out,
        "topics": done,
        "tests": _tests(done, how.methods),
        "both": _both(done, how.methods),
        "published": PUBLISHED,
    }


def _tests(done: list[dict[str, Any]], methods: Sequence[str]) -> list[dict[str, Any]]:
    """Wilcoxon's tests over the topics, as in the paper; MSE also over the rare ones alone."""
    pairs = [("ranking", "regression", "auc-loss"), ("regression", "ranking", "mse")]
    for name in methods:
        if name.startswith("crr"):
            pairs += [(name, "ranking", "auc-loss"), (name, "regression", "mse")]
    found = []
    for method, against, measure in pairs:
        if not {method, against} <= set(methods):
            continue
        for below in (None, RARE) if (measure == "mse" and method.startswith("crr")) else (None,):
            rows = [row["methods"] for row in done if below is None or row["share"] < below]
            ours, theirs = (np.array([row[one][measure] for row in rows]) for one in (method, against))
            if len(rows):
                found.append(
                    {
                        "method": method,
                        "against": against,
                        "measure": measure,
                        "below": below,
                        "better": int((ours < theirs).sum()),
                        "of": len(rows),
                        "p": wilcoxon_test(ours - theirs),
                        "means": [float(ours.mean()), float(theirs.mean())],
                    }
                )
    return found


def _both(done: list[dict[str, Any]], methods: Sequence[str]) -> dict[str, int]:
    """On how many topics a CRR has the best of both, to the paper's decimals."""
    if not {"regression", "ranking"} <= set(methods):
        return {}
    return {
        name: sum(_reaches(row["methods"], name) for row in done)
        for name in methods
        if name.startswith("crr")
    }


def _reaches(row: Mapping[str, Mapping[str, float]], name: str) -> bool:
    goals = (("auc-loss", "ranking"), ("mse", "regression"))
    return all(
        round(row[name][measure], _DECIMALS) <= round(row[other][measure], _DECIMALS)
        for measure, other in goals
    )


def table(facts: Mapping[str, Any]) -> Table:
    """Table 1 of the paper: a row a topic, the rarest first."""
    headers = ["topic", "positive"]
    for method in facts["methods"]:
        headers += [f"{method} AUC loss", "MSE"]
    rows = []
    for row in facts["topics"]:
        cells = [row["topic"], f"{row['share']:.2%}"]
        for method in facts["methods"]:
            found = row["methods"][method]
            cells += [figure(found["auc-loss"]), figure(found["mse"])]
        rows.append(cells)
    return headers, rows


def note(facts: Mapping[str, Any]) -> str:
    """The tests over topics, in words."""
    lines = []
    for one in facts["tests"]:
        where = "" if one["below"] is None else f" below {one['below']:.0%} positive"
        lines.append(
            f"{one['method']} against {one['against']}, {one['measure']}: better on {one['better']} of "
            f"{one['of']} topics{where}, Wilcoxon p {p_text(one['p'])}"
        )
    for name, count in facts["both"].items():
        lines.append(
            f"{name} has the best of both, to three decimals, on {count} of {len(facts['topics'])} topics"
        )
    if facts["left_out"]:
        lines.append(f"topics left out, for too few positive rows or not asked for: {facts['left_out']}")
    return "\n".join(lines)

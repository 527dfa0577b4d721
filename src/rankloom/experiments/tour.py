"""All families of rankers on one set of data: settings chosen by folds, measured on a test part, compared.

    found = tour(train, test)          train: RankingData to learn from; test: to measure on
    found.systems, found.comparison, found.to_dict()

The baseline is least squares on the labels, what anybody would try first. Where the truth is known, because
the data were made up, it stands beside the rankers: nothing ranks better, but by luck.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.experiments.tune import tune
from rankloom.measures.compare import compare
from rankloom.measures.comparison import Comparison
from rankloom.measures.curves import reliability_curve
from rankloom.measures.evaluate import evaluate
from rankloom.models.base import Model
from rankloom.models.linear import LinearModel
from rankloom.models.scaled import with_scaling, without_scaling
from rankloom.models.scaling import Scaling, learned_scaling
from rankloom.rankers.methods import ranker_class
from rankloom.rankers.solar import SOLAR
from rankloom.rankers.unscaled import is_uneven

Scores = NDArray[np.float64]

MEASURES = ("ndcg@10", "map", "err@10", "pairwise")
BASELINE = "linear"
FOLDS = 3
_STEPS = 60  # points of the curve of learning online
_BINS = 10
_STRONGEST = 15
_COLUMNS_TRIED = 200


class Family(NamedTuple):
    """A method of the tour: what is tried, and what it is in a few words."""

    spaces: Any
    says: str
    package: str | None = None
    """What must be installed beside rankloom."""


FAMILIES = {
    "spd": Family(
        {"loss": ["hinge", "logistic"], "lam": (1e-5, 1e-1)}, "sampled pairs, 100,000 steps (Sculley 2009)"
    ),
    "crr": Family(
        {"alpha": [0.1, 0.5, 0.9], "lam": (1e-5, 1e-1), "loss": ["logistic"]},
        "rows and pairs: its values can be taken as labels (Sculley 2010)",
    ),
    "ranksvm": Family({"C": [2.0**power for power in range(-15, 3)]}, "all pairs, exactly (Lee & Lin 2014)"),
    "lambdarank": Family({"rate": [0.003, 0.01, 0.03]}, "a linear model that follows ndcg (Burges 2010)"),
    "lambdamart": Family(
        {"leaves": [7, 15], "min_data_in_leaf": [20, 100]}, "trees that follow ndcg (Burges 2010)", "lightgbm"
    ),
    "solar": Family({"order": [2], "gamma": (1e0, 1e4)}, "one look at each query, online (Wang et al. 2015)"),
}
REFERENCES = {
    "random": "documents in random order",
    "feature": "the feature that is best on the training queries",
    BASELINE: "all features, weighted by least squares on the training queries",
    "truth": "what the labels were drawn from: nothing ranks better",
}


class System(NamedTuple):
    """One ranking of the test rows, and where it comes from."""

    name: str
    says: str
    scores: Scores
    measures: Mapping[str, float]
    model: Model | None = None
    parameters: Mapping[str, Any] = {}
    seconds: float | None = None
    """Of learning with the settings chosen."""
    choosing: float | None = None
    """Of choosing them."""


@dataclass(frozen=True)
class Tour:
    """What was found: every system in the order of its kind, and the comparison with the baseline."""

    systems: tuple[System, ...]
    comparison: Comparison
    left_out: Mapping[str, str]
    """Families that could not run, and the package each is in want of."""
    calibration: Mapping[str, Any] | None
    online: Mapping[str, Any]
    weights: Mapping[str, Any] | None

    def system(self, name: str) -> System:
        """A system by its name."""
        return next(one for one in self.systems if one.name == name)

    @property
    def rankers(self) -> list[System]:
        """Those that are methods of rankloom, the best first."""
        return sorted(
            (one for one in self.systems if one.name in FAMILIES), key=lambda one: -one.measures[MEASURES[0]]
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can say it."""
        return {
            "measures": list(MEASURES),
            "baseline": BASELINE,
            "systems": [_facts(one) for one in self.systems],
            "comparison": self.comparison.to_dict(),
            "left_out": dict(self.left_out),
            "calibration": self.calibration,
            "online": dict(self.online),
            "weights": self.weights,
        }


def _facts(system: System) -> dict[str, Any]:
    facts = system._asdict()
    kept = ("name", "says", "measures", "parameters", "seconds", "choosing")
    return {name: facts[name] for name in kept}


def tour(
    train: RankingData,
    test: RankingData,
    *,
    truth: Scores | None = None,
    true_weights: Scores | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Tour:
    """Learn with every family that can run here, measure on `test`, compare with least squares.

    Args:
        train: judged rows to choose settings and to learn by.
        test: judged rows that nothing is chosen by.
        truth: of data that were made up, the best score of each test row.
        true_weights: of data with a linear truth, its weights.
        seed: of what draws at random.
        threads: for measuring.
        progress: called with how many families are through, and how many there are.
    """
    _check(train, test)
    names = [name for name, family in FAMILIES.items() if _can_run(family)]
    scaling = _scaling(train)
    scaled = train if scaling is None else scaling.applied(train)
    systems = _references(train, least_squares(scaled, scaling), test, truth, seed, threads)
    for place, name in enumerate(names):
        if progress is not None:
            progress(place, len(names))
        rows = (train, None) if name == "lambdamart" else (scaled, scaling)
        systems.insert(len(systems) - (truth is not None), _learned(name, *rows, test, seed, threads))
    if progress is not None:
        progress(len(names), len(names))
    found = {one.name: one for one in systems}
    compared = {name: found[name].scores for name in (BASELINE, *names)}
    return Tour(
        tuple(systems),
        compare(compared, test, measures=MEASURES[:1], baseline=BASELINE, seed=seed, threads=threads),
        {name: str(family.package) for name, family in FAMILIES.items() if name not in names},
        _calibration(found["crr"], test),
        _online(found["solar"], scaled, seed),
        _weights(found["ranksvm"], scaling, true_weights),
    )


def _check(train: RankingData, test: RankingData) -> None:
    for name, data in (("training", train), ("test", test)):
        if data.y is None:
            raise InputError(
                f"the {name} data have no labels; rankers learn from labels, so give judged data"
            )
    if train.n_features != test.n_features:
        raise InputError(
            f"the training data have {train.n_features} features, the test data {test.n_features}; read both "
            f"with n_features={max(train.n_features, test.n_features)}"
        )
    if train.n_queries < FOLDS:
        raise InputError(
            f"settings are chosen by {FOLDS} folds of queries, and the training data have "
            f"{train.n_queries}; give more queries"
        )


def _can_run(family: Family) -> bool:
    return family.package is None or importlib.util.find_spec(family.package) is not None


def _scaling(train: RankingData) -> Scaling | None:
    """Standard deviations of 1 for learners that mind the size of features, where sizes differ much."""
    if train.is_sparse or not is_uneven(train):
        return None
    return learned_scaling("standard", "all", train)


def _measured(scores: Scores, test: RankingData, threads: int | None) -> dict[str, float]:
    found = evaluate(scores, test, measures=MEASURES, threads=threads)
    return {name: float(found[name]) for name in MEASURES}


def _references(
    train: RankingData,
    fitted: tuple[Model, float],
    test: RankingData,
    truth: Scores | None,
    seed: int,
    threads: int | None,
) -> list[System]:
    """Rankings that need no ranker."""
    model, seconds = fitted
    column = _column(test, best_feature(train))
    rankings = {
        "random": np.random.default_rng(seed).random(test.n_rows),
        "feature": column,
        BASELINE: model.decision_function(test),
    }
    systems = [
        System(name, REFERENCES[name], scores, _measured(scores, test, threads))
        for name, scores in rankings.items()
    ]
    systems[-1] = systems[-1]._replace(model=model, seconds=seconds)
    if truth is not None:
        systems.append(System("truth", REFERENCES["truth"], truth, _measured(truth, test, threads)))
    return systems


def best_feature(train: RankingData) -> int:
    """The column by which the training queries are ranked best, of those that are not 0 most often."""
    filled = np.asarray((train.X != 0).sum(axis=0)).ravel()
    often = np.sort(np.argsort(-filled, kind="stable")[:_COLUMNS_TRIED])

    def quality(column: int) -> float:
        return evaluate(_column(train, column), train, measures=MEASURES[0])[MEASURES[0]]

    return int(max(often, key=quality))


def _column(data: RankingData, column: int) -> Scores:
    """A feature of each row, in the caller's order."""
    values = np.asarray(data.X[:, [column]].sum(axis=1), dtype=np.float64).ravel()
    return data.in_caller_order(values)


def least_squares(train: RankingData, scaling: Scaling | None) -> tuple[Model, float]:
    """The constant, and the weight of each feature, whose sum is nearest to the labels; and the seconds."""
    ridge = ranker_class("pointwise")("ridge", lam=1e-6)
    begin = time.perf_counter()
    model = ridge.fit(train).model_
    seconds = time.perf_counter() - begin
    return (model if scaling is None else with_scaling(model, scaling)), seconds


def _learned(
    name: str,
    train: RankingData,
    scaling: Scaling | None,
    test: RankingData,
    seed: int,
    threads: int | None,
) -> System:
    """Choose a method's settings by folds, learn with them from all training rows, rank the test rows.

    Training rows are scaled already, where there is a scaling; the model takes rows as they are.
    """
    template = ranker_class(name)()
    template.set_params(**({"seed": seed} if "seed" in template.get_params() else {}))
    begin = time.perf_counter()
    family = FAMILIES[name]
    found = tune(template, train, folds=FOLDS, space=family.spaces, seed=seed, refit=False)
    chosen = time.perf_counter()
    ranker = clone(template).set_params(**found.best.parameters).fit(train)
    end = time.perf_counter()
    model = ranker.model_ if scaling is None else with_scaling(ranker.model_, scaling)
    scores = model.decision_function(test)
    return System(
        name,
        family.says,
        scores,
        _measured(scores, test, threads),
        model,
        dict(found.best.parameters),
        end - chosen,
        chosen - begin,
    )


def _calibration(crr: System, test: RankingData) -> dict[str, Any] | None:
    """What CRR expects against what is: labels as parts of the largest."""
    assert crr.model is not None
    y = test.in_caller_order(test.y)
    high = float(y.max())
    if y.min() < 0.0 or high <= 0.0:
        return None
    values = np.clip(np.asarray(crr.model.predict(test)) / high, 0.0, 1.0)
    curve = reliability_curve(values, y / high, bins=_BINS, binning="mass")
    return {**curve.to_dict(), "high": high, "error": curve.error}


def _online(solar: System, train: RankingData, seed: int) -> dict[str, Any]:
    """How well each training query was ranked before it was learned from: means so far."""
    learner = SOLAR(**{**solar.parameters, "seed": seed})
    edges = np.unique(np.linspace(0, train.n_queries, min(_STEPS, train.n_queries) + 1).astype(int))
    values = []
    for first, last in pairwise(edges.tolist()):
        learner.partial_fit(train.take(slice(first, last)))
        values.append(learner.progress_.total["ndcg@10"])
    return {"measure": "ndcg@10", "queries": edges[1:].tolist(), "so_far": values}


def _weights(ranksvm: System, scaling: Scaling | None, truth: Scores | None) -> dict[str, Any] | None:
    """The strongest weights that were learned, of scaled features if they were scaled, beside the true ones;
    both with length 1.
    """
    model = ranksvm.model if scaling is None else without_scaling(ranksvm.model, scaling)
    if not isinstance(model, LinearModel):
        return None
    strongest = model.named_weights(top=_STRONGEST)
    length = float(np.linalg.norm(model.weights)) or 1.0
    found: dict[str, Any] = {
        "names": list(strongest),
        "learned": [weight / length for weight in strongest.values()],
    }
    if truth is not None:
        known = dict(zip(model.named_weights(), truth / np.linalg.norm(truth), strict=True))
        found["true"] = [float(known[name]) for name in strongest]
    return found


def told(found: Tour, sizes: Sequence[int]) -> list[str]:
    """What came out, in sentences: `sizes` are the queries to learn from and to test on."""
    name = MEASURES[0]
    best, base = found.rankers[0], found.system(BASELINE)
    won = {row.b for row in found.comparison if found.comparison.significant(row) and row.gain > 0}
    better = [one.name for one in found.rankers if one.name in won]
    lines = [
        f"Settings were chosen by {FOLDS} folds of the {sizes[0]:,} training queries; the {sizes[1]:,} test "
        "queries were looked at once.",
        f"Best by {name} is {best.name} with {best.measures[name]:.4f}; least squares reaches "
        f"{base.measures[name]:.4f}, a single feature {found.system('feature').measures[name]:.4f}.",
        f"Better than least squares beyond chance (randomisation test, Holm): {', '.join(better) or 'none'}.",
    ]
    if any(one.name == "truth" for one in found.systems):
        part = best.measures[name] / found.system("truth").measures[name]
        lines.append(
            f"The truth behind the labels is linear and reaches {found.system('truth').measures[name]:.4f}; "
            f"{best.name} has {part:.1%} of it. Linear rankers are at home here, trees on curved truths."
        )
    quick = min(found.rankers, key=lambda one: one.seconds or 0.0)
    slow = max(found.rankers, key=lambda one: one.seconds or 0.0)
    lines.append(
        f"Learning once took {quick.seconds:.2f} s ({quick.name}) to {slow.seconds:.2f} s ({slow.name}). "
        "A step of spd costs the same whatever the size of the data."
    )
    if found.calibration is not None:
        lines.append(
            f"crr's values can be taken as they are: on average {found.calibration['error']:.3f} of the "
            "label range from what is observed."
        )
    lines.append(
        f"solar ranked each training query before it learned from it, beginning with nothing: {name} "
        f"{found.online['so_far'][-1]:.4f} on average."
    )
    for left, package in found.left_out.items():
        lines.append(f"{left} was left out, for want of {package}: pip install {package}.")
    return lines

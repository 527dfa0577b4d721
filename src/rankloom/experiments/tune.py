"""Choose a ranker's settings by validation data or by folds: every trial on record, over several processes.

found = tune("spd", train, valid)                       a grid that suits the method
found = tune(SPD(steps=10**6), train, folds=5, space={"lam": (1e-6, 1e-1)}, search="random", trials=20)
found.best.parameters, found.best_model, print(found)
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.base import clone

from rankloom.data.files import scratch_folder
from rankloom.data.ranking_data import RankingData
from rankloom.data.store import load_store
from rankloom.errors import InputError
from rankloom.experiments.crew import Crew, Growing, Solo, Work, Workers
from rankloom.experiments.grids import default_of
from rankloom.experiments.material import source_of
from rankloom.experiments.record import Identity, Record
from rankloom.experiments.search import Guided, Listed, Search
from rankloom.experiments.searching import Run
from rankloom.experiments.space import Space, checked_spaces, grid, random_settings, without
from rankloom.experiments.trial import fit, sign_of
from rankloom.experiments.tuning import Tuning
from rankloom.kernels.threads import thread_count
from rankloom.measures.measure import Measure
from rankloom.rankers.base import Ranker
from rankloom.rankers.checks import one_of, whole
from rankloom.rankers.methods import METHODS, ranker_class

SEARCHES = ("grid", "random", "optuna")
TRIALS = 30


def tune(
    ranker: Any,
    train: Any,
    valid: Any = None,
    *,
    folds: int | None = None,
    space: Any = None,
    search: str = "grid",
    trials: int | None = None,
    measure: Any = "ndcg@10",
    workers: int | None = None,
    seed: int = 0,
    record: str | os.PathLike[str] | None = None,
    refit: bool = True,
    progress: Callable[[int, int | None], None] | None = None,
) -> Tuning:
    """Try settings of a ranker, and learn with the best.

    Args:
        ranker: a ranker, whose other parameters stay as they are, or the name of a method.
        train: what to learn from: a RankingData, or the folder of a store.
        valid: what to measure on: the same. A ranker that stops by validation data is given them too.
        folds: in place of `valid`: so many folds of the training queries; the mean over folds counts.
        space: for each parameter a list of values or a range (low, high) or (low, high, points of a grid);
            several such dicts in a list, for parameters that do not go together. None is the method's own.
        search: "grid" (all combinations), "random", or "optuna" (guided by the trials so far).
        trials: of a random or guided search; None is 30.
        measure: what to choose by.
        workers: processes with one thread each that try settings side by side; 1 is this process alone. None
            begins in this process, and takes as many workers as threads are ours once trials turn out to take
            long. What is found does not depend on it.
        seed: of the folds, the search, and of a ranker that is named.
        record: a file that has every trial; with one that is there already the search goes on.
        refit: learn with the best settings from all training data.
        progress: called with how many trials are done (folds of several add up), and how many there are.
    """
    chosen, method = _template(ranker, seed)
    parsed = Measure.parse(measure)
    spaces = _spaces(space, chosen, method, ranker)
    finder = _search(spaces, search, trials, whole("seed", seed, 0), sign_of(parsed))
    stores = tuple(None if isinstance(data, RankingData) else data for data in (train, valid))
    rows, held = (_opened(data, name) for data, name in ((train, "train"), (valid, "valid")))
    _check_data(rows, held, folds)
    identity = Identity(
        method, str(parsed), rows.fingerprint(), None if held is None else held.fingerprint(), folds, seed
    )
    count = thread_count() if workers is None else whole("workers", workers, 1)
    work = Work(chosen, parsed)
    with ExitStack() as stack:
        source = source_of(rows, held, stores, folds, seed, partial(_scratch, stack, record))
        source.let_go()

        def hire() -> Crew:
            source.let_go()  # from here on the workers' part
            crew = Workers(work, source.place(), min(count, finder.total))
            stack.callback(crew.close)
            return crew

        def crew() -> Crew:
            if count > 1 and workers is not None:
                return hire()
            solo = Solo(work, source.here())
            stack.callback(solo.close)
            return solo if count == 1 else Growing(solo, hire)

        path = _path_of(chosen, method)
        found = Run(work, finder, Record(record, identity), source.n_folds, crew, path, progress).finished()
    result = Tuning(method, str(parsed), found, sign_of(parsed))
    result.data = _facts({"train": rows, "valid": held}, identity)
    if refit:
        best = clone(chosen).set_params(**result.best.parameters)
        fit(best, rows, held)
        result.keep(best)
    return result


def _facts(parts: Mapping[str, Any], identity: Identity) -> dict[str, dict[str, Any]]:
    """What the data are known by."""
    prints = {"train": identity.train, "valid": identity.valid}
    return {
        name: {"rows": data.n_rows, "queries": data.n_queries, "features": data.n_features,
               "fingerprint": prints[name]}
        for name, data in parts.items()
        if data is not None
    }  # fmt: skip


def _template(ranker: Any, seed: int) -> tuple[Any, str]:
    """A ranker to try settings on, and what its kind is called."""
    if isinstance(ranker, Ranker):
        return ranker, ranker.method_name()
    if not isinstance(ranker, str) or ranker not in METHODS:
        raise InputError(f"ranker must be a ranker or one of {', '.join(METHODS)}, got {ranker!r:.60}")
    made = ranker_class(ranker)()
    return (made.set_params(seed=seed) if "seed" in made.get_params() else made), ranker


def _spaces(space: Any, chosen: Any, method: str, given: Any) -> list[Space]:
    """What to search; by default what the method's line says, but for what the ranker given has set."""
    if space is not None:
        return checked_spaces(space, chosen)
    if isinstance(given, str):
        return default_spaces(chosen, method, {})
    plain = type(chosen)().get_params()
    mine = {name: value for name, value in chosen.get_params().items() if not _same(value, plain.get(name))}
    return default_spaces(chosen, method, mine)


def default_spaces(ranker: Any, method: str, fixed: Mapping[str, Any]) -> list[Space]:
    """What a method's line says is to be searched, but for what is fixed."""
    default = default_of(method)
    narrow = any(name in fixed for name in default.first_only)
    spaces = default.spaces[:1] if narrow else default.spaces
    left = without(checked_spaces(spaces, ranker), fixed)
    if not left:
        raise InputError(
            f"nothing is left to search: the grid of {method} has nothing beside what is set; name what to "
            "try: a space"
        )
    return left


def _same(value: Any, default: Any) -> bool:
    try:
        return bool(value == default)
    except ValueError:
        return False


def _search(spaces: Sequence[Space], kind: str, trials: int | None, seed: int, sign: float) -> Search:
    if one_of("search", kind, SEARCHES) == "grid":
        if trials is not None:
            raise InputError(
                "a grid has as many trials as it has points; leave trials out, or search at random"
            )
        return Listed(grid(spaces))
    number = TRIALS if trials is None else whole("trials", trials, 1)
    return (
        Listed(random_settings(spaces, number, seed))
        if kind == "random"
        else Guided(spaces, number, seed, sign)
    )


def _opened(data: Any, name: str) -> Any:
    if data is None or isinstance(data, RankingData):
        return data
    if isinstance(data, (str, os.PathLike)):
        return load_store(data)
    raise InputError(f"{name} must be a RankingData or the folder of a store, got {type(data).__name__}")


def _check_data(train: Any, valid: Any, folds: int | None) -> None:
    if train is None or (valid is None) == (folds is None):
        raise InputError("give training data, and either validation data or folds=5, one of them")
    for data, name in ((train, "training"), (valid, "validation")):
        if data is not None and data.y is None:
            raise InputError(f"the {name} data have no labels")
    if valid is not None and valid.n_features != train.n_features:
        raise InputError(
            f"the training data have {train.n_features} features, the validation data {valid.n_features}; "
            f"read text with n_features={max(train.n_features, valid.n_features)}"
        )


def _path_of(ranker: Any, method: str) -> str | None:
    """The parameter along which this ranker trains faster."""
    try:
        path = default_of(method).path
    except InputError:
        return None
    return path if hasattr(ranker, "path") else None


def _scratch(stack: ExitStack, record: Any) -> Path:
    """A folder for stores, which is gone when the stack is left."""
    where = tempfile.gettempdir() if record is None else Path(os.path.realpath(record)).parent
    return stack.enter_context(scratch_folder(where))

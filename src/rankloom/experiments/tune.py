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
from rankloom.data.store import let_go, load_store
from rankloom.errors import InputError
from rankloom.experiments.crew import Crew, Growing, Solo, Work, Workers
from rankloom.experiments.grids import default_of
from rankloom.experiments.material import Place, in_memory, laid_out
from rankloom.experiments.record import Identity, Record, Trial, key_of
from rankloom.experiments.search import Guided, Listed, Proposal, Search
from rankloom.experiments.space import Space, checked_spaces, grid, random_settings, without
from rankloom.experiments.trial import Job, Outcome, fit, sign_of
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
        progress: called with how many trials are done, and how many there are.
    """
    chosen, method = _template(ranker, seed)
    parsed = Measure.parse(measure)
    spaces = _spaces(space, chosen, method, ranker)
    finder = _search(spaces, search, trials, whole("seed", seed, 0), sign_of(parsed))
    stores = tuple(None if isinstance(data, RankingData) else data for data in (train, valid))
    rows, held = (_opened(data, name) for data, name in ((train, "train"), (valid, "valid")))
    _check_data(rows, held, folds)
    material = in_memory(rows, held, folds, seed)
    identity = Identity(
        method, str(parsed), rows.fingerprint(), None if held is None else held.fingerprint(), folds, seed
    )
    count = thread_count() if workers is None else whole("workers", workers, 1)
    run = _Run(Work(chosen, parsed), finder, Record(record, identity), progress)
    run.path = _path_of(chosen, method)
    with ExitStack() as stack:

        def hire() -> Crew:
            crew = _workers(stack, run.work, laid, min(count, finder.total), record)
            for data, store in zip((rows, held), stores, strict=True):
                if store is not None:
                    let_go(data)  # from here on the workers' part
            return crew

        solo = Solo(run.work, material)
        laid = partial(laid_out, material, stores=stores)
        run.hire = lambda: solo if count == 1 else Growing(solo, hire) if workers is None else hire()
        found = run.finished()
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
    left = without(checked_spaces(default_of(method).spaces, ranker), fixed)
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


def _workers(stack: ExitStack, work: Work, laid: Callable[[Path], Place], count: int, record: Any) -> Crew:
    """Processes over a store of the data; both are gone when the stack is left."""
    where = tempfile.gettempdir() if record is None else Path(os.path.realpath(record)).parent
    folder = stack.enter_context(scratch_folder(where))
    crew = Workers(work, laid(folder), count)
    stack.callback(crew.close)
    return crew


class _Run:
    """The trials of a search, as they go."""

    path: str | None = None
    hire: Callable[[], Crew]

    def __init__(
        self, work: Work, search: Search, record: Record, progress: Callable[[int, int | None], None] | None
    ) -> None:
        self.work, self._search, self._record, self._progress = work, search, record, progress
        self._proposals: list[Proposal] = []
        self._keys: list[str] = []
        self._known: dict[str, Outcome] = {}
        self._asked: set[str] = set()
        self._crew: Crew | None = None

    def finished(self) -> list[Trial]:
        """All trials, each once."""
        told = 0
        self._open()
        while told < self._search.total:
            if self._keys[told] in self._known:
                self._search.tell(self._known[self._keys[told]])
                told += 1
                self._open()
                continue
            self._wait()
        if self._asked:
            self._record.write()
        return self._trials()

    def _open(self) -> None:
        """Have new proposals tried that are not known."""
        groups: dict[str, list[tuple[str, Proposal]]] = {}
        for proposal in self._search.opened():
            key = key_of(self.work.ranker, proposal.settings)
            self._proposals.append(proposal)
            self._keys.append(key)
            if key in self._known or key in self._asked:
                continue
            self._record.place(key, proposal.number)
            known = self._record.find(key, self._search.watched)
            if known is not None:
                self._known[key] = known
            else:
                self._asked.add(key)
                groups.setdefault(self._group(key, proposal), []).append((key, proposal))
        for group in groups.values():
            self._submit(group)

    def _group(self, key: str, proposal: Proposal) -> str:
        """Trials that differ in the path's parameter only are one job."""
        if self.path is None or self.path not in proposal.settings or self._search.watched:
            return key
        return key_of(self.work.ranker, {**proposal.settings, self.path: None})

    def _submit(self, group: list[tuple[str, Proposal]]) -> None:
        if self._crew is None:
            self._crew = self.hire()
        settings = [proposal.settings for _, proposal in group]
        along = self.path if len(group) > 1 else None
        job = Job(settings, along, group[0][1].floors, self._search.watched)
        self._crew.submit(tuple((key, proposal.number) for key, proposal in group), job)

    def _wait(self) -> None:
        """Take what is done next, and write it down."""
        assert self._crew is not None
        name, outcomes = self._crew.next()
        found = [
            (key, self._proposals[number].settings, outcome)
            for (key, number), outcome in zip(name, outcomes, strict=True)
        ]
        self._known |= {key: outcome for key, _, outcome in found}
        self._record.add(found)
        if self._progress is not None:
            self._progress(len(self._known), self._search.total)

    def _trials(self) -> list[Trial]:
        first: dict[str, Proposal] = {}
        for key, proposal in zip(self._keys, self._proposals, strict=True):
            first.setdefault(key, proposal)
        return [_trial(proposal, self._known[key]) for key, proposal in first.items()]


def _trial(proposal: Proposal, outcome: Outcome) -> Trial:
    return Trial(proposal.number, dict(proposal.settings), *outcome)

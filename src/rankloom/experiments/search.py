"""Which settings to try next: all of a list, or where earlier trials point to.

A guided search may look at the trials up to LAG before the one that it proposes, and at no other, in the
order of their numbers: what it proposes does not depend on how many workers there are, nor on who was first.
"""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from rankloom.errors import MissingPackageError
from rankloom.experiments.space import Settings, Space
from rankloom.experiments.trial import COMPLETE, Outcome, steps_of

LAG = 8
_FEW = 5  # whole trials, before any is given up


class Proposal(NamedTuple):
    """A trial to be made."""

    number: int
    settings: Settings
    floors: Mapping[int, float]


class Search(Protocol):
    """Proposes trials, is told of their outcomes in the order of their numbers."""

    total: int
    watched: bool

    def opened(self) -> list[Proposal]:
        """New proposals, if there are any before it is told more."""

    def tell(self, outcome: Outcome) -> None:
        """What came of the next trial."""


class Listed:
    """Trials that are known from the start: a grid, or random ones."""

    watched = False

    def __init__(self, settings: Sequence[Settings]) -> None:
        self.total = len(settings)
        self._new = [Proposal(number, each, {}) for number, each in enumerate(settings)]

    def opened(self) -> list[Proposal]:
        """All, the first time."""
        new, self._new = self._new, []
        return new

    def tell(self, outcome: Outcome) -> None:
        """Nothing to learn."""


class Guided:
    """Optuna's tree-structured Parzen estimator; trials worse than the median half-way are given up."""

    watched = True

    def __init__(self, spaces: Sequence[Space], trials: int, seed: int, sign: float) -> None:
        self.total, self._spaces, self._sign = trials, spaces, sign
        self._study, self._asked, self._told = _study(seed), [], []  # type: tuple[Any, list[Any], list[Outcome]]

    def opened(self) -> list[Proposal]:
        """As many as may be under way."""
        new = []
        while len(self._asked) < min(self.total, len(self._told) + LAG):
            trial = self._study.ask()
            settings = _suggested(trial, self._spaces)
            new.append(Proposal(len(self._asked), settings, self._floors()))
            self._asked.append(trial)
        return new

    def tell(self, outcome: Outcome) -> None:
        """A trial given up counts with the best that it had reached, one that failed not at all."""
        trial = self._asked[len(self._told)]
        self._told.append(outcome)
        value = self._worth(outcome)
        if value is None:
            self._study.tell(trial, state=_failed())
        else:
            self._study.tell(trial, value)

    def _worth(self, outcome: Outcome) -> float | None:
        if outcome.value is None:
            return None
        if outcome.state == COMPLETE:
            return self._sign * outcome.value
        return max(self._sign * value for _, value in outcome.curve)

    def _floors(self) -> dict[int, float]:
        """The median, at each step, of what whole trials told so far had there."""
        return {
            step: statistics.median(self._sign * value for value in values)
            for step, values in steps_of(self._told)
            if len(values) >= _FEW
        }


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise MissingPackageError(
            'search="optuna" needs optuna, which is not installed; install it with: '
            'pip install "rankloom[optuna]"'
        ) from error
    return optuna


def _study(seed: int) -> Any:
    optuna = _optuna()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
    return optuna.create_study(direction="maximize", sampler=sampler)


def _failed() -> Any:
    return _optuna().trial.TrialState.FAIL


def _suggested(trial: Any, spaces: Sequence[Space]) -> Settings:
    """A point of one of the spaces; parameters of different spaces are different to the search."""
    place = trial.suggest_categorical("space", list(range(len(spaces)))) if len(spaces) > 1 else 0
    found = {}
    for name, values in spaces[place].items():
        label = f"{place}.{name}"
        if isinstance(values, list):
            found[name] = values[trial.suggest_categorical(label, list(range(len(values))))]
        elif values.whole:
            found[name] = trial.suggest_int(label, values.low, values.high, log=values.by_ratio)
        else:
            found[name] = trial.suggest_float(label, values.low, values.high, log=values.by_ratio)
    return found

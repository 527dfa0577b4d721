"""What a search found: a table of its trials, the best of them, and the model learned with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rankloom.errors import InputError
from rankloom.experiments.features import features_of
from rankloom.experiments.record import Trial
from rankloom.experiments.trial import COMPLETE, PRUNED
from rankloom.models.base import Model

_SHOWN = 20
_NO_MODEL = "there is no model, since refit=False; fit a ranker with best.parameters"


class Tuning(Sequence[Trial]):
    """Trials, the best first; then those given up, then those that failed.

    Attributes:
        method: what the ranker is called.
        measure: what was measured.
        best: the best trial; of equals, the one that was proposed first.
        data: how large the data were, and what they are known by.
    """

    run_kind = "tune"

    def __init__(self, method: str, measure: str, trials: Sequence[Trial], sign: float) -> None:
        self.method, self.measure = method, measure
        self._trials = sorted(trials, key=lambda trial: _place(trial, sign))
        self._lower_is_better = sign < 0
        self.data: dict[str, dict[str, Any]] = {}
        self._ranker: Any = None
        self._model: Any = None
        if not self._trials or self._trials[0].state != COMPLETE:
            why = next((trial.error for trial in self._trials if trial.error), "there were none")
            raise InputError(f"no trial of {len(self._trials):,} came to an end; the first said: {why}")

    def keep(self, ranker: Any) -> None:
        """Hold the ranker that learned with the best settings."""
        about = {"measure": self.measure, "value": self.best.value, "trials": len(self)}
        self._ranker, self._model = ranker, ranker.model_.with_about(tuning=about)

    def __len__(self) -> int:
        return len(self._trials)

    def __getitem__(self, place: Any) -> Any:
        return self._trials[place]

    def __iter__(self) -> Iterator[Trial]:
        return iter(self._trials)

    @property
    def best(self) -> Trial:
        """The best trial."""
        return self._trials[0]

    @property
    def best_ranker(self) -> Any:
        """The ranker, fitted with the best settings."""
        if self._ranker is None:
            raise InputError(_NO_MODEL)
        return self._ranker

    @property
    def best_model(self) -> Model:
        """What it learned, with the value by which it was chosen."""
        if self._model is None:
            raise InputError(_NO_MODEL)
        model: Model = self._model
        return model

    @property
    def parameters(self) -> list[str]:
        """The names of what was searched."""
        return list(dict.fromkeys(name for trial in self for name in trial.parameters))

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can say it."""
        trials = [
            {**trial._asdict(), "parameters": dict(trial.parameters), "folds": list(trial.folds),
             "curve": [list(point) for point in trial.curve]}
            for trial in self
        ]  # fmt: skip
        return {"method": self.method, "measure": self.measure, "best": trials[0], "trials": trials}

    def for_run(self) -> dict[str, Any]:
        """All of it, and what the best model goes by: what a report is made from."""
        return {
            **self.to_dict(),
            "lower_is_better": self._lower_is_better,
            "features": None if self._model is None else features_of(self._model),
        }

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Headers and rows, the best first."""
        names = self.parameters
        rows = [
            [*(brief(trial.parameters[name]) if name in trial.parameters else "" for name in names),
             _value(trial), f"{trial.seconds:.2f}"]
            for trial in self
        ]  # fmt: skip
        return [*names, self.measure, "seconds"], rows

    def __str__(self) -> str:
        headers, rows = self.table()
        shown = [headers, *rows[:_SHOWN]]
        widths = [max(len(str(row[column])) for row in shown) for column in range(len(headers))]
        lines = [
            "  ".join(str(cell).ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in shown
        ]
        more = [f"... and {len(rows) - _SHOWN:,} more"] if len(rows) > _SHOWN else []
        return "\n".join([*lines, *more])

    def __repr__(self) -> str:
        return (
            f"Tuning({self.method}, {len(self)} trials, best {self.measure} {self.best.value:.4f} with "
            f"{', '.join(f'{name}={brief(value)}' for name, value in self.best.parameters.items())})"
        )


def _place(trial: Trial, sign: float) -> tuple[int, float, int]:
    if trial.value is None or trial.state not in (COMPLETE, PRUNED):
        return 2, 0.0, trial.number
    return int(trial.state == PRUNED), -sign * trial.value, trial.number


def _value(trial: Trial) -> str:
    if trial.value is None:
        return trial.state
    return f"{trial.value:.4f}" + (" (given up)" if trial.state == PRUNED else "")


def brief(value: Any) -> str:
    """A setting in few digits."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)

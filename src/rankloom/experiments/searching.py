"""A search as it goes: proposals become jobs, fold after fold, and what comes of them goes on record."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rankloom.experiments.crew import Crew, Work
from rankloom.experiments.record import Record, Trial, key_of
from rankloom.experiments.search import Proposal, Search
from rankloom.experiments.trial import BEGUN, FAILED, Job, Outcome, gathered

Progress = Callable[[int, "int | None"], None]


class Asked(NamedTuple):
    """A trial that is under way."""

    key: str
    proposal: Proposal
    sofar: Outcome


class Run:
    """The trials of a search, each once."""

    def __init__(
        self,
        work: Work,
        search: Search,
        record: Record,
        n_folds: int,
        hire: Callable[[], Crew],
        path: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._work, self._search, self._record, self._n_folds = work, search, record, n_folds
        self._hire, self._path, self._progress = hire, path, progress
        self._proposals: list[Proposal] = []
        self._keys: list[str] = []
        self._known: dict[str, Outcome] = {}
        self._asked: dict[str, Asked] = {}
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
        if self._crew is not None:
            self._record.write()
        return self._trials()

    def _open(self) -> None:
        """Have new proposals tried that are not known."""
        groups: dict[tuple[str, int], list[Asked]] = {}
        for proposal in self._search.opened():
            key = key_of(self._work.ranker, proposal.settings)
            self._proposals.append(proposal)
            self._keys.append(key)
            if key in self._known or key in self._asked:
                continue
            self._record.place(key, proposal.number)
            outcome = self._record.find(key, self._search.watched) or self._begun(key, proposal)
            if outcome.state != BEGUN:
                self._known[key] = outcome
                continue
            asked = self._asked[key] = Asked(key, proposal, outcome)
            groups.setdefault((self._group(asked), len(outcome.folds)), []).append(asked)
        for group in groups.values():
            self._submit(group)

    def _begun(self, key: str, proposal: Proposal) -> Outcome:
        """A trial as far as it is on record."""
        folds, seconds = self._record.begun(key)
        return self._gathered(proposal, folds, seconds)

    def _gathered(self, proposal: Proposal, folds: tuple[float, ...], seconds: float) -> Outcome:
        job = Job([], None, proposal.floors, self._search.watched)
        return gathered(folds, self._n_folds, job, self._work.measure, seconds)

    def _group(self, asked: Asked) -> str:
        """Trials that differ in the path's parameter only are one job."""
        settings = asked.proposal.settings
        if self._path is None or self._path not in settings or self._search.watched:
            return asked.key
        return key_of(self._work.ranker, {**settings, self._path: None})

    def _submit(self, group: list[Asked]) -> None:
        """Have trials that are one job tried on their next fold."""
        if self._crew is None:
            self._crew = self._hire()
        _, first, sofar = group[0]
        settings = [asked.proposal.settings for asked in group]
        along = self._path if len(group) > 1 else None
        job = Job(settings, along, first.floors, self._search.watched, len(sofar.folds))
        self._crew.submit(tuple(asked.key for asked in group), job)

    def _wait(self) -> None:
        """Take what is done next, write it down, and go on with what has folds left."""
        assert self._crew is not None
        keys, outcomes = self._crew.next()
        found, more = [], []
        for key, part in zip(keys, outcomes, strict=True):
            asked = self._asked[key]
            outcome = self._with(asked, part)
            found.append((key, asked.proposal.settings, outcome))
            if outcome.state == BEGUN:
                self._asked[key] = asked._replace(sofar=outcome)
                more.append(self._asked[key])
            else:
                self._known[key] = outcome
                del self._asked[key]
        self._record.add(found)
        if more:
            self._submit(more)
        self._tell()

    def _with(self, asked: Asked, part: Outcome) -> Outcome:
        """A trial with one fold more."""
        seconds = round(asked.sofar.seconds + part.seconds, 4)
        if self._n_folds == 1 or part.state == FAILED or part.value is None:
            return part._replace(seconds=seconds)
        return self._gathered(asked.proposal, (*asked.sofar.folds, part.value), seconds)

    def _tell(self) -> None:
        """How many trials are done; folds of several are as many trials as they add up to."""
        if self._progress is not None:
            folds = sum(len(asked.sofar.folds) for asked in self._asked.values())
            self._progress(len(self._known) + folds // self._n_folds, self._search.total)

    def _trials(self) -> list[Trial]:
        first: dict[str, Proposal] = {}
        for key, proposal in zip(self._keys, self._proposals, strict=True):
            first.setdefault(key, proposal)
        return [_trial(proposal, self._known[key]) for key, proposal in first.items()]


def _trial(proposal: Proposal, outcome: Outcome) -> Trial:
    return Trial(proposal.number, dict(proposal.settings), *outcome)

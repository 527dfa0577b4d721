"""A learner in a folder: what it was told is on the disk before it learns, and survives whatever happens.

    lock                     held by the one process that may write
    journal-BASE.log         every feedback since number BASE, in order
    snapshot-NUMBER.state    where the learner stood after feedback NUMBER; the last two, and the first

Learning is a function of the bits it starts from and of the feedback that comes, in order. So the state after
a crash is a snapshot and the feedback since, learned again: the bits of a run without a crash. An id is
learned once, whoever sends it how often.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError, ModelError, RankloomWarning, StoreError
from rankloom.models.files import read_model
from rankloom.online import journal
from rankloom.online.entries import Entry, decoded, encoded
from rankloom.online.lock import Lock
from rankloom.rankers.online import Online
from rankloom.rankers.progress import Progress
from rankloom.rankers.states import content_of, learner_of, write_state

SNAPSHOT_EVERY = 1_000
_KEPT = 2


class Told(NamedTuple):
    """One feedback to learn from. `docs` are names of the rows, for who reads the log."""

    id: str
    X: Any
    feedback: Any
    query: str | None = None
    docs: Sequence[str] | None = None


class Opened(NamedTuple):
    """What was found when a folder was opened."""

    snapshot: int
    replayed: int
    cut_off: int


class OnlineLoop:
    """A learner that lives in a folder.

    Args:
        folder: where; it is made if it is not there.
        learner: SOLAR, PRank or CommitteePerceptron to begin with, also one that has learned already; None is
            the one in the folder. A folder that has one takes no other.
        n_features: how many features rows will have, for a learner that has seen none yet.
        snapshot_every: after how many feedbacks a snapshot is written; it bounds how long opening takes.

    Attributes:
        learner: who ranks and learns; learn through the loop only.
        opened: what was found: the snapshot, how many feedbacks were learned again, bytes cut off at the end.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        learner: Online | None = None,
        *,
        n_features: int | None = None,
        snapshot_every: int = SNAPSHOT_EVERY,
    ) -> None:
        if isinstance(snapshot_every, bool) or not isinstance(snapshot_every, int) or snapshot_every < 1:
            raise InputError(f"snapshot_every must be a whole number from 1, got {snapshot_every!r:.60}")
        self.folder, self._every = Path(folder), snapshot_every
        self._end: journal.Appender | None = None
        if learner is None and not journals(self.folder):
            raise InputError(f"{folder} holds no learner yet; give one to begin with")
        _make(self.folder)
        self._lock = Lock(self.folder)
        try:
            if not journals(self.folder):
                self._create(learner, n_features)
            self._open(learner)
        except BaseException:
            self.close()
            raise

    def _create(self, learner: Online | None, n_features: int | None) -> None:
        if learner is None:
            raise InputError(f"{self.folder} holds no learner yet; give one to begin with")
        if not hasattr(learner, "_mind"):
            if n_features is None:
                raise InputError(
                    "n_features must say how many features rows will have: nothing was learned yet"
                )
            learner.begin(n_features)
        write_state(learner, snapshot_path(self.folder, 0), number=0)
        journal.create(journal_path(self.folder, 0), 0, ())

    def _open(self, wanted: Online | None) -> None:
        *older, path = journals(self.folder)
        found = journal.scan(path)
        for other in (*older, *self.folder.glob(".tmp-*")):  # left by who was killed; nobody else writes here
            other.unlink()
        last = found.base + len(found.records)
        self.learner, snapshot = self._load(found.base, last)
        if wanted is not None:
            check_same(self.folder, self.learner, wanted)
        self._known = {*found.digests, *(journal.digest(decoded(r.payload).id) for r in found.records)}
        for record in found.records[snapshot - found.base :]:
            entry = decoded(record.payload)
            self.learner.learn_one_query(entry.features, entry.feedback)
        self._end = journal.Appender(path, found.end, last)
        self._saved = snapshot
        self.opened = Opened(snapshot, last - snapshot, found.torn)

    def _load(self, base: int, last: int) -> tuple[Online, int]:
        """The newest snapshot that can be read."""
        broken: list[str] = []
        for number, path in reversed(snapshots(self.folder)):
            try:
                learner = learner_of(path, read_model(path))
            except (ModelError, OSError) as error:
                broken.append(str(error))
                continue
            if number > last:
                raise StoreError(
                    f"the journal in {self.folder} ends with feedback {last}, but the snapshot {path.name} "
                    "knows later ones: feedback is missing; restore the journal from a copy"
                )
            if number < base:
                break
            if broken:
                told = f"{'; '.join(broken)}. The state was rebuilt from {path.name} and the journal"
                warnings.warn(told, RankloomWarning, stacklevel=5)
            return learner, number
        raise StoreError(
            f"no snapshot in {self.folder} can be read that the journal goes on from"
            + "".join(f"; {one}" for one in broken)
        )

    def rank(self, X: Any) -> NDArray[np.float64]:
        """The scores of a query's rows, the largest first in the ranking."""
        return self.learner.rank_one_query(X)

    def learn(
        self,
        feedback_id: str,
        X: Any,
        feedback: Any,
        *,
        query: str | None = None,
        docs: Sequence[str] | None = None,
    ) -> NDArray[np.float64] | None:
        """Learn from feedback, once it is on the disk. The scores ranked by, or None if the id is known.

        Args:
            feedback_id: names this feedback; the same id again is not learned again.
            X: the features of the rows that were ranked.
            feedback: a label for each row, or a `Feedback`.
            query: what was asked, for the log.
            docs: names of the rows, for the log.
        """
        return self.learn_group([Told(feedback_id, X, feedback, query, docs)])[0]

    def learn_group(self, group: Sequence[Told]) -> list[NDArray[np.float64] | None]:
        """Several feedbacks with one flush to the disk, learned in order as if one by one."""
        end = self._writing()
        new: dict[bytes, Entry] = {}
        places: list[bytes | None] = []
        for told in group:
            key = journal.digest(_name(told.id))
            fresh = key not in self._known and key not in new
            places.append(key if fresh else None)
            if fresh:
                new[key] = self._entry(told)
        if not new:
            return [None] * len(group)
        end.append([encoded(entry) for entry in new.values()])
        self._known.update(new)
        try:
            scores = {
                key: self.learner.learn_one_query(entry.features, entry.feedback)
                for key, entry in new.items()
            }
        except BaseException:  # the journal is ahead of the learner: only opening it again helps
            self.close()
            raise
        if end.last - self._saved >= self._every:
            self._snapshot_or_warn()
        return [None if key is None else scores[key] for key in places]

    def knows(self, feedback_id: str) -> bool:
        """Whether feedback of this id was learned."""
        return journal.digest(_name(feedback_id)) in self._known

    def _entry(self, told: Told) -> Entry:
        """Refused here, before it is in the journal, if it could not be learned."""
        features, feedback = self.learner.checked_query(told.X, told.feedback)
        docs = None if told.docs is None else [str(doc) for doc in told.docs]
        if docs is not None and len(docs) != features.n_rows:
            raise InputError(f"docs must name the {features.n_rows} rows, got {len(docs)}")
        return Entry(told.id, time.time(), told.query, docs, features, feedback)

    def _writing(self) -> journal.Appender:
        if self._end is None:
            raise InputError("this loop is closed; open the folder again")
        return self._end

    @property
    def number(self) -> int:
        """How many feedbacks were ever learned."""
        return self._writing().last

    @property
    def progress(self) -> Progress:
        """How good the rankings were, each measured before it was learned from."""
        return self.learner.progress_

    def snapshot(self) -> None:
        """Write down where the learner stands; of older snapshots, one is kept, and the first."""
        number = self._writing().last
        if number == self._saved:
            return
        write_state(self.learner, snapshot_path(self.folder, number), number=number)
        self._saved = number
        base = _number(journals(self.folder)[-1])
        for old, path in snapshots(self.folder)[:-_KEPT]:
            if old != base:
                path.unlink()

    def _snapshot_or_warn(self) -> None:
        """The journal has everything: what a snapshot that cannot be written costs is time, on opening."""
        try:
            self.snapshot()
        except OSError as error:
            warnings.warn(
                f"no snapshot was written ({error}); nothing is lost, the next opening takes longer",
                RankloomWarning,
                stacklevel=4,
            )

    def compact(self) -> int:
        """Drop the feedback before the last snapshot but one, all but its ids. How many were dropped."""
        self.snapshot()
        end = self._writing()
        number, _ = snapshots(self.folder)[-_KEPT:][0]
        path = journals(self.folder)[-1]
        found = journal.scan(path)
        gone = found.records[: number - found.base]
        if not gone:
            return 0
        digests = found.digests + [journal.digest(decoded(record.payload).id) for record in gone]
        new = journal_path(self.folder, number)
        journal.create(new, number, digests, found.records[number - found.base :])
        end.close()
        path.unlink()
        for old, snapshot in snapshots(self.folder):
            if old < number:
                snapshot.unlink()
        self._end = journal.Appender(new, new.stat().st_size, end.last)
        return len(gone)

    def close(self) -> None:
        """Let go of the folder. Nothing needs to be written."""
        if self._end is not None:
            self._end.close()
            self._end = None
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_log(folder: str | os.PathLike[str]) -> Iterator[tuple[int, Entry]]:
    """Every feedback in a folder's journal, with its number, in order. Nothing is changed or locked."""
    found = journals(Path(folder))
    if not found:
        raise InputError(f"{folder} holds no journal; give the folder of a loop")
    for record in journal.scan(found[-1]).records:
        yield record.number, decoded(record.payload)


def check_same(folder: Path, own: Online, wanted: Online) -> None:
    """Refuse a learner that is not the one of the folder."""
    has, asked = (content_of_parameters(one) for one in (own, wanted))
    if has != asked:
        raise InputError(
            f"{folder} holds {describe(has)}, and {describe(asked)} was asked for; leave the learner out to "
            "go on with what is there, or take another folder"
        )


def content_of_parameters(learner: Online) -> tuple[str, dict[str, Any]]:
    """Method and parameters as a state file has them."""
    if hasattr(learner, "_mind"):
        facts = content_of(learner).facts
        return facts["method"], facts["parameters"]
    parameters = learner.get_params(deep=False)
    return learner.method_name(), {name: v for name, v in parameters.items() if name != "start"}


def describe(known: tuple[str, dict[str, Any]]) -> str:
    """A learner in words."""
    method, parameters = known
    return f"{method}({', '.join(f'{name}={value!r}' for name, value in parameters.items())})"


def _make(folder: Path) -> None:
    """A folder that is still there when the power comes back."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for place in missing if os.name == "posix" else []:
        handle = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _name(given: Any) -> str:
    if not isinstance(given, str) or not given:
        raise InputError(f"id must be a text that names this feedback, got {given!r:.60}")
    return given


def journal_path(folder: Path, base: int) -> Path:
    """The journal of what comes after feedback number `base`."""
    return folder / f"journal-{base:012d}.log"


def snapshot_path(folder: Path, number: int) -> Path:
    """The snapshot after feedback `number`."""
    return folder / f"snapshot-{number:012d}.state"


def _number(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])


def journals(folder: Path) -> list[Path]:
    """The journals in a folder; the last is the one in use."""
    return sorted(folder.glob("journal-*.log"))


def snapshots(folder: Path) -> list[tuple[int, Path]]:
    """The snapshots in a folder, by number."""
    return [(_number(path), path) for path in sorted(folder.glob("snapshot-*.state"))]

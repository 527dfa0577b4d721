"""A learner in a folder: it goes on bit by bit, learns an id once, and says what it cannot mend."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import rankloom as rl
from online.killing import bits, learner, stream
from rankloom.online import journal
from rankloom.online.entries import Entry, decoded, encoded
from rankloom.online.loop import Told, journals, snapshots

TOLD = stream(40)


def learned(folder: Path, told: Any = TOLD, **options: Any) -> None:
    with rl.OnlineLoop(folder, learner(), n_features=6, **options) as loop:
        for name, X, given in told:
            loop.learn(name, X, given)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "state"
    learned(place, snapshot_every=9)
    return place


def test_the_folder_learns_what_the_learner_alone_would(folder: Path) -> None:
    alone = learner().begin(6)
    for _, X, given in TOLD:
        alone.learn_one_query(X, given)
    with rl.OnlineLoop(folder) as loop:
        assert loop.learner.model_ == alone.model_
        assert loop.progress == alone.progress_
        assert loop.number == 40
        assert loop.opened == (36, 4, 0)
        np.testing.assert_array_equal(loop.rank(TOLD[0][1]), alone.rank_one_query(TOLD[0][1]))


@pytest.mark.parametrize("group", [1, 7, 40])
def test_groups_are_learned_as_if_one_by_one(folder: Path, tmp_path: Path, group: int) -> None:
    with rl.OnlineLoop(tmp_path / "other", learner(), n_features=6, snapshot_every=3) as loop:
        for first, last in pairwise([*range(0, 40, group), 40]):
            found = loop.learn_group([Told(*one) for one in TOLD[first:last]])
            assert len(found) == last - first
    assert bits(tmp_path / "other") == bits(folder)


def test_an_id_is_learned_once_also_after_it_is_only_a_digest(folder: Path) -> None:
    before = bits(folder)
    with rl.OnlineLoop(folder) as loop:
        assert loop.compact() == 36
        assert loop.compact() == 0
        assert len(list(rl.read_log(folder))) == 4
        loop.learn("one more", *TOLD[0][1:])
        assert loop.compact() == 4
        for name, X, given in TOLD:
            assert loop.knows(name)
            assert loop.learn(name, X, given) is None
        twice = Told("new", *TOLD[0][1:])
        first, second = loop.learn_group([twice, twice])
        assert first is not None
        assert second is None
        assert loop.number == 42
    assert bits(folder)[0] != before[0]


def test_compaction_changes_nothing_and_bounds_what_is_kept(folder: Path) -> None:
    before = bits(folder)
    with rl.OnlineLoop(folder) as loop:
        size = journals(folder)[-1].stat().st_size
        loop.compact()
        assert journals(folder)[-1].stat().st_size < size
        assert len(snapshots(folder)) == 2
    assert bits(folder) == before
    snapshots(folder)[-1][1].write_bytes(b"rot")
    with pytest.warns(rl.RankloomWarning, match="rebuilt from snapshot-000000000036.state and the journal"):
        assert bits(folder) == before


def test_a_compaction_that_was_killed_before_it_cleared_up(folder: Path) -> None:
    before, old = bits(folder), journals(folder)[-1]
    text = old.read_bytes()
    with rl.OnlineLoop(folder) as loop:
        loop.compact()
    old.write_bytes(text)
    assert bits(folder) == before
    assert not old.exists()


def test_what_a_killed_process_left_half_written_is_cleared_away(folder: Path) -> None:
    (folder / ".tmp-0-0-1-2-snapshot-000000000041.state").write_bytes(b"half")
    before = bits(folder)
    assert not list(folder.glob(".tmp-*"))
    assert bits(folder) == before


def test_every_kind_of_feedback_comes_back_from_the_log(tmp_path: Path) -> None:
    X = csr_array(np.array([[0, 1.5], [2, 0], [0, 0]], dtype=np.float32))
    with rl.OnlineLoop(tmp_path, rl.SOLAR(order=1), n_features=2) as loop:
        loop.learn("grades", X, [2, 0, 1], query="q1", docs=["a", "b", "c"])
        loop.learn("pairs", X.toarray(), rl.Feedback.preferences([(0, 1)], [0.5]))
        loop.learn("clicks", X, rl.Feedback.clicks([0, 1, 0], examined=[1, 0.5, 0.1]))
    (one, grades), (_, pairs), (three, clicks) = rl.read_log(tmp_path)
    assert (one, three) == (1, 3)
    assert (grades.id, grades.query, grades.docs) == ("grades", "q1", ["a", "b", "c"])
    assert grades.feedback.labels.tolist() == [2, 0, 1]
    assert grades.features.columns.tolist() == [1, 0]
    assert pairs.features.values.tolist() == X.toarray().tolist()
    assert (pairs.feedback.pairs.tolist(), pairs.feedback.weights.tolist()) == ([[0, 1]], [0.5])
    assert (clicks.feedback.pairs.tolist(), clicks.feedback.weights.tolist()) == ([[1, 0]], [2.0])
    assert clicks.time > 1e9
    again = decoded(encoded(clicks))
    assert isinstance(again, Entry)
    assert again.feedback.labels.tolist() == [0, 1, 0]


def test_a_record_that_says_nothing(folder: Path) -> None:
    found = journal.scan(journals(folder)[-1])
    end = journal.Appender(journals(folder)[-1], found.end, 40)
    end.append([b"\x02\0\0\0{}"])
    end.close()
    with pytest.raises(rl.StoreError, match="a record of the journal is no feedback"):
        rl.OnlineLoop(folder)


def test_a_torn_end_is_cut_off_and_said(folder: Path) -> None:
    path = journals(folder)[-1]
    path.write_bytes(path.read_bytes()[:-3])
    with rl.OnlineLoop(folder) as loop:
        assert loop.opened.cut_off > 0
        assert loop.number == 39
        assert not loop.knows("feedback 39")
        loop.learn(*TOLD[39])
    whole = folder.parent / "whole"
    learned(whole)
    assert bits(folder) == bits(whole)


def test_damaged_snapshots(folder: Path) -> None:
    before = bits(folder)
    *_, (_, newest) = snapshots(folder)
    newest.write_bytes(newest.read_bytes()[:-40])
    with pytest.warns(rl.RankloomWarning, match=r"000036.state is damaged.*The state was rebuilt"):
        assert bits(folder) == before
    for _, path in snapshots(folder)[1:]:
        path.write_bytes(b"")
    with pytest.warns(rl.RankloomWarning, match="rebuilt from snapshot-000000000000.state"):
        assert bits(folder) == before
    for _, path in snapshots(folder):
        path.write_bytes(b"")
    with pytest.raises(rl.StoreError, match=r"no snapshot in .* can be read that the journal goes on from"):
        rl.OnlineLoop(folder)


def test_a_journal_that_lost_its_end_is_refused(folder: Path) -> None:
    path, found = journals(folder)[-1], journal.scan(journals(folder)[-1])
    path.write_bytes(path.read_bytes()[: found.records[20].end])
    with pytest.raises(rl.StoreError, match=r"ends with feedback 21, but the snapshot .* knows later ones"):
        rl.OnlineLoop(folder)


def test_two_writers(folder: Path) -> None:
    with rl.OnlineLoop(folder):
        with pytest.raises(rl.InputError, match=r"in use by process [0-9]+: two writers would mix"):
            rl.OnlineLoop(folder)
        assert len(list(rl.read_log(folder))) == 40  # readers may
    rl.OnlineLoop(folder).close()


def test_a_full_disk(tmp_path: Path) -> None:
    """A real limit on the size of files: an error, and everything from before is there."""
    program = f"""
import resource, signal
import rankloom as rl
from online.killing import learner, stream
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
loop = rl.OnlineLoop({str(tmp_path / "s")!r}, learner(), n_features=6)
resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
try:
    for one in stream(40):
        loop.learn(*one)
except OSError as error:
    print(loop.number, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])},
    )  # fmt: skip
    assert "the journal is as it was, and this feedback is not learned" in done.stdout, done.stderr
    number = int(done.stdout.split()[0])
    assert 0 < number < 40
    with rl.OnlineLoop(tmp_path / "s") as loop:
        assert (loop.number, loop.opened.cut_off) == (number, 0)
    learned(tmp_path / "s")
    learned(tmp_path / "whole")
    assert bits(tmp_path / "s") == bits(tmp_path / "whole")


def test_a_snapshot_that_does_not_fit_loses_nothing(folder: Path, monkeypatch: Any) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with rl.OnlineLoop(folder, snapshot_every=1) as loop:
        monkeypatch.setattr("rankloom.online.loop.write_state", full)
        with pytest.warns(rl.RankloomWarning, match="no snapshot was written .*nothing is lost"):
            loop.learn("one more", *TOLD[0][1:])
    with rl.OnlineLoop(folder) as loop:
        assert loop.number == 41


def test_learning_that_breaks_off_closes_the_loop(folder: Path, monkeypatch: Any) -> None:
    """The journal has what the learner has not: opening again learns it."""
    with rl.OnlineLoop(folder) as loop:
        monkeypatch.setattr(loop.learner, "learn_one_query", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            loop.learn("one more", *TOLD[0][1:])
        with pytest.raises(rl.InputError, match="this loop is closed; open the folder again"):
            loop.learn("another", *TOLD[0][1:])
    with rl.OnlineLoop(folder) as loop:
        assert loop.knows("one more")
        assert loop.number == 41


def test_a_learner_that_knows_something_goes_live(tmp_path: Path) -> None:
    data = rl.make_letor(20, seed=1).data
    first = rl.SOLAR(gamma=10.0).fit(data)
    with rl.OnlineLoop(tmp_path, first) as loop:
        assert loop.learner.model_ == first.model_
        assert loop.progress.queries == 20


REFUSED = [
    ("", [0.0, 1.0], "id must be a text that names this feedback, got ''"),
    ("x", [0.0], "feedback must be on the 2 rows of the query, got 1"),
    ("x", [0.0, np.nan], "labels must be finite"),
    ("x", rl.Feedback.preferences([(0, 5)]), "below 2, got row 5"),
]


@pytest.mark.parametrize(("name", "given", "told"), REFUSED)
def test_what_cannot_be_learned_is_not_in_the_journal(folder: Path, name: str, given: Any, told: str) -> None:
    with rl.OnlineLoop(folder) as loop:
        with pytest.raises(rl.InputError, match=told):
            loop.learn(name, np.zeros((2, 6)), given)
        with pytest.raises(rl.InputError, match="X has 5 features, but SOLAR is expecting 6"):
            loop.learn("x", np.zeros((2, 5)), [0, 1])
        with pytest.raises(rl.InputError, match="docs must name the 2 rows, got 1"):
            loop.learn("x", np.zeros((2, 6)), [0, 1], docs=["a"])
        assert loop.number == 40
    assert len(list(rl.read_log(folder))) == 40


def test_what_cannot_be_opened(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(rl.InputError, match="holds no learner yet; give one to begin with"):
        rl.OnlineLoop(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
    with pytest.raises(rl.InputError, match="n_features must say how many features"):
        rl.OnlineLoop(tmp_path / "new", rl.SOLAR())
    with pytest.raises(rl.InputError, match=r"holds solar\(.*gamma=1.0.*gamma=2.0.* was asked for"):
        rl.OnlineLoop(folder, rl.SOLAR(gamma=2.0))
    with pytest.raises(rl.InputError, match="snapshot_every must be a whole number from 1, got 0"):
        rl.OnlineLoop(folder, snapshot_every=0)
    with pytest.raises(rl.InputError, match="holds no journal"):
        list(rl.read_log(tmp_path))

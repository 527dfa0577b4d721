"""What protocols run on: generated, given, read, folds, cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rankloom as rl
from rankloom.experiments.sources import Given, Parts, cut, cut_rows, parts_of, rows_of


def nothing() -> Parts:
    raise AssertionError("nothing is to be generated")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = rl.make_letor(30, seed=2).data
    for fold in (2, 5):
        (tmp_path / f"Fold{fold}").mkdir()
        for place, part in enumerate(("train", "vali", "test")):
            queries = np.arange(10 * place, 10 * place + 10 - fold)
            rl.write(data.take(queries), tmp_path / f"Fold{fold}" / f"{part}.txt")
    return tmp_path


def test_folds_by_number(folder: Path) -> None:
    first, wanted = (parts_of(Given(folder, fold=fold), nothing, 0) for fold in (None, 5))
    assert (first.train.n_queries, wanted.train.n_queries) == (8, 5)
    assert sorted(wanted.by_name()) == ["test", "train", "vali"]
    with pytest.raises(rl.InputError, match="fold must be one of 2, 5, got 1"):
        parts_of(Given(folder, fold=1), nothing, 0)
    with pytest.raises(rl.InputError, match="leave test and vali out"):
        parts_of(Given(folder, test=folder / "Fold2" / "test.txt"), nothing, 0)
    (folder / "Fold5" / "vali.txt").unlink()
    with pytest.raises(rl.InputError, match="has no vali part"):
        parts_of(Given(folder, fold=5), nothing, 0)


def test_files_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1 qid:1 0:1 3:2\n0 qid:1 1:1\n")
    (tmp_path / "test.txt").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    parts = parts_of(Given(tmp_path / "train.txt", tmp_path / "test.txt"), nothing, 0)
    assert parts.test.n_features == parts.train.n_features == 4
    assert (
        np.asarray(rl.read(tmp_path / "test.txt", index_base=0, n_features=4, layout="dense").X).tolist()
        == (parts.test.X.toarray() if parts.test.is_sparse else parts.test.X).tolist()
    )
    assert parts.vali is None


def test_queries_are_cut_whole_and_rows_of_one_query_by_label() -> None:
    data = rl.make_letor(20, seed=0).data
    train, test = cut(data, 0.3, 0)
    assert (train.n_queries, test.n_queries) == (14, 6)
    assert not set(train.qids) & set(test.qids)
    y = np.repeat([0.0, 1.0, 2.0], [20, 2, 1])
    kept, held = cut_rows(y, 0.3, 0)
    assert sorted([*kept, *held]) == list(range(23))
    assert [int((y[held] == label).sum()) for label in (0, 1, 2)] == [6, 1, 0]
    one = rl.RankingData(np.arange(46.0).reshape(23, 2), y)
    train, test = cut(one, 0.3, 0)
    assert (train.n_rows, test.n_rows) == (16, 7)
    assert rows_of(one, np.array([3, 22])).X.tolist() == [[6, 7], [44, 45]]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Given(None, test="x"), "need a source"),
        (Given(None, fold=1), "need a source"),
        (Given(rl.RankingData([[1.0]] * 2, [0, 1]), fold=1), "fold=1 needs a folder with Fold1"),
        (Given(rl.RankingData([[1.0]] * 2)), "the train part has no labels"),
        (Given(rl.RankingData(np.empty((0, 2)), [])), "the train part is empty"),
        (Given(rl.RankingData([[1.0]] * 2, [0, 1]), rl.RankingData([[1.0]])), "the test part has no labels"),
    ],
)
def test_bad_sources_are_named(given: Given, words: str) -> None:
    with pytest.raises(rl.InputError, match=words):
        parts_of(given, nothing, 0)

"""Folders of folds, read when asked for."""

from __future__ import annotations

import gzip
import re

import pytest

from rankloom.data.letor import is_letor, read_folds
from rankloom.errors import InputError

TEXT = "{label} qid:1 1:0.5 2:{fold} #docid = GX00{fold}\n0 qid:2 1:1 2:1 #docid = GX000\n"


def make_fold(folder, fold, suffix=".txt", parts=("train", "vali", "test")):
    (folder / f"Fold{fold}").mkdir()
    for label, part in enumerate(parts):
        (folder / f"Fold{fold}" / f"{part}{suffix}").write_text(TEXT.format(label=label, fold=fold))


def test_folds_are_read_when_asked_for(tmp_path):
    for fold in (10, 2, 1):
        make_fold(tmp_path, fold)
    (tmp_path / "Fold1" / "test.txt").write_text("broken")
    folds = read_folds(tmp_path)
    assert [fold.number for fold in folds] == [1, 2, 10]
    assert len(folds) == 3
    assert [fold.number for fold in folds[1:]] == [2, 10]
    assert folds[1].train.y.tolist() == [0, 0]
    assert folds[1].vali.y.tolist() == [1, 0]
    assert folds[1].test.y.tolist() == [2, 0]
    assert list(folds[2].test.doc_ids) == ["GX0010", "GX000"]
    assert folds[1].train is folds[1].train
    with pytest.raises(InputError, match=re.escape("Fold1")):
        _ = folds[0].test
    assert repr(folds[0]).startswith("Fold(1, ")
    assert repr(folds).startswith("Folds([Fold(1, ")


def test_compressed_parts_and_names_in_capitals(tmp_path):
    (tmp_path / "fold1").mkdir()
    for part in ("Train", "VALI", "test"):
        (tmp_path / "fold1" / f"{part}.txt.gz").write_bytes(
            gzip.compress(TEXT.format(label=1, fold=1).encode())
        )
    assert read_folds(tmp_path)[0].vali.n_rows == 2


def test_options_go_to_the_reader(tmp_path):
    make_fold(tmp_path, 1)
    assert read_folds(tmp_path, n_features=46)[0].train.n_features == 46


def test_one_fold_by_itself(tmp_path):
    make_fold(tmp_path, 3)
    assert len(read_folds(tmp_path / "Fold3")) == 1
    assert is_letor(tmp_path / "Fold3")
    assert is_letor(tmp_path)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(InputError, match="gone is missing"):
        read_folds(tmp_path / "gone")
    with pytest.raises(InputError, match="has no folds; looked for Fold1, Fold2"):
        read_folds(tmp_path)
    assert not is_letor(tmp_path)
    make_fold(tmp_path, 1)
    (tmp_path / "Fold1" / "vali.txt").unlink()
    with pytest.raises(InputError, match=r"Fold1 has no vali part; looked for vali.txt, vali.txt.gz"):
        read_folds(tmp_path)
    (tmp_path / "Fold1" / "vali.txt").write_text("")
    (tmp_path / "Fold1" / "vali.txt.gz").write_text("")
    with pytest.raises(InputError, match=r"more than one vali part: vali.txt and vali.txt.gz"):
        read_folds(tmp_path)
    with pytest.raises(InputError, match=r"train.txt is a file"):
        read_folds(tmp_path / "Fold1" / "train.txt")

"""One name for all formats."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from rankloom.data.ranking_data import RankingData
from rankloom.data.read import read, source_kind, target_kind, write
from rankloom.data.store import is_store, load_store
from rankloom.errors import InputError

DATA = RankingData([[1, 0.5], [2, 0], [0.1, 3]], [1, 0, 2], [1, 1, 2], doc_ids=["x", "y", "z"])
NAMES = ["a.txt", "a.dat", "a", "a.txt.gz", "a.svm.bz2", "a.xz", "a.zst", "a.store", "a.parquet", "a.PQ"]
TABLES = ["a.csv", "a.tsv", "a.csv.gz", "a.TSV.zst"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read(tmp_path, name):
    write(DATA, tmp_path / name)
    again = read(tmp_path / name)
    np.testing.assert_array_equal(again.X, DATA.X)
    assert again.y.tolist() == DATA.y.tolist()
    assert again.qids.tolist() == [1, 2]
    assert list(again.doc_ids) == ["x", "y", "z"]
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", TABLES)
def test_csv_gives_names(tmp_path, name):
    write(DATA, str(tmp_path / name))
    assert read(str(tmp_path / name)) == DATA.with_names(["f0", "f1"])


def test_options_reach_the_reader_and_the_writer(tmp_path):
    write(DATA, tmp_path / "a.txt", index_base=0)
    assert read(tmp_path / "a.txt", n_features=9).n_features == 9
    write(DATA, tmp_path / "a.csv", delimiter=";")
    assert read(tmp_path / "a.csv", delimiter=";", features=["f1"]).n_features == 1
    write(DATA, tmp_path / "a.parquet", list_column="v")
    assert read(tmp_path / "a.parquet", features="v", label=None).y is None
    write(DATA, tmp_path / "a.store")
    assert read(tmp_path / "a.store", verify=True, threads=1, progress=None) == DATA


def test_open_files_and_lists_are_text_unless_tables(tmp_path):
    buffer = io.BytesIO()
    write(DATA, buffer)
    assert read(io.BytesIO(buffer.getvalue())).n_rows == 3
    for name in ("a.txt", "a.csv", "a.parquet"):
        write(DATA, tmp_path / name)
        assert read([tmp_path / name, str(tmp_path / name)]).n_rows == 6


def test_a_folder_is_written_as_a_store(tmp_path):
    (tmp_path / "folder").mkdir()
    write(DATA, tmp_path / "folder")
    assert is_store(tmp_path / "folder")
    assert read(tmp_path / "folder") == load_store(tmp_path / "folder") == DATA
    assert target_kind(f"{tmp_path}/new/") == "store"
    assert target_kind("-") == source_kind("-") == "text"


def test_a_damaged_store_is_still_taken_for_one(tmp_path):
    write(DATA, tmp_path / "a.store")
    (tmp_path / "a.store" / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"a.store is not a store: it has no manifest.json"):
        read(tmp_path / "a.store")


def test_a_folder_of_folds_says_so(tmp_path):
    (tmp_path / "Fold1").mkdir()
    with pytest.raises(InputError, match="it holds LETOR folds: use read_folds"):
        read(tmp_path)
    with pytest.raises(InputError, match="is a folder and not a store; give a file in it"):
        read(tmp_path / "Fold1")


BAD = {
    "no such file": (lambda folder: read(folder / "gone.txt"), "gone.txt: no such file; look at the path"),
    "no files": (lambda folder: read([]), "no files to read, got an empty list"),
    "formats": (lambda folder: read([folder / "a.csv", folder / "a.txt"]), "of one format, got csv, text"),
    "stores": (
        lambda folder: read([folder / "a.store"] * 2),
        "stores cannot be read as one; write one store from",
    ),
    "option for text": (
        lambda folder: read(folder / "a.csv", n_features=3),
        "n_features is no option for csv: it is for text; the options for csv are allow_missing, comment",
    ),
    "option for tables": (lambda folder: read(folder / "a.txt", label="x"), "it is for parquet and csv"),
    "option for a store": (
        lambda folder: read(folder / "a.store", qid="x"),
        "the options for store are verify",
    ),
    "no option": (
        lambda folder: read(folder / "a.txt", speed=1),
        "speed is no option for text: no format has it",
    ),
    "no option for writing": (
        lambda folder: write(DATA, folder / "b.store", zeros=True),
        "it is for text; .* none",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_read_or_written_says_why(tmp_path: Path, case):
    for name in ("a.txt", "a.csv", "a.store"):
        write(DATA, tmp_path / name)
    call, message = BAD[case]
    with pytest.raises(InputError, match=message):
        call(tmp_path)


def test_every_option_listed_is_one_that_the_reader_or_writer_has():
    import inspect

    from rankloom.data import read as module
    from rankloom.data.frames import from_frame

    for kinds, function_of in ((module._OPTIONS, module._reader), (module._WRITING, module._writer)):
        for kind, names in kinds.items():
            function = function_of(kind)
            parameters = set(inspect.signature(function).parameters)
            if "columns" in parameters:
                parameters |= set(inspect.signature(from_frame).parameters)
            assert names == parameters - {
                "columns",
                "frame",
                *list(inspect.signature(function).parameters)[: 1 + (kinds is module._WRITING)],
            }

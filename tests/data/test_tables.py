"""Parquet and CSV: what is written reads back the same, and files from elsewhere are understood."""

from __future__ import annotations

import builtins
import importlib

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rankloom.data.ranking_data import RankingData
from rankloom.data.table_writer import write_csv, write_parquet
from rankloom.data.tables import read_csv, read_parquet
from rankloom.errors import InputError, MissingPackageError
from twins.data_examples import floats32, ranking_data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


def example(**more):
    return RankingData(
        np.array([[0.1, 2], [3, 1e-30], [5, 6]]),
        [0, 1, 2.5],
        ["b", "b", "a"],
        feature_names=["u", "v"],
        **more,
    )


@given(ranking_data(grouped=True))
@settings(max_examples=50)
def test_parquet_reads_back_equal(folder, data):
    write_parquet(data, folder / "data.parquet")
    assert read_parquet(folder / "data.parquet") == data


@given(ranking_data(dense=True, grouped=True))
@settings(max_examples=50)
def test_csv_reads_back_equal(folder, data):
    named = data.with_names([f"x{j}" for j in range(data.n_features)])
    is_text = named.qids.dtype == object
    write_csv(named, folder / "data.csv")
    again = read_csv(folder / "data.csv", text_qids=is_text, label=None if named.y is None else "auto")
    assert again == named


@given(hnp.arrays(np.float32, st.tuples(st.integers(1, 20), st.just(1)), elements=floats32))
@settings(max_examples=50)
def test_csv_keeps_every_float32(folder, table):
    write_csv(RankingData(table), folder / "floats.csv")
    np.testing.assert_array_equal(read_csv(folder / "floats.csv", label=None).X, table)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "tsv.bz2", "csv.xz", "csv.zst"])
def test_csv_of_any_compression(tmp_path, suffix):
    data = example(doc_ids=["d,1", 'd"2', ""], weights=[1, 2, 3], query_weights=[1, 0.1])
    write_csv(data, tmp_path / f"a.{suffix}")
    assert read_csv(tmp_path / f"a.{suffix}") == data


def test_csv_text_by_hand(tmp_path):
    write_csv(example(), tmp_path / "a.tsv")
    assert (
        tmp_path / "a.tsv"
    ).read_text() == '"qid"\t"label"\t"u"\t"v"\n"b"\t0\t0.1\t2\n"b"\t1\t3\t1e-30\n"a"\t2.5\t5\t6\n'


def test_csv_from_elsewhere(tmp_path):
    (tmp_path / "a.csv").write_text("docid;score;query;rel\nd1;0.5;10;2\nd2;NA;9;0\nd3;1;10;1")
    with pytest.raises(InputError, match=r"a.csv: features must be finite, got NaN .* at row 1 \(query 9\)"):
        read_csv(tmp_path / "a.csv", delimiter=";")
    data = read_csv(tmp_path / "a.csv", delimiter=";", allow_missing=True)
    assert data.qids.tolist() == [10, 9]
    assert list(data.doc_ids) == ["d1", "d3", "d2"]
    assert data.y.tolist() == [2, 1, 0]
    assert data.feature_names == ("score",)


def test_qids_that_look_like_something_else(tmp_path):
    (tmp_path / "zeros.csv").write_text("qid,label,f\n007,1,2\n7,1,2\n")
    assert read_csv(tmp_path / "zeros.csv").qids.tolist() == [7]
    assert read_csv(tmp_path / "zeros.csv", text_qids=True).qids.tolist() == ["007", "7"]
    (tmp_path / "dates.csv").write_text("qid,label,f\n2020-01-02,1,2\n2020-01-01,1,2\n")
    assert read_csv(tmp_path / "dates.csv").qids.tolist() == ["2020-01-02", "2020-01-01"]


def test_only_the_columns_asked_for_are_read(tmp_path):
    (tmp_path / "a.csv").write_text("qid,label,title,f,g\n1,1,some text,2,3\n")
    data = read_csv(tmp_path / "a.csv", features=["g"])
    assert data.X.tolist() == [[3]]
    write_parquet(example(doc_ids=list("xyz")), tmp_path / "a.parquet")
    data = read_parquet(tmp_path / "a.parquet", features=["v"], doc_id=None)
    assert data.feature_names == ("v",)
    assert data.doc_ids is None


def test_several_files_are_one(tmp_path):
    """A query may go on in the next file."""
    data = example()
    for write, read, suffix in ((write_csv, read_csv, "csv"), (write_parquet, read_parquet, "parquet")):
        paths = [tmp_path / f"{number}.{suffix}" for number in range(2)]
        for path in paths:
            write(data, path)
        both = read(paths)
        assert both.lengths.tolist() == [4, 2]
        assert both.order.tolist() == [0, 1, 3, 4, 2, 5]


def test_a_folder_of_parquet_files(tmp_path):
    (tmp_path / "all.parquet").mkdir()
    for number in range(2):
        write_parquet(example(), tmp_path / "all.parquet" / f"{number}.parquet")
    assert read_parquet(tmp_path / "all.parquet").n_rows == 6


def test_parquet_in_a_column_of_lists(tmp_path):
    write_parquet(example(), tmp_path / "a.parquet", list_column="vector")
    schema = pq.read_schema(tmp_path / "a.parquet")
    assert schema.names == ["qid", "label", "vector"]
    assert read_parquet(tmp_path / "a.parquet").X.tolist() == example().X.tolist()


def test_parquet_from_elsewhere(tmp_path):
    table = pa.table({"query": ["b", "a"], "rel": [1, 0], "f": [0.5, 1], "vector": [[1, 2], [3, 4]]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert read_parquet(tmp_path / "a.parquet", features="vector").X.tolist() == [[1, 2], [3, 4]]
    assert read_parquet(tmp_path / "a.parquet", features=["f"]).X.tolist() == [[0.5], [1]]


def test_large_data_is_written_block_by_block(tmp_path, monkeypatch):
    monkeypatch.setattr("rankloom.data.table_writer._NUMBERS_PER_BLOCK", 1)
    dense = RankingData(np.random.default_rng(0).normal(size=(3000, 3)), np.ones(3000), np.arange(3000) // 7)
    sparse = RankingData(sp.random_array((3000, 9), density=0.2, rng=0), np.ones(3000), np.arange(3000) // 7)
    for data in (dense, sparse):
        write_parquet(data, tmp_path / "a.parquet")
        assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == 3
        assert read_parquet(tmp_path / "a.parquet") == data
    write_csv(sparse, tmp_path / "a.csv")
    np.testing.assert_array_equal(read_csv(tmp_path / "a.csv").X, sparse.X.toarray())


BAD_CSV = {
    "text": (
        "qid,label,f\n1,2,x\n",
        "feature column 'f' must be numbers, got 'x'; if it names documents, say",
    ),
    "text label": ("qid,label,f\n1,x,2\n", "cannot be read as a table: .*invalid value 'x'"),
    "empty": ("", "it has no header line"),
    "short line": ("qid,label,f\n1,2\n", "Expected 3 columns, got 2"),
    "no label in a row": ("qid,label,f\n1,,3\n", r"NaN .* at row 0 \(query 1\)"),
    "no qid in a row": ("qid,label,f\n1,1,2\n,1,3\n", "at row 1"),
    "no text qid in a row": (
        "qid,label,f\na,1,2\n,1,3\n",
        "every row needs a qid, got an empty field at row 1",
    ),
    "name twice": ("qid,label,f,f\n1,1,3,4\n", "all different, got 'f' twice"),
    "no label column": ("qid,f\n1,2\n", "no label column"),
    "too large": ("qid,label,f\n1,1,1e39\n", "must be finite, got inf at row 0"),
}


@pytest.mark.parametrize("case", BAD_CSV)
def test_csv_that_does_not_fit_is_refused_by_name(tmp_path, case):
    text, message = BAD_CSV[case]
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(InputError, match=f"bad.csv: .*{message}"):
        read_csv(tmp_path / "bad.csv")


def test_other_files_that_do_not_fit(tmp_path):
    (tmp_path / "bad.parquet").write_text("no parquet")
    with pytest.raises(InputError, match=r"bad.parquet: cannot be read as a table"):
        read_parquet(tmp_path / "bad.parquet")
    with pytest.raises(InputError, match=r"gone.csv: no such file"):
        read_csv(tmp_path / "gone.csv")
    with pytest.raises(InputError, match="an empty list"):
        read_parquet([])
    write_parquet(example(), tmp_path / "a.parquet")
    write_parquet(example().with_names(["u", "w"]), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="cannot be read as a table"):
        read_parquet([tmp_path / "a.parquet", tmp_path / "b.parquet"])


def test_what_cannot_be_written(tmp_path):
    wide = RankingData(sp.csr_array((2, 5000)))
    with pytest.raises(InputError, match=r"this sparse data has 5,000 features; write text"):
        write_csv(wide, tmp_path / "a.csv")
    with pytest.raises(InputError, match="a feature cannot be named 'qid'"):
        write_parquet(example().with_names(["qid", "b"]), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"one line, got 'x\\ny'"):
        write_csv(example(doc_ids=["x\ny", "b", "c"]), tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


def test_without_pyarrow_the_message_says_what_to_install(monkeypatch, tmp_path):
    def missing(name: str, package: str | None = None) -> object:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    for call in (
        lambda: read_csv(tmp_path),
        lambda: read_parquet(tmp_path),
        lambda: write_csv(example(), tmp_path / "a"),
    ):
        with pytest.raises(MissingPackageError, match=r'pip install "rankloom\[tables\]"'):
            call()
    assert builtins.__import__("sys")

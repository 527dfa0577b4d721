"""SVMlight / LETOR text written: by hand, read back by our reader and by scikit-learn's."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rankloom.data import text_writer
from rankloom.data.ranking_data import RankingData
from rankloom.data.text import read_text
from rankloom.data.text_writer import write_text
from rankloom.errors import InputError, RankloomWarning
from twins.data_examples import ranking_data

TABLE = np.array([[1, 0.5, 0], [0.1, -0.0, 3e9], [0, 0, 0]], dtype=np.float32)


def text_of(data: RankingData, **options: object) -> str:
    target = io.BytesIO()
    write_text(data, target, **options)
    return target.getvalue().decode("utf-8", "surrogateescape")


def read_back(text: str, **options: object) -> RankingData:
    return read_text(io.BytesIO(text.encode("utf-8", "surrogateescape")), **options)


@pytest.mark.jit_free
def test_dense_rows_are_written_whole_and_query_by_query() -> None:
    data = RankingData(TABLE, [1, 0.5, 2], ["a", "b", "a"])
    assert text_of(data) == "1 qid:a 1:1 2:0.5 3:0\n2 qid:a 1:0 2:0 3:0\n0.5 qid:b 1:0.1 2:-0 3:3000000000\n"


@pytest.mark.jit_free
def test_sparse_rows_are_written_as_stored() -> None:
    data = RankingData(csr_array(TABLE), [1, 0, 2], [7, 7, 8])
    assert text_of(data) == "1 qid:7 1:1 2:0.5\n0 qid:7 1:0.1 3:3000000000\n2 qid:8\n"


@pytest.mark.parametrize("matrix", [TABLE, csr_array(TABLE)], ids=["dense", "sparse"])
def test_zeros_can_be_asked_for_and_left_out(matrix: object) -> None:
    data = RankingData(matrix, [1, 0, 2], [7, 7, 8])
    minus = "-0" if isinstance(matrix, np.ndarray) else "0"  # a sparse matrix does not store it
    assert text_of(data, zeros=True) == (
        f"1 qid:7 1:1 2:0.5 3:0\n0 qid:7 1:0.1 2:{minus} 3:3000000000\n2 qid:8 1:0 2:0 3:0\n"
    )
    assert text_of(data, zeros=False) == "1 qid:7 1:1 2:0.5\n0 qid:7 1:0.1 3:3000000000\n2 qid:8\n"


def test_indices_may_start_at_0() -> None:
    assert text_of(RankingData([[5.0, 6.0]], [1]), index_base=0) == "1 0:5 1:6\n"


def test_one_query_numbered_0_is_no_query() -> None:
    assert text_of(RankingData([[1.0]], [3])) == "3 1:1\n"
    assert text_of(RankingData([[1.0]], [3], [0])) == "3 1:1\n"
    assert text_of(RankingData([[1.0]], [3], ["0"])) == "3 qid:0 1:1\n"
    assert text_of(RankingData([[1.0]], [3], [4])) == "3 qid:4 1:1\n"


def test_features_can_be_rounded() -> None:
    data = RankingData([[1.23456, 7.0, -0.004]], [0])
    assert text_of(data, decimals=2) == "0 1:1.23 2:7 3:0\n"
    assert text_of(data, decimals=0) == "0 1:1 2:7 3:0\n"
    assert text_of(data, decimals=2, zeros=False) == "0 1:1.23 2:7\n"


@pytest.mark.parametrize(
    ("label", "text"),
    [
        (0.0, "0"),
        (-1.0, "-1"),
        (1.0, "1"),
        (0.1, "0.1"),
        (1e15, "1000000000000000"),
        (1e300, "1e+300"),
        (-2.5, "-2.5"),
    ],
)
def test_labels_are_as_short_as_can_be(label: float, text: str) -> None:
    assert text_of(RankingData([[1.0]], [label])) == f"{text} 1:1\n"


def test_missing_values_are_written_and_zeros_around_them_left_out() -> None:
    data = RankingData([[np.nan, 0.0]], [0], allow_missing=True)
    assert text_of(data) == "0 1:nan 2:0\n"
    assert text_of(data, zeros=False) == "0 1:nan\n"


def test_comments_come_back_as_they_were() -> None:
    text = "2 qid:1 1:3 #docid = GX001-02-3 inc = 1 prob = 0.08\n0 qid:1 1:1\n1 qid:2 1:2 #GX9 and more\n"
    data = read_back(text)
    assert text_of(data) == text
    assert text_of(data.take([1])) == "1 qid:2 1:2 #GX9 and more\n"


@pytest.mark.parametrize(
    ("comment", "doc_id", "tail"),
    [
        ("", "", ""),
        ("", "D7", " #docid = D7"),
        ("old", "", " #old"),
        ("D7 old", "D7", " #D7 old"),
        ("inc = 1", "1", " #docid = 1 inc = 1"),
        ("x DocID:D7", "D7", " #x DocID:D7"),
        ("docid = D8", "D7", " #docid = D7 docid = D8"),
        ("mydocid = D7", "D7", " #docid = D7 mydocid = D7"),
    ],
)
def test_doc_ids_join_the_comment(comment: str, doc_id: str, tail: str) -> None:
    data = RankingData([[1.0]], [0], doc_ids=[doc_id], comments=[comment])
    text = text_of(data)
    assert text == f"0 1:1{tail}\n"
    if doc_id:
        assert list(read_back(text).doc_ids) == [doc_id]


@pytest.mark.parametrize("qid", ["", "a b", "a#b", "a\tb", "a\n"])
def test_qids_that_text_cannot_hold(qid: str) -> None:
    with pytest.raises(InputError, match="text cannot hold the qid"):
        text_of(RankingData([[1.0]], [0], [qid]))


def test_doc_ids_and_comments_that_text_cannot_hold() -> None:
    with pytest.raises(InputError, match="text cannot hold the doc id 'a b'"):
        text_of(RankingData([[1.0]], [0], doc_ids=["a b"]))
    with pytest.raises(InputError, match="text cannot hold the comment"):
        text_of(RankingData([[1.0]], [0], comments=["a\nb"]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"index_base": 2}, "index_base must be 0 or 1, got 2"),
        ({"decimals": 10}, "decimals must be a whole number from 0 to 9"),
        ({"decimals": 1.5}, "decimals must be a whole number from 0 to 9"),
        ({"decimals": True}, "decimals must be a whole number from 0 to 9"),
    ],
)
def test_options_that_mean_nothing(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        text_of(RankingData([[1.0]], [0]), **options)


def test_what_text_cannot_hold_is_said() -> None:
    weighted = RankingData([[1.0]], [0], weights=[2], query_weights=[3], feature_names=["f"])
    with pytest.warns(RankloomWarning, match="weights and query_weights and feature_names: written without"):
        assert text_of(weighted) == "0 1:1\n"
    with pytest.warns(RankloomWarning, match="0 was written as the label of every row"):
        assert text_of(RankingData([[1.0]])) == "0 1:1\n"


@pytest.mark.parametrize(
    ("suffix", "unpack"),
    [(".gz", gzip.decompress), (".bz2", bz2.decompress), (".xz", lzma.decompress), (".GZ", gzip.decompress)],
)
def test_compressed_by_suffix_and_the_same_bytes_each_time(
    tmp_path: Path, suffix: str, unpack: object
) -> None:
    data = RankingData(TABLE, [1, 0, 2], [7, 7, 8])
    first, second = tmp_path / f"a.txt{suffix}", tmp_path / f"b.txt{suffix}"
    write_text(data, first)
    write_text(data, second)
    assert unpack(first.read_bytes()).decode() == text_of(data)
    assert first.read_bytes() == second.read_bytes()


def test_zstandard(tmp_path: Path) -> None:
    data = RankingData(TABLE, [1, 0, 2], [7, 7, 8])
    write_text(data, tmp_path / "a.zst")
    assert (tmp_path / "a.zst").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    assert read_text(tmp_path / "a.zst", layout="dense") == data


def test_nothing_is_left_of_a_text_that_cannot_be_written(tmp_path: Path) -> None:
    target = tmp_path / "data.txt"
    target.write_text("old")
    bad = RankingData(np.ones((3, 1)), [0, 0, 0], doc_ids=["a", "b", "c d"])
    with pytest.raises(InputError, match="doc id 'c d'"):
        write_text(bad, target)
    assert [path.name for path in tmp_path.iterdir()] == ["data.txt"]
    assert target.read_text() == "old"


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_text(RankingData([[1.0]], [3]), "-")
    assert capfdbinary.readouterr().out == b"3 1:1\n"


def test_an_open_file_must_take_bytes(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w") as file, pytest.raises(InputError, match="open it with mode 'wb'"):
        write_text(RankingData([[1.0]], [3]), file)


def test_no_rows() -> None:
    assert text_of(RankingData(np.empty((0, 3)), [], [])) == ""
    assert text_of(RankingData(csr_array((0, 3), dtype=np.float32), [])) == ""


@pytest.mark.parametrize("sparse", [False, True])
def test_blocks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch, sparse: bool) -> None:
    draw = np.random.default_rng(0)
    table = draw.normal(size=(300, 7)) * (draw.random((300, 7)) < 0.4)
    qid = draw.integers(0, 30, 300)
    data = RankingData(csr_array(table) if sparse else table, draw.integers(0, 3, 300), qid)
    whole = text_of(data, threads=1)
    assert whole.count("\n") == 300
    for size in (1, 20, 333):
        monkeypatch.setattr(text_writer, "_ENTRIES_PER_BLOCK", size)
        for threads in (1, 3):
            assert text_of(data, threads=threads) == whole


@settings(max_examples=150)
@given(ranking_data(), st.sampled_from([0, 1]), st.sampled_from([None, False]))
def test_what_is_written_reads_back(data: RankingData, index_base: int, zeros: bool | None) -> None:
    plain = RankingData(
        data.X,
        data.y if data.y is not None else np.zeros(data.n_rows),
        np.repeat(np.arange(5, 5 + data.n_queries), data.lengths),
    )
    layout = "sparse" if data.is_sparse else "dense"
    text = text_of(plain, index_base=index_base, zeros=zeros)
    back = read_back(text, index_base=index_base, n_features=data.n_features, layout=layout)
    assert np.array_equal(back.y, plain.y)
    assert np.array_equal(back.qids, plain.qids)
    assert np.array_equal(back.offsets, plain.offsets)
    found, wanted = (item.X.toarray() if item.is_sparse else item.X for item in (back, plain))
    assert np.array_equal(found, wanted)
    if zeros is None and not data.is_sparse:
        assert np.array_equal(np.signbit(found), np.signbit(wanted))


def looks_like_a_number(qid: str) -> bool:
    """Text does not tell the qid "7" from the qid 7."""
    try:
        return int(qid) is not None
    except ValueError:
        return False


@settings(max_examples=60)
@given(ranking_data())
def test_everything_that_text_can_hold_reads_back(data: RankingData) -> None:
    """Any data: what cannot be held is refused or warned of, never changed in silence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankloomWarning)
        try:
            text = text_of(data)
        except InputError:
            return
    back = read_back(text, n_features=data.n_features)
    if data.qids.dtype.kind != "O" or not any(looks_like_a_number(qid) for qid in data.qids):
        assert list(map(str, back.qids)) == list(map(str, data.qids))  # from 10^18 on, they are read as texts
        assert np.array_equal(back.offsets, data.offsets)
    if data.doc_ids is not None and data.comments is None and any(data.doc_ids):
        assert list(back.doc_ids) == list(data.doc_ids)


def test_scikit_learn_reads_it() -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    draw = np.random.default_rng(3)
    table = (draw.normal(size=(50, 9)) * 10.0 ** draw.integers(-30, 30, (50, 9))).astype(np.float32)
    data = RankingData(table, draw.normal(size=50), np.repeat(np.arange(1, 11), 5))
    X, y, qid = datasets.load_svmlight_file(
        io.BytesIO(text_of(data).encode()), query_id=True, zero_based=False
    )
    assert np.array_equal(X.toarray().astype(np.float32), table)
    assert np.array_equal(y, data.y)
    assert np.array_equal(qid, np.repeat(np.arange(1, 11), 5))

"""Reading SVMlight / LETOR text: against the slow twin, against scikit-learn, and option by option."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rankloom.data import sources
from rankloom.data.sources import zstd_module
from rankloom.data.text import read_text, read_text_and_base
from rankloom.errors import InputError
from twins import text_twin

LETOR = b"""\
# a comment line, and a blank one

2 qid:10 1:0.5 2:0 3:1e-3 #docid = GX000-00-0000000 inc = 1 prob = 0.0246906
0 qid:10 1:0.25 2:3 3:-2\t# docid=GX001
1 qid:11 3:7 1:4 # third one
0 qid:11
"""


def read(text: bytes, **options: object):
    return read_text(io.BytesIO(text), **options)


def dense(data) -> np.ndarray:
    table = data.X.toarray() if data.is_sparse else data.X
    return data.in_caller_order(table)


@pytest.fixture
def tiny_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 64 bytes, so that small texts cross many of their edges."""
    monkeypatch.setattr(sources, "BLOCK_BYTES", 64)


@pytest.mark.jit_free
def test_letor_by_hand() -> None:
    data = read(LETOR)
    assert data.y.tolist() == [2, 0, 1, 0]
    assert data.qids.tolist() == [10, 11]
    assert data.offsets.tolist() == [0, 2, 4]
    expected = [[0.5, 0, 1e-3], [0.25, 3, -2], [4, 0, 7], [0, 0, 0]]
    assert data.X.tolist() == np.array(expected, dtype=np.float32).tolist()
    assert list(data.doc_ids) == ["GX000-00-0000000", "GX001", "third", ""]
    assert list(data.comments) == [
        "docid = GX000-00-0000000 inc = 1 prob = 0.0246906",
        "docid=GX001",
        "third one",
        "",
    ]


def line_of(draw: st.DrawFn, with_qid: bool, number: st.SearchStrategy[str]) -> str:
    blank = st.sampled_from([" ", "  ", "\t", " \t "])
    indices = draw(st.lists(st.integers(0, 40), unique=True, max_size=12))
    if draw(st.booleans()):
        indices.sort()
    tokens = [draw(number)]
    tokens += [f"qid:{draw(st.integers(-3, 3))}"] if with_qid else []
    tokens += [f"{index}:{draw(number)}" for index in indices]
    comment = draw(st.sampled_from(["", "", "#", "# docid = a1", "#b2 x", " # é #2"]))
    end = draw(st.sampled_from(["\n", "\r\n", " \n", "\n\n", "\n# note\n"]))
    return "".join(token + draw(blank) for token in tokens[:-1]) + tokens[-1] + comment + end


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Well-formed text in all the ways in which it is written."""
    number = st.one_of(
        st.integers(-99999, 99999).map(str),
        st.floats(-1e30, 1e30).map(repr),
        st.floats(-1e3, 1e3).map(lambda v: f"{v:.6f}"),
        st.sampled_from(["+1", "1e5", ".5", "3.", "-0", "0.00001"]),
    )
    with_qid = draw(st.booleans())
    lines = [line_of(draw, with_qid, number) for _ in range(draw(st.integers(1, 8)))]
    text = "".join(lines)
    return (text.rstrip("\r\n") if draw(st.booleans()) else text).encode()


@pytest.mark.jit_free
@pytest.mark.bounds
@settings(max_examples=150)
@given(texts(), st.sampled_from([64, 100, 1 << 19]), st.sampled_from(["auto", "dense", "sparse"]))
def test_equal_to_the_twin(text: bytes, block: int, layout: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "BLOCK_BYTES", block)
        data = read(text, layout=layout, threads=2)
    rows = text_twin.parse(text)
    np.testing.assert_array_equal(dense(data), text_twin.table(rows))
    assert data.in_caller_order(data.y).tolist() == [row.label for row in rows]
    if rows[0].qid is not None:
        qids = np.repeat(data.qids, data.lengths)
        assert data.in_caller_order(qids).tolist() == [int(row.qid) for row in rows]
    comments = [row.comment or "" for row in rows]
    given_any = any(row.comment is not None for row in rows)
    assert (data.comments is not None) == given_any
    if given_any:
        assert data.in_caller_order(np.array(data.comments)).tolist() == comments
    assert layout == "auto" or data.is_sparse == (layout == "sparse")


@settings(max_examples=60)
@given(texts())
def test_equal_to_scikit_learn(text: bytes) -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    lines = [line for line in text.split(b"\n") if line.split(b"#")[0].split()]
    assume(all(_is_sorted(line) for line in lines))  # it refuses others
    theirs = datasets.load_svmlight_file(io.BytesIO(text), dtype=np.float32, query_id=b"qid:" in text)
    data = read(text)
    wanted = theirs[0].toarray()  # it gives a row without features one column
    assert not wanted[:, data.n_features :].any()
    np.testing.assert_array_equal(dense(data), wanted[:, : data.n_features])
    np.testing.assert_array_equal(data.in_caller_order(data.y), theirs[1])


def _is_sorted(line: bytes) -> bool:
    indices = [int(t.split(b":")[0]) for t in line.split(b"#")[0].split()[1:] if not t.startswith(b"qid")]
    return indices == sorted(indices)


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_compression_is_known_by_the_content(tmp_path: Path, suffix: str) -> None:
    compress = {
        "": bytes,
        ".gz": gzip.compress,
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
        ".zst": lambda raw: zstd_module().compress(raw),
    }[suffix]
    path = tmp_path / "data.bin"  # the name says nothing
    path.write_bytes(compress(LETOR))
    assert read_text(path) == read(LETOR)


def test_gzip_of_several_members(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(LETOR) + gzip.compress(LETOR))
    assert read_text(path) == read(LETOR + LETOR)


def test_standard_input_and_pipes(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.write(writing, LETOR)
    os.close(writing)
    with os.fdopen(reading, "r") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert read_text("-") == read(LETOR)


def test_several_files_are_one(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b.gz"
    first.write_bytes(b"1 qid:1 1:1")  # no newline at its end
    second.write_bytes(gzip.compress(b"0 qid:2 2:5\n0 qid:1 3:1\n"))
    data = read_text([first, str(second)])
    assert data == read(b"1 qid:1 1:1\n0 qid:2 2:5\n0 qid:1 3:1\n")
    assert data.order.tolist() == [0, 2, 1]


@pytest.mark.usefixtures("tiny_blocks")
def test_lines_longer_than_a_block() -> None:
    line = b"1 " + b" ".join(b"%d:%d" % (i, i) for i in range(1, 500)) + b"\n"
    data = read(line * 3 + b"2 1:1\n" + line)
    assert data.n_rows == 5
    assert data.X[0].tolist() == list(range(1, 500))
    assert data.X[4].tolist() == list(range(1, 500))


@pytest.mark.usefixtures("tiny_blocks")
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_same_for_any_number_of_threads(threads: int) -> None:
    rng = np.random.default_rng(7)
    lines = [f"{i % 3} qid:{i // 4} {i % 9 + 1}:{rng.random()} # d{i}\n" for i in range(300)]
    data = read("".join(lines).encode(), threads=threads)
    assert data == read("".join(lines).encode(), threads=1)
    assert list(data.doc_ids) == [f"d{i}" for i in range(300)]


def test_index_base() -> None:
    assert read(b"1 1:5 2:6\n").X.tolist() == [[5, 6]]
    assert read(b"1 0:5 2:6\n").X.tolist() == [[5, 0, 6]]
    assert read(b"1 1:5\n", index_base=0).X.tolist() == [[0, 5]]
    assert read(b"1 1:5\n", index_base=1).X.tolist() == [[5]]


@pytest.mark.usefixtures("tiny_blocks")
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_the_index_0_may_come_late(layout: str) -> None:
    text = b"1 1:5 2:7\n" * 40 + b"2 0:9\n" + b"3 2:1\n" * 40
    data = read(text, layout=layout)
    np.testing.assert_array_equal(dense(data), text_twin.table(text_twin.parse(text), base=0))


@pytest.mark.usefixtures("tiny_blocks")
def test_a_table_that_starts_full_and_ends_sparse() -> None:
    text = b"1 1:5 2:7 3:0\n" * 20 + b"2 100000:9\n" + b"3 2:1\n" * 20
    data = read(text)
    assert data.is_sparse
    assert data.n_features == 100_000
    np.testing.assert_array_equal(dense(data), text_twin.table(text_twin.parse(text)))


@pytest.mark.usefixtures("tiny_blocks")
def test_a_table_that_starts_sparse_and_ends_full() -> None:
    full = b" ".join(b"%d:%d" % (i, i) for i in range(1, 41))
    text = b"1 40:5\n" * 20 + b"".join(b"0 " + full + b"\n" for _ in range(60))
    data = read(text)
    assert not data.is_sparse
    np.testing.assert_array_equal(data.X, text_twin.table(text_twin.parse(text)))


def test_n_features_widens_and_the_largest_index_is_read() -> None:
    assert read(b"1 2:5\n", n_features=4).X.tolist() == [[0, 5, 0, 0]]
    data = read(b"1 2147483647:5\n")
    assert (data.n_features, data.columns.tolist()) == (2147483647, [2147483646])


def test_missing_and_infinite_values_where_asked_for() -> None:
    data = read(b"1 1:nan 2:NaN 3:-nan 4:1\n", allow_missing=True)
    assert np.isnan(data.X[0, :3]).all()
    data = read(b"1 1:inf 2:-Infinity 3:1\n", allow_infinite=True)
    assert data.X.tolist() == [[np.inf, -np.inf, 1]]


def test_unsorted_features_with_values_left_to_python() -> None:
    data = read(b"1 9:nan 3:1_0 7:2 1:1e-320\n", allow_missing=True, layout="dense", n_features=9)
    np.testing.assert_array_equal(data.X, [[0, 0, 10, 0, 0, 0, 2, 0, np.nan]])


def test_query_ids_of_every_kind() -> None:
    assert read(b"1 qid:+5 1:1\n0 qid:-5 1:2\n").qids.tolist() == [5, -5]
    assert read(b"1 qid:a 1:1\n0 qid:b:c 1:2\n").qids.tolist() == ["a", "b:c"]
    data = read(b"1 qid:007 1:1\n0 qid:x 1:2\n0 qid:7 1:3\n")
    assert (data.qids.tolist(), data.lengths.tolist()) == (["7", "x"], [2, 1])
    assert read(b"1 qid:123456789012345678901 1:1\n").qids.tolist() == ["123456789012345678901"]
    assert read(b"1 1:1\n0 1:2\n").offsets.tolist() == [0, 2]
    assert read(b"1 1:1 qid:4\n").qids.tolist() == [4]


@pytest.mark.usefixtures("tiny_blocks")
def test_query_ids_that_turn_into_texts_late() -> None:
    text = b"".join(b"1 qid:%d 1:1\n" % (i // 2) for i in range(60)) + b"0 qid:z 1:1\n0 qid:3 1:2\n"
    data = read(text)
    assert data.qids.tolist() == [str(i) for i in range(30)] + ["z"]
    assert data.lengths[3] == 3


def test_empty_rows_count() -> None:
    data = read(b"1\n0 \n2 # c\n")
    assert data.X.shape == (3, 0)
    assert data.y.tolist() == [1, 0, 2]


@pytest.mark.usefixtures("tiny_blocks")
def test_comments_that_start_late() -> None:
    data = read(b"1 1:1\n" * 50 + b"1 1:1 # last\n")
    assert list(data.doc_ids) == [""] * 50 + ["last"]


def test_doc_ids_by_every_spelling() -> None:
    comments = [
        "docid = A",
        "DocID=B x",
        "docid:C",
        "x docid =  D",
        "xdocid = E",
        "docid",
        "docid =",
        "  F G ",
        "",
    ]
    data = read("".join(f"1 1:1 #{c}\n" for c in comments).encode())
    assert list(data.doc_ids) == ["A", "B", "C", "D", "xdocid", "docid", "", "F", ""]


def test_a_byte_order_mark_is_skipped() -> None:
    assert read(b"\xef\xbb\xbf1 1:2\n").y.tolist() == [1]


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    path, seen = tmp_path / "a.gz", []
    path.write_bytes(gzip.compress(LETOR))
    read_text(path, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


@pytest.mark.parametrize(
    "options",
    [{"layout": "csr"}, {"index_base": 2}, {"index_base": True}, {"n_features": -1}, {"threads": 0}],
)
def test_options_that_do_not_exist(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        read(LETOR, **options)


def test_a_dense_table_larger_than_memory_is_refused() -> None:
    with pytest.raises(InputError, match=r"layout='dense' needs .* GiB .* use layout='sparse'"):
        read(b"1 2147483647:1\n" * 200, layout="dense")


def test_an_open_text_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(LETOR)
    with path.open() as file, pytest.raises(InputError, match="open it in binary mode"):
        read_text(file)


@pytest.mark.parametrize(("text", "base"), [(b"1 1:1\n0 2:1\n", 1), (b"1 1:1\n0 0:1\n", 0), (b"1\n", 1)])
def test_the_index_of_the_first_column_can_be_asked_for(text: bytes, base: int) -> None:
    data, found = read_text_and_base(io.BytesIO(text), layout="sparse")
    assert found == base
    assert data == read_text(io.BytesIO(text), layout="sparse")
    assert read_text_and_base(io.BytesIO(text), index_base=0)[1] == 0

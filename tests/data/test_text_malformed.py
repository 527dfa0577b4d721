"""Text that is wrong: each case says where and why; and whatever the bytes are, nothing worse happens."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.data import sources
from rankloom.data.sources import zstd_module
from rankloom.data.text import read_text
from rankloom.errors import InputError, ParseError, RankloomError
from twins.malformed import CASES, GOOD


@pytest.mark.jit_free
@pytest.mark.parametrize(("text", "line", "column", "reason"), CASES)
def test_place_and_reason(text: bytes, line: int, column: int, reason: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_text(io.BytesIO(text))
    error = caught.value
    assert (error.line, error.column) == (line, column), str(error)
    assert reason in error.reason
    assert str(error).startswith(f"<open file>:{line}:{column}: ")


def test_the_corpus_is_large_enough() -> None:
    assert len({text for text, *_ in CASES}) >= 40


@pytest.mark.parametrize(("text", "line", "column", "reason"), CASES[::4])
def test_the_place_is_the_same_in_later_blocks(
    monkeypatch: pytest.MonkeyPatch, text: bytes, line: int, column: int, reason: str
) -> None:
    before = b"1 1:5 2:6\n" if b"qid" not in text else GOOD
    if text.startswith((b"\xff", b"1 1:1\n1", b"1 1:1\n" + GOOD)):
        pytest.skip("wrong only at the start of the text")
    monkeypatch.setattr(sources, "BLOCK_BYTES", 64)
    with pytest.raises(ParseError) as caught:
        read_text(io.BytesIO(before * 100 + text), threads=2)
    assert (caught.value.line, caught.value.column) == (100 + line, column)


OPTION_CASES = [
    (b"1 1:1\n0 0:1\n", {"index_base": 1}, 2, 3, "the index 0 is below index_base=1"),
    (b"1 1:1\n0 4:1 3:1\n", {"n_features": 3}, 2, 3, "the index 4 is beyond n_features=3"),
    (b"1 0:1 3:1\n", {"n_features": 3}, 1, 7, "the index 3 is beyond n_features=3"),
]


@pytest.mark.parametrize(("text", "options", "line", "column", "reason"), OPTION_CASES)
def test_place_and_reason_with_options(
    text: bytes, options: dict[str, int], line: int, column: int, reason: str
) -> None:
    with pytest.raises(ParseError) as caught:
        read_text(io.BytesIO(text), **options)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert reason in caught.value.reason


def test_the_first_of_two_errors_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BLOCK_BYTES", 64)
    with pytest.raises(ParseError) as caught:
        read_text(io.BytesIO(b"1 1:1\n" * 30 + b"1 1:x\n" + b"1 1:1\n" * 30 + b"oh\n"), threads=2)
    assert caught.value.line == 31


def test_lines_are_counted_in_each_file(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"1 1:1\n" * 5)
    second.write_bytes(b"1 1:1\n1 1:?\n")
    with pytest.raises(ParseError, match=r"b:2:5: "):
        read_text([first, second])


@pytest.mark.parametrize("text", [b"", b"\n", b"# only a comment", b"\n\n  \r\n#x\n"])
def test_no_rows(text: bytes) -> None:
    with pytest.raises(ParseError, match="no rows"):
        read_text(io.BytesIO(text))


@pytest.mark.parametrize(
    "compress", [gzip.compress, bz2.compress, lzma.compress, lambda raw: zstd_module().compress(raw)]
)
def test_truncated_and_damaged_compressed_files(tmp_path: Path, compress) -> None:
    path, raw = tmp_path / "data", compress(b"".join(b"1 1:%d 2:0.%d\n" % (i, i * 7919) for i in range(5000)))
    path.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(ParseError, match="data: the compressed file ends in the middle"):
        read_text(path)
    damaged = bytearray(raw)
    damaged[len(raw) // 2 : len(raw) // 2 + 40] = bytes(40)
    path.write_bytes(damaged)
    with pytest.raises(ParseError, match="data"):
        read_text(path)


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such file"):
        read_text(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is a folder; give a file"):
        read_text(tmp_path)
    with pytest.raises(InputError, match="a source must be"):
        read_text([])
    with pytest.raises(InputError, match="a source must be"):
        read_text(5)


PIECES = [
    b"1",
    b"-1 ",
    b"qid:",
    b"qid:7 ",
    b"1:2 ",
    b"3:",
    b":",
    b" ",
    b"\n",
    b"#",
    b"\r\n",
    b".",
    b"e",
    b"nan",
    b"\x00",
]
PIECES += [
    b"0.5",
    b"1e5",
    b"99999999999999999999",
    b"\xff",
    b"docid = x",
    b"+",
    b"2:0.25\n",
    b"1 1:1\n",
    b"_",
]


@pytest.mark.bounds
@settings(max_examples=300)
@given(st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join)))
def test_any_bytes_give_data_or_a_clear_error(raw: bytes) -> None:
    for block in (64, 1 << 19):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sources, "BLOCK_BYTES", block)
            try:
                data = read_text(io.BytesIO(raw), allow_missing=True, threads=1)
            except RankloomError as error:
                assert str(error)  # noqa: PT017
            else:
                assert data.n_rows >= 1


@pytest.mark.bounds
@settings(max_examples=200)
@given(st.integers(0, 200), st.integers(0, 255), st.integers(0, 3))
def test_one_byte_changed_in_good_text(at: int, byte: int, copies: int) -> None:
    raw = bytearray(
        b"2 qid:10 1:0.5 2:0 30:1e-3 #docid = GX0\n0 qid:10 1:0.25 2:3 3:-2\t# x\n" * (copies + 1)
    )
    raw[at % len(raw)] = byte
    try:
        data = read_text(io.BytesIO(bytes(raw)), threads=1)
    except ParseError as error:
        assert error.line is not None  # noqa: PT017
    else:
        assert data.n_rows >= 1

"""Texts of rows and names of columns, from whatever form they come in."""

from __future__ import annotations

import numpy as np
import pytest

from rankloom.data.row_texts import decoded, gather_texts, names_of, same_texts, slice_texts, text_column
from rankloom.data.texts import Texts
from rankloom.errors import InputError

KINDS = {
    "strings": ["a", "ü", ""],
    "missing": ["a", "ü", None],
    "NaN": np.array(["a", "ü", float("nan")], dtype=object),
    "array": np.array(["a", "ü", ""]),
    "bytes": np.array([b"a", "ü".encode(), b""]),
    "objects that are bytes": np.array([b"a", "ü".encode(), b""], dtype=object),
    "variable strings": np.array(["a", "ü", ""], dtype=np.dtypes.StringDType()),
    "texts": Texts.from_strings(["a", "ü", ""]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_texts_of_any_kind(kind):
    texts = text_column(KINDS[kind], "doc_ids", 3)
    assert list(texts) == ["a", "ü", ""]
    assert all(isinstance(text, str) for text in texts)
    assert decoded(texts).tolist() == ["a", "ü", ""]
    assert list(gather_texts(texts, np.array([2, 0]))) == ["", "a"]
    assert list(slice_texts(texts, 1, 3)) == ["ü", ""]
    assert same_texts(texts, Texts.from_strings(["a", "ü", ""]))


def test_numbers_become_their_digits():
    assert list(text_column([7, 10], "doc_ids", 2)) == ["7", "10"]
    assert list(text_column(np.array([7, "x"], dtype=object), "doc_ids", 2)) == ["7", "x"]


def test_none_stays_none():
    assert (
        text_column(None, "doc_ids", 3)
        is gather_texts(None, np.array([0]))
        is slice_texts(None, 0, 1)
        is None
    )
    assert same_texts(None, None)
    assert not same_texts(None, ["a"])
    assert not same_texts(["a"], ["a", "b"])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([True, False], "must be texts, got bool"),
        (["a", True], "must be texts, got bool at row 1"),
        (np.array([0.5, 1]), "must be texts, got float64"),
        (["a"], "one value per row: X has 2 rows, doc_ids has 1"),
    ],
)
def test_what_is_no_text(values, message):
    with pytest.raises(InputError, match=message):
        text_column(values, "doc_ids", 2)


def test_names():
    assert names_of(["a", 1], 2) == ("a", "1")
    assert names_of(None, 2) is None
    assert names_of(iter("ab"), 2) == ("a", "b")
    with pytest.raises(InputError, match="a sequence of names, got int: 3"):
        names_of(3, 2)

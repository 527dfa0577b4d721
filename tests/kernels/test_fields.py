"""Fields of lines, their numbers, and equal texts, beside what Python makes of the same text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.data.fields import Content, read_numbers, split_lines
from rankloom.data.matching import first_place
from rankloom.data.texts import Texts
from rankloom.errors import ParseError

words = st.text("ab1.:#é", min_size=1, max_size=5)
blanks = st.text(" \t\r\f\v", min_size=1, max_size=3)


def content(text: str) -> Content:
    return Content(np.frombuffer(bytearray(text.encode()), dtype=np.uint8), "made.txt")


@st.composite
def lines_of(draw: st.DrawFn, n_fields: int) -> str:
    """Lines of so many fields, with blanks of all kinds and blank lines between them."""
    lines = []
    for _ in range(draw(st.integers(0, 8))):
        fields = draw(st.lists(words, min_size=n_fields, max_size=n_fields))
        line = "".join(draw(blanks) + field for field in fields)
        lines.append(draw(st.sampled_from([line, line.strip(), f"{line} ", " ", ""])))
    return "".join(line + "\n" for line in lines)


@pytest.mark.jit_free
@pytest.mark.bounds
@settings(max_examples=60)
@given(lines_of(3))
def test_fields_are_pythons(text: str) -> None:
    fields = split_lines(content(text), "one two three", ("three", "one"))
    wanted = [line.split() for line in text.split("\n")]
    assert list(fields.texts[0]) == [row[2] for row in wanted if row]
    assert list(fields.texts[1]) == [row[0] for row in wanted if row]
    assert fields.lines.tolist() == [number for number, row in enumerate(wanted, 1) if row]


@pytest.mark.jit_free
@pytest.mark.bounds
@pytest.mark.parametrize(
    ("text", "line", "got"),
    [("a b\n\na\n", 3, 1), ("a\n", 1, 1), ("a b\na b c\nx\n", 2, 3), ("\n a  b\tc d \n", 2, 4)],
)
def test_a_line_with_other_fields_is_named(text: str, line: int, got: int) -> None:
    with pytest.raises(
        ParseError, match=rf"made.txt:{line}: a line here has 2 fields \(one two\), got {got}"
    ):
        split_lines(content(text), "one two", ("one",))


def numbers_of(texts: list[str], **options: bool) -> list[float]:
    lines = np.arange(1, len(texts) + 1)
    return read_numbers(Texts.from_strings(texts), "the score", lines, "made.txt", **options).tolist()


GOOD = [
    *("0", "-0", "1", "+1.5", "-2.25e3", "1E-7", ".5", "5.", "0.1", "1e22", "1e-22", "1e23", "1e0005"),
    *("1e300", "1e-300", "4.9e-324", "9007199254740993", "123456789012345678", "12345678901234567890"),
    "00000000000000000001",
]


@pytest.mark.jit_free
@pytest.mark.bounds
@pytest.mark.parametrize("text", GOOD)
def test_numbers_are_pythons(text: str) -> None:
    found = numbers_of([text])
    assert found == [float(text)]
    assert np.signbit(found[0]) == np.signbit(float(text))


@settings(max_examples=200)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20),
    st.sampled_from(["r", ".6f", ".8g", "e"]),
)
def test_any_number_is_pythons(values: list[float], style: str) -> None:
    texts = [repr(value) if style == "r" else format(value, style) for value in values]
    assert numbers_of(texts) == [float(text) for text in texts]


@settings(max_examples=200)
@given(st.text("0123456789.eE+-_naif", min_size=1, max_size=9))
def test_what_is_no_number_is_refused(text: str) -> None:
    try:
        value = float(text) if "_" not in text else float("nan")
    except ValueError:
        value = float("nan")
    if np.isfinite(value):
        assert numbers_of([text]) == [value]
    else:
        with pytest.raises(ParseError, match=r"made.txt:2: the score must be a number, got"):
            numbers_of(["1", text])


def test_infinite_numbers_where_they_are_allowed() -> None:
    assert numbers_of(["inf", "-inf", "-Infinity"], infinite=True) == [np.inf, -np.inf, -np.inf]
    with pytest.raises(ParseError, match="got 'nan'"):
        numbers_of(["nan"], infinite=True)


@pytest.mark.jit_free
@pytest.mark.bounds
@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.text("ab", max_size=3)), max_size=40))
def test_first_places_are_a_dictionarys(entries: list[tuple[int, str]]) -> None:
    groups = np.array([group for group, _ in entries], dtype=np.int64)
    seen: dict[tuple[int, str], int] = {}
    wanted = [seen.setdefault(entry, place) for place, entry in enumerate(entries)]
    assert first_place(Texts.from_strings([text for _, text in entries]), groups).tolist() == wanted


def test_first_places_among_many() -> None:
    draw = np.random.default_rng(0)
    codes = draw.integers(0, 5000, 30_000)
    first = first_place(Texts.from_strings([f"doc-{code}" for code in codes]))
    _, positions, inverse = np.unique(codes, return_index=True, return_inverse=True)
    assert np.array_equal(first, positions[inverse])

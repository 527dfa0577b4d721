"""Decimal text of float32: it reads back as the same bits, and nothing shorter does."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.kernels.format import FEATURE_BYTES, SHORTEST, powers, write_rows
from twins.format_twin import rounded_text, shortest_text

BY_HAND = [
    (0.0, "0"),
    (-0.0, "-0"),
    (1.0, "1"),
    (-2.5, "-2.5"),
    (0.1, "0.1"),
    (100.0, "100"),
    (120.5, "120.5"),
    (0.0001, "0.0001"),
    (0.00009, "9e-5"),
    (1.5e-7, "1.5e-7"),
    (16777216.0, "16777216"),
    (33554432.0, "33554432"),
    (1e15, "1000000000000000"),
    (1e16, "1e16"),
    (-1.25e16, "-1.25e16"),
    (9.5367431640625e-07, "9.536743e-7"),  # 2^-20: the digits that tell it from its lower neighbour
    (1.1754943508222875e-38, "1.1754944e-38"),  # the least normal number
    (1.401298464324817e-45, "1e-45"),  # the least of all
    (3.4028234663852886e38, "3.4028235e38"),  # the largest
    (7.038530691851209e-26, "7.0385307e-26"),  # 7.038531e-26, read as float64, is rounded to its neighbour
    (float("nan"), "nan"),
    (float("inf"), "inf"),
    (float("-inf"), "-inf"),
]


def texts_of(values: object, decimals: int = SHORTEST) -> list[str]:
    """Each value as the one feature of a line."""
    array = np.array(values, dtype=np.float32)
    count = len(array)
    out = np.zeros(count * (FEATURE_BYTES + 1), dtype=np.uint8)
    nothing, ends = np.empty(0, np.uint8), np.zeros(count, np.int64)
    offsets = np.arange(count + 1, dtype=np.int64)
    settings_ = np.array([1, decimals, 0], np.int64)
    size = write_rows(
        array, np.empty(0, np.uint32), offsets, nothing, ends, nothing, ends, settings_, powers(), out
    )
    lines = out[:size].tobytes().decode().splitlines()
    assert all(line.startswith(" 1:") for line in lines)
    return [line[3:] for line in lines]


def from_bits(bits: object) -> np.ndarray:
    return np.array(bits, dtype=np.uint32).view(np.float32)


def assert_reads_back(values: np.ndarray) -> None:
    texts = texts_of(values)
    back = np.array([np.float32(text) for text in texts])
    wrong = np.flatnonzero(back.view(np.uint32) != values.view(np.uint32))
    assert not len(wrong), f"{values[wrong[0]]!r} was written as {texts[wrong[0]]}"


@pytest.mark.jit_free
@pytest.mark.bounds
@pytest.mark.parametrize(("value", "text"), BY_HAND)
def test_by_hand(value: float, text: str) -> None:
    assert texts_of([value]) == [text]


def test_powers_of_two_and_their_neighbours() -> None:
    """Where the gap to the lower neighbour is half that to the upper one, over all exponents."""
    starts = np.arange(1, 255, dtype=np.uint32) << 23
    values = from_bits(np.concatenate([starts - 1, starts, starts + 1]))
    assert texts_of(values) == [shortest_text(value) for value in values]
    assert_reads_back(values)


def test_subnormals() -> None:
    bits = np.unique(np.concatenate([np.arange(1, 2000), 2 ** np.arange(23), (1 << 23) - np.arange(1, 2000)]))
    values = from_bits(bits)
    assert texts_of(values) == [shortest_text(value) for value in values]
    assert_reads_back(values)


def test_random_bits_read_back() -> None:
    bits = np.random.default_rng(0).integers(0, 2**32, 300_000, dtype=np.uint32)
    values = from_bits(bits)
    assert_reads_back(values[np.isfinite(values)])


def test_random_numbers_are_as_short_as_numpys() -> None:
    draw = np.random.default_rng(1)
    values = np.concatenate([draw.normal(size=3000), 10 ** draw.uniform(-40, 38, 3000)]).astype(np.float32)
    assert texts_of(values) == [shortest_text(value) for value in values]


@pytest.mark.jit_free
@settings(max_examples=60)
@given(st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_any_number(values: list[float]) -> None:
    assert texts_of(values) == [shortest_text(np.float32(value)) for value in values]


@settings(max_examples=100)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=20), st.integers(0, 9))
def test_rounded_to_decimals(values: list[float], decimals: int) -> None:
    assert texts_of(values, decimals) == [rounded_text(np.float32(value), decimals) for value in values]


@pytest.mark.jit_free
@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.5, 0, "0"),  # half, to even
        (1.5, 0, "2"),
        (2.675, 2, "2.67"),  # the float32 lies below
        (-0.04, 1, "0"),
        (-0.05, 1, "-0.1"),  # the float32 lies above, in size
        (0.000005, 6, "0.000005"),
        (1e-9, 9, "0.000000001"),
        (123.25, 6, "123.25"),
        (1e20, 2, "1e20"),
    ],
)
def test_rounded_by_hand(value: float, decimals: int, text: str) -> None:
    assert texts_of([value], decimals) == [text]


def test_sixes_survive() -> None:
    """Six significant digits in, the same six out: float32 holds them."""
    draw = np.random.default_rng(2)
    texts = [f"{value:.6g}" for value in 10 ** draw.uniform(-4, 0, 5000)]
    kept = [text for text in texts if "e" not in text]
    assert texts_of([float(text) for text in kept]) == kept


@pytest.mark.bounds
def test_the_longest_line_fits() -> None:
    """Ten digits of index and the longest value, in a buffer of just the promised size."""
    count = 50
    values = np.full(count, -np.float32(1.2345678e15))
    columns = np.full(count, 2**31 - 2, dtype=np.uint32)
    out = np.zeros(count * FEATURE_BYTES + 6, dtype=np.uint8)
    head, tail = np.frombuffer(bytearray(b"123"), np.uint8), np.frombuffer(bytearray(b"#c"), np.uint8)
    size = write_rows(
        values, columns, np.array([0, count]), head, np.array([3]), tail, np.array([2]),
        np.array([1, SHORTEST, 0]), powers(), out,
    )  # fmt: skip
    line = out[:size].tobytes().decode()
    assert line == "123" + " 2147483647:-1234567800000000" * count + "#c\n"
    assert size == len(out)


@pytest.mark.bounds
@pytest.mark.parametrize("value", [-1.2345678e-38, -1.2345678e-45, -1.2345678e38, -8388607.5, -0.00012345678])
def test_no_value_is_longer_than_promised(value: float) -> None:
    for decimals in (SHORTEST, 9):
        assert len(texts_of([value], decimals)[0]) <= FEATURE_BYTES - len(" 2147483647:")


@pytest.mark.parametrize("nearer", [False, True])
def test_the_table_of_powers(nearer: bool) -> None:
    """10^k is at most as wide as the interval, 10^(k+1) wider; g * 2^(shift - q - 64) is 10^-k, or above."""
    exponents, shifts, tens = powers()
    for biased in range(1, 255):
        row = biased + 256 * nearer
        k, q = int(exponents[row]), biased - 150
        width = Fraction(2) ** q * (Fraction(3, 4) if nearer else 1)
        assert Fraction(10) ** k <= width < Fraction(10) ** (k + 1)
        assert 2**63 <= int(tens[row]) < 2**64
        given = Fraction(int(tens[row])) * Fraction(2) ** (int(shifts[row]) - q - 64)
        error = given / Fraction(10) ** -k - 1
        assert 0 < error <= Fraction(1, 2**63)
        assert 4 * (2**24) << int(shifts[row]) < 2**32

"""Numbers in text: every float32 is the one that NumPy gives for the same characters."""

from __future__ import annotations

import io
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.data.text import read_text


def read_values(tokens: list[str]) -> np.ndarray:
    """Each token as the one feature of a row."""
    lines = "".join(f"1 1:{token}\n" for token in tokens)
    data = read_text(io.BytesIO(lines.encode()), layout="dense", n_features=1, threads=1)
    return data.X[:, 0]


def read_labels(tokens: list[str]) -> np.ndarray:
    return read_text(io.BytesIO("".join(f"{token} 1:1\n" for token in tokens).encode())).y


def numpy_values(tokens: list[str]) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.array([np.float32(token) for token in tokens])


def assert_same_bits(tokens: list[str]) -> None:
    got, wanted = read_values(tokens), numpy_values(tokens)
    different = np.flatnonzero(got.view(np.uint32) != wanted.view(np.uint32))
    assert not len(different), (
        f"{tokens[different[0]]}: got {got[different[0]]!r}, NumPy {wanted[different[0]]!r}"
    )


BY_HAND = [
    ("0", 0.0),
    ("-0", -0.0),
    ("+7", 7.0),
    ("007", 7.0),
    (".5", 0.5),
    ("5.", 5.0),
    ("-.25", -0.25),
    ("+.25e1", 2.5),
    ("1e2", 100.0),
    ("1E-2", 0.01),
    ("1e+02", 100.0),
    ("16777217", 16777216.0),  # 2^24 + 1 lies between two float32, ties to even
    ("16777219", 16777220.0),
    ("0.1", 0.10000000149011612),
    ("1e-45", 1.401298464324817e-45),  # the least float32 above 0
    ("7e-46", 0.0),  # under half of it
    ("3.4028235e38", 3.4028234663852886e38),  # the largest float32
    ("1_000.5", 1000.5),  # as Python reads it
    ("00000000000000000000000000000001.5", 1.5),
    ("0.00000000000000000000000000000000000000000000000000", 0.0),
    ("123456789012345678901234567890e-20", 1234567890.1234567),
    ("0e999999", 0.0),
    ("1e-99999", 0.0),
]


@pytest.mark.jit_free
@pytest.mark.parametrize(("token", "value"), BY_HAND)
def test_numbers_by_hand(token: str, value: float) -> None:
    got = read_values([token])[0]
    assert got == np.float32(value)
    assert np.signbit(got) == np.signbit(value)


@pytest.mark.bounds
@settings(max_examples=40)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=200), st.integers(1, 20))
def test_any_float32_printed_with_any_digits(bits: list[int], digits: int) -> None:
    values = np.array(bits, dtype=np.uint32).view(np.float32)
    values = values[np.isfinite(values) & (np.abs(values) < 1e38)]
    assert_same_bits([f"{float(v):.{digits}g}" for v in values])


@settings(max_examples=40)
@given(st.lists(st.floats(-1e38, 1e38), min_size=1, max_size=200), st.integers(0, 25))
def test_any_float64_printed_in_any_way(values: list[float], places: int) -> None:
    small = [v for v in values if abs(v) < 1e9]
    assert_same_bits([repr(v) for v in values] + [f"{v:.{places}e}" for v in values])
    assert_same_bits([f"{v:.{places}f}" for v in small] or ["0"])


@settings(max_examples=60)
@given(st.lists(st.integers(1, 2**31 - 2**24), min_size=1, max_size=50), st.integers(-1, 1))
def test_halfway_between_two_float32(bits: list[int], nudge: int) -> None:
    """The hardest numbers: exactly between two float32, in all their digits, or a last digit beside."""
    low = np.array(bits, dtype=np.uint32).view(np.float32)
    high = (np.array(bits, dtype=np.uint32) + np.uint32(1)).view(np.float32)
    finite = np.isfinite(low) & np.isfinite(high)
    halves = [
        (Decimal(float(a)) + Decimal(float(b))) / 2 for a, b in zip(low[finite], high[finite], strict=True)
    ]
    tokens = []
    for half in halves:
        digits = half.as_tuple()
        number = int("".join(map(str, digits.digits))) * 10 + nudge
        tokens.append(f"{number}e{int(digits.exponent) - 1}")
        tokens.append(f"{half:f}")
    with np.errstate(over="ignore"):
        assert_same_bits([token for token in tokens if np.isfinite(np.float32(token))] or ["0"])


NUMBER = st.from_regex(r"\A[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,2})?\Z")


@settings(max_examples=100)
@given(st.lists(NUMBER, min_size=1, max_size=50))
def test_any_number_of_the_grammar(tokens: list[str]) -> None:
    tokens = [t for t in tokens if abs(float(t)) < 3e38]
    assert_same_bits(tokens or ["0"])
    assert read_labels(tokens or ["0"]).tolist() == [float(t) for t in tokens or ["0"]]


def test_each_number_of_digits_before_and_after_the_dot() -> None:
    digits = "9876543210123456789012345"
    tokens = [f"{digits[:n]}.{digits[-m:]}" for n in range(1, 22) for m in range(1, 22)]
    assert_same_bits(tokens + [f"-{t}" for t in tokens] + [digits[:n] for n in range(1, 25)])

"""splitmix64 against its reference, and what is drawn from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankloom.kernels.random import GOLDEN, mix, next_below, next_uint64, next_unit
from twins.resampling_twin import splitmix64

pytestmark = pytest.mark.jit_free


def a_state(seed: int) -> np.ndarray:
    return np.array([seed], dtype=np.uint64)


def test_the_reference_outputs() -> None:
    state = a_state(1234567)
    assert [int(next_uint64(state)) for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@given(st.integers(0, 2**64 - 1), st.integers(1, 50))
def test_the_state_moves_by_a_constant_so_that_places_in_the_stream_are_known(seed: int, draws: int) -> None:
    state = a_state(seed)
    outputs = [int(next_uint64(state)) for _ in range(draws)]
    assert outputs == [splitmix64(seed, draw) for draw in range(1, draws + 1)]
    assert int(state[0]) == (seed + draws * int(GOLDEN)) % 2**64
    assert int(mix(state[0])) == outputs[-1]


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**32))
def test_next_below_scales_the_top_half_of_a_draw(seed: int, n: int) -> None:
    drawn = int(next_below(a_state(seed), n))
    assert drawn == (splitmix64(seed, 1) >> 32) * n >> 32
    assert 0 <= drawn < n


@given(st.integers(0, 2**64 - 1))
def test_next_unit_is_the_top_53_bits(seed: int) -> None:
    drawn = float(next_unit(a_state(seed)))
    assert drawn == (splitmix64(seed, 1) >> 11) / 2**53
    assert 0 <= drawn < 1


def test_the_ends_of_the_ranges_are_reached() -> None:
    """A seed whose next output is all ones, and one whose next output is 0."""
    for output, below, unit in ((2**64 - 1, 2**32 - 1, 1 - 2**-53), (0, 0, 0.0)):
        seed = unmix(output) - int(GOLDEN)
        assert int(next_below(a_state(seed % 2**64), 2**32)) == below
        assert float(next_unit(a_state(seed % 2**64))) == unit


def unmix(output: int) -> int:
    """The state that `mix` makes into this output: each of its steps undone, last first."""
    z, modulus = output, 2**64
    z ^= (z >> 31) ^ (z >> 62)
    z = z * pow(0x94D049BB133111EB, -1, modulus) % modulus
    z ^= (z >> 27) ^ (z >> 54)
    z = z * pow(0xBF58476D1CE4E5B9, -1, modulus) % modulus
    z ^= (z >> 30) ^ (z >> 60)
    return z


@pytest.mark.parametrize("n", [2, 3, 7, 10])
def test_next_below_is_uniform(n: int) -> None:
    """6,000 draws with a fixed seed; a fair generator fails in one seed of a thousand."""
    state = a_state(n)
    counts = np.bincount([int(next_below(state, n)) for _ in range(6000)], minlength=n)
    assert len(counts) == n
    assert stats.chisquare(counts).pvalue > 1e-3


def test_next_unit_is_uniform() -> None:
    state = a_state(5)
    drawn = [float(next_unit(state)) for _ in range(3000)]
    assert stats.kstest(drawn, "uniform").pvalue > 1e-3


def test_one_kernel_for_every_state() -> None:
    """Called with the state as always, each draws under one signature (or none, as plain Python)."""
    next_uint64(a_state(1))
    next_unit(a_state(1))
    for function in (next_uint64, next_unit):
        assert len(getattr(function, "signatures", [()])) == 1

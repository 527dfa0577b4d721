"""splitmix64: random numbers from one uint64 of state, the same bits everywhere and for any thread count.

    state_i = seed + i * 0x9E3779B97F4A7C15            (mod 2^64)
    output  = mix(state_i)

The state after i draws is known without drawing them, so a block of work takes its own place in the stream
(Steele, Lea & Flood, 2014, "Fast splittable pseudorandom number generators").

A kernel keeps its state in an array of one uint64: `state = np.array([seed], dtype=np.uint64)`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_TO_UNIT = 1.0 / 9007199254740992.0  # 2^-53


@kernel(inline=True, allocates=False)
def mix(z: Any) -> Any:
    """Scramble one uint64 into another; a bijection."""
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@kernel(inline=True, allocates=False)
def next_uint64(state: NDArray[np.uint64]) -> Any:
    """The next uint64; moves the state on by one."""
    state[0] += GOLDEN
    return mix(state[0])


@kernel(inline=True, allocates=False)
def next_unit(state: NDArray[np.uint64]) -> Any:
    """The next float64 in [0, 1), a multiple of 2^-53."""
    return np.float64(next_uint64(state) >> np.uint64(11)) * _TO_UNIT


@kernel(inline=True, allocates=False)
def next_below(state: NDArray[np.uint64], n: Any) -> Any:
    """The next integer in [0, n), 1 <= n <= 2^32, by multiply and shift of the top 32 bits.

    A value's probability differs from 1/n by less than 2^-32.
    """
    return ((next_uint64(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)

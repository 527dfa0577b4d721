"""Scores of a plain net: layers of sums, each but the last through relu or tanh.

    h_0 = (x - center) / scale        h_l = f(W_l^T h_(l-1) + b_l)        score = W_L^T h_(L-1) + b_L

A row's score depends on nothing but the row: the same bits wherever it stands. The inner loop runs along the
outputs of a layer, so that it is vectorised with its sums in order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel

RELU, TANH = range(2)


@kernel
def score_net(
    values: NDArray[np.float32],
    center: NDArray[np.float64],
    scale: NDArray[np.float64],
    sizes: NDArray[np.int64],
    weights: NDArray[np.float64],
    activation: int,
    scores: NDArray[np.float64],
) -> None:
    """Fill `scores`. Layer l takes sizes[l] numbers to sizes[l + 1]; `weights` is W_1, b_1, W_2, b_2, ...

    one after the other, each W with one row per input.
    """
    widest = 1
    for layer in range(len(sizes)):
        widest = max(widest, sizes[layer])
    own, after = np.empty(widest), np.empty(widest)
    last = len(sizes) - 2
    for row in range(len(values)):
        for j in range(sizes[0]):
            own[j] = (np.float64(values[row, j]) - center[j]) / scale[j]
        start = 0
        for layer in range(len(sizes) - 1):
            n_in, n_out = sizes[layer], sizes[layer + 1]
            bias = weights[start + n_in * n_out : start + (n_in + 1) * n_out]
            out = after[:n_out]
            out[:] = bias
            for i in range(n_in):
                amount = own[i]
                if amount == 0.0:
                    continue
                to = weights[start + i * n_out : start + (i + 1) * n_out]
                for o in range(n_out):
                    out[o] += amount * to[o]
            if layer < last:
                for o in range(n_out):
                    if activation == TANH:
                        out[o] = np.tanh(out[o])
                    elif out[o] < 0.0:
                        out[o] = 0.0
            own, after = after, own
            start += (n_in + 1) * n_out
        scores[row] = own[0]

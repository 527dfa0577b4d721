"""A net and its training, the slow way: NumPy layer by layer, and PyTorch's own gradient of all pairs."""

from __future__ import annotations

import numpy as np


def scores(model, X):
    """Every layer as its formula says."""
    h = (np.asarray(X, dtype=np.float64) - model.center) / model.scale
    for place, (weights, biases) in enumerate(model.layers, start=1):
        h = h @ weights + biases
        if place < len(model.layers):
            h = np.maximum(h, 0.0) if model.activation == "relu" else np.tanh(h)
    return h[:, 0]


def ranknet_cost(torch, scores, first, second, probability, sigma):
    """C = -Pbar log P - (1 - Pbar) log(1 - P), pair by pair."""
    cost = 0.0
    for i, j, wanted in zip(first, second, probability, strict=True):
        gap = sigma * (scores[i] - scores[j])
        cost = cost - wanted * torch.nn.functional.logsigmoid(gap)
        cost = cost - (1.0 - wanted) * torch.nn.functional.logsigmoid(-gap)
    return cost

"""The best combination of two rankings, the slow way: measure between all crossings."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np

import rankloom as rl


def crossings(a, b, qid):
    """Every alpha within 0 and 1 at which two rows of a query have equal scores, from their lines."""
    found = {0.0, 1.0}
    for i, j in combinations(range(len(a)), 2):
        if qid[i] != qid[j] or a[i] - b[i] == a[j] - b[j]:
            continue
        alpha = (b[j] - b[i]) / ((a[i] - b[i]) - (a[j] - b[j]))
        if 0.0 < alpha < 1.0:
            found.add(float(alpha))
    return sorted(found)


def curve(a, b, y, qid, measure, ids=None):
    """(low, high, value) of every gap between crossings that floats can tell apart."""
    edges = crossings(a, b, qid)
    gaps = [(low, high) for low, high in pairwise(edges) if high - low > 1e-9]
    return [(low, high, value_at((low + high) / 2, a, b, y, qid, measure, ids)) for low, high in gaps]


def value_at(alpha, a, b, y, qid, measure, ids=None):
    """The measure at one alpha."""
    scores = alpha * np.asarray(a) + (1.0 - alpha) * np.asarray(b)
    return rl.evaluate(scores, y, qid=qid, measures=measure, doc_ids=ids)[measure]

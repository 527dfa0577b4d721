"""Every measure the slow and obvious way: sort with Python, walk the list, average over all orders of ties.

`value(name, labels, scores, **convention)` is the twin of one query; None where the measure is not defined.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

USUAL: dict[str, Any] = {
    "k": None,
    "gain": "exp2",
    "discount": "log2",
    "ties": "file",
    "relevant": lambda label: label > 0,
    "denominator": "relevant",
    "short": "truncate",
    "max_grade": 4.0,
    "ids": None,
}


def value(name: str, labels: Sequence[float], scores: Sequence[float], **told: Any) -> float | None:
    """One query's value: the mean over the orders that the tie rule leaves open."""
    how = {**USUAL, **told}
    if name in ("pairwise", "tau"):
        return PAIRS[name](labels, scores, how)
    found = [of_list(name, order, how) for order in orders(labels, scores, how)]
    return None if found[0] is None else sum(found) / len(found)


def orders(labels: Sequence[float], scores: Sequence[float], how: dict[str, Any]) -> Iterator[list[float]]:
    """The lists of labels, best score first, that the rule takes as the ranking: one, or one per order of
    ties.
    """
    rows = sorted(range(len(labels)), key=lambda row: -scores[row])
    groups = [list(group) for _, group in itertools.groupby(rows, key=lambda row: scores[row])]
    if how["ties"] == "average":
        for choice in itertools.product(*map(itertools.permutations, groups)):
            yield [labels[row] for row in itertools.chain(*choice)]
        return
    within = {
        "file": lambda row: row,
        "pessimistic": lambda row: labels[row],
        "optimistic": lambda row: -labels[row],
    }
    if how["ties"] == "docid":
        for group in groups:
            group.sort(key=lambda row: how["ids"][row], reverse=True)
    else:
        for group in groups:
            group.sort(key=within[how["ties"]])
    yield [labels[row] for row in itertools.chain(*groups)]


def of_list(name: str, ranked: list[float], how: dict[str, Any]) -> float | None:
    """A measure of one list of labels in ranked order."""
    k = len(ranked) if how["k"] is None else how["k"]
    result = LISTS[name](ranked, k, how)
    return 0.0 if result is not None and how["short"] == "zero" and len(ranked) < k else result


def gain(label: float, how: dict[str, Any]) -> float:
    if isinstance(how["gain"], tuple):
        return how["gain"][int(max(label, 0))]
    if label <= 0:
        return 0.0
    return label if how["gain"] == "linear" else 2.0**label - 1.0


def discount(place: int, how: dict[str, Any]) -> float:
    return 1 / math.log2(place + 1) if how["discount"] == "log2" else 1 / math.log2(max(2, place))


def dcg(ranked: list[float], k: int, how: dict[str, Any]) -> float:
    return sum(gain(label, how) * discount(i, how) for i, label in enumerate(ranked[:k], start=1))


def ndcg(ranked: list[float], k: int, how: dict[str, Any]) -> float | None:
    best = dcg(sorted(ranked, reverse=True), k, how)
    return dcg(ranked, k, how) / best if best > 0 else None


def mean_ndcg(ranked: list[float], k: int, how: dict[str, Any]) -> float | None:
    depth = min(k, len(ranked))
    values = [ndcg(ranked, i, how) for i in range(1, depth + 1)]
    return None if values[0] is None else sum(values) / depth


def average_precision(ranked: list[float], k: int, how: dict[str, Any]) -> float | None:
    hits = [how["relevant"](label) for label in ranked]
    if not any(hits):
        return None
    total = sum(sum(hits[:i]) / i for i in range(1, min(k, len(hits)) + 1) if hits[i - 1])
    parts = {"relevant": sum(hits), "reachable": min(sum(hits), k), "found": sum(hits[:k])}
    return total / parts[how["denominator"]] if parts[how["denominator"]] else 0.0


def reciprocal_rank(ranked: list[float], k: int, how: dict[str, Any]) -> float | None:
    if not any(how["relevant"](label) for label in ranked):
        return None
    return next((1 / i for i, label in enumerate(ranked[:k], start=1) if how["relevant"](label)), 0.0)


def err(ranked: list[float], k: int, how: dict[str, Any]) -> float | None:
    if max(ranked) <= 0:
        return None
    total, reading = 0.0, 1.0
    for i, label in enumerate(ranked[:k], start=1):
        top = how["max_grade"] if how["gain"] == "linear" else 2.0 ** how["max_grade"]
        stops = gain(label, how) / top
        total += reading * stops / i
        reading *= 1 - stops
    return total


def precision(ranked: list[float], k: int, how: dict[str, Any]) -> float | None:
    if not any(how["relevant"](label) for label in ranked):
        return None
    seen = ranked[:k]
    return sum(how["relevant"](label) for label in seen) / (k if how["short"] == "pad" else len(seen))


def recall(ranked: list[float], k: int, how: dict[str, Any]) -> float | None:
    relevant = sum(how["relevant"](label) for label in ranked)
    return sum(how["relevant"](label) for label in ranked[:k]) / relevant if relevant else None


def auc(ranked: list[float], k: int, how: dict[str, Any]) -> float | None:
    cut = [float(how["relevant"](label)) for label in ranked]
    pairs = list(itertools.combinations(cut, 2))
    different = sum(a != b for a, b in pairs)
    return sum(a > b for a, b in pairs) / different if different else None


def pairwise(labels: Sequence[float], scores: Sequence[float], how: dict[str, Any]) -> float | None:
    """Counts every pair of rows."""
    credit = {"average": 0.5, "pessimistic": 0.0, "optimistic": 1.0}
    right = wanted = 0.0
    for i, j in itertools.permutations(range(len(labels)), 2):
        if labels[i] <= labels[j]:
            continue
        wanted += 1
        if scores[i] > scores[j]:
            right += 1
        elif scores[i] == scores[j]:
            if how["ties"] in credit:
                right += credit[how["ties"]]
            else:
                right += i < j if how["ties"] == "file" else how["ids"][i] > how["ids"][j]
    return right / wanted if wanted else None


def tau(labels: Sequence[float], scores: Sequence[float], how: dict[str, Any]) -> float | None:
    """Kendall's tau-b by its definition; 0 where all scores are equal."""

    def sign(x: float) -> int:
        return (x > 0) - (x < 0)

    pairs = list(itertools.combinations(range(len(labels)), 2))
    agree = sum(sign(labels[i] - labels[j]) * sign(scores[i] - scores[j]) for i, j in pairs)
    by_label = sum(labels[i] != labels[j] for i, j in pairs)
    by_score = sum(scores[i] != scores[j] for i, j in pairs)
    if not by_label:
        return None
    return agree / math.sqrt(by_label * by_score) if by_score else 0.0


LISTS = {
    "ndcg": ndcg,
    "dcg": dcg,
    "mean-ndcg": mean_ndcg,
    "map": average_precision,
    "mrr": reciprocal_rank,
    "err": err,
    "p": precision,
    "r": recall,
    "auc": auc,
}
PAIRS = {"pairwise": pairwise, "tau": tau}

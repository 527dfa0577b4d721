"""What each measure can be told, and what each tool tells it: the conventions, by name.

A convention says, for one measure:

    gain         what a label is worth: "exp2" is 2^y - 1, "linear" is y, a tuple is a table: gain of label 0,
    1, 2, ... discount     what rank i is worth: "log2" is 1/log2(i + 1), "letor" is 1/log2(max(2, i)) ties
    who comes first among equal scores: "file", "average", "pessimistic", "optimistic", "docid" empty
    what a query counts as where the measure is not defined: 0, 1, or "skip" threshold    which labels are
    relevant: ">0", ">0.5", ">=1", ... denominator  what average precision is divided by: "relevant" rows,
    "reachable" ones (at most k), or "found" ones short        lists of fewer than k rows: "truncate" k to the
    list, "pad" it with rows of no relevance, or "zero" max_grade    the highest label there can be (ERR) bins
    how many bins a reliability curve has, and binning      whether they have equal "width" or hold equal
    "mass"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GRADED = ("gain", "discount", "ties", "empty", "short")
BINARY = ("threshold", "ties", "empty", "short")

# Every measure, and the fields that mean something for it.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "ndcg": GRADED,
    "dcg": ("gain", "discount", "ties", "short"),
    "mean-ndcg": ("gain", "discount", "ties", "empty"),
    "map": (*BINARY, "denominator"),
    "mrr": BINARY,
    "err": ("gain", "max_grade", "ties", "empty", "short"),
    "p": BINARY,
    "r": BINARY,
    "pairwise": ("ties", "empty"),
    "tau": ("empty",),
    "auc": ("threshold", "ties", "empty"),
    "auc-loss": ("threshold", "ties", "empty"),
    "mse": (),
    "logloss": ("threshold",),
    "ece": ("threshold", "bins", "binning"),
}
WITH_CUTOFF = ("ndcg", "dcg", "mean-ndcg", "map", "mrr", "err", "p", "r")
NEEDS_CUTOFF = ("p", "r")
PAIRS = ("pairwise", "tau", "auc", "auc-loss")
POINTS = ("mse", "logloss", "ece")
LOSSES = ("auc-loss", "mse", "logloss", "ece")

# How people and ir_measures write them, in lower case.
ALIASES: Mapping[str, str] = {
    "ap": "map",
    "rr": "mrr",
    "precision": "p",
    "recall": "r",
    "meanndcg": "mean-ndcg",
    "mean_ndcg": "mean-ndcg",
    "pairwise-accuracy": "pairwise",
    "pairwise_accuracy": "pairwise",
    "kendall": "tau",
    "tau-b": "tau",
    "auc_loss": "auc-loss",
    "log-loss": "logloss",
    "log_loss": "logloss",
}

# What holds in every preset unless it says otherwise.
_COMMON: Mapping[str, Any] = {
    "gain": "exp2",
    "discount": "log2",
    "ties": "file",
    "empty": 0,
    "threshold": ">0",
    "denominator": "relevant",
    "short": "truncate",
    "max_grade": 4.0,
    "bins": 10,
    "binning": "width",
}

# What holds for a measure in every preset unless the preset says otherwise for that very measure.
# Pairs: a tie is half a pair, as every AUC has it; a query without a pair says nothing. Probabilities: labels
# as given.
_MEASURE: Mapping[str, Mapping[str, Any]] = {
    "pairwise": {"ties": "average", "empty": "skip"},
    "tau": {"empty": "skip"},
    "auc": {"ties": "average", "empty": "skip"},
    "auc-loss": {"ties": "average", "empty": "skip"},
    "logloss": {"threshold": None},
    "ece": {"threshold": None},
}

# Each preset: fields for all its measures (under ""), then the measures it covers with what is special about
# them.
PRESETS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "burges": {"": {}, **{name: {} for name in FIELDS}},
    "letor3": {
        "": {"discount": "letor", "threshold": ">=1", "short": "zero"},
        "ndcg": {},
        "map": {"short": "truncate"},
        "p": {},
    },
    "letor4": {
        "": {"discount": "letor", "threshold": ">=1", "short": "zero"},
        "ndcg": {},
        "mean-ndcg": {},
        "map": {"short": "truncate"},
        "p": {"short": "pad"},
    },
    "mslr": {
        "": {"discount": "letor", "threshold": ">=2", "short": "zero"},
        "ndcg": {},
        "mean-ndcg": {},
        "map": {"short": "truncate"},
        "p": {"short": "pad"},
    },
    "yahoo": {"": {}, "ndcg": {}, "err": {}},
    "lightgbm": {
        "": {"empty": 1, "threshold": ">0.5"},
        "ndcg": {},
        "map": {"denominator": "reachable"},
        "auc": {"threshold": ">0"},
    },
    "xgboost": {
        "": {"empty": 1},
        "ndcg": {},
        "map": {"denominator": "reachable"},
        "p": {"empty": 0},
        "auc": {},
    },
    "xgboost-": {"": {}, "ndcg": {}, "map": {"denominator": "reachable"}, "p": {}},
    "catboost": {
        "": {"gain": "linear", "ties": "pessimistic", "threshold": ">0.5"},
        "ndcg": {"empty": 1},
        "dcg": {},
        "map": {"denominator": "reachable"},
        "mrr": {},
        "err": {"max_grade": 1.0},
        "p": {},
        "r": {"empty": 1},
        "pairwise": {"empty": 0},
        "auc": {"empty": 0},
    },
    "trec": {
        "": {"gain": "linear", "ties": "docid", "threshold": ">=1", "short": "pad"},
        "ndcg": {},
        "map": {},
        "mrr": {},
        "err": {"gain": "exp2"},
        "p": {},
        "r": {},
    },
    "sklearn": {
        "": {"gain": "linear", "ties": "average"},
        "ndcg": {},
        "dcg": {},
        "auc": {},
        "mse": {},
        "logloss": {},
    },
    "ranx": {
        "": {"gain": "linear", "threshold": ">=1", "short": "pad"},
        "ndcg": {},
        "map": {},
        "mrr": {},
        "p": {},
        "r": {},
    },
}
DEFAULT = "burges"


def convention(measure: str, preset: str) -> dict[str, Any]:
    """The fields of a measure under a preset that covers it."""
    table = PRESETS[preset]
    merged = {**_COMMON, **table[""], **_MEASURE.get(measure, {}), **table[measure]}
    return {field: merged[field] for field in FIELDS[measure]}

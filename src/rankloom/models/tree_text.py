"""LightGBM's model text: brought to one form, and looked through before LightGBM reads it.

LightGBM follows the numbers of a text wherever they lead, and those of a damaged one out of its memory. So
every tree is seen to be one first: each node and each leaf is reached exactly once, from a node before it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_END = "end of trees"
_AVERAGE = "average_output"
_PER_SPLIT = (
    "split_feature",
    "split_gain",
    "threshold",
    "decision_type",
    "left_child",
    "right_child",
    "internal_value",
    "internal_weight",
    "internal_count",
)
_PER_LEAF = ("leaf_value", "leaf_weight", "leaf_count")
_CATEGORICAL = 1


class Forest(NamedTuple):
    """What a text holds: `text` is in the one form, the same for the same trees."""

    text: str
    n_features: int
    n_trees: int
    averaged: bool
    names: tuple[str, ...] | None
    counts: NDArray[np.int64]
    gains: NDArray[np.float64]


def read_forest(text: str) -> Forest:
    """The trees of a LightGBM model text; a ValueError says what is wrong with it.

    The objective and the training parameters are left out of `text`: scores need neither.
    """
    head, *blocks = _trees_of(text)
    header = _entries(head)
    for name in ("num_class", "num_tree_per_iteration"):
        if header.get(name) != "1":
            raise ValueError(f"{name} must be 1, got {header.get(name)!r:.40}: one score a row")
    last = _whole(header, "max_feature_idx", 0, 2**31 - 2)
    counts, gains = np.zeros(last + 1, dtype=np.int64), np.zeros(last + 1)
    for number, block in enumerate(blocks):
        try:
            features, gained = _checked_tree(_entries(block), last + 1)
        except ValueError as error:
            raise ValueError(f"tree {number}: {error}") from error
        counts += np.bincount(features, minlength=last + 1)
        gains += np.bincount(features, gained, minlength=last + 1)
    averaged = _AVERAGE in head.split("\n")
    one_form = _joined(last + 1, averaged, blocks)
    return Forest(one_form, last + 1, len(blocks), averaged, _names(header, last + 1), counts, gains)


def _trees_of(text: str) -> list[str]:
    """The header, and the lines of each tree."""
    body, end, _ = text.partition(f"\n{_END}")
    if not end or not body.startswith("tree\n"):
        raise ValueError(f"it must begin with 'tree' and have '{_END}'")
    head, *blocks = body.split("\nTree=")
    if not blocks:
        raise ValueError("it has no tree")
    trees = []
    for place, block in enumerate(blocks):
        number, _, lines = block.partition("\n")
        if number != str(place):
            raise ValueError(f"tree {place} is called {number!r:.40}")
        trees.append(lines.strip("\n"))
    return [head, *trees]


def _joined(n_features: int, averaged: bool, blocks: list[str]) -> str:
    head = [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={n_features - 1}",
        *([_AVERAGE] if averaged else []),
        "feature_names=" + " ".join(f"Column_{place}" for place in range(n_features)),
        "feature_infos=" + " ".join(["none"] * n_features),
    ]
    trees = [f"Tree={number}\n{block}\n\n" for number, block in enumerate(blocks)]
    return "\n".join([*head, "", *trees, _END, "", ""])


def _entries(lines: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines.split("\n"):
        name, _, value = line.partition("=")
        if name in found and name:
            raise ValueError(f"{name!r:.40} is in it twice")
        found[name] = value
    return found


def _names(header: dict[str, str], n_features: int) -> tuple[str, ...] | None:
    """The names of the features, if somebody gave them."""
    names = tuple(header.get("feature_names", "").split(" "))
    own = tuple(f"Column_{place}" for place in range(n_features))
    return None if names in (own, ("",)) else names


def _whole(entries: dict[str, str], name: str, low: int, high: int) -> int:
    text = entries.get(name, "")
    if not (text.isascii() and text.isdecimal() and low <= int(text) <= high):
        raise ValueError(f"{name} must be a whole number from {low}, got {text!r:.40}")
    return int(text)


def _checked_tree(entries: dict[str, str], n_features: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The feature and the gain of each split."""
    n_leaves = _whole(entries, "num_leaves", 1, 2**31 - 1)
    if entries.get("num_cat") != "0":
        raise ValueError("it asks for categories, and features are numbers here")
    if entries.get("is_linear", "0") != "0":
        raise ValueError("it has linear leaves, which cannot be explained by feature")
    lengths = dict.fromkeys(_PER_SPLIT, n_leaves - 1) | dict.fromkeys(_PER_LEAF, n_leaves)
    for name, length in lengths.items():
        values = entries.get(name, "")
        if (n_leaves > 1 or name == "leaf_value") and values.count(" ") + bool(values) != length:
            raise ValueError(f"{name} must be {length} numbers")
    if not np.isfinite(np.array(entries["leaf_value"].split(" "), dtype=np.float64)).all():
        raise ValueError("leaf_value must be finite")
    if n_leaves == 1:
        return np.empty(0, dtype=np.int64), np.empty(0)
    features, kinds, left, right = (
        np.array(entries[name].split(" "), dtype=np.int64)
        for name in ("split_feature", "decision_type", "left_child", "right_child")
    )
    _check_shape(left, right, n_leaves)
    if features.min() < 0 or features.max() >= n_features:
        raise ValueError(f"split_feature must be from 0 to {n_features - 1}")
    if (kinds & _CATEGORICAL).any() or kinds.min() < 0:
        raise ValueError("decision_type must be those of numbers")
    gains = np.array(entries["split_gain"].split(" "), dtype=np.float64)
    if not np.isfinite(gains).all():
        raise ValueError("split_gain must be finite")
    return features, gains


def _check_shape(left: NDArray[np.int64], right: NDArray[np.int64], n_leaves: int) -> None:
    """Nodes are counted from 0, the root; leaf i is the child -1 - i."""
    parents = np.arange(n_leaves - 1)
    children = np.sort(np.concatenate((left, right)))
    expected = np.concatenate((np.arange(-n_leaves, 0), parents[1:]))
    later = ((left < 0) | (left > parents)) & ((right < 0) | (right > parents))
    if not np.array_equal(children, expected) or not later.all():
        raise ValueError("left_child and right_child must lead to every node and every leaf once")

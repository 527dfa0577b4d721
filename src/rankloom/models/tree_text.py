"""LightGBM's model text: brought to one form, and looked through before LightGBM reads it.

LightGBM follows the numbers of a text wherever they lead, and those of a damaged one out of its memory. So
every tree is seen to be one first: each node and each leaf is reached exactly once, from a node before it,
and each node that splits by categories has a set of its own, which lies within `cat_threshold`. What is kept
is written anew from what was looked at.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_END = "end of trees"
_AVERAGE = "average_output"
_PER_SPLIT = ("split_feature", "split_gain", "threshold", "decision_type", "left_child", "right_child")
_PER_LEAF = ("leaf_value", "leaf_weight", "leaf_count")
_WITHIN = ("internal_value", "internal_weight", "internal_count")
_SETS = ("cat_boundaries", "cat_threshold")
_WHOLE_NUMBERS = {"split_feature", "decision_type", "left_child", "right_child", *_SETS}
_KEPT = ("num_leaves", "num_cat", *_PER_SPLIT, *_PER_LEAF, *_WITHIN, *_SETS, "is_linear", "shrinkage")
_WHOLE = re.compile(r"-?[0-9]{1,18}( -?[0-9]{1,18})*")
_ONE = r"[-+]?(?:nan|inf|[0-9]+\.?[0-9]*(?:e[-+]?[0-9]+)?)"
_NUMBERS = re.compile(f"{_ONE}(?: {_ONE})*")
# decision_type: 1 for categories, 2 where missing values go left, 4 or 8 for what counts as missing.
_CATEGORICAL, _LARGEST_TYPE = 1, 11


class Forest(NamedTuple):
    """What a text holds: `text` is in the one form, the same for the same trees."""

    text: str
    n_features: int
    n_trees: int
    averaged: bool
    names: tuple[str, ...] | None
    counts: NDArray[np.int64]
    gains: NDArray[np.float64]
    categorical: tuple[int, ...]


class _Tree(NamedTuple):
    """One tree: the feature, the gain and whether it is by categories, of each split; and its lines."""

    features: NDArray[np.int64]
    gains: NDArray[np.float64]
    by_category: NDArray[np.bool_]
    lines: str


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
    trees, sets = [], np.zeros(last + 1, dtype=np.int64)
    for number, block in enumerate(blocks):
        try:
            tree = _checked_tree(_entries(block), last + 1)
        except ValueError as error:
            raise ValueError(f"tree {number}: {error}") from error
        counts += np.bincount(tree.features, minlength=last + 1)
        gains += np.bincount(tree.features, tree.gains, minlength=last + 1)
        sets += np.bincount(tree.features[tree.by_category], minlength=last + 1)
        trees.append(tree.lines)
    mixed = np.flatnonzero((sets > 0) & (sets < counts))
    if mixed.size:
        raise ValueError(f"feature {mixed[0]} is split both as a number and by categories")
    averaged = _AVERAGE in head.split("\n")
    names, categorical = _names(header, last + 1), tuple(np.flatnonzero(sets).tolist())
    text = _joined(last + 1, averaged, trees)
    return Forest(text, last + 1, len(blocks), averaged, names, counts, gains, categorical)


def forest_text(n_features: int, trees: list[dict[str, list[Any]]]) -> str:
    """Trees as LightGBM writes them, from the lists of each; one without nodes has `leaf_value` alone."""
    blocks = []
    for tree in trees:
        head = [f"num_leaves={len(tree['leaf_value'])}", "num_cat=0"]
        names = tree if tree["split_feature"] else ("leaf_value",)
        blocks.append("\n".join([*head, *(f"{name}={' '.join(map(repr, tree[name]))}" for name in names)]))
    return _joined(n_features, False, blocks)


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


def _checked_tree(entries: dict[str, str], n_features: int) -> _Tree:
    n_leaves = _whole(entries, "num_leaves", 1, 2**31 - 1)
    n_sets = _whole(entries, "num_cat", 0, n_leaves - 1)
    if entries.get("is_linear", "0") != "0":
        raise ValueError("it has linear leaves, which cannot be explained by feature")
    if n_leaves == 1:
        _check_list(entries, "leaf_value", 1)
        _check_leaf_values(entries)
        lines = f"num_leaves=1\nnum_cat=0\nleaf_value={entries['leaf_value']}"
        return _Tree(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0, dtype=np.bool_), lines)
    lengths = dict.fromkeys((*_PER_SPLIT, *_WITHIN), n_leaves - 1) | dict.fromkeys(_PER_LEAF, n_leaves)
    for name, length in lengths.items():
        _check_list(entries, name, length)
    if "shrinkage" in entries:
        _check_list(entries, "shrinkage", 1)
    _check_leaf_values(entries)
    features, kinds, left, right = (
        _whole_numbers(entries, name)
        for name in ("split_feature", "decision_type", "left_child", "right_child")
    )
    _check_shape(left, right, n_leaves)
    if features.min() < 0 or features.max() >= n_features:
        raise ValueError(f"split_feature must be from 0 to {n_features - 1}")
    if kinds.min() < 0 or kinds.max() > _LARGEST_TYPE:
        raise ValueError(f"decision_type must be from 0 to {_LARGEST_TYPE}")
    by_category = (kinds & _CATEGORICAL) > 0
    _check_sets(entries, by_category, n_sets)
    gains = np.array(entries["split_gain"].split(" "), dtype=np.float64)
    if not np.isfinite(gains).all():
        raise ValueError("split_gain must be finite")
    kept = [name for name in _KEPT if name in entries and (n_sets or name not in _SETS)]
    return _Tree(features, gains, by_category, "\n".join(f"{name}={entries[name]}" for name in kept))


def _check_list(entries: dict[str, str], name: str, length: int) -> None:
    """So many numbers, one blank between two."""
    values, whole = entries.get(name, ""), name in _WHOLE_NUMBERS
    if values.count(" ") + bool(values) != length:
        raise ValueError(f"{name} must be {length} numbers")
    if not (_WHOLE if whole else _NUMBERS).fullmatch(values):
        raise ValueError(f"{name} must be {'whole ' if whole else ''}numbers with one blank between two")


def _whole_numbers(entries: dict[str, str], name: str) -> NDArray[np.int64]:
    return np.array(entries[name].split(" "), dtype=np.int64)


def _check_leaf_values(entries: dict[str, str]) -> None:
    if not np.isfinite(np.array(entries["leaf_value"].split(" "), dtype=np.float64)).all():
        raise ValueError("leaf_value must be finite")


def _check_sets(entries: dict[str, str], by_category: NDArray[np.bool_], n_sets: int) -> None:
    """Set k is the bits of cat_threshold[cat_boundaries[k]:cat_boundaries[k + 1]], one word or more.

    The threshold of a node that splits by categories is the number of its set.
    """
    numbers = [
        text for text, chosen in zip(entries["threshold"].split(" "), by_category, strict=True) if chosen
    ]
    if sorted(numbers) != sorted(map(str, range(n_sets))):
        raise ValueError(f"threshold must name each of the {n_sets} sets of categories once")
    if not n_sets:
        return
    _check_list(entries, "cat_boundaries", n_sets + 1)
    bounds = _whole_numbers(entries, "cat_boundaries")
    if bounds[0] != 0 or (np.diff(bounds) < 1).any():
        raise ValueError("cat_boundaries must rise from 0")
    _check_list(entries, "cat_threshold", int(bounds[-1]))
    words = _whole_numbers(entries, "cat_threshold")
    if words.min() < 0 or words.max() >= 1 << 32:
        raise ValueError("cat_threshold must be words of 32 bits")


def _check_shape(left: NDArray[np.int64], right: NDArray[np.int64], n_leaves: int) -> None:
    """Nodes are counted from 0, the root; leaf i is the child -1 - i."""
    parents = np.arange(n_leaves - 1)
    children = np.sort(np.concatenate((left, right)))
    expected = np.concatenate((np.arange(-n_leaves, 0), parents[1:]))
    later = ((left < 0) | (left > parents)) & ((right < 0) | (right > parents))
    if not np.array_equal(children, expected) or not later.all():
        raise ValueError("left_child and right_child must lead to every node and every leaf once")

"""Symmetric (oblivious) trees: every level asks one question of all its leaves.

With gradients g and curvatures h of the rows, level d asks the question (feature, threshold) for which

    sum over the 2^(d+1) leaves of  (sum of g)^2 / (damping + sum of h)

is largest. One question for all leaves is a strong constraint: a tree of 32 leaves has 5 questions, not 31.
The sums by bin are kept from level to level, and only the smaller half of each leaf is added up.

A leaf of too few rows is no leaf: where one side of a question would have fewer than `min_data_in_leaf`, the
node does not ask it, and its rows go on together to the next question.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.kernels import symmetric as kernels
from rankloom.kernels.threads import ordered_map
from rankloom.models.tree_text import forest_text
from rankloom.rankers.bins import Bins, cut, cut_alike
from rankloom.rankers.boosting import Watch

MOST_LEAVES = 256
_MOST_BYTES = 1 << 30
_GROUPS = 8  # of features, which threads share
_BY_NUMBER, _MISSING_LEFT = 8, 2  # of LightGBM's decision_type: NaN is missing; it goes left


class Question(NamedTuple):
    """Whether a row's bin of a feature is above `last_left`; missing values go right if `missing_right`."""

    feature: int
    last_left: int
    missing_right: bool


class Setting(NamedTuple):
    """How trees are grown; see the parameters of LambdaMART."""

    leaves: int
    learning_rate: float
    min_data_in_leaf: int
    lambda_l2: float
    feature_fraction: float
    bagging_fraction: float
    max_bin: int
    seed: int

    @property
    def depth(self) -> int:
        """So many questions that there are `leaves` leaves."""
        return (self.leaves - 1).bit_length()


class SymmetricGrower:
    """Symmetric trees with their scores, tree by tree."""

    def __init__(
        self, data: RankingData, setting: Setting, start: NDArray[np.float64], watch: Watch | None
    ) -> None:
        if setting.leaves > MOST_LEAVES:
            given = setting.leaves
            raise InputError(f'leaves must be up to {MOST_LEAVES} with trees="symmetric", got {given}')
        self.setting, self.watch = setting, watch
        self.draws = setting.feature_fraction < 1.0 or setting.bagging_fraction < 1.0
        self.facts: dict[str, Any] = {}
        self.scores = start.copy()
        self.held_out = np.empty(0) if watch is None else watch.start.copy()
        self._bins = cut(data, setting.max_bin)
        self._search = Search(self._bins, setting)
        self._watched = None if watch is None else cut_alike(watch.data, self._bins)
        self._rng = np.random.default_rng(setting.seed)
        self._trees: list[Tree] = []

    def grow(self, gradients: Callable[[Any], Any]) -> bool:
        """One more tree; False if it is a single leaf."""
        pull, bend = gradients(self.scores)
        n, how = len(pull), self.setting
        rows = np.arange(n, dtype=np.uint32)
        if how.bagging_fraction < 1.0:
            drawn = self._rng.permutation(n)[: max(1, round(how.bagging_fraction * n))]
            rows = np.sort(drawn).astype(np.uint32)
        features = np.arange(len(self._bins.borders))
        if how.feature_fraction < 1.0:
            wanted = max(1, round(how.feature_fraction * len(features)))
            features = np.sort(self._rng.permutation(features)[:wanted])
        questions, place = self._search.questions(rows, features, pull, bend)
        tree = Tree.of(questions, place[rows], pull[rows], bend[rows], how)
        self._trees.append(tree)
        self.scores += tree.values[tree.leaf_of[place]]
        if self._watched is not None:
            self.held_out += tree.values[tree.leaf_of[places(self._watched, questions)]]
        return len(tree.nodes) > 0

    def watched(self) -> float:
        """How good the held-out rows are ranked."""
        assert self.watch is not None
        return self.watch.value(self.held_out)

    def text(self, n_trees: int, shift: float) -> str:
        """The first trees as LightGBM writes them, the first one's leaves raised by `shift`."""
        shifts = [shift, *[0.0] * (n_trees - 1)]
        kept = zip(self._trees, shifts, strict=False)
        return forest_text(len(self._bins.borders), [tree.lines(self._bins, by) for tree, by in kept])


class Search:
    """The questions of a tree, each found over all leaves and features at once."""

    def __init__(self, bins: Bins, setting: Setting) -> None:
        self._table, self._depth, self._damping = bins.table, setting.depth, setting.lambda_l2
        n_rows, self._leaves = self._table.columns.shape[1], 1 << (setting.depth - 1)
        size = 2 * self._leaves * int(self._table.starts[-1])
        if 8 * size > _MOST_BYTES:
            raise InputError(
                f'trees="symmetric" with leaves={setting.leaves} and max_bin={setting.max_bin} would keep '
                f"{8 * size / 1e9:.1f} GB of sums for {len(bins.borders):,} features; make one of them less"
            )
        self._sums = np.empty(size)
        self._halves = kernels.Halves(
            np.empty(n_rows, dtype=np.uint32),
            np.empty(n_rows, dtype=np.uint8),
            np.empty(2 * n_rows, dtype=np.float32),
            np.zeros(self._leaves, dtype=np.uint8),
        )

    def questions(
        self, rows: NDArray[np.uint32], features: NDArray[np.int64], pull: Any, bend: Any
    ) -> tuple[list[Question], NDArray[np.uint8]]:
        """The questions, fewer where none divides anything any more, and where all rows end."""
        asked: list[Question] = []
        place, n = np.zeros(len(pull), dtype=np.uint8), len(rows)
        self._halves.rows[:n], self._halves.parent[:n] = rows, 0
        self._halves.sums[0 : 2 * n : 2], self._halves.sums[1 : 2 * n : 2] = pull[rows], bend[rows]
        groups = np.array_split(features, min(_GROUPS, len(features)))
        for level in range(self._depth):
            if level:
                n = kernels.smaller_halves(rows, place, pull, bend, 1 << (level - 1), self._halves)
            best = max(ordered_map(partial(self._best, level, n), groups), key=lambda one: one[0])
            question = Question(*best[1:])
            if question.feature < 0 or question in asked:
                break
            asked.append(question)
            answer(self._table.columns, question, level, place)
        return asked, place

    def _best(self, level: int, n: int, features: NDArray[np.int64]) -> Any:
        into = self._leaves, self._sums
        return kernels.best_question(self._table, self._halves, n, features, level, self._damping, *into)


def answer(columns: NDArray[np.uint8], one: Question, level: int, place: NDArray[np.uint8]) -> None:
    """Add the answers to a question to where rows are."""
    kernels.ask(columns[one.feature], one.last_left, one.missing_right, 1 << level, place)


def places(columns: NDArray[np.uint8], questions: list[Question]) -> NDArray[np.uint8]:
    """Where rows end, by their answers."""
    found = np.zeros(columns.shape[1], dtype=np.uint8)
    for level, one in enumerate(questions):
        answer(columns, one, level, found)
    return found


class Node(NamedTuple):
    """A question asked of some rows; a child is the number of a node, or -1 - the number of a leaf."""

    question: Question
    gain: float
    left: int
    right: int
    sums: Any


class Tree(NamedTuple):
    """Nodes, each after the one above it; the leaf of each place; the value and the sums of each leaf.

    Sums are of rows, of their g and of their h.
    """

    nodes: list[Node]
    leaf_of: NDArray[np.int64]
    values: NDArray[np.float64]
    sums: NDArray[np.float64]

    @classmethod
    def of(cls, questions: list[Question], place: Any, pull: Any, bend: Any, setting: Setting) -> Tree:
        """The tree of the rows it learned from."""
        size = 1 << len(questions)
        sums = [np.bincount(place, weights, size) for weights in (None, pull, bend)]
        builder = _Builder(questions, np.stack(sums, axis=1).astype(np.float64), setting)
        builder.grow(np.arange(size), 0)
        leaves = np.array(builder.leaves)
        values = -setting.learning_rate * leaves[:, 1] / (leaves[:, 2] + builder.damping)
        return cls([node for node in builder.nodes if node is not None], builder.leaf_of, values, leaves)

    def lines(self, bins: Bins, shift: float) -> dict[str, list[Any]]:
        """What LightGBM's text says of it."""
        nodes = self.nodes
        leaf = {
            "leaf_value": (self.values + shift).tolist(),
            "leaf_weight": self.sums[:, 2].tolist(),
            "leaf_count": self.sums[:, 0].astype(int).tolist(),
        }
        asked = [node.question for node in nodes]
        return {
            "split_feature": [one.feature for one in asked],
            "split_gain": [node.gain for node in nodes],
            "threshold": [float(bins.borders[one.feature][one.last_left]) for one in asked],
            "decision_type": [_BY_NUMBER + _MISSING_LEFT * (not one.missing_right) for one in asked],
            "left_child": [node.left for node in nodes],
            "right_child": [node.right for node in nodes],
            **leaf,
            "internal_value": [0.0] * len(nodes),
            "internal_weight": [float(node.sums[2]) for node in nodes],
            "internal_count": [int(node.sums[0]) for node in nodes],
        }


class _Builder:
    """From the sums of all places to nodes and leaves, the root first."""

    def __init__(self, questions: list[Question], sums: NDArray[np.float64], setting: Setting) -> None:
        self.questions, self.sums, self.least_rows = questions, sums, setting.min_data_in_leaf
        self.damping = max(setting.lambda_l2, kernels.LEAST_CURVATURE)
        self.nodes: list[Node | None] = []
        self.leaves: list[NDArray[np.float64]] = []
        self.leaf_of = np.zeros(len(sums), dtype=np.int64)

    def grow(self, cells: NDArray[np.int64], level: int) -> int:
        """The node, or the leaf, of these places, which have answered the questions before `level`."""
        own = self.sums[cells].sum(axis=0)
        for below in range(level, len(self.questions)):
            is_right = (cells >> below) & 1 == 1
            left, right = cells[~is_right], cells[is_right]
            halves = self.sums[left].sum(axis=0), self.sums[right].sum(axis=0)
            if min(halves[0][0], halves[1][0]) >= self.least_rows:
                number = len(self.nodes)
                self.nodes.append(None)  # its children come after it
                children = self.grow(left, below + 1), self.grow(right, below + 1)
                gain = self._gain(halves[0]) + self._gain(halves[1]) - self._gain(own)
                self.nodes[number] = Node(self.questions[below], gain, *children, own)
                return number
        self.leaf_of[cells] = len(self.leaves)
        self.leaves.append(own)
        return -len(self.leaves)

    def _gain(self, sums: NDArray[np.float64]) -> float:
        return float(sums[1] ** 2 / (sums[2] + self.damping))

"""How the pairs of each query are to be counted: worked out once, from labels alone.

A group is a query with two labels or more; nothing else is ever read. Its labels are numbered from the
lowest, and its rows fall into leaves: runs of labels. Three ways of counting, each group by its own:

    TWO      two labels: the rarer one's scores are sorted, the others are looked up in them
    LAYERS   rows sorted by score, with sums by digit of their leaf: one layer for up to 32 leaves
    masks    rows of one leaf of at most 32, each with 32 bits: which others it has an active pair with

Up to 8 labels, each is a leaf. More are packed into leaves of at most 32 rows where they fit, and where there
are more than 32 leaves, a layer counts by 5 bits of the leaf's number, within runs of rows that agree in all
higher bits. `adjacent` has two layers of one bit, (0 1)(2 3)... and 0 (1 2)(3 4)...
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import as_kernel, kernel
from rankloom.kernels.pair_index import FIRST, LAST, START, STOP

HINGES, SQUARES = range(2)
TWO, LAYERS = range(2)
LEAF = 32
TILE = 128
_FEW = 8
_BITS = 5
_0: Any = np.uint64(0)
_1: Any = np.uint64(1)


class Plan(NamedTuple):
    """Groups and how they are counted. A group's places are its rows by label, and count from its first."""

    starts: NDArray[np.uint64]
    stops: NDArray[np.uint64]
    place: NDArray[np.uint32]
    """Where each row is, among all rows with those of a group by label."""
    level: NDArray[np.uint32]
    """The label's number, of each place."""
    leaf: NDArray[np.uint32]
    edges: NDArray[np.uint32]
    """At which places leaves begin, and the end; those of group g from edge_first[g]."""
    edge_first: NDArray[np.uint64]
    kind: NDArray[np.uint8]
    rare: NDArray[np.uint8]
    """With TWO, the label's number that is rarer."""
    bits: NDArray[np.uint8]
    layers: NDArray[np.uint8]
    masked: NDArray[np.uint8]
    slots: NDArray[np.uint64]
    """Where the group's lists begin in State; a list for each layer."""
    tiles: NDArray[np.uint64]
    adjacent: bool


class Weights(NamedTuple):
    """Of rows, by place (empty where all are 1), and of the groups' pairs."""

    rows: NDArray[np.float64]
    groups: NDArray[np.float64]


class Batches(NamedTuple):
    """Runs of groups that fit the cache, and the rows of them."""

    groups: NDArray[np.uint64]
    """Where batches begin among the groups, and the end."""
    rows: NDArray[np.uint32]
    """All rows that are in a group."""
    edges: NDArray[np.uint64]
    """Where a batch begins in `rows`, and the end."""


class State(NamedTuple):
    """What is known at w."""

    order: NDArray[np.uint32]
    """Places of each group by rising score."""
    items: NDArray[np.uint32]
    """With LAYERS, places of each list; with TWO, those of the rarer label by score."""
    digits: NDArray[np.uint8]
    known: NDArray[np.uint32]
    """With TWO, how many rare rows, by score, each place of the other label has an active pair with."""
    above: NDArray[np.uint16]
    """Where in a tile the sum of a row's active better rows is: of higher digit, before they end."""
    below: NDArray[np.uint16]
    """Where in a tile the sum is that its active worse rows begin after."""
    tile_above: NDArray[np.uint32]
    """How many rows of a list have their sum in a tile or before it."""
    tile_below: NDArray[np.uint32]
    masks: NDArray[np.uint32]
    reach: NDArray[np.float64]
    """L, by place."""
    active: NDArray[np.uint32]
    """Rows with active pairs; those of a batch from where its rows begin."""
    n_active: NDArray[np.uint64]


class Scratch(NamedTuple):
    """Room for a batch: places count from the batch's first."""

    z: NDArray[np.float64]
    u: NDArray[np.float64]
    values: NDArray[np.float64]
    sums: NDArray[np.float64]
    list_values: NDArray[np.float64]
    list_sums: NDArray[np.float64]
    tile: NDArray[np.float64]
    cursor: NDArray[np.uint32]
    spare: NDArray[np.uint32]


@kernel
def _groups(
    cells: NDArray[np.uint64],
    groups: NDArray[np.uint64],
    rows: NDArray[np.uint32],
    plan: Plan,
) -> Any:
    """Fill all but slots and tiles; how many edges there are."""
    n_edges = 0
    for g in range(len(groups)):
        first, count = groups[g, 0], groups[g, 1]
        start, stop = cells[first, START], cells[first, STOP]
        plan.starts[g], plan.stops[g], plan.edge_first[g] = start, stop, n_edges
        n = stop - start
        smallest, rare, adjacent = n, _0, plan.adjacent and count > np.uint64(2)
        alone = n > np.uint64(LEAF) and (count <= np.uint64(_FEW) or adjacent)
        leaf, held, any_shared = -1, np.uint64(LEAF + 1), False
        for c in range(count):
            begin, end = cells[first + c, FIRST], cells[first + c, LAST]
            size = end - begin
            if size < smallest:
                smallest, rare = size, c
            if alone or held + size > np.uint64(LEAF):
                leaf += 1
                held = _0
                plan.edges[n_edges] = begin - start
                n_edges += 1
            else:
                any_shared = True
            held += size
            for k in range(begin, end):
                plan.place[np.uint64(rows[k])], plan.level[k], plan.leaf[k] = k, c, leaf
        plan.edges[n_edges] = n
        n_edges += 1
        plan.masked[g], plan.rare[g], plan.kind[g] = any_shared, rare, LAYERS
        if count == np.uint64(2) and not any_shared:
            plan.kind[g] = TWO
        if adjacent and not any_shared:
            plan.bits[g], plan.layers[g] = 1, 2
            continue
        bits = 0
        while (leaf >> bits) > 0:
            bits += 1
        plan.layers[g] = (bits + _BITS - 1) // _BITS
        plan.bits[g] = min(max(bits, 3), _BITS)
    return n_edges


@kernel
def _sizes(plan: Plan) -> Any:
    """Fill slots and tiles."""
    slots, tiles = _0, _0
    for g in range(len(plan.starts)):
        plan.slots[g], plan.tiles[g] = slots, tiles
        n = plan.stops[g] - plan.starts[g]
        if plan.kind[g] == TWO:
            slots += n
            continue
        leaves = plan.edge_first[g + 1] - plan.edge_first[g] - _1
        slots += n * np.uint64(plan.layers[g])
        tiles += np.uint64(plan.layers[g]) * (n // np.uint64(TILE) + leaves + _1)
    plan.slots[len(plan.starts)], plan.tiles[len(plan.starts)] = slots, tiles


def plan_of(
    rows: NDArray[np.uint32], cells: NDArray[np.uint64], groups: NDArray[np.uint64], adjacent: bool
) -> Plan:
    """The plan of rows in order of label (see `pair_index`)."""
    n, m = len(rows), len(groups)
    edges = np.zeros(len(cells) + m + 1, dtype=np.uint32)
    long, small = (
        [np.zeros(m + 1, dtype=np.uint64) for _ in range(5)],
        [np.zeros(m + 1, dtype=np.uint8) for _ in range(5)],
    )
    level, leaf = (np.zeros(n, dtype=np.uint32) for _ in range(2))
    plan = Plan(
        starts=long[0][:m],
        stops=long[1][:m],
        place=np.arange(n, dtype=np.uint32),
        level=level,
        leaf=leaf,
        edges=edges,
        edge_first=long[2],
        kind=small[0],
        rare=small[1],
        bits=small[2],
        layers=small[3],
        masked=small[4],
        slots=long[3],
        tiles=long[4],
        adjacent=bool(adjacent),
    )
    plan.edge_first[m] = _groups(cells, groups, as_kernel(rows, np.uint32), plan)
    _sizes(plan)
    return plan

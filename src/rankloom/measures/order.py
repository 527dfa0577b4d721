"""Ranked order, block by block: the packing and sorting half of `rankloom.kernels.order`.

Query, score and place of a row go into one uint64, from the top bits down:

    | query in block | leading bits of the score, turned so that great comes first | row in query |

One sort of plain integers orders a whole block of queries; NumPy sorts those with vector instructions, some
five times faster than an argsort of the scores. What the dropped bits of a score leave undecided, and the tie
rule, `settle_block` decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import as_kernel

NO_TIES = np.empty(0)


@dataclass(frozen=True)
class PackedBlock:
    """The rows of one block, sorted as packed integers, and what it takes to unpack them."""

    offsets: NDArray[np.int64]  # counted from the block's first row
    scores: NDArray[np.float64]
    packed: NDArray[np.uint64]
    position_bits: int

    def order(self, ties: NDArray[np.float64] = NO_TIES) -> NDArray[np.int64]:
        """Row numbers in ranked order; rows of equal score by rising `ties`, else as in the file."""
        from rankloom.kernels.order import settle_block

        order = np.empty(len(self.scores), dtype=np.int64)
        settle_block(
            self.offsets, self.scores, self.packed, self.position_bits, as_kernel(ties, np.float64), order
        )
        return order


def pack_block(scores: NDArray[np.float64], offsets: NDArray[np.int64]) -> PackedBlock:
    """Sort the rows of some queries by falling score; `offsets` start at 0, and no score is NaN."""
    lengths = np.diff(offsets)
    position_bits = max(1, int(lengths.max(initial=1) - 1).bit_length())
    query_bits = max(1, int(len(lengths) - 1).bit_length())
    score_bits = 64 - position_bits - query_bits
    packed = _descending_bits(scores)
    packed >>= np.uint64(64 - score_bits)
    packed <<= np.uint64(position_bits)
    queries = np.arange(len(lengths), dtype=np.uint64) << np.uint64(64 - query_bits)
    packed |= np.repeat(queries, lengths)
    positions = np.arange(len(scores), dtype=np.int64)
    positions -= np.repeat(offsets[:-1], lengths)
    packed |= positions.view(np.uint64)
    packed.sort()
    return PackedBlock(as_kernel(offsets, np.int64), as_kernel(scores, np.float64), packed, position_bits)


def ideal_labels(labels: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Labels of each query from the greatest down; `offsets` start at 0."""
    from rankloom.kernels.order import ideal_block

    ideal = np.empty(len(labels))
    if not ideal_block(as_kernel(offsets, np.int64), as_kernel(labels, np.float64), ideal):
        ideal = labels[pack_block(labels, offsets).order()]
    return ideal


def _descending_bits(scores: NDArray[np.float64]) -> NDArray[np.uint64]:
    """uint64 that rise as the scores fall; 0.0 and -0.0 are one."""
    bits = (scores + 0.0).view(np.int64)
    # Floats of one sign rise with their bits. Positive ones are turned over, negative ones already fall.
    turn = ~bits >> 63
    turn &= np.int64(0x7FFFFFFFFFFFFFFF)
    turn ^= bits
    return turn.view(np.uint64)


def docid_ties(block: PackedBlock, doc_ids: Any, first_row: int) -> NDArray[np.float64]:
    """Ties by falling document id, as strings, as trec_eval has them; ids are read for tied rows only."""
    order = block.order()
    ranked = block.scores[order]
    equal = ranked[1:] == ranked[:-1]
    borders = block.offsets[(block.offsets > 0) & (block.offsets < len(order))]
    equal[borders - 1] = False
    tied = np.zeros(len(order), dtype=np.bool_)
    tied[1:] |= equal
    tied[:-1] |= equal
    rows = order[tied]
    if not len(rows):
        return NO_TIES
    ids = [str(doc_ids[row]) for row in (rows + first_row).tolist()]
    place = {text: i for i, text in enumerate(sorted(set(ids)))}
    ties = np.zeros(len(order))
    ties[rows] = [-place[text] for text in ids]
    return ties

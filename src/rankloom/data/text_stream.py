"""SVMlight / LETOR text as a stream: pieces of some rows each, in memory that does not grow with the text.

Blocks are parsed as in `read_text`. What a whole text settles at its end, a stream must settle at its start:
the first piece decides whether columns count from 0 or from 1, and whether tables are dense. The number of
features may grow from piece to piece, unless `n_features` fixes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankloom.data.ranking_data import RankingData
from rankloom.data.sources import BLOCK_BYTES, Progress
from rankloom.data.text import parsed_blocks
from rankloom.data.text_builder import Builder
from rankloom.data.text_features import Layout
from rankloom.errors import InputError


def read_pieces(
    sources: Any,
    rows: int,
    *,
    n_features: int | None = None,
    index_base: int | str = "auto",
    layout: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[RankingData]:
    """Pieces of about `rows` rows: whole blocks of half a megabyte of text. A query may go over two of them.

    The arguments are those of `read_text`. A text without any row gives no piece.
    """
    if rows < 1:
        raise InputError(f"rows must be a whole number from 1, got {rows!r}")
    asked = Layout(n_features, index_base, layout)
    builder = _builder(asked, sources, 0)
    for parsed in parsed_blocks(sources, (False, False), threads, progress):
        builder.add(parsed.block, parsed.tables, parsed.fault)
        if builder.n_rows >= rows:
            piece, lines = builder.finish(), builder.lines
            asked = _settled(asked, builder, piece)
            builder = _builder(asked, sources, lines)
            yield piece
    if builder.n_rows:
        yield builder.finish()


def _builder(asked: Layout, sources: Any, lines: int) -> Builder:
    return Builder(asked, sources, expected=2 * BLOCK_BYTES, lines=lines)


def _settled(asked: Layout, builder: Builder, piece: RankingData) -> Layout:
    """What all later pieces must be like."""
    return Layout(asked.n_features, builder.index_base, "sparse" if piece.is_sparse else "dense")

"""SVMlight / LETOR / RankLib text, read:

    line = label [qid:Q] {index:value} [# comment]

Blocks of whole lines are parsed side by side (`kernels/text.py`) and joined in order, so that the result and
the first error are the same for any number of threads. The slow tokens of a block are read by Python's own
`float`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.data.sources import Block, Buffers, Progress, line_blocks
from rankloom.data.text_builder import Builder
from rankloom.data.text_errors import Fault, check_token
from rankloom.data.text_features import Layout


class Tables(NamedTuple):
    """What the kernel fills for one block: large enough for the shortest lines and tokens there can be."""

    labels: NDArray[np.float64]
    rows: NDArray[np.int64]
    columns: NDArray[np.uint32]
    values: NDArray[np.float32]
    slow: NDArray[np.int64]
    outcome: NDArray[np.int64]

    @classmethod
    def for_bytes(cls, size: int) -> Tables:
        """Tables for a block of so many bytes."""
        from rankloom.kernels.text import OUTCOME_FIELDS, ROW_FIELDS

        rows, tokens = size // 2 + 1, size // 3 + 1  # "1\n" and "1:1" with a blank
        return cls(
            np.empty(rows),
            np.empty((rows, ROW_FIELDS), dtype=np.int64),
            np.empty(tokens, dtype=np.uint32),
            np.empty(tokens, dtype=np.float32),
            np.empty((tokens + rows, 3), dtype=np.int64),
            np.empty(OUTCOME_FIELDS, dtype=np.int64),
        )


class Parsed(NamedTuple):
    """A block and what was found in it. `fault` is the first thing wrong."""

    block: Block
    tables: Tables
    fault: Fault | None


def read_text(
    sources: Any,
    *,
    n_features: int | None = None,
    index_base: int | str = "auto",
    layout: str = "auto",
    allow_missing: bool = False,
    allow_infinite: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> RankingData:
    """Read SVMlight / LETOR / RankLib text, plain or compressed (gzip, bzip2, xz, zstd).

    Args:
        sources: a path, "-" for standard input, an open binary file, or a list of these, read as one.
        n_features: how many columns the result has; None is as many as the largest index asks for.
        index_base: the index of the first column, 1 or 0; "auto" is 0 if the index 0 comes, else 1.
        layout: "dense", "sparse", or "auto": dense where the text writes at least a quarter of the table.
        allow_missing: accept `nan` as a feature's value; never as a label.
        allow_infinite: accept `inf` as a feature's value; never as a label.
        threads: how many threads parse; None is as many as there are cores. The result is the same.
        progress: called after each block with the bytes read and the bytes in all (None if not known).

    Comments come back as `comments`, and the ids in them (`#docid = X`, or the first word) as `doc_ids`.
    """
    builder = Builder(Layout(n_features, index_base, layout), sources)
    _read_into(builder, sources, (allow_missing, allow_infinite), threads, progress)
    return builder.finish()  # buffers and tables are gone by now


def read_text_and_base(
    sources: Any,
    *,
    n_features: int | None = None,
    index_base: int | str = "auto",
    layout: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[RankingData, int]:
    """What `read_text` reads, and the index of the first column: for other text to be read alike."""
    builder = Builder(Layout(n_features, index_base, layout), sources)
    _read_into(builder, sources, (False, False), threads, progress)
    return builder.finish(), builder.index_base


def _read_into(
    builder: Builder, sources: Any, allowed: tuple[bool, bool], threads: int | None, progress: Progress | None
) -> None:
    for parsed in parsed_blocks(sources, allowed, threads, progress):
        builder.add(parsed.block, parsed.tables, parsed.fault)


def parsed_blocks(
    sources: Any, allowed: tuple[bool, bool], threads: int | None, progress: Progress | None
) -> Iterator[Parsed]:
    """All blocks in order, parsed side by side; each is good until the next is asked for."""
    from rankloom.kernels.threads import ordered_map, thread_count

    buffers, free = Buffers(), list[Tables]()

    def parse(block: Block) -> Parsed:
        return _parse(block, _tables_for(block, free), *allowed)

    for parsed in ordered_map(parse, line_blocks(sources, buffers, progress), thread_count(threads)):
        yield parsed
        buffers.give_back(parsed.block.text)
        free.append(parsed.tables)


def _tables_for(block: Block, free: list[Tables]) -> Tables:
    """Tables for this block: used ones if they are large enough. Lists pop and append safely over threads."""
    size = len(block.text)
    try:
        tables = free.pop()
    except IndexError:
        return Tables.for_bytes(size)
    return tables if len(tables.labels) >= size // 2 + 1 else Tables.for_bytes(size)


def _parse(block: Block, tables: Tables, allow_missing: bool, allow_infinite: bool) -> Parsed:
    from rankloom.kernels import text as kernels

    kernels.parse_lines(block.text, block.start, block.stop, *tables)
    fault = _settle_slow_tokens(block, tables, allow_missing, allow_infinite)
    error = int(tables.outcome[kernels.ERROR])
    if fault is None and error == kernels.FULL:
        raise RuntimeError(f"{block.name}: a table of the reader was too small; please report this")
    if fault is None and error != kernels.NOTHING:
        fault = Fault(error, int(tables.outcome[kernels.ERROR_AT]))
    return Parsed(block, tables, fault)


def _settle_slow_tokens(
    block: Block, tables: Tables, allow_missing: bool, allow_infinite: bool
) -> Fault | None:
    """Let Python read the tokens that the kernel left; the first that it cannot read is a fault."""
    from rankloom.kernels.text import SLOW

    for start, stop, place in tables.slow[: tables.outcome[SLOW]].tolist():
        token = block.text[start:stop].tobytes()
        allowed = (allow_missing, allow_infinite) if place >= 0 else (False, False)
        value, fault = check_token(token, start, place < 0, *allowed)
        if fault is not None:
            return fault
        if place < 0:
            tables.labels[-1 - place] = value
        else:
            tables.values[place] = value
    return None

"""Data for a command: read with a progress bar, and a word while kernels are compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankloom.cli.options import reader_arguments
from rankloom.cli.progress import progress

if TYPE_CHECKING:
    from rankloom.data.ranking_data import RankingData


def read(sources: Sequence[Any], reading: dict[str, Any], **exact: Any) -> RankingData:
    """Read one source, or several as one. `exact` are arguments of the reader, taken as they are."""
    from rankloom.data.read import read as read_data

    source = sources[0] if len(sources) == 1 else list(sources)
    with progress("reading") as tick:
        ticking = {"progress": tick} if tick else {}
        return read_data(source, **{**reader_arguments(reading), **exact}, **ticking)


def read_noting_base(source: Any, reading: dict[str, Any]) -> tuple[RankingData, dict[str, Any]]:
    """Read one source, and how text like it is to be read for its columns to be the same."""
    from rankloom.data.read import source_kind

    if source_kind(source) != "text" or set(reader_arguments(reading)) - _TEXT_OPTIONS:
        return read([source], reading), {}
    from rankloom.data.text import read_text_and_base

    with progress("reading") as tick:
        data, base = read_text_and_base(source, **reader_arguments(reading), progress=tick)
    return data, {"index_base": base}


_TEXT_OPTIONS = {"n_features", "index_base", "layout", "threads"}

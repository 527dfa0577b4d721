"""Data for a command: read with a progress bar, and a word while kernels are compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankloom.cli.options import reader_arguments
from rankloom.cli.progress import progress

if TYPE_CHECKING:
    from rankloom.data.ranking_data import RankingData


def read(sources: Sequence[Any], reading: dict[str, Any]) -> RankingData:
    """Read one source, or several as one."""
    from rankloom.data.read import read as read_data

    source = sources[0] if len(sources) == 1 else list(sources)
    with progress("reading") as tick:
        return read_data(source, **reader_arguments(reading), **({"progress": tick} if tick else {}))

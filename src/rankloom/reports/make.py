"""Reports: from a run on record, or from what a function has just returned, to a page and its figures.

report(found, "page.html")                     a Tuning, a Comparison, a Letor; the run goes to page.json
report("page.json", "again.html", figures="figures", format="png")
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankloom.data.files import atomic_write
from rankloom.errors import InputError, RankloomError
from rankloom.reports.figures import FORMATS, picture
from rankloom.reports.files import Place, check_page, checked_run, plain, read_run, run_beside, write_run
from rankloom.reports.html import html
from rankloom.reports.kinds import builder
from rankloom.reports.needs import need_matplotlib
from rankloom.reports.parts import Chart, Page

if TYPE_CHECKING:
    from rankloom.data.ranking_data import RankingData

_SETTINGS = (
    "method",
    "measure",
    "measures",
    "baseline",
    "test",
    "confidence",
    "interval",
    "resamples",
    "seed",
)


def report(
    run: Any,
    target: str | os.PathLike[str],
    *,
    figures: str | os.PathLike[str] | None = None,
    format: str = "svg",  # noqa: A002
    data: Mapping[str, RankingData] | None = None,
) -> list[str]:
    """Write a page for a browser, one file that needs no network, and say what was written.

    Args:
        run: what `tune`, `compare`, `compare_values` or `letor` returned, a run on record as a dict, or the
            file of one.
        target: the page, `something.html`. The run of a result goes beside it, to `something.json`.
        figures: a folder for the figures as files of their own; it is made if it is not there.
        format: of these files, "svg" or "png".
        data: what a result was found on, by name, where it does not know itself: for the page to say how
            large they are, and their fingerprint.
    """
    if format not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}, got {format!r:.40}")
    need_matplotlib()
    is_file = isinstance(run, (str, os.PathLike))
    known, name = _known(run, data)
    check_page(target, [run] if is_file and run_beside(target) != os.fspath(run) else ())
    page = page_of(known, name)
    written = []
    if not is_file and not isinstance(run, Mapping):
        written.append(run_beside(target))
        write_run(written[0], known)
    write_page(known, target, page)
    written.append(os.fspath(target))
    return written + ([] if figures is None else write_figures(page, figures, format))


def _known(run: Any, data: Mapping[str, RankingData] | None) -> tuple[dict[str, Any], str]:
    """A run, and what to call it when it is damaged."""
    if isinstance(run, (str, os.PathLike)):
        return read_run(run), os.fspath(run)
    if isinstance(run, Mapping):
        return checked_run(plain(run)), "the run"
    kind = getattr(run, "run_kind", None)
    if kind is None:
        raise InputError(
            "report takes what tune, compare or letor returned, a run as a dict, or its file, got "
            f"{type(run).__name__}"
        )
    from rankloom.experiments.run import document

    result = run.for_run()
    settings = {key: result[key] for key in _SETTINGS if key in result}
    return plain(
        document(kind, result, settings=settings, data=data or getattr(run, "data", None))
    ), "the run"


def page_of(run: Mapping[str, Any], name: str = "the run") -> Page:
    """The page of a run; a run that lacks something is told by name."""
    make = builder(run["kind"])
    try:
        return make(run)
    except RankloomError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(
            f"{name} is damaged: its result is not that of {run['kind']} ({type(error).__name__}: {error}); "
            "make the run again"
        ) from error


def write_page(run: Mapping[str, Any], target: Place, page: Page | None = None) -> None:
    """Write the page of a run, whole or not at all."""
    known = plain(run)
    atomic_write(target, html(page_of(known) if page is None else page, known))


def write_figures(page: Page, folder: Place, kind: str, force: bool = True) -> list[str]:
    """Write every figure of a page as a file of its own; the names of the files."""
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise InputError(f"{place} is there already, and no folder; give another name for the figures")
    named = {place / f"{name}.{kind}": chart for name, chart in figures_of(page)}
    there = next((path for path in named if path.exists() and not force), None)
    if there is not None:
        raise InputError(f"{there} is there already; give another folder, or --force to overwrite it")
    place.mkdir(exist_ok=True)
    for path, chart in named.items():
        atomic_write(path, picture(chart, kind))
    return [os.fspath(path) for path in named]


def figures_of(page: Page) -> Iterator[tuple[str, Chart]]:
    """Every figure of a page, under a name of its own that any file system takes."""
    seen: dict[str, int] = {}
    for section in page.sections:
        for part in section.parts:
            if isinstance(part, Chart):
                name = re.sub(r"[^a-z0-9]+", "-", part.name.lower()).strip("-")[:60] or "figure"
                seen[name] = seen.get(name, 0) + 1
                yield (name if seen[name] == 1 else f"{name}-{seen[name]}"), part

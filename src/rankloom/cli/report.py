"""`rankloom report`: the page of a run that is on record."""

from __future__ import annotations

import click

from rankloom.cli.convert import check_output
from rankloom.cli.failures import tell
from rankloom.errors import InputError


@click.command()
@click.argument("run")
@click.option("--out", "target", metavar="PAGE.html", help="Where the page goes (RUN.html).")
@click.option("--figures", metavar="FOLDER", help="Also write each figure as a file of its own.")
@click.option(
    "--format", "kind", type=click.Choice(["svg", "png"]), default="svg", help="Of these files (svg)."
)
@click.option("--force", is_flag=True, help="Overwrite what is there.")
def command(run: str, target: str | None, figures: str | None, kind: str, force: bool) -> None:
    """Make the page of a run again, and its figures as files.

    RUN is the JSON that --report wrote beside its page. Nothing is learned or measured anew: the page shows
    what is in RUN, and the same RUN gives the same bytes. --figures writes every figure into FOLDER, on
    white, for a paper or slides.

    \b
    Examples:
      rankloom report tuning.json
      rankloom report tuning.json --out again.html --figures figures --format png
    """
    from pathlib import Path

    from rankloom.reports.files import read_run
    from rankloom.reports.make import page_of, write_figures, write_page
    from rankloom.reports.needs import need_matplotlib

    need_matplotlib()
    if run == "-":
        raise InputError("report needs the name of a file, got -")
    page_file = str(Path(run).with_suffix(".html")) if target is None else target
    check_output((run,), page_file, force)
    known = read_run(run)
    page = page_of(known, run)
    if figures is not None:
        written = write_figures(page, figures, kind, force)
        tell(f"wrote {len(written)} figure{'' if len(written) == 1 else 's'} to {figures}")
    write_page(known, page_file, page)
    tell(f"wrote {page_file}")

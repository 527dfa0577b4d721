"""`rankloom warmup`: compile every kernel now."""

from __future__ import annotations

import time
from typing import Any

import click

from rankloom.cli.output import print_json, print_table


@click.command()
@click.option(
    "--workers", type=click.IntRange(min=1), help="Processes side by side (as many as threads are ours)."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(workers: int | None, as_json: bool) -> None:
    """Compile every kernel now, so that no later run waits for it.

    Kernels are compiled when they are first used, once on a machine, and kept on disk. Run this while
    an image is built or before a service starts. Where the package's own folder cannot be written to,
    set NUMBA_CACHE_DIR.

    \b
    Examples:
      rankloom warmup
      NUMBA_CACHE_DIR=/var/cache/rankloom rankloom warmup
    """
    from rankloom.kernels.threads import thread_count
    from rankloom.warm import is_warm, warm_up

    begin = time.perf_counter()
    kernels = warm_up(1 if is_warm() else workers or thread_count())
    seconds = time.perf_counter() - begin
    if as_json:
        print_json({"seconds": seconds, "kernels": [kernel._asdict() for kernel in kernels]})
        return
    print_table(["kernel", "seconds", ""], [_row(kernel) for kernel in kernels])
    compiled = sum(kernel.compiled for kernel in kernels)
    kept = len(kernels) - compiled
    click.echo(f"{len(kernels)} kernels in {seconds:.1f} s: {compiled} compiled, {kept} on disk before.")


def _row(kernel: Any) -> list[str]:
    return [kernel.name, f"{kernel.seconds:.2f}", "compiled" if kernel.compiled else "on disk"]

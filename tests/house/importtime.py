"""Reads what `python -X importtime` says, and tells who imported whom."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from collections.abc import Sequence

LINE = re.compile(r"^import time:\s+\d+ \|\s+\d+ \| (?P<indent> *)(?P<name>\S+)$")


def run(arguments: Sequence[str], *options: str) -> subprocess.CompletedProcess[str]:
    """Python with these arguments, in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [sys.executable, *options, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment)


def imported(arguments: Sequence[str]) -> dict[str, str]:
    """Every module that the program imports, with the chain of imports that led to it."""
    return chains(run(arguments, "-X", "importtime").stderr)


def chains(report: str) -> dict[str, str]:
    """module -> "a > b > module". A module is reported after those it imports, which are indented deeper."""
    found: dict[str, str] = {}
    open_chain: list[tuple[int, str]] = []
    for line in reversed(report.splitlines()):
        match = LINE.match(line)
        if match is None:
            continue
        depth, name = len(match["indent"]), match["name"]
        while open_chain and open_chain[-1][0] >= depth:
            open_chain.pop()
        open_chain.append((depth, name))
        found[name] = " > ".join(part for _, part in open_chain)
    return found


def guilty(modules: dict[str, str], forbidden: Sequence[str]) -> list[str]:
    """The chains by which forbidden packages (or modules) came in: the first one for each."""
    first: dict[str, str] = {}
    for name, chain in modules.items():
        for package in forbidden:
            if name == package or name.startswith(package + "."):
                known = first.get(package)
                if known is None or chain.count(" > ") < known.count(" > "):
                    first[package] = chain
    return sorted(first.values())


def cpu_seconds(arguments: Sequence[str], rounds: int = 5) -> float:
    """The least CPU time, of some rounds, that Python takes for this."""
    return min(_once(arguments) for _ in range(rounds))


def _once(arguments: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

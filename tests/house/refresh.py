"""Rewrites the outputs that documentation pages show for their commands, with what the commands print now.

python tests/house/refresh.py docs/cli.md
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from house.blocks import commands, read_blocks
from house.test_docs_run import in_turn, run_command, run_python


def refresh(page: Path) -> None:
    """Run the page, and put each command's output below it. Outputs with "..." stay."""
    text = page.read_text()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for run in in_turn([block for block in read_blocks(page) if block.run]):
            if run[0].language != "console":
                run_python(run, folder)
                continue
            before = "".join(f"$ {command}\n{shown}" for command, shown in commands(run[0]))
            printed = [(*pair, tidy(run_command(pair[0], folder))) for pair in commands(run[0])]
            after = "".join(
                f"$ {command}\n{shown if '...' in shown else now}" for command, shown, now in printed
            )
            text = text.replace(f"```console\n{before}```", f"```console\n{after}```")
    page.write_text(text)


def tidy(printed: str) -> str:
    """Without blanks at line ends, and without a blank line at the end."""
    lines = [line.rstrip() for line in printed.rstrip().splitlines()]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        refresh(Path(argument))

"""Rewrites the outputs that documentation pages show, with what their commands and Python blocks print now.

python tests/house/refresh.py docs/cli.md docs/models.md
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from house.blocks import Block, commands, read_blocks
from house.test_docs_run import in_turn, run_command, run_python


def refresh(page: Path) -> None:
    """Run the page, and put below each block what it prints. Outputs with "..." stay."""
    text = page.read_text()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for run in in_turn([block for block in read_blocks(page) if block.run]):
            changes = console(run[0], folder) if run[0].language == "console" else python(run, folder)
            for before, after in changes:
                text = text.replace(before, after, 1)
    page.write_text(text)


def console(block: Block, folder: Path) -> list[tuple[str, str]]:
    """A block of commands, as it is and as it should be."""
    printed = [(*pair, tidy(run_command(pair[0], folder))) for pair in commands(block)]
    before = "".join(f"$ {command}\n{shown}" for command, shown, _ in printed)
    after = "".join(f"$ {command}\n{shown if '...' in shown else now}" for command, shown, now in printed)
    return [(f"```console\n{before}```", f"```console\n{after}```")]


def python(blocks: list[Block], folder: Path) -> list[tuple[str, str]]:
    """Each Python block with its output, as they are and as they should be."""
    pairs = zip(blocks, run_python(blocks, folder), strict=True)
    parts = "```python\n{}```\n\n```text\n{}```"
    return [
        (parts.format(block.text, block.output), parts.format(block.text, tidy(now)))
        for block, now in pairs
        if block.output is not None and "..." not in block.output
    ]


def tidy(printed: str) -> str:
    """Without blanks at line ends, and without a blank line at the end."""
    lines = [line.rstrip() for line in printed.rstrip().splitlines()]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        refresh(Path(argument))

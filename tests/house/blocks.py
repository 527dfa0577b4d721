"""The code blocks of a documentation page, and the outputs that the page says they have.

    ```python       runs, all of a page in one namespace and one empty folder
    <!-- new program -->     on the line before: this block and those after it run here, in a new namespace
    ```text         right after it: what it prints
    ```console      "$ command" lines, each with its output below it; runs in the same folder
    <!-- no-run: why -->     on the line before: the block is shown, not run

Blanks at line ends do not count, "..." stands for anything, and a decimal may be off by 0.2 %.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[\w+-]*)[^`]*$")
NEW_PROGRAM = "<!-- new program -->"
NO_RUN = re.compile(r"<!-- no-run: \S.* -->")


@dataclass
class Block:
    """One fenced block."""

    language: str
    line: int
    text: str
    run: bool = True
    output: str | None = None
    begins: bool = False


@dataclass
class _Reader:
    blocks: list[Block] = field(default_factory=list)
    before: str = ""  # the last line that is not blank, outside blocks

    def end_of_block(self, block: Block) -> None:
        block.text = dedent(block.text)
        block.run = not NO_RUN.fullmatch(self.before.strip())
        block.begins = self.before.strip() == NEW_PROGRAM
        printed = block.language in ("text", "output") and self.before.startswith("```")
        if printed and self.blocks and self.blocks[-1].language == "python":
            self.blocks[-1].output = block.text
        self.blocks.append(block)
        self.before = "```"


def read_blocks(page: Path) -> list[Block]:
    """Every fenced block of a page, in order."""
    reader, block, fence = _Reader(), None, ""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        match = FENCE.match(line)
        if block is not None and line.strip() == fence:
            reader.end_of_block(block)
            block = None
        elif block is not None:
            block.text += line + "\n"
        elif match:
            block, fence = Block(match["language"], number, ""), match["fence"]
        elif line.strip():
            reader.before = line
    assert block is None, f"{page.name}:{block.line}: this block has no end"
    return reader.blocks


def commands(block: Block) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it; a trailing backslash goes on."""
    found: list[tuple[str, str]] = []
    more = False
    for line in block.text.splitlines():
        if more:
            command, output = found[-1]
            found[-1] = (f"{command}\n{line.removeprefix('> ')}", output)
        elif line.startswith("$ "):
            found.append((line[2:], ""))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
        more = line.endswith("\\") and (more or line.startswith("$ "))
    return found


def same(shown: str, printed: str) -> bool:
    """Whether what was printed is what the page shows; decimals may be off by 0.2 %, as processors differ."""
    pattern, decimals = "", []
    for piece in re.split(r"(\.\.\.|\d+\.\d+)", _tidy(shown)):
        if piece == "...":
            pattern += ".*?"
        elif re.fullmatch(r"\d+\.\d+", piece):
            pattern += r"(\d+\.\d+)"
            decimals.append(float(piece))
        else:
            pattern += re.escape(piece)
    match = re.fullmatch(pattern, _tidy(printed), re.DOTALL)
    return match is not None and all(
        math.isclose(float(now), then, rel_tol=2e-3, abs_tol=5e-4)
        for now, then in zip(match.groups(), decimals, strict=True)
    )


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())

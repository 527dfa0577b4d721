"""What the documentation shows is what happens: its examples run, and print what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from house.blocks import Block, commands, read_blocks, same

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

# Runs each block of a page in one namespace; before each, prints what no page has. A block lies in a file, as
# a user's program does: kernels are kept on disk beside it, and tracebacks show its lines.
PROGRAM = """
import pathlib, sys
for number, text in enumerate(sys.stdin.read().split(sys.argv[1])):
    print(sys.argv[1], end="", flush=True)
    block = pathlib.Path(f"_block_{number}.py").resolve()
    block.write_text(text)
    exec(compile(text, str(block), "exec"), globals())
"""
CUT = "\f"


def environment() -> dict[str, str]:
    """This environment's programs first, standard output as it is when piped."""
    here = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": here + os.pathsep + os.environ["PATH"], "COLUMNS": "100"}


def run_python(blocks: list[Block], folder: Path) -> list[str]:
    """What each block prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, CUT],
        input=CUT.join(block.text for block in blocks), cwd=folder, env=environment(),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split(CUT)[1:]


def run_command(command: str, folder: Path) -> str:
    """What a shell command prints, on both its outputs."""
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_do_what_the_page_says(page: Path, tmp_path: Path) -> None:
    blocks = [block for block in read_blocks(page) if block.run]
    for run in in_turn(blocks):
        if run[0].language == "console":
            for command, shown in commands(run[0]):
                check(page, run[0], command, shown, run_command(command, tmp_path))
            continue
        for block, printed in zip(run, run_python(run, tmp_path), strict=True):
            if block.output is not None:
                check(page, block, block.text, block.output, printed)


def in_turn(blocks: list[Block]) -> list[list[Block]]:
    """Console blocks one by one; the Python of each program all together, where its first block stands."""
    runs: list[list[Block]] = []
    program: list[Block] | None = None
    for block in blocks:
        if block.language == "console":
            runs.append([block])
        elif block.language == "python":
            if program is None or block.begins:
                program = []
                runs.append(program)
            program.append(block)
    return runs


def check(page: Path, block: Block, code: str, shown: str, printed: str) -> None:
    """Compare, and on a difference say where."""
    where = f"{page.relative_to(ROOT)}:{block.line}"
    assert same(shown, printed), f"{where}\n{code}\n--- the page shows\n{shown}\n--- it prints\n{printed}"


def test_a_wrong_output_is_noticed(tmp_path: Path) -> None:
    page = ROOT / "docs" / "page.md"
    block = Block("python", 7, "print(2)\n", output="3\n")
    (printed,) = run_python([block], tmp_path)
    with pytest.raises(AssertionError, match=r"page\.md:7"):
        check(page, block, block.text, "3\n", printed)
    check(page, block, block.text, "2\n", printed)


def test_blocks_are_read_as_they_are_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nprint(1)\n```\n\n```text\n1\n```\n<!-- no-run: it is slow -->\n```python\nslow()\n```\n"
        "```console\n$ echo a \\\n>   b\na b\n$ true\n```\n"
    )
    first, _, second, third = read_blocks(page)
    assert (first.output, first.run, second.run, third.line) == ("1\n", True, False, 12)
    assert commands(third) == [("echo a \\\n  b", "a b\n"), ("true", "")]
    assert same("a...\nc", "a and b \nc\n")
    assert not same("a\nc", "a\nb\nc\n")
    assert same("x 0.6121 ...", "x 0.6122 y")
    assert not same("x 0.6121 ...", "x 0.6221 y")

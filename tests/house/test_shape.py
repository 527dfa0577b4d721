"""The shape of the code: short files, short functions, docstrings, nothing of the author's machine."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import rankloom

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PYTHON = sorted(path for room in ("src", "tests", "benchmarks") for path in (ROOT / room).rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 600, 80

# Folders of whoever wrote a line, which mean nothing elsewhere; and what is not to be left behind.
MACHINE_PATHS = re.compile(r"(?<![\w.~}>])/(?:home|root|Users|work|tmp)/")
LEFTOVERS = re.compile(r"\b(?:TODO|FIXME|XXX)\b|pragma: no cover|type: ignore(?!\[)")
THIS = Path(__file__).resolve()


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def kept_files() -> list[Path]:
    """The files that git keeps, or all that are not hidden where there is no git."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listing.returncode == 0:
        return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]
    return [
        *PYTHON,
        *(ROOT / "docs").rglob("*.md"),
        *ROOT.glob("*.md"),
        ROOT / "pyproject.toml",
        ROOT / "Makefile",
    ]


Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def definitions(
    node: ast.AST, prefix: str = "", public: bool = True
) -> Iterator[tuple[str, Definition, bool]]:
    """Every class and function below a node: its dotted name, itself, and whether a user sees it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            seen = public and not child.name.startswith("_")
            yield f"{prefix}{child.name}", child, seen
            yield from definitions(child, f"{prefix}{child.name}.", seen and isinstance(child, ast.ClassDef))
        else:
            yield from definitions(child, prefix, public)


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_files_and_functions_are_short(path: Path) -> None:
    lines = len(path.read_text().splitlines())
    assert lines <= LONGEST_FILE, f"{name_of(path)} has {lines} lines, at most {LONGEST_FILE}: cut it in two"
    for name, node, _ in definitions(ast.parse(path.read_text())):
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        if not isinstance(node, ast.ClassDef):
            assert length <= LONGEST_FUNCTION, f"{name} has {length} lines, at most {LONGEST_FUNCTION}"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_every_module_and_public_function_says_what_it_is(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), f"{name_of(path)} has no docstring"
    silent = [name for name, node, public in definitions(tree) if public and not documented(node)]
    assert not silent, f"without a docstring: {', '.join(silent)}"


def documented(node: Definition) -> bool:
    """Overloads and setters share the words of what they belong to."""
    marks = {ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list}
    return bool(ast.get_docstring(node)) or bool(marks & {"overload", "override", "setter"})


def test_nothing_of_a_machine_and_no_leftovers_are_kept() -> None:
    found = []
    for path in set(kept_files()) - {THIS}:
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if MACHINE_PATHS.search(line) or (path.suffix == ".py" and LEFTOVERS.search(line)):
                found.append(f"{name_of(path)}:{number}: {line.strip()[:80]}")
    assert not found, "\n".join(found)


def test_the_version_is_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert rankloom.__version__ == project["version"]


def test_every_benchmark_is_run_by_make_bench() -> None:
    """But for those on published data, which a user has to get first, and what is no program of its own."""
    text = (ROOT / "Makefile").read_text()
    programs = [path for path in (ROOT / "benchmarks").glob("*.py") if "__main__" in path.read_text()]
    helpers = {"bigdata.py"}  # called by reading.py where its files are not there yet
    left_out = [
        path.name
        for path in programs
        if f"$(BENCH)/{path.name}" not in text and not path.name.startswith("mq2008_")
    ]
    assert set(left_out) <= helpers, f"make bench does not run {', '.join(left_out)}"


def test_every_loop_over_unsigned_places_is_compiled() -> None:
    """Such a loop is written for a kernel; without its decorator it runs, but a thousand times slower."""
    for path in sorted((ROOT / "src/rankloom/kernels").glob("*.py")):
        for function in ast.parse(path.read_text()).body:
            if isinstance(function, ast.FunctionDef) and "range(np.uint64(" in ast.unparse(function):
                assert function.decorator_list, f"{path.name}: {function.name} is not compiled"

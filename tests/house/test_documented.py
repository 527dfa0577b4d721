"""Every exported name, every command and every option has its place in the documentation."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import rankloom
from rankloom.cli.experiment import PROTOCOLS
from rankloom.cli.main import COMMANDS, program

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EVERYTHING = "\n".join(page.read_text() for page in PAGES)
CLI_PAGE = ROOT / "docs" / "cli.md"


def command_named(name: str) -> click.Command:
    command = program.get_command(click.Context(program), name)
    assert command is not None
    return command


@pytest.mark.parametrize("name", rankloom.__all__)
def test_exported_names_exist_and_are_documented(name: str) -> None:
    value = getattr(rankloom, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        assert inspect.getdoc(value), f"{name} has no docstring"
    assert re.search(rf"\b{name}\b", EVERYTHING), f"no page of the documentation mentions {name}"


def test_exported_names_are_listed_alike_for_programs_and_for_type_checkers() -> None:
    source = ast.parse(Path(rankloom.__file__).read_text())
    guarded = next(node for node in source.body if isinstance(node, ast.If))
    typed = {
        alias.name: node.module
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == rankloom._HOMES
    assert sorted(typed) == sorted(rankloom.__all__)
    assert set(rankloom.__all__) <= set(dir(rankloom))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'rnak'"):
        rankloom.rnak  # noqa: B018


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_and_options_are_documented(name: str) -> None:
    page = CLI_PAGE.read_text()
    section = re.search(rf"^## `rankloom {name}`.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert section, f"docs/cli.md has no section for {name}"
    for parameter in command_named(name).params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            longest = max(parameter.opts, key=len)
            assert re.search(rf"(?<![\w-]){longest}\b", section[0]), f"{name} {longest} is not in docs/cli.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_teaches_by_example(name: str) -> None:
    shown = CliRunner().invoke(program, [name, "--help"])
    assert shown.exit_code == 0
    assert "Examples:" in shown.output
    assert f"  rankloom {name}" in shown.output
    for parameter in command_named(name).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts[0]} has no help"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_short_help_is_the_first_sentence_of_the_long_one(name: str) -> None:
    text = command_named(name).help or ""
    assert " ".join(text.split("\n\n")[0].split()) == COMMANDS[name]


def protocol_named(name: str) -> click.Command:
    group = command_named("experiment")
    assert isinstance(group, click.Group)
    command = group.get_command(click.Context(group), name)
    assert command is not None
    return command


@pytest.mark.parametrize("name", PROTOCOLS)
def test_protocols_are_documented(name: str) -> None:
    """As commands are, each below a heading of its own; what all of them share stands below the first."""
    page = CLI_PAGE.read_text()
    section = re.search(rf"^### `rankloom experiment {name}`.*?(?=^###? |\Z)", page, re.MULTILINE | re.DOTALL)
    shared = re.search(r"^## `rankloom experiment`.*?(?=^### |\Z)", page, re.MULTILINE | re.DOTALL)
    assert section, f"docs/cli.md has no section for experiment {name}"
    assert shared
    command = protocol_named(name)
    text = " ".join((command.help or "").split("\n\n")[0].split())
    assert text == PROTOCOLS[name]
    shown = CliRunner().invoke(program, ["experiment", name, "-h"]).output
    assert f"  rankloom experiment {name}" in shown
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"experiment {name} {parameter.opts[0]} has no help"
            longest = max(parameter.opts, key=len)
            known = re.search(rf"(?<![\w-]){longest}\b", section[0] + shared[0])
            assert known, f"experiment {name} {longest} is not in docs/cli.md"


def test_no_command_is_left_out() -> None:
    folder = Path(importlib.import_module("rankloom.cli").__file__ or "").parent
    modules = {path.stem for path in folder.glob("*.py") if "\ndef command(" in path.read_text()}
    assert modules == {name.replace("-", "_") for name in COMMANDS}


LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize(
    "page", [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: page.name
)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        name, _, anchor = target.partition("#")
        if "://" in target:
            continue
        there = page.parent / name if name else page
        assert there.exists(), f"{page.name} links to {target}, which is not there"
        if anchor:
            assert anchor in anchors(there), f"{page.name} links to {target}: no such heading"


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links spell them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_page_has_its_place_in_the_site() -> None:
    places = re.findall(r"^ +- .*: ([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert sorted(places) == sorted(pages)

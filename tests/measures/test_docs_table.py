"""The page on measures says what the presets are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rankloom.measures.measure import CHOICES
from rankloom.measures.presets import ALIASES, FIELDS, PRESETS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "measures.md").read_text()


def row_of(name):
    """The cells of the table row that starts with a name in backquotes."""
    found = re.search(rf"^\| `{re.escape(name)}`.*\|$", PAGE, re.MULTILINE)
    assert found, f"docs/measures.md has no row for {name}"
    return [cell.strip() for cell in found[0].strip("|").split("|")]


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_and_what_they_cover(preset):
    covered = [name for name in PRESETS[preset] if name]
    said = row_of(preset)[-1]
    if preset == "burges":
        assert (said, covered) == ("everything", list(FIELDS))
    else:
        assert said == ", ".join(covered)


@pytest.mark.parametrize("name", FIELDS)
def test_measures(name):
    assert re.search(rf"^\| `{name}(@k)?` \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("field", [*CHOICES, "threshold", "max_grade", "bins"])
def test_fields_and_their_values(field):
    assert f"`{field}`" in PAGE
    for value in CHOICES.get(field, ()):
        assert f"`{value}`" in PAGE


def test_aliases_lead_to_measures():
    assert set(ALIASES.values()) <= set(FIELDS)

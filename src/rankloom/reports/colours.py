"""The colours of pages and figures, in pairs: on white, and on the dark page.

Six for series, chosen so that any two differ by 20 or more (CIE Lab) to every kind of eye: without colour
blindness, and with each kind (Machado et al. 2009, severity 1); each has a contrast of 3 or more to its page.
"""

from __future__ import annotations

from typing import NamedTuple


class Colour(NamedTuple):
    """What one colour is in each scheme."""

    light: str
    dark: str


PAGE = Colour("#ffffff", "#15181d")
AROUND = {"page": PAGE, "back": Colour("#f3f4f7", "#0d0f12"), "shade": Colour("#0000001f", "#000000a6")}
"""What text and figures stand on, what is behind, and the shade at the edge of what scrolls."""
SERIES = {
    "c1": Colour("#2a52be", "#3f86f2"),
    "c2": Colour("#d96704", "#e0622c"),
    "c3": Colour("#059c6e", "#45d6a0"),
    "c4": Colour("#a97cc6", "#f3abe8"),
    "c5": Colour("#6b4508", "#efe36f"),
    "c6": Colour("#23242f", "#857c8a"),
}
"""By the name of their CSS variable, in the order in which series take them."""
LINES = {
    "ink": Colour("#1b1f26", "#e9ebef"),
    "soft": Colour("#565d6a", "#a7afbc"),
    "edge": Colour("#979eaa", "#6d7582"),
    "grid": Colour("#e2e5ea", "#2d323b"),
}
"""Text, text beside it, axes, grid."""
FIGURES = {**SERIES, **LINES}

BETTER, WORSE, SAME = SERIES["c1"].light, SERIES["c2"].light, LINES["edge"].light
INK, SOFT, EDGE, GRID = (colour.light for colour in LINES.values())
CYCLE = [colour.light for colour in SERIES.values()]


def style_variables() -> str:
    """The colours as CSS: light, and dark where the reader's system is."""
    light, dark = (
        " ".join(f"--{name}: {colour[scheme]};" for name, colour in {**FIGURES, **AROUND}.items())
        for scheme in (0, 1)
    )
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"

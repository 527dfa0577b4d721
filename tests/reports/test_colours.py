"""Colours that any eye can tell apart and read, in both schemes: formulas of WCAG and Machado et al. 2009."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rankloom.reports.colours import AROUND, LINES, PAGE, SERIES, style_variables

EYES = {
    "none": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900],
    ],
}  # fmt: skip
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    x, y, z = (
        value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116
        for value in TO_XYZ @ np.clip(light, 0, 1) / WHITE
    )
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(a: str, b: str) -> float:
    low, high = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (a, b))
    return (high + 0.05) / (low + 0.05)


def test_the_formulas() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert lab(linear("#ffffff")) == pytest.approx([100, 0, 0], abs=0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("eye", EYES)
def test_every_eye_tells_series_apart(scheme: int, eye: str) -> None:
    seen = [lab(np.array(EYES[eye]) @ linear(colour[scheme])) for colour in SERIES.values()]
    assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2)) >= 20


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_contrast(scheme: int) -> None:
    assert min(contrast(colour[scheme], PAGE[scheme]) for colour in SERIES.values()) >= 3
    for ground in (PAGE, AROUND["back"]):
        for name in ("ink", "soft"):
            assert contrast(LINES[name][scheme], ground[scheme]) >= 4.5
    assert contrast(SERIES["c1"][scheme], PAGE[scheme]) >= 4.5, "marked numbers are text"


def test_no_two_colours_of_figures_are_written_alike() -> None:
    light = [colour.light for colour in {**SERIES, **LINES}.values()]
    assert len(set(light)) == len(light)
    assert "prefers-color-scheme: dark" in style_variables()

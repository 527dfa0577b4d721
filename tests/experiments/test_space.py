"""Spaces of settings: grids that one can count by hand, random draws, and what is no space."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rankloom as rl
from rankloom.cli.methods import METHODS, ranker_class
from rankloom.experiments.grids import DEFAULTS, default_of
from rankloom.experiments.space import Range, checked_spaces, grid, random_settings, without
from rankloom.experiments.tune import default_spaces


def spaces_of(space: Any, ranker: Any = None) -> Any:
    return checked_spaces(space, ranker or rl.SPD())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1e-3, 1e1), [0.001, 0.01, 0.1, 1.0, 10.0]),
        ((1e-6, 1.0), [1e-06, 1e-05, 0.0001, 0.001, 0.01, 0.1, 1.0]),
        ((1e-2, 1e2, 3), [0.01, 1.0, 100.0]),
        ((1.0, 16.0, 5), [1.0, 2.0, 4.0, 8.0, 16.0]),
        ((1.0, 5.0), [1.0, 2.0, 3.0, 4.0, 5.0]),
        ((0, 1, 3), [0.0, 0.5, 1.0]),
        ((-2.0, 2.0, 3), [-2.0, 0.0, 2.0]),
        ([0.5, 0.25], [0.5, 0.25]),
    ],
)
def test_a_range_is_cut_by_ratio_or_evenly(values: Any, expected: list[float]) -> None:
    assert [point["lam"] for point in grid(spaces_of({"lam": values}))] == expected


def test_whole_numbers_stay_whole_where_the_parameter_is() -> None:
    found = [point["steps"] for point in grid(spaces_of({"steps": (1, 1000)}))]
    assert found == [1, 6, 32, 178, 1000]
    assert all(type(value) is int for value in found)
    assert len(grid(spaces_of({"steps": (1, 2, 9)}))) == 2
    assert type(grid(spaces_of({"lam": (1, 1000)}))[1]["lam"]) is float


def test_a_grid_is_every_combination_of_every_space() -> None:
    found = grid(spaces_of([{"loss": ["hinge", "logistic"], "lam": [1.0, 2.0]}, {"steps": [7]}]))
    assert found == [
        {"loss": "hinge", "lam": 1.0}, {"loss": "hinge", "lam": 2.0},
        {"loss": "logistic", "lam": 1.0}, {"loss": "logistic", "lam": 2.0}, {"steps": 7},
    ]  # fmt: skip


def test_random_settings_begin_alike_and_are_different() -> None:
    spaces = spaces_of([{"lam": (1e-4, 1e2), "loss": ["hinge", "logistic"]}, {"steps": (1, 9)}])
    few, many = random_settings(spaces, 5, seed=3), random_settings(spaces, 40, seed=3)
    assert many[:5] == few
    assert len({repr(each) for each in many}) == 40
    assert random_settings(spaces, 5, seed=4) != few
    lams = [each["lam"] for each in many if "lam" in each]
    assert all(1e-4 <= lam <= 1e2 for lam in lams)
    assert 0.2 < sum(lam < 0.1 for lam in lams) / len(lams) < 0.8
    assert {each["steps"] for each in many if "steps" in each} <= set(range(1, 10))


def test_random_settings_end_where_there_are_no_more() -> None:
    spaces = spaces_of({"loss": ["hinge", "logistic"]})
    assert sorted(each["loss"] for each in random_settings(spaces, 30, seed=0)) == ["hinge", "logistic"]


def test_what_is_set_is_not_searched() -> None:
    several = spaces_of([{"loss": ["hinge"], "lam": (1e-3, 1.0)}, {"loss": ["logistic"], "steps": [1, 2]}])
    assert without(several, {"loss": "hinge"}) == [{"lam": Range(1e-3, 1.0, None, False)}]
    assert without(several, {"loss": "squared"}) == []
    assert without(several[:1], {"lam": 7.0}) == [{"loss": ["hinge"]}]
    assert without(several, {"steps": 7}) == [
        {"loss": ["hinge"], "lam": Range(1e-3, 1.0, None, False)},
        {"loss": ["logistic"]},
    ]


def test_what_only_leaf_wise_trees_have_keeps_the_search_to_them() -> None:
    """Twelve settings; with a parameter that symmetric trees refuse, the six that take it."""
    found = {}
    for how in ({}, {"monotone": {0: 1}}, {"trees": "symmetric"}, {"leaves": 64}):
        ranker = rl.LambdaMART(**how)
        found[next(iter(how), "")] = grid(default_spaces(ranker, "lambdamart", how))
    assert {name: len(settings) for name, settings in found.items()} == {
        "": 12, "monotone": 6, "trees": 6, "leaves": 4,
    }  # fmt: skip
    assert {one["trees"] for one in found["monotone"]} == {"leaf-wise"}
    assert {one["noise"] for one in found["trees"]} == {0.7}


@pytest.mark.parametrize(
    ("space", "words"),
    [
        ({}, "space names no parameter"),
        ([], "space must be a dict of name and values, or a list of such"),
        ("lam", "space must be a dict"),
        ({"lamb": [1.0]}, r"SPD has no parameter 'lamb' \(did you mean lam\?\); it has C, average"),
        ({"lam": []}, "there is no value to try for lam"),
        ({"lam": 1.0}, r"must be a list of values or a range \(low, high\), got 1.0"),
        ({"lam": "abc"}, "must be a list of values"),
        ({"lam": (1.0,)}, r"a range for lam is \(low, high\) or \(low, high, count\)"),
        ({"lam": (1.0, "a")}, "must go from number to number"),
        ({"lam": (1.0, float("inf"))}, "must go from number to number"),
        ({"lam": (2.0, 1.0)}, "a range for lam must rise, got 2 to 1"),
        ({"lam": (1.0, 2.0, 1)}, "the points of lam must be a whole number from 2, got 1"),
        ({"lam": [1.0, float("nan")]}, "must be a number, a text or None, got nan"),
        ({"lam": [object()]}, "must be a number, a text or None"),
        ({"lam": [1.0, 1.0]}, "must be all different"),
    ],
)
def test_bad_spaces_are_named(space: Any, words: str) -> None:
    with pytest.raises(rl.InputError, match=words):
        spaces_of(space)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_grid_that_fits_it(method: str) -> None:
    """A new method needs its line in rankloom/experiments/grids.py."""
    ranker = ranker_class(method)()
    default = default_of(method)
    found = grid(checked_spaces(default.spaces, ranker))
    assert 2 <= len(found) <= 40
    for settings in found:
        ranker.set_params(**settings)
    assert default.path is None or (default.path in found[0] and hasattr(ranker, "path"))


@pytest.mark.parametrize("method", DEFAULTS)
def test_every_grid_can_be_read(method: str) -> None:
    class Likeness:
        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {name: 1.0 for space in DEFAULTS[method].spaces for name in space}

    assert grid(checked_spaces(DEFAULTS[method].spaces, Likeness()))


def test_a_method_without_a_grid_says_what_to_do() -> None:
    with pytest.raises(rl.InputError, match="nosuch has no grid of its own; say what to search: space="):
        default_of("nosuch")


def test_the_page_names_every_grid() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "tune.md").read_text()
    for method, default in DEFAULTS.items():
        line = next(line for line in page.splitlines() if line.startswith(f"| `{method}` |"))
        for space in default.spaces:
            assert all(f"`{name}`" in line for name in space if name != "regressor"), f"{method}: {line}"

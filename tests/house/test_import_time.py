"""A program that is started often must start at once: a test names whoever imports what is not needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from house.importtime import chains, cpu_seconds, guilty, imported
from rankloom.models.linear import LinearModel

# What nobody needs for the usual work: pyarrow and pandas come in where a table is read, scipy.stats where
# rankers are compared, scikit-learn only in rankers.
HEAVY = [
    "scipy.stats",
    "sklearn",
    "pandas",
    "polars",
    "pyarrow",
    "torch",
    "lightgbm",
    "matplotlib",
    "IPython",
]
NEEDED_LATER = ["numba", "llvmlite", "scipy", "narwhals", "rich", "hypothesis", "pytest"]


def test_chains_name_the_guilty() -> None:
    report = """\
import time: self [us] | cumulative | imported package
import time:        10 |         10 |     scipy.stats
import time:        10 |         20 |   helper
import time:        10 |         10 |   other
import time:        10 |         40 | rankloom
"""
    modules = chains(report)
    assert modules["scipy.stats"] == "rankloom > helper > scipy.stats"
    assert modules["other"] == "rankloom > other"
    assert guilty(modules, ["scipy", "numba"]) == ["rankloom > helper > scipy.stats"]
    assert guilty(modules, ["scip"]) == []


@pytest.mark.parametrize(
    ("arguments", "forbidden"),
    [
        (["-c", "import rankloom"], [*HEAVY, *NEEDED_LATER, "numpy", "click"]),
        (["-c", "import rankloom.data, rankloom.measures"], [*HEAVY, *NEEDED_LATER]),
        (["-m", "rankloom", "--help"], [*HEAVY, *NEEDED_LATER, "numpy"]),
        (["-m", "rankloom", "--version"], [*HEAVY, *NEEDED_LATER, "numpy"]),
        (["-m", "rankloom", "evaluate", "--help"], [*HEAVY, *NEEDED_LATER, "numpy"]),
    ],
    ids=lambda value: " ".join(value) if value[0].startswith("-") else "",
)
def test_starts_light(arguments: list[str], forbidden: list[str]) -> None:
    assert guilty(imported(arguments), forbidden) == []


@pytest.fixture
def small(tmp_path: Path) -> list[str]:
    """`rankloom evaluate` of a small file, once run so that its kernels are compiled."""
    data, scores = tmp_path / "test.txt", tmp_path / "scores.txt"
    data.write_text("".join(f"{row % 3} qid:{row // 10} 1:{row / 7:.3f} 2:{row % 5}\n" for row in range(100)))
    scores.write_text("".join(f"{row * 37 % 100}\n" for row in range(100)))
    command = ["-m", "rankloom", "evaluate", str(scores), str(data), "--json"]
    cpu_seconds(command, rounds=1)
    return command


def test_evaluate_imports_what_it_needs(small: list[str]) -> None:
    assert guilty(imported(small), HEAVY) == []


def test_help_costs_less_than_importing_numpy(small: list[str]) -> None:
    """0.3 s is the promise; on the machine at hand, importing NumPy alone is about half of that."""
    floor = cpu_seconds(["-c", "import numpy"])
    assert cpu_seconds(["-m", "rankloom", "--help"]) < 2.0 * floor


def test_evaluate_costs_little_more_than_importing_numba(small: list[str]) -> None:
    """1.0 s is the promise; importing Numba alone is about 0.3 s of it, and it was 0.65 s when measured."""
    floor = cpu_seconds(["-c", "import numba"])
    assert cpu_seconds(small) < 3.0 * floor


def test_models_score_without_what_learns(small: list[str], tmp_path: Path) -> None:
    """A service that predicts does not wait for scikit-learn."""
    model = str(tmp_path / "model.rank")
    LinearModel([1.0, 2.0]).save(model)
    data = small[-2]
    for command in (["predict", model, data], ["evaluate", model, data]):
        assert guilty(imported(["-m", "rankloom", *command]), HEAVY) == []
    program = f"import rankloom as rl; rl.load({model!r}).predict([[1.0, 2.0]])"
    assert guilty(imported(["-c", program]), [*HEAVY, "narwhals", "click", "rich", "rankloom.rankers"]) == []

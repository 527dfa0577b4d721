"""The decorator of all kernels, and the border that arrays cross."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankloom
from rankloom.kernels import compile as house
from rankloom.kernels.compile import as_kernel, jit_disabled, kernel

compiled_only = pytest.mark.skipif(jit_disabled(), reason="about compiled code")


@kernel
def total(values: Any) -> float:
    """A sum, and how Numba types it: the sum of a column of uint32 is another kernel than that of float64."""
    result = 0.0
    for i in range(len(values)):
        result += values[i]
    return result


@kernel(fast_sums=True)
def sum_without_nan(values: Any) -> float:
    result = 0.0
    for i in range(len(values)):
        if not np.isnan(values[i]):
            result += values[i]
    return result


@kernel(allocates=False)
def reciprocal(values: Any, i: int) -> float:
    return 1.0 / values[i]


def read_only(values: np.ndarray) -> np.ndarray:
    values.flags.writeable = False
    return values


def unaligned(values: np.ndarray) -> np.ndarray:
    return np.frombuffer(b"x" + values.tobytes(), dtype=values.dtype, offset=1)


class Subclass(np.ndarray):
    """An array that is not quite an array."""


def pandas_column(values: np.ndarray) -> Any:
    return pytest.importorskip("pandas").Series(values)


def memory_map(values: np.ndarray, folder: Path) -> np.ndarray:
    np.save(folder / "values.npy", values)
    return np.load(folder / "values.npy", mmap_mode="r")


FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "writable": lambda values: values,
    "read-only": read_only,
    "pandas": pandas_column,
    "subclass": lambda values: values.view(Subclass),
    "read-only subclass": lambda values: read_only(values.view(Subclass)),
    "list": lambda values: values.tolist(),
    "tuple": lambda values: tuple(values.tolist()),
    "every other": lambda values: np.repeat(values, 2)[::2],
    "reversed": lambda values: values[::-1].copy()[::-1],
    "other width": lambda values: values.astype(np.float32),
    "other byte order": lambda values: values.astype(values.dtype.newbyteorder()),
    "unaligned": unaligned,
    "integers": lambda values: values.astype(np.int64),
}
NOT_COPIED = ("writable", "read-only", "pandas", "subclass", "read-only subclass")


@pytest.mark.jit_free
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_an_array_is_one_signature(form: str) -> None:
    given = FORMS[form](np.array([1.0, 2.0, 4.0]))
    ready = as_kernel(given, np.float64)
    assert type(ready) is np.ndarray
    assert ready.dtype == np.float64
    assert ready.dtype.isnative
    assert ready.flags.carray  # C-contiguous, aligned and, for Numba's type, writable
    assert total(ready) == 7.0
    assert len(getattr(total, "signatures", [()])) == 1


@pytest.mark.jit_free
@pytest.mark.parametrize("form", NOT_COPIED)
def test_what_fits_is_not_copied(form: str) -> None:
    given = FORMS[form](np.array([1.0, 2.0, 4.0]))
    assert np.shares_memory(np.asarray(given), as_kernel(given, np.float64))


@pytest.mark.jit_free
def test_a_memory_map_is_not_read_until_a_kernel_reads_it(tmp_path: Path) -> None:
    given = memory_map(np.array([1.0, 2.0, 4.0]), tmp_path)
    ready = as_kernel(given, np.float64)
    assert np.shares_memory(given, ready)
    assert total(ready) == 7.0


@pytest.mark.jit_free
@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (2, 3)])
def test_shapes_stay(shape: tuple[int, ...]) -> None:
    ready = as_kernel(read_only(np.ones(shape, np.float32)), np.float32)
    assert ready.shape == shape
    assert ready.sum() == np.prod(shape)


@pytest.mark.jit_free
def test_columns_first_becomes_rows_first() -> None:
    ready = as_kernel(np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.float64)
    assert ready.flags.c_contiguous
    assert ready.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.jit_free
def test_the_memory_lives_as_long_as_the_array() -> None:
    ready = as_kernel(read_only(np.full(100_000, 3.0)), np.float64)
    gc.collect()
    np.full(100_000, 5.0)
    assert (ready == 3.0).all()


@pytest.mark.jit_free
def test_the_owner_stays_read_only() -> None:
    given = read_only(np.ones(3))
    as_kernel(given, np.float64)
    assert not given.flags.writeable


@pytest.mark.jit_free
def test_sums_that_may_be_reordered_still_see_nan() -> None:
    values = np.array([1.0, np.nan, 2.0, np.inf])
    assert sum_without_nan(values[:3]) == 3.0
    assert sum_without_nan(values) == np.inf


@pytest.mark.jit_free
def test_division_is_numpys() -> None:
    assert reciprocal(np.array([0.0]), 0) == np.inf


@compiled_only
def test_the_options_reach_the_compiler() -> None:
    for function in (total, sum_without_nan, reciprocal):
        assert function.targetoptions["nogil"]
        assert "parallel" not in function.targetoptions
    assert house.FAST_SUMS & {"nnan", "ninf", "fast"} == set()
    assert sum_without_nan.targetoptions["fastmath"] == house.FAST_SUMS
    assert "fastmath" not in total.targetoptions


@compiled_only
def test_sums_are_in_order_unless_asked() -> None:
    """1 added to 2^53 is lost, 1 + 1 is not: a vectorised sum gives another number, ours must not."""
    values = np.array([2.0**53] + [1.0] * 64)
    assert total(values) == 2.0**53


def test_other_errors_are_not_taken_for_a_missing_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**options: Any) -> Any:
        raise RuntimeError("something else")

    monkeypatch.setattr(house.numba, "njit", fail)
    with pytest.raises(RuntimeError, match="something else"):
        kernel(lambda x: x)


@pytest.mark.parametrize(("setting", "off"), [(None, False), ("", False), ("0", False), ("1", True)])
def test_when_the_jit_is_off(setting: str | None, off: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    if setting is not None:
        monkeypatch.setenv("NUMBA_DISABLE_JIT", setting)
    assert jit_disabled() is off


DRAWS = """
import warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import numpy as np
    from rankloom.kernels.random import next_below, next_uint64
    state = np.array([1234567], dtype=np.uint64)
    print(int(next_uint64(state)), int(next_below(state, 10)))
print(len([w for w in told if "NUMBA_CACHE_DIR" in str(w.message)]))
"""


def copy_of_the_package(folder: Path) -> Path:
    """A copy without compiled kernels."""
    source = Path(rankloom.__file__).parent
    target: Path = shutil.copytree(source, folder / "rankloom", ignore=shutil.ignore_patterns("__pycache__"))
    return target


def run_draws(folder: Path, **environment: str) -> list[str]:
    """What DRAWS prints, run on the copy in `folder`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-c", DRAWS],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_without_any_writable_place_kernels_run_and_the_user_is_told_once(tmp_path: Path) -> None:
    """Files stand where folders would have to be made: that stops even the administrator."""
    package = copy_of_the_package(tmp_path)
    (package / "kernels" / "__pycache__").touch()
    nowhere = tmp_path / "file"
    nowhere.touch()
    places = {
        name: str(nowhere / name) for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "NUMBA_CACHE_DIR")
    }
    assert run_draws(tmp_path, **places) == ["6457827717110365317", "1", "1"]


def test_compiled_kernels_are_kept_where_asked(tmp_path: Path) -> None:
    copy_of_the_package(tmp_path)
    kept = tmp_path / "kept"
    assert run_draws(tmp_path, NUMBA_CACHE_DIR=str(kept)) == ["6457827717110365317", "1", "0"]
    first = {path: path.stat().st_mtime_ns for path in kept.rglob("*.nbc")}
    assert first
    run_draws(tmp_path, NUMBA_CACHE_DIR=str(kept))
    assert {path: path.stat().st_mtime_ns for path in kept.rglob("*.nbc")} == first

"""What a ranker is given, as RankingData; refused with the words that scikit-learn's checks listen for."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankloom.data.columns import all_finite
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.rankers.checks import refuse_too_wide

LEAST_ROWS = 2


class InputTypeError(InputError, TypeError):
    """An entry that is no number at all: scikit-learn expects a TypeError there."""


def training_data(
    name: str, X: Any, y: Any, qid: Any, sample_weight: Any, *, missing: bool = False
) -> RankingData:
    """Rows to learn from: labelled, two of them or more, finite unless features may be `missing`."""
    data = labelled(name, X, y, qid, sample_weight, missing=missing)
    shape = f"(shape=({data.n_rows}, {data.n_features}))"
    if data.n_features < 1:
        raise InputError(f"X has 0 feature(s) {shape} while a minimum of 1 is required.")
    refuse_too_wide(data.n_features)
    if data.n_rows < LEAST_ROWS:
        samples = "1 sample" if data.n_rows else "0 sample(s)"
        raise InputError(
            f"X has {samples} {shape} while a minimum of {LEAST_ROWS} is required: nothing to rank"
        )
    if data.weights is not None and not data.weights.any():
        raise InputError("sample weights must not all be zero: nothing would be learned")
    if not missing and not all_finite(data.values):
        raise InputError(f"{name} cannot learn from missing values (NaN); fill them in")
    return data


def labelled(
    name: str, X: Any, y: Any, qid: Any, sample_weight: Any, *, missing: bool = False
) -> RankingData:
    """Rows with labels: a RankingData that has them, or X and y."""
    if not isinstance(X, RankingData):
        if y is None:
            raise InputError(f"{name} requires y to be passed, but the target y is None")
        return table(X, y, qid, sample_weight, missing=missing)
    refuse_twice(y=y, qid=qid, sample_weight=sample_weight)
    if X.y is None:
        raise InputError(f"{name} requires y to be passed, but the data has no labels")
    return X


def refuse_twice(**given: Any) -> None:
    """Refuse what a RankingData has already."""
    for what, value in given.items():
        if value is not None:
            raise InputError(f"{what} is given beside a RankingData, which has its own; leave it out")


def rows_to_score(X: Any, qid: Any = None, *, missing: bool = False) -> RankingData:
    """Rows with features, and their queries where they matter."""
    if not isinstance(X, RankingData):
        return table(X, qid=qid, missing=missing)
    refuse_twice(qid=qid)
    return X


def held_out(name: str, valid: Any, data: RankingData) -> RankingData | None:
    """Data to measure on while learning: labelled, with the features of the training data."""
    if valid is None:
        return None
    if not isinstance(valid, RankingData):
        raise InputError(
            f"valid must be a RankingData, got {type(valid).__name__}: rl.RankingData(X, y, qid)"
        )
    if valid.y is None:
        raise InputError(f"{name} cannot measure on valid: it has no labels")
    if valid.n_features != data.n_features:
        raise InputError(
            f"valid has {valid.n_features:,} features and the training data {data.n_features:,}; "
            "they must agree"
        )
    return valid


def table(
    X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None, *, missing: bool = False
) -> RankingData:
    """Arrays or frames as RankingData. Columns have names if all of them are strings."""
    try:
        data = RankingData(X, _sized(y), _sized(qid), weights=_sized(sample_weight), allow_missing=missing)
    except InputError as error:
        raise _in_known_words(X, error) from error
    return data if data.feature_names is None or _has_names(X) else data.with_names(None)


def _has_names(frame: Any) -> bool:
    """Whether columns are called by strings; pandas counts those that nobody named."""
    columns = frame.column_names if hasattr(frame, "column_names") else frame.columns
    return all(isinstance(column, str) for column in columns)


def _sized(values: Any) -> Any:
    """A column as an array, if it can only become one and has no length of its own."""
    return np.asarray(values) if hasattr(values, "__array__") and not hasattr(values, "__len__") else values


def _in_known_words(X: Any, error: InputError) -> InputError:
    """Our error, with the words that people know from scikit-learn, where it has some for the case."""
    dtype = getattr(X, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind == "c":
        return InputError(f"Complex data not supported: {error}")
    if isinstance(error.__cause__, TypeError):
        return InputTypeError(f"{error}; the argument must be a string or a real number")
    if _is_flat(X):
        return InputError(f"{error}. Reshape your data: X.reshape(-1, 1) is one feature, (1, -1) one row")
    return error


def _is_flat(X: Any) -> bool:
    """True for one row (or one column) given as numbers one after the other."""
    if isinstance(X, (list, tuple)):
        return bool(X) and not hasattr(X[0], "__len__")
    return getattr(X, "ndim", 2) == 1

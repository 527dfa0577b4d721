"""Calibration: the error by hand, the curve as scikit-learn draws it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.errors import InputError
from rankloom.measures.curves import reliability_curve
from rankloom.measures.evaluate import evaluate

pytestmark = pytest.mark.jit_free


def test_by_hand():
    """Two bins: .2 and .4 were said and 1 of 2 came true; .9 was said three times and came true twice."""
    scores, labels = [0.2, 0.4, 0.9, 0.9, 0.9], [0, 1, 1, 1, 0]
    found = evaluate(scores, labels, measures="ece:bins=2")
    assert found["ece:bins=2"] == pytest.approx(2 / 5 * abs(1 / 2 - 0.3) + 3 / 5 * abs(2 / 3 - 0.9))
    points = found.points
    assert points.lower.tolist() == [0, 0.5]
    assert points.upper.tolist() == [0.5, 1]
    assert points.predicted.tolist() == pytest.approx([0.3, 0.9])
    assert points.observed.tolist() == pytest.approx([1 / 2, 2 / 3])
    assert points.counts.tolist() == [2, 3]


def test_weights_of_queries_weigh_rows():
    found = evaluate([0.2, 0.9], [0, 0], qid=[1, 2], query_weights=[1, 3], measures="ece")
    assert found["ece"] == pytest.approx((1 * 0.2 + 3 * 0.9) / 4)


def test_a_threshold_makes_grades_events():
    found = evaluate([0.5, 0.5], [4, 1], measures=["ece:threshold=2", "logloss:threshold=2"])
    assert list(found.values()) == pytest.approx([0.0, np.log(2)])


def test_it_has_no_value_per_query():
    found = evaluate([0.5], [1], measures=["ece", "mse"])
    with pytest.raises(InputError, match="no value per query"):
        found.per_query("ece")
    assert found.curve("ece") is found.points
    assert evaluate([0.5], [1], measures=["mse"]).points is None


def test_everything_goes_into_json():
    found = evaluate([0.25, 0.75], [0, 1], measures=["ece:bins=2"])
    curve = found.to_dict()["reliability"]["ece:bins=2"]
    assert curve["predicted"] == [0.25, 0.75]
    assert curve["counts"] == [1, 1]


@pytest.mark.parametrize(("binning", "strategy"), [("width", "uniform"), ("mass", "quantile")])
@pytest.mark.parametrize("bins", [1, 3, 10])
def test_points_equal_scikit_learns(binning, strategy, bins):
    calibration = pytest.importorskip("sklearn.calibration")
    random = np.random.default_rng(bins)
    scores = np.round(random.random(500), 2)  # many on the edges
    labels = (random.random(500) < scores).astype(float)
    observed, predicted = calibration.calibration_curve(labels, scores, n_bins=bins, strategy=strategy)
    curve = reliability_curve(scores, labels, bins=bins, binning=binning)
    assert curve.observed.tolist() == pytest.approx(observed.tolist())
    assert curve.predicted.tolist() == pytest.approx(predicted.tolist())


@given(
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=30),
    st.integers(1, 12),
    st.sampled_from(["width", "mass"]),
)
@settings(max_examples=60)
def test_error_lies_between_bias_and_one(rows, bins, binning):
    scores, labels = map(np.array, zip(*rows, strict=True))
    curve = reliability_curve(scores, labels, bins=bins, binning=binning)
    assert curve.counts.sum() == len(rows)
    assert abs(scores.mean() - labels.mean()) - 1e-12 <= curve.error <= 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"scores": [2], "y": [1]}, "scores must lie within 0 and 1, got 2 at row 0"),
        ({"scores": [0, np.nan], "y": [1, 1]}, "scores must lie within 0 and 1, got nan at row 1"),
        ({"scores": [0], "y": [3]}, "y must lie within 0 and 1, got 3"),
        ({"scores": [0, 1], "y": [1]}, "equally many, got 2, 1 and 2"),
        ({"scores": [0], "y": [1], "bins": 0}, "bins must be a whole number from 1, got 0"),
        ({"scores": [0], "y": [1], "binning": "size"}, "binning must be one of width, mass"),
    ],
)
def test_what_is_refused(arguments, complaint):
    with pytest.raises(InputError, match=complaint):
        reliability_curve(**arguments)

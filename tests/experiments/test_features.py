"""What a model goes by: linear weights, tree importances, nothing of what cannot say."""

from __future__ import annotations

import numpy as np
import pytest

import rankloom as rl
from rankloom.experiments.features import features_of


def test_linear_models_by_size_of_weights() -> None:
    model = rl.LinearModel([0.5, -2.0, 0.0, 1.0], feature_names=["a", "b", "c", "d"])
    assert features_of(model, top=2) == {
        "kind": "weight", "values": {"b": -2.0, "d": 1.0}, "n_features": 4, "scaled": False,
    }  # fmt: skip


def test_scaled_models_say_so() -> None:
    data = rl.make_letor(20, seed=0).data
    ranker = rl.Pointwise("svr", scale="minmax/query").fit(data)
    found = features_of(ranker.model_)
    assert found is not None
    assert found["scaled"]
    assert found["values"] == ranker.model_.inner.named_weights(20)


def test_trees_by_gain() -> None:
    pytest.importorskip("lightgbm")
    data = rl.make_letor(40, seed=0).data
    model = rl.LambdaMART(n_trees=5).fit(data).model_
    found = features_of(model, top=3)
    assert found is not None
    assert found["kind"] == "gain"
    assert found["values"] == model.importances("gain", 3)


def test_nets_cannot_say() -> None:
    assert features_of(rl.NetModel([(np.ones((2, 3)), np.zeros(3)), (np.ones((3, 1)), np.zeros(1))])) is None

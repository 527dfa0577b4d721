"""Two models that score together, and their file."""

from __future__ import annotations

import numpy as np
import pytest

import rankloom as rl
from rankloom.models.files import Content, read_model, write_model

X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]], dtype=np.float32)
A, B = rl.LinearModel([1.0, 0.0], bias=1.0), rl.LinearModel([0.0, 4.0])


def test_scores_are_shares_of_both():
    mixed = rl.MixedModel(A, B, 0.25, scales=(2.0, 4.0))
    assert mixed.predict(X).tolist() == [0.25, 0.125 + 1.5, 0.5 + 0.75]
    assert mixed.n_features == 2


def test_contributions_add_up():
    mixed = rl.MixedModel(A, B, 0.25, scales=(2.0, 4.0))
    found = mixed.explain(X)
    np.testing.assert_allclose(found.contributions.sum(axis=1) + found.bias, mixed.predict(X))
    assert [one.feature for one in mixed.explain(X, top=1)[2]] == ["column 1"]


def test_a_mix_may_hold_a_mix(tmp_path):
    inner = rl.MixedModel(A, B, 0.5)
    outer = rl.MixedModel(inner, B, 0.1, about={"method": "mix"})
    outer.save(tmp_path / "m.rank")
    again = rl.load(tmp_path / "m.rank")
    assert again == outer
    assert again.predict(X).tolist() == outer.predict(X).tolist()
    assert again.about == {"method": "mix"}
    assert again != rl.MixedModel(inner, B, 0.2)


def test_names_come_from_the_model_that_has_some():
    named = rl.LinearModel([1.0, 2.0], feature_names=["x", "y"])
    assert rl.MixedModel(A, named, 0.5).feature_names == ("x", "y")
    other = rl.LinearModel([1.0, 2.0], feature_names=["x", "z"])
    with pytest.raises(rl.InputError, match="name their features differently"):
        rl.MixedModel(named, other, 0.5)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((A, rl.LinearModel([1.0]), 0.5), "a has 2 features and b 1"),
        ((A, "b", 0.5), "b must be a model"),
        ((A, B, 1.5), "alpha must be a number from 0 to 1"),
    ],
)
def test_bad_input_is_named(arguments, complaint):
    with pytest.raises(rl.InputError, match=complaint):
        rl.MixedModel(*arguments)


@pytest.mark.parametrize("scales", [(0.0, 1.0), (1.0,), 3.0])
def test_scales_must_be_two_positive_numbers(scales):
    with pytest.raises(rl.InputError, match="two numbers > 0"):
        rl.MixedModel(A, B, 0.5, scales=scales)


@pytest.mark.parametrize("spoil", ["alpha", "parts", "scales"])
def test_a_damaged_file_is_refused(tmp_path, spoil):
    rl.MixedModel(A, B, 0.5).save(tmp_path / "m.rank")
    held = read_model(tmp_path / "m.rank")
    facts = {**held.facts, spoil: 7}
    write_model(tmp_path / "m.rank", Content(held.kind, facts, held.arrays))
    with pytest.raises(rl.ModelError, match="damaged"):
        rl.load(tmp_path / "m.rank")

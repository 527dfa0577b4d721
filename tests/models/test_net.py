"""Plain nets: scores by NumPy's layers, files, and what cannot be one."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

import rankloom as rl
from rankloom.models.files import Content, read_model, write_model
from twins import net_twin as twin

LAYERS = [
    (np.array([[1.0, -1.0], [2.0, 0.5]]), np.array([0.5, 0.0])),
    (np.array([[3.0], [4.0]]), np.array([1.0])),
]


def random_net(sizes, activation="relu", seed=0):
    draw = np.random.default_rng(seed)
    layers = [(draw.normal(size=(n_in, n_out)), draw.normal(size=n_out)) for n_in, n_out in pairwise(sizes)]
    center, scale = draw.normal(size=sizes[0]), draw.random(sizes[0]) + 0.5
    return rl.NetModel(layers, activation=activation, center=center, scale=scale)


def test_two_units_by_hand():
    """x = (1, 2): hidden (1 + 4 + .5, -1 + 1) = (5.5, 0), score 3 x 5.5 + 1; x = (-1, 0): (0, 1), 4 + 1."""
    assert rl.NetModel(LAYERS).predict([[1.0, 2.0], [-1.0, 0.0]]).tolist() == [17.5, 5.0]


@pytest.mark.jit_free
@pytest.mark.bounds
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("sizes", [(3, 1), (4, 5, 1), (2, 7, 3, 1), (1, 1, 1, 1)])
def test_scores_are_those_of_the_formula(sizes, activation):
    model = random_net(sizes, activation)
    X = np.random.default_rng(1).normal(size=(20, sizes[0])).astype(np.float32)
    np.testing.assert_allclose(model.predict(X), twin.scores(model, X), rtol=1e-12, atol=1e-12)


def test_sparse_rows_score_as_dense_ones():
    draw = np.random.default_rng(2)
    X = (draw.random((300, 6)) * (draw.random((300, 6)) < 0.3)).astype(np.float32)
    model = random_net((6, 4, 1))
    assert model.predict(csr_array(X)).tolist() == model.predict(X).tolist()


def test_threads_and_places_change_nothing():
    X = np.random.default_rng(3).normal(size=(40_000, 30)).astype(np.float32)
    model = random_net((30, 8, 1))
    found = model.predict(X, threads=1)
    assert model.predict(X, threads=3).tolist() == found.tolist()
    assert model.predict(X[::-1].copy()).tolist() == found[::-1].tolist()


def test_a_net_is_kept(tmp_path):
    model = rl.NetModel(LAYERS, feature_names=["x", "y"], link="logistic", about={"method": "ranknet"})
    model.save(tmp_path / "m.rank")
    again = rl.load(tmp_path / "m.rank")
    assert again == model
    assert again.hidden == (2,)
    assert repr(again) == "NetModel(learned by ranknet, 2 features, 2 hidden units, relu, logistic link)"


def test_parameters_are_one_vector():
    model = random_net((3, 2, 1))
    moved = model.with_parameters(model.parameters + 1.0)
    assert moved.parameters.tolist() == (model.parameters + 1.0).tolist()
    assert moved.layers[0][0].tolist() == (model.layers[0][0] + 1.0).tolist()
    assert model.with_parameters(model.parameters) == model
    with pytest.raises(rl.InputError, match="11 numbers"):
        model.with_parameters([1.0])


@pytest.mark.parametrize(
    ("layers", "complaint"),
    [
        ([], "one layer or more"),
        ([(np.ones((2, 2)), np.ones(2))], "the last layer must have one output"),
        ([(np.ones((2, 3)), np.ones(2))], "a bias per column"),
        ([(np.ones((2, 3)), np.ones(3)), (np.ones((2, 1)), np.ones(1))], "must take the 3 outputs"),
        ([(np.full((2, 1), np.nan), np.ones(1))], "finite weights"),
        ([3], "must be \\(weights, biases\\)"),
    ],
)
def test_layers_must_fit(layers, complaint):
    with pytest.raises(rl.InputError, match=complaint):
        rl.NetModel(layers)


def test_a_missing_value_has_no_score():
    data = rl.RankingData([[1.0, np.nan]], allow_missing=True)
    with pytest.raises(rl.InputError, match="a net cannot score row 0"):
        rl.NetModel(LAYERS).predict(data)


@pytest.mark.parametrize("spoil", ["activation", "center", "weights2"])
def test_a_damaged_file_is_refused(tmp_path, spoil):
    rl.NetModel(LAYERS).save(tmp_path / "m.rank")
    held = read_model(tmp_path / "m.rank")
    facts = {**held.facts, **({"activation": "none"} if spoil == "activation" else {})}
    arrays = {name: values[:1] if name == spoil else values for name, values in held.arrays.items()}
    write_model(tmp_path / "m.rank", Content(held.kind, facts, arrays))
    with pytest.raises(rl.ModelError, match="damaged"):
        rl.load(tmp_path / "m.rank")


def test_scoring_imports_no_pytorch(tmp_path):
    rl.NetModel(LAYERS).save(tmp_path / "m.rank")
    code = (
        "import sys, rankloom as rl; rl.load(sys.argv[1]).predict([[1.0, 2.0]]); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, tmp_path / "m.rank"], check=False).returncode == 0

"""RankNet and LambdaRank as nets: gradients against PyTorch's own, pairs with probabilities, own modules."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import rankloom as rl
from rankloom.rankers.net_ranker import Net
from rankloom.rankers.net_training import new_net
from rankloom.rankers.ranknet import PairBatch
from twins import net_twin as twin

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def data():
    return rl.make_letor(40, seed=6).data


@pytest.fixture(scope="module")
def valid():
    return rl.make_letor(20, seed=7).data


class Own(torch.nn.Module):
    """A module with one score a row, and dropout, so that train and eval matter."""

    def __init__(self, n_features: int = 46) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = torch.nn.Linear(n_features, 8), torch.nn.Linear(8, 1)
        self.drop = torch.nn.Dropout(0.1)

    def forward(self, x):
        return self.last(self.drop(torch.tanh(self.first(x))))[:, 0]


def all_pairs(data, rows):
    """Pairs of the rows with different labels, the better first."""
    y = np.asarray(data.y)
    query = np.searchsorted(data.offsets, rows, side="right")
    return [
        (i, j)
        for i in range(len(rows))
        for j in range(len(rows))
        if query[i] == query[j] and y[rows[i]] > y[rows[j]]
    ]


def test_a_batchs_lambdas_are_the_gradient_of_ranknets_cost(data):
    """Factored, against PyTorch through every pair."""
    batch = Net(rl.RankNet(sigma=0.7, batch=3), "ranknet").query_batches(data)[0]
    scores = np.random.default_rng(0).normal(size=len(batch.rows))
    first, second = np.array(all_pairs(data, batch.rows)).T
    given = torch.tensor(scores, requires_grad=True)
    twin.ranknet_cost(torch, given, first, second, np.ones(len(first)), 0.7).backward()
    np.testing.assert_allclose(batch.gradient(scores), given.grad.numpy() / 3, rtol=1e-5, atol=1e-6)


def test_pairs_with_probabilities_have_the_gradient_of_their_cost():
    draw = np.random.default_rng(1)
    first, second, wanted = draw.integers(0, 5, 30), draw.integers(5, 9, 30), draw.random(30)
    scores = draw.normal(size=9)
    given = torch.tensor(scores, requires_grad=True)
    twin.ranknet_cost(torch, given, first, second, wanted, 1.3).backward()
    batch = PairBatch(np.arange(9), first, second, wanted, 1.3)
    np.testing.assert_allclose(batch.gradient(scores), given.grad.numpy() / 30, rtol=1e-5, atol=1e-7)


def test_one_step_is_one_backward_pass_through_all_pairs(data):
    """One batch of all queries: the same weights as by Adam and autograd through the cost."""
    small = data.take([0, 1, 2])
    learned = rl.RankNet(hidden=(4,), activation="tanh", rate=0.1, epochs=1, batch=3).fit(small).model_
    net = new_net(46, (4,), "tanh", 0)
    adam = torch.optim.Adam(net.parameters(), lr=0.1)
    scaled = (np.asarray(small.X) - learned.center) / learned.scale
    scores = net(torch.tensor(scaled.astype(np.float32))).reshape(-1)
    first, second = np.array(all_pairs(small, np.arange(small.n_rows))).T
    twin.ranknet_cost(torch, scores, first, second, np.ones(len(first)), 1.0).backward()
    adam.step()
    for (weights, biases), layer in zip(learned.layers[:1], (net[0],), strict=True):
        np.testing.assert_allclose(weights, layer.weight.detach().numpy().T, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(biases, layer.bias.detach().numpy(), rtol=1e-3, atol=1e-4)


def test_features_are_scaled_in_the_model(data):
    learned = rl.RankNet(hidden=(2,), epochs=1).fit(data).model_
    X = np.asarray(data.X, dtype=np.float64)
    np.testing.assert_allclose(learned.center, X.mean(axis=0), rtol=1e-6, atol=1e-9)
    spread = X.std(axis=0)
    np.testing.assert_allclose(learned.scale, np.where(spread > 0, spread, 1.0), rtol=1e-6)


def test_probabilities_are_learned():
    """Three rows that are told apart by themselves: odds of 4 to 1 are a gap of log 4."""
    pairs = np.array([[0, 1], [1, 2], [0, 2]] * 40)
    probability = np.array([0.8, 0.8, 16 / 17] * 40)
    ranker = rl.RankNet(hidden=(), epochs=600, rate=0.1)
    ranker.fit_pairs(np.eye(3), pairs, probability)
    scores = ranker.predict(np.eye(3))
    assert -np.diff(scores) == pytest.approx(np.log([4.0, 4.0]), abs=0.01)


def test_certain_pairs_are_what_labels_say(data):
    pairs = all_pairs(data, np.arange(data.n_rows))
    ranker = rl.RankNet(epochs=10).fit_pairs(np.asarray(data.X), pairs)
    assert rl.evaluate(ranker.predict(data), data, measures="pairwise")["pairwise"] > 0.75
    assert ranker.model_.about["method"] == "ranknet"


@pytest.mark.parametrize("cls", [rl.RankNet, rl.LambdaRank])
def test_the_best_epoch_is_kept(cls, data, valid):
    ranker = cls(hidden=(16, 8), epochs=25, rate=5e-3, patience=4).fit(data, valid=valid)
    found = rl.evaluate(ranker.decision_function(valid), valid, measures="ndcg@10")["ndcg@10"]
    assert found == pytest.approx(max(ranker.curve_), abs=2e-3)  # float32 there, float64 here: near ties
    facts = ranker.model_.about["learning"]
    assert ranker.curve_[facts["best_epoch"] - 1] == max(ranker.curve_)
    assert facts["epochs"] == len(ranker.curve_) <= facts["best_epoch"] + 4


def test_the_random_numbers_of_pytorch_are_left_alone(data):
    torch.manual_seed(5)
    before, threads = torch.random.get_rng_state(), torch.get_num_threads()
    rl.LambdaRank(epochs=2, module=Own()).fit(data)
    torch.manual_seed(5)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.get_num_threads() == threads


def test_seeds_make_a_difference(data):
    one, other = (rl.LambdaRank(hidden=(4,), epochs=2, seed=seed).fit(data).model_ for seed in (0, 1))
    assert one != other


def test_an_own_module_learns_and_is_kept(data, tmp_path):
    module = Own()
    before = {name: values.clone() for name, values in module.state_dict().items()}
    ranker = rl.LambdaRank(module=module, epochs=10).fit(data)
    assert all(torch.equal(before[name], values) for name, values in module.state_dict().items())
    assert ranker.score(data) > 0.5
    assert ranker.model_ == rl.LambdaRank(module=Own(), epochs=10).fit(data).model_
    ranker.model_.save(tmp_path / "m.rank")
    loaded = rl.load(tmp_path / "m.rank")
    assert loaded == ranker.model_
    with pytest.raises(rl.InputError, match="state of a Own, not its code"):
        loaded.predict(data)
    assert loaded.with_module(Own()).predict(data).tolist() == ranker.predict(data).tolist()
    with pytest.raises(rl.InputError, match="does not fit the state"):
        loaded.with_module(Own(45))


def test_without_hidden_layers_the_model_is_linear(data):
    ranker = rl.RankNet(hidden=(), epochs=10, rate=0.01).fit(data)
    assert isinstance(ranker.model_, rl.LinearModel)
    assert ranker.score(data) > 0.5


def test_queries_without_a_difference_are_refused():
    with pytest.raises(rl.InputError, match="no query has rows with different labels"):
        rl.RankNet().fit(np.eye(4), [1, 1, 0, 0], qid=[0, 0, 1, 1])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"hidden": (0,)}, "hidden must be a whole number from 1"),
        ({"hidden": 5}, "hidden must be the sizes"),
        ({"activation": "gelu"}, "activation must be one of relu, tanh"),
        ({"hidden": (), "activation": "tanh"}, "activation='tanh' needs a net"),
        ({"hidden": (), "device": "cuda"}, "device='cuda' needs a net"),
        ({"epochs": 0}, "epochs must be"),
        ({"rate": -1.0}, "rate must be"),
        ({"device": "moon"}, "device must be one that PyTorch has"),
        ({"module": "net"}, "module must be a torch.nn.Module"),
        ({"module": torch.nn.Linear(46, 2)}, "one score a row"),
        ({"patience": 3}, "patience=3 needs validation data"),
        ({"rate": 1e30, "epochs": 5}, "diverged"),
    ],
)
def test_bad_parameters_are_named(data, options, complaint):
    with pytest.raises(rl.InputError, match=complaint):
        rl.LambdaRank(**{"hidden": (4,), **options}).fit(data)


@pytest.mark.parametrize(
    ("pairs", "probability", "complaint"),
    [
        ([[0, 3]], 1.0, "rows from 0 to 2"),
        ([[1, 1]], 1.0, "two different rows"),
        ([0, 1], 1.0, "two row numbers each"),
        ([[0, 1]], 1.5, "from 0 to 1"),
        ([[0, 1]], [0.5, 0.5], "one per pair"),
    ],
)
def test_bad_pairs_are_named(pairs, probability, complaint):
    with pytest.raises(rl.InputError, match=complaint):
        rl.RankNet().fit_pairs(np.eye(3), pairs, probability)


def test_without_pytorch_a_net_says_what_to_install():
    code = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'torch':\n            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "import rankloom as rl\n"
        "try:\n    rl.RankNet().fit([[1.0], [2.0]], [0, 1])\n"
        "except rl.MissingPackageError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == 'nets need PyTorch: pip install "rankloom[nets]"\n'

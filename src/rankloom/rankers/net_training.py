"""How nets learn here: whole queries in mini-batches, and the gradient of the scores from outside.

Only dC/ds is needed of the cost C, however many pairs it sums over: one forward and one backward pass a batch
(Burges 2010, section 2.1). PyTorch gets it as the gradient of the scores, and does the rest.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.linear import LinearModel
from rankloom.models.net import NetModel, dense_block
from rankloom.models.net_module import ModuleModel, load_torch
from rankloom.models.scoring import row_blocks

Numbers = NDArray[np.float64]
DIVERGED = "learning diverged: scores are no numbers any more; take a smaller rate"


class Batch(Protocol):
    """Rows to score together, and the gradient of the cost by their scores."""

    @property
    def rows(self) -> NDArray[np.int64]:
        """Which rows."""

    def gradient(self, scores: Numbers) -> NDArray[np.float32]:
        """dC/ds for these scores of the rows."""


class Course(NamedTuple):
    """How a net learns."""

    epochs: int
    rate: float
    lam: float
    device: str
    patience: int | None
    seed: int


class Scaling(NamedTuple):
    """What is taken from each feature, and what it is divided by."""

    center: Numbers
    scale: Numbers


def scaling_of(data: RankingData) -> Scaling:
    """Mean and standard deviation of each feature; of one that never changes, only its mean is taken."""
    n = data.n_features
    total, squares, features = np.zeros(n), np.zeros(n), data.features
    blocks = row_blocks(features)
    for start, stop in blocks:
        total += dense_block(features.rows(start, stop)).sum(axis=0, dtype=np.float64)
    center = total / data.n_rows
    for start, stop in blocks:
        away = dense_block(features.rows(start, stop)) - center
        squares += (away * away).sum(axis=0)
    spread = np.sqrt(squares / data.n_rows)
    constant = spread <= 1e-7 * np.abs(center)
    return Scaling(center, np.where(constant | (spread == 0.0), 1.0, spread))


class Table:
    """Rows as a net sees them: scaled, on its device."""

    def __init__(self, data: RankingData, scaling: Scaling, device: str) -> None:
        self._torch, self._device = load_torch(), device
        self._features, self._scaling = data.features, scaling
        self._whole: Any = None
        if data.features.columns is None:
            self._whole = self._scaled(data.features.values).to(device)

    def _scaled(self, values: Any) -> Any:
        scaled = ((values - self._scaling.center) / self._scaling.scale).astype(np.float32)
        return self._torch.from_numpy(scaled)

    def rows(self, places: NDArray[np.int64]) -> Any:
        """Some rows."""
        if self._whole is not None:
            return self._whole[self._torch.from_numpy(places).to(self._device)]
        return self._scaled(dense_block(self._features.gather(places))).to(self._device)

    def scores(self, net: Any) -> Numbers:
        """The net's score of each row."""
        n, parts = self._features.n_rows, []
        with self._torch.no_grad():
            for start in range(0, n, 1 << 14):
                block = self.rows(np.arange(start, min(start + (1 << 14), n)))
                parts.append(net(block).reshape(-1).cpu().double().numpy())
        return np.concatenate(parts)


def train(
    net: Any,
    table: Table,
    batches: Sequence[Batch],
    course: Course,
    judge: Callable[[], float | None],
) -> dict[str, Any]:
    """Take the epochs, by Adam; the net ends with the best parameters that the judge saw, or the last.

    The judge says how good the net is after an epoch, the larger the better, or None. Steps get smaller, to 0
    in the end.
    """
    torch = load_torch()
    parameters = [one for one in net.parameters() if one.requires_grad]
    optimizer = torch.optim.Adam(parameters, lr=course.rate, weight_decay=course.lam)
    draw = np.random.default_rng(course.seed)
    best, kept, best_epoch, epoch = -np.inf, None, 0, 0
    done, total = 0, course.epochs * len(batches)
    for epoch in range(1, course.epochs + 1):
        net.train()
        for place in draw.permutation(len(batches)).tolist():
            optimizer.param_groups[0]["lr"] = course.rate * (1.0 - done / total)
            _step(net, table, batches[place], optimizer, torch)
            done += 1
        net.eval()
        value = judge()
        if value is None:
            continue
        if value > best:
            best, best_epoch, kept = value, epoch, copy.deepcopy(net.state_dict())
        elif course.patience is not None and epoch - best_epoch >= course.patience:
            break
    if kept is not None:
        net.load_state_dict(kept)
    net.eval()
    return {"epochs": epoch, "best_epoch": best_epoch} if kept is not None else {"epochs": epoch}


def _step(net: Any, table: Table, batch: Batch, optimizer: Any, torch: Any) -> None:
    optimizer.zero_grad(set_to_none=True)
    scores = net(table.rows(batch.rows))
    if scores.numel() != len(batch.rows):
        raise InputError(
            f"a module must give one score a row, got shape {tuple(scores.shape)} for {len(batch.rows)} rows"
        )
    flat = scores.reshape(-1)
    known = flat.detach().cpu().double().numpy()
    if not np.isfinite(known).all():
        raise InputError(DIVERGED)
    gradient = batch.gradient(known)
    if gradient.any():
        flat.backward(torch.from_numpy(gradient).to(flat.device, flat.dtype))
        optimizer.step()


@contextmanager
def repeatable(seed: int) -> Iterator[Any]:
    """One thread, and PyTorch's random numbers from a seed; outside, both are as they were."""
    torch = load_torch()
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield torch
        finally:
            torch.set_num_threads(threads)


def new_net(n_features: int, hidden: Sequence[int], activation: str, seed: int) -> Any:
    """Layers with He's (relu) or Glorot's (tanh) uniform weights, biases 0."""
    torch = load_torch()
    draw = np.random.default_rng(seed)
    parts: list[Any] = []
    sizes = [n_features, *hidden, 1]
    for place, (n_in, n_out) in enumerate(pairwise(sizes)):
        layer = torch.nn.Linear(n_in, n_out)
        reach = np.sqrt(6.0 / n_in) if activation == "relu" else np.sqrt(6.0 / (n_in + n_out))
        weights = draw.uniform(-reach, reach, (n_out, n_in)).astype(np.float32)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weights))
            layer.bias.zero_()
        parts.append(layer)
        if place < len(hidden):
            parts.append(torch.nn.ReLU() if activation == "relu" else torch.nn.Tanh())
    return torch.nn.Sequential(*parts)


def model_of_net(net: Any, activation: str, scaling: Scaling, names: Any) -> Any:
    """What was learned, as plain arrays: a net, or a linear model where there is no hidden layer."""
    torch = load_torch()
    layers = [
        (one.weight.detach().cpu().numpy().T, one.bias.detach().cpu().numpy())
        for one in net
        if isinstance(one, torch.nn.Linear)
    ]
    if not all(np.isfinite(part).all() for layer in layers for part in layer):
        raise InputError(DIVERGED)
    if len(layers) == 1:
        weights = layers[0][0][:, 0].astype(np.float64) / scaling.scale
        bias = float(layers[0][1][0]) - float(weights @ scaling.center)
        return LinearModel(weights, bias, feature_names=names)
    return NetModel(
        layers, activation=activation, center=scaling.center, scale=scaling.scale, feature_names=names
    )


def model_of_module(net: Any, scaling: Scaling, names: Any) -> ModuleModel:
    """What the user's own module learned."""
    state = {name: values.detach().cpu().numpy() for name, values in net.state_dict().items()}
    return ModuleModel(state, scaling.center, scaling.scale, module=net, feature_names=names)


def checked_device(device: Any) -> str:
    """A device that PyTorch has here."""
    torch = load_torch()
    try:
        torch.empty(1, device=torch.device(device))
    except (RuntimeError, AssertionError, TypeError) as error:
        told = str(error).split("\n")[0]
        raise InputError(
            f"device must be one that PyTorch has here, got {device!r:.60}: {told:.200}"
        ) from error
    return str(device)

"""A plain net: what RankNet and LambdaRank with hidden layers learn. Scoring needs no PyTorch.

h_0 = (x - center) / scale,    h_l = f(W_l^T h_(l-1) + b_l),    score = W_L^T h_(L-1) + b_L
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import all_finite, frozen
from rankloom.data.features import Features
from rankloom.data.row_texts import names_of
from rankloom.errors import InputError
from rankloom.models.files import Content, damaged
from rankloom.models.kept import as_json
from rankloom.models.scoring import Rows, check_fit, row_blocks, rows_of
from rankloom.models.values import ValueModel, checked_link, checked_range

KIND = "net"
ACTIVATIONS = ("relu", "tanh")
_FACTS = {"activation", "link", "target_range", "feature_names", "about"}

Numbers = NDArray[np.float64]


class NetModel(ValueModel):
    """Layers of weights, and what is done to features before. Immutable; knows nothing of how it was learned.

    Args:
        layers: (weights, biases) of each layer, weights with a row per input and a column per output; the
            last one has one output, the score.
        activation: "relu" or "tanh", after each layer but the last.
        center: what is taken from each feature, first of all; None is nothing.
        scale: what each feature is divided by then; None is nothing.
        link: "identity" or "logistic".
        target_range: (low, high) of the labels, where 0 and 1 of the linked score stand for low and high.
        feature_names: one name per feature, all different.
        about: facts to keep with the model, as JSON has them: method, parameters, measures.
    """

    __slots__ = ("activation", "center", "layers", "scale")

    layers: tuple[tuple[Numbers, Numbers], ...]
    activation: str
    center: Numbers
    scale: Numbers

    def __init__(
        self,
        layers: Sequence[tuple[Any, Any]],
        *,
        activation: str = "relu",
        center: Any = None,
        scale: Any = None,
        link: str = "identity",
        target_range: tuple[float, float] | None = None,
        feature_names: Any = None,
        about: Any = None,
    ) -> None:
        if activation not in ACTIVATIONS:
            raise InputError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r:.60}")
        checked = _checked_layers(layers)
        n_features = checked[0][0].shape[0]
        sizes = _vector("scale", scale, n_features, 1.0)
        if (sizes <= 0.0).any():
            raise InputError("scale must be numbers > 0")
        self._hold(
            layers=checked,
            activation=activation,
            center=_vector("center", center, n_features, 0.0),
            scale=sizes,
            link=checked_link(link),
            target_range=checked_range(target_range),
            _names=names_of(feature_names, n_features),
            _about=as_json(about),
        )

    @property
    def n_features(self) -> int:
        """How many features the model has."""
        return int(self.layers[0][0].shape[0])

    @property
    def hidden(self) -> tuple[int, ...]:
        """How many units each hidden layer has."""
        return tuple(len(biases) for _, biases in self.layers[:-1])

    @property
    def parameters(self) -> Numbers:
        """All weights and biases as one vector: W_1, b_1, W_2, b_2, ..."""
        return np.concatenate([part.reshape(-1) for layer in self.layers for part in layer])

    def with_parameters(self, vector: Any) -> Self:
        """The same net with other weights and biases, from one vector as `parameters` has them."""
        values = np.asarray(vector, dtype=np.float64)
        if values.shape != self.parameters.shape:
            raise InputError(f"parameters must be {len(self.parameters):,} numbers, got {values.shape}")
        layers, start = [], 0
        for weights, biases in self.layers:
            middle, end = start + weights.size, start + weights.size + len(biases)
            layers.append((values[start:middle].reshape(weights.shape), values[middle:end]))
            start = end
        return type(self)(
            layers, activation=self.activation, center=self.center, scale=self.scale, about=self.about,
            **self._facts(),
        )  # fmt: skip

    def decision_function(self, X: Any, threads: int | None = None) -> Numbers:
        """The score of each row of X, in the caller's order; documents are ranked by it, the largest first.

        X is an array, a sparse matrix, a data frame or a RankingData. The result is the same bits for any
        number of threads.
        """
        from rankloom.kernels.compile import as_kernel
        from rankloom.kernels.net import score_net

        rows = rows_of(X)
        check_fit(rows, self.n_features, self.feature_names)
        sizes = as_kernel([self.n_features, *self.hidden, 1], np.int64)
        parts = (self.center, self.scale, sizes, self.parameters)
        center, scale, sizes, weights = (as_kernel(part, part.dtype) for part in parts)

        def score(values: NDArray[np.float32], scores: Numbers) -> None:
            kind = ACTIVATIONS.index(self.activation)
            score_net(as_kernel(values, np.float32), center, scale, sizes, weights, kind, scores)

        return scores_in_blocks(rows, score, threads)

    def content(self) -> Content:
        """What the model's file holds."""
        facts = {"activation": self.activation, **self._facts(), "about": self.about}
        arrays = {"center": self.center, "scale": self.scale}
        for place, (weights, biases) in enumerate(self.layers, start=1):
            arrays |= {f"weights{place}": weights, f"biases{place}": biases}
        return Content(KIND, facts, arrays)

    @classmethod
    def from_content(cls, path: Any, content: Content) -> Self:
        """The model that a file holds."""
        depth = (len(content.arrays) - 2) // 2
        wanted = {"center", "scale"} | {
            f"{kind}{place}" for place in range(1, depth + 1) for kind in ("weights", "biases")
        }
        if set(content.facts) != _FACTS or set(content.arrays) != wanted or depth < 1:
            raise damaged(path, "a net has layers, center, scale, " + ", ".join(sorted(_FACTS)))
        arrays = content.arrays
        layers = [(arrays[f"weights{place}"], arrays[f"biases{place}"]) for place in range(1, depth + 1)]
        try:
            return cls(layers, center=arrays["center"], scale=arrays["scale"], **content.facts)
        except (InputError, TypeError) as error:
            raise damaged(path, str(error)) from error

    def __repr__(self) -> str:
        sizes = " x ".join(map(str, self.hidden)) or "no"
        n = self.n_features
        parts = [f"{n:,} feature{'' if n == 1 else 's'}", f"{sizes} hidden units", self.activation]
        return self._told(parts)


def scores_in_blocks(
    rows: Rows, score: Callable[[NDArray[np.float32], Numbers], None], threads: int | None
) -> Numbers:
    """The score of every row in the caller's order; `score` fills in those of a dense block."""
    from rankloom.kernels.threads import ordered_map, thread_count

    scores = np.empty(rows.features.n_rows)
    blocks = row_blocks(rows.features)

    def work(block: tuple[int, int]) -> None:
        start, stop = block
        score(dense_block(rows.features.rows(start, stop)), scores[start:stop])

    for _ in ordered_map(work, blocks, thread_count(threads) if len(blocks) > 1 else 1):
        pass
    if not all_finite(scores):
        row = int((~np.isfinite(scores)).argmax())
        raise InputError(
            f"a net cannot score {rows.place(row)}: it has a missing value (NaN) or one too large; mend it"
        )
    return rows.in_caller_order(scores)


def dense_block(features: Features) -> NDArray[np.float32]:
    """Some rows as a dense table."""
    if features.columns is None or features.row_offsets is None:
        return features.values
    table = np.zeros((features.n_rows, features.n_features), dtype=np.float32)
    row = np.repeat(np.arange(features.n_rows), np.diff(features.row_offsets))
    table[row, features.columns] = features.values
    return table


def _checked_layers(layers: Any) -> tuple[tuple[Numbers, Numbers], ...]:
    found, width = [], None
    if not isinstance(layers, (list, tuple)) or not layers:
        raise InputError("layers must be (weights, biases) of one layer or more")
    for place, layer in enumerate(layers, start=1):
        try:
            weights, biases = (np.array(part, dtype=np.float64, order="C") for part in layer)
        except (TypeError, ValueError) as error:
            raise InputError(f"layer {place} must be (weights, biases), arrays of numbers") from error
        if weights.ndim != 2 or biases.shape != weights.shape[1:] or weights.size == 0:
            raise InputError(
                f"layer {place} must have a bias per column of its weights, got shapes {weights.shape} and "
                f"{biases.shape}"
            )
        if width not in (None, weights.shape[0]):
            raise InputError(
                f"layer {place} must take the {width} outputs of the one before, not {weights.shape[0]}"
            )
        if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
            raise InputError(f"layer {place} must have finite weights and biases")
        width = weights.shape[1]
        found.append((frozen(weights), frozen(biases)))
    if width != 1:
        raise InputError(f"the last layer must have one output, the score, got {width}")
    return tuple(found)


def _vector(name: str, given: Any, n: int, default: float) -> Numbers:
    if given is None:
        return frozen(np.full(n, default))
    values = np.array(given, dtype=np.float64)
    if values.shape != (n,) or not np.isfinite(values).all():
        raise InputError(f"{name} must be a finite number per feature ({n:,}), got shape {values.shape}")
    return frozen(values)

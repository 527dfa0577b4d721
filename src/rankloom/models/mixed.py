"""Two models that score together.

score(x) = alpha score_a(x) / scale_a + (1 - alpha) score_b(x) / scale_b
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankloom.data.row_texts import names_of
from rankloom.errors import InputError, ModelError
from rankloom.models.explanation import Explanation, check_top, strongest
from rankloom.models.files import Content, damaged, part, with_parts
from rankloom.models.kept import KeptModel, as_json, finite

KIND = "mixed"
_FACTS = {"alpha", "scales", "feature_names", "about"}


class MixedModel(KeptModel):
    """The weighted sum of two models' scores; its file holds both. Immutable, as they are.

    Args:
        a: a model of any kind.
        b: another one for the same features.
        alpha: from 0 (b alone) to 1 (a alone).
        scales: what the scores of a and of b are divided by before.
        about: facts to keep with the model, as JSON has them.
    """

    __slots__ = ("a", "alpha", "b", "scales")

    a: Any
    b: Any
    alpha: float
    scales: tuple[float, float]

    def __init__(
        self,
        a: Any,
        b: Any,
        alpha: float,
        *,
        scales: tuple[float, float] = (1.0, 1.0),
        feature_names: Any = None,
        about: Any = None,
    ) -> None:
        for name, model in (("a", a), ("b", b)):
            if not hasattr(model, "decision_function") or not hasattr(model, "content"):
                raise InputError(f"{name} must be a model, such as ranker.model_, got {type(model).__name__}")
        if a.n_features != b.n_features:
            raise InputError(
                f"a has {a.n_features:,} features and b {b.n_features:,}; both must score the same rows"
            )
        share = finite(alpha, "alpha")
        if not 0.0 <= share <= 1.0:
            raise InputError(f"alpha must be a number from 0 to 1, got {share:g}")
        self._hold(
            a=a,
            b=b,
            alpha=share,
            scales=_checked_scales(scales),
            _names=names_of(_common_names(a, b, feature_names), a.n_features),
            _about=as_json(about),
        )

    @property
    def n_features(self) -> int:
        """How many features the model has."""
        return int(self.a.n_features)

    def decision_function(self, X: Any, threads: int | None = None) -> NDArray[np.float64]:
        """The score of each row of X, in the caller's order; documents are ranked by it, the largest first.

        X is an array, a sparse matrix, a data frame or a RankingData. The result is the same bits for any
        number of threads.
        """
        first, second = (model.decision_function(X, threads) for model in (self.a, self.b))
        return mixed_scores(first, second, self.alpha, self.scales)

    def predict(self, X: Any, threads: int | None = None) -> NDArray[np.float64]:
        """The value of each row, which is its score."""
        return self.decision_function(X, threads)

    def values_of(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """What `predict` makes of scores."""
        return scores

    def explain(self, X: Any, top: int | None = None) -> Explanation:
        """How much each feature adds to each row's score: the two models' contributions in their shares.

        Both must be of a kind that explains itself. With `top`, only so many features of each row are kept.
        """
        check_top(top)
        for name, model in (("a", self.a), ("b", self.b)):
            if not hasattr(model, "explain"):
                raise InputError(f"{name} is a {type(model).__name__}, which cannot explain its scores")
        first, second = self.a.explain(X), self.b.explain(X)
        shares = self.alpha / self.scales[0], (1.0 - self.alpha) / self.scales[1]
        found = first.contributions * shares[0] + second.contributions * shares[1]
        bias = first.bias * shares[0] + second.bias * shares[1]
        if top is not None:
            found = strongest(found, top)
        return Explanation(bias, self.decision_function(X), found, self.feature_names)

    def content(self) -> Content:
        """What the model's file holds."""
        facts = {
            "alpha": self.alpha,
            "scales": self.scales,
            "feature_names": self.feature_names,
            "about": self.about,
        }
        return with_parts(Content(KIND, facts, {}), {"a": self.a.content(), "b": self.b.content()})

    @classmethod
    def from_content(cls, path: Any, content: Content) -> Self:
        """The model that a file holds."""
        from rankloom.models.load import model_of

        facts = dict(content.facts)
        facts.pop("parts", None)
        if set(facts) != _FACTS:
            raise damaged(path, "a mixed model has two models, " + ", ".join(sorted(_FACTS)))
        a, b = (model_of(path, part(path, content, name)) for name in ("a", "b"))
        try:
            return cls(a, b, facts.pop("alpha"), **facts)
        except ModelError:
            raise
        except (InputError, TypeError) as error:
            raise damaged(path, str(error)) from error

    def __repr__(self) -> str:
        return f"MixedModel({self.alpha:.4g} of {self.a!r}, {1.0 - self.alpha:.4g} of {self.b!r})"


def mixed_scores(
    a: NDArray[np.float64], b: NDArray[np.float64], alpha: float, scales: tuple[float, float]
) -> NDArray[np.float64]:
    """alpha a + (1 - alpha) b, each over its scale."""
    return alpha * (a / scales[0]) + (1.0 - alpha) * (b / scales[1])


def _checked_scales(scales: Any) -> tuple[float, float]:
    if not isinstance(scales, (tuple, list)) or len(scales) != 2:
        raise InputError(f"scales must be two numbers > 0, got {scales!r:.60}")
    first, second = (finite(scale, "scales") for scale in scales)
    if min(first, second) <= 0.0:
        raise InputError(f"scales must be two numbers > 0, got {first:g} and {second:g}")
    return first, second


def _common_names(a: Any, b: Any, given: Any) -> Any:
    """The names of the features, of the model that knows them."""
    if given is not None:
        return given
    if None not in (a.feature_names, b.feature_names) and a.feature_names != b.feature_names:
        raise InputError("a and b name their features differently; both must score the same rows")
    return b.feature_names if a.feature_names is None else a.feature_names

"""What a model goes by: its largest weights, or the importances of its trees."""

from __future__ import annotations

from typing import Any

from rankloom.models.base import Model
from rankloom.models.linear import LinearModel
from rankloom.models.scaled import ScaledModel
from rankloom.models.trees import TreeModel

TOP = 20


def features_of(model: Model, top: int = TOP) -> dict[str, Any] | None:
    """The features that weigh most, by name, the largest first; None for a model that cannot say."""
    inner, scaled = (model.inner, True) if isinstance(model, ScaledModel) else (model, False)
    if isinstance(inner, LinearModel):
        kind, found = "weight", inner.named_weights(top)
    elif isinstance(inner, TreeModel):
        kind, found = "gain", inner.importances("gain", top)
    else:
        return None
    return {"kind": kind, "values": found, "n_features": model.n_features, "scaled": scaled}

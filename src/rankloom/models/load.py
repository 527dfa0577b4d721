"""Load a model, whatever kind it is."""

from __future__ import annotations

import importlib
import os
from typing import Any

from rankloom.errors import ModelError
from rankloom.models.files import Content, read_model

# kind of model -> module and class, imported when a file asks for it.
KINDS = {
    "linear": ("rankloom.models.linear", "LinearModel"),
    "scaled": ("rankloom.models.scaled", "ScaledModel"),
    "module": ("rankloom.models.net_module", "ModuleModel"),
    "net": ("rankloom.models.net", "NetModel"),
    "mixed": ("rankloom.models.mixed", "MixedModel"),
    "trees": ("rankloom.models.trees", "TreeModel"),
}


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that was saved with `model.save(path)`.

    Nothing in the file is run. A file that is damaged, no model, or from a newer rankloom is a `ModelError`.
    """
    return model_of(path, read_model(path))


def model_of(path: Any, content: Content) -> Any:
    """The model that a content is, of whatever kind; `path` is for messages."""
    if content.kind not in KINDS:
        raise ModelError(
            f"the model {path} is of kind {content.kind!r:.60}, and this rankloom knows {', '.join(KINDS)}; "
            "upgrade rankloom"
        )
    module, name = KINDS[content.kind]
    return getattr(importlib.import_module(module), name).from_content(path, content)

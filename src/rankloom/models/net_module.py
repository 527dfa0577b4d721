"""A net of the user's own: a torch.nn.Module that gives one score a row.

The file holds its state and how features are scaled, not its code: `load(path).with_module(MyNet())`.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import frozen
from rankloom.data.row_texts import names_of
from rankloom.errors import InputError, MissingPackageError
from rankloom.models.files import Content, damaged
from rankloom.models.kept import as_json
from rankloom.models.net import scores_in_blocks
from rankloom.models.scoring import check_fit, rows_of
from rankloom.models.values import ValueModel, checked_link, checked_range

KIND = "module"
_FACTS = {"module", "link", "target_range", "feature_names", "about"}
_STATE = "state."


class ModuleModel(ValueModel):
    """A module's state, and the module if there is one at hand. Immutable.

    Args:
        state: arrays by name, as `module.state_dict()` has them.
        center: what is taken from each feature first.
        scale: what each feature is divided by then.
        module: the torch.nn.Module; without it the model knows its state, and cannot score.
        link: "identity" or "logistic".
        target_range: (low, high) of the labels.
        feature_names: one name per feature, all different.
        about: facts to keep with the model, as JSON has them.
    """

    __slots__ = ("_module", "center", "module_name", "scale", "state")

    state: dict[str, NDArray[Any]]
    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    module_name: str
    _module: Any

    def __init__(
        self,
        state: dict[str, Any],
        center: Any,
        scale: Any,
        *,
        module: Any = None,
        link: str = "identity",
        target_range: tuple[float, float] | None = None,
        feature_names: Any = None,
        about: Any = None,
    ) -> None:
        name = module if isinstance(module, str) else type(module).__name__ if module is not None else ""
        self._hold(
            state={key: frozen(np.array(values)) for key, values in state.items()},
            center=frozen(np.array(center, dtype=np.float64)),
            scale=frozen(np.array(scale, dtype=np.float64)),
            module_name=name,
            link=checked_link(link),
            target_range=checked_range(target_range),
            _module=None,
            _names=names_of(feature_names, len(center)),
            _about=as_json(about),
        )
        if module is not None and not isinstance(module, str):
            self._hold(_module=_with_state(module, self.state))

    @property
    def n_features(self) -> int:
        """How many features the model has."""
        return len(self.center)

    def with_module(self, module: Any) -> Self:
        """The model with a module of the kind it was learned with, which gets a copy with this state."""
        return type(self)(
            self.state, self.center, self.scale, module=module, about=self.about, **self._facts()
        )

    def with_about(self, **facts: Any) -> Self:
        """The same model with these facts added to, or in place of, those it has."""
        new = super().with_about(**facts)
        new._hold(_module=self._module)
        return new

    def decision_function(self, X: Any, threads: int | None = None) -> NDArray[np.float64]:
        """The score of each row of X, in the caller's order; the largest is ranked first."""
        if self._module is None:
            raise InputError(
                f"the file of this model holds the state of a {self.module_name or 'module'}, not its code; "
                "give it one: load(path).with_module(module)"
            )
        torch = load_torch()
        rows = rows_of(X)
        check_fit(rows, self.n_features, self.feature_names)
        center, scale = self.center, self.scale

        def score(values: NDArray[np.float32], scores: NDArray[np.float64]) -> None:
            scaled = ((values - center) / scale).astype(np.float32)
            with torch.no_grad():
                scores[:] = self._module(torch.from_numpy(scaled)).reshape(-1).numpy()

        return scores_in_blocks(rows, score, threads)

    def content(self) -> Content:
        """What the model's file holds."""
        facts = {"module": self.module_name, **self._facts(), "about": self.about}
        arrays = {"center": self.center, "scale": self.scale}
        arrays |= {_STATE + name: values for name, values in self.state.items()}
        return Content(KIND, facts, arrays)

    @classmethod
    def from_content(cls, path: Any, content: Content) -> Self:
        """The model that a file holds, without its module."""
        arrays = dict(content.arrays)
        center, scale = arrays.pop("center", None), arrays.pop("scale", None)
        if set(content.facts) != _FACTS or center is None or scale is None or center.shape != scale.shape:
            raise damaged(path, "a module's model has center, scale, " + ", ".join(sorted(_FACTS)))
        state = {name.removeprefix(_STATE): values for name, values in arrays.items()}
        try:
            return cls(state, center, scale, **content.facts)
        except (InputError, TypeError) as error:
            raise damaged(path, str(error)) from error

    def __repr__(self) -> str:
        parts = [f"{self.n_features:,} features", f"a {self.module_name or 'module'}"]
        return self._told([*parts, *([] if self._module is not None else ["without its code"])])


def load_torch() -> Any:
    """The package, or what to do about its absence."""
    try:
        import torch
    except ImportError as error:
        raise MissingPackageError('nets need PyTorch: pip install "rankloom[nets]"') from error
    return torch


def _with_state(module: Any, state: dict[str, NDArray[Any]]) -> Any:
    """A copy of a module with this state, ready to score."""
    import copy

    torch = load_torch()
    own = copy.deepcopy(module).to("cpu")
    try:
        own.load_state_dict({name: torch.from_numpy(values.copy()) for name, values in state.items()})
    except (RuntimeError, AttributeError, TypeError) as error:
        told = str(error).replace("\n", " ")
        raise InputError(f"the module does not fit the state of the model: {told:.300}") from error
    return own.eval()

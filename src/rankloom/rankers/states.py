"""Where a learner stands, in a file: a zip of plain arrays and a JSON manifest, as model files are.

What a state file holds is all that the next step depends on, random numbers included: learning goes on from
it bit by bit as if there had been no break.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np

from rankloom.errors import InputError, ModelError
from rankloom.kernels.online import State
from rankloom.models.files import Content, damaged, read_model, write_model
from rankloom.rankers.base import _is_plain
from rankloom.rankers.online import Mind, Online
from rankloom.rankers.progress import Meter

KIND = "online-state"
LEARNERS = {
    "solar": ("rankloom.rankers.solar", "SOLAR"),
    "prank": ("rankloom.rankers.prank", "PRank"),
    "committee": ("rankloom.rankers.committee", "CommitteePerceptron"),
}
_EXTRA = "extra_"


def content_of(learner: Online, **facts: Any) -> Content:
    """What the state file of a learner holds; `facts` are kept with it."""
    mind, meter = learner._mind, learner._meter
    names = getattr(learner, "feature_names_in_", None)
    parameters = {name: v for name, v in learner.get_params(deep=False).items() if _is_plain(v)}
    told = {
        **facts,
        "method": learner.method_name(),
        "parameters": {name: value for name, value in parameters.items() if name != "start"},
        "form": mind.form,
        "counts": mind.counts,
        "measured": meter.queries,
        "features": learner.n_features_in_,
        "feature_names": None if names is None else names.tolist(),
    }
    arrays = {**mind.state._asdict(), **meter.arrays()}
    arrays.update({_EXTRA + name: array for name, array in mind.extra.items()})
    return Content(KIND, told, arrays)


def write_state(learner: Online, path: str | os.PathLike[str], **facts: Any) -> None:
    """Write a state file, whole or not at all."""
    write_model(path, content_of(learner, **facts))


def resume(path: str | os.PathLike[str]) -> Any:
    """The learner that `save_state` kept, with its parameters: it goes on bit by bit."""
    return learner_of(path, read_model(path))


def learner_of(path: Any, content: Content) -> Online:
    """The learner that a content is."""
    if content.kind != KIND:
        raise ModelError(f"{path} is a {content.kind} model, no state of a learner; rl.load reads it")
    try:
        module, name = LEARNERS[content.facts["method"]]
        learner: Online = getattr(importlib.import_module(module), name)(**content.facts["parameters"])
        _fill(learner, content)
    except (KeyError, TypeError, ValueError, InputError) as error:
        raise damaged(path, f"it is no state of a learner ({error})") from error
    return learner


def _fill(learner: Online, content: Content) -> None:
    facts, arrays = content.facts, {name: np.array(array) for name, array in content.arrays.items()}
    state = State(*(arrays[name] for name in State._fields))
    kinds = {name: np.dtype(np.uint64 if name == "random" else np.float64) for name in State._fields}
    if any(arrays[name].dtype != kind for name, kind in kinds.items()):
        raise ValueError("an array has another type than it must have")
    learner.begin(facts["features"])
    like = learner._mind
    extra = {name.removeprefix(_EXTRA): a for name, a in arrays.items() if name.startswith(_EXTRA)}
    same = all(len(a) == len(b) for a, b in zip(state[:3], like.state[:3], strict=True))
    if not same or facts["form"] != like.form or extra.keys() != like.extra.keys():
        raise ValueError("its arrays are of another size or kind than its parameters say")
    learner._mind = Mind(facts["form"], state, dict(facts["counts"]), extra)
    meter = Meter(len(arrays["progress_ring"]))
    meter.sums, meter.ring, meter.queries = (
        arrays["progress_sums"],
        arrays["progress_ring"],
        facts["measured"],
    )
    learner._meter = meter
    if facts["feature_names"] is not None:
        learner.feature_names_in_ = np.array(facts["feature_names"], dtype=object)

"""Models on the command line: told from files of scores by their content; data read as a model wants it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankloom.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankloom.data.ranking_data import RankingData
    from rankloom.measures.evaluation import Evaluation


def is_model(name: str) -> bool:
    """Whether a file named on the command line is a model, by how it begins."""
    from rankloom.models.files import looks_like_model

    return name != "-" and looks_like_model(name)


def load_model(name: str) -> Any:
    """Load a model for a command."""
    from rankloom.models.load import load

    if name == "-":
        raise InputError("a model must be a file, got - (standard input)")
    return load(name)


def read_for(model: Any, source: Any, reading: dict[str, Any], labelled: bool) -> RankingData:
    """Read data that this model is to score; what was asked for on the command line goes first.

    Text has as many features as the model, counted as in training; of a table with names, the model's columns
    are taken, wherever they stand. Unless rows must be labelled, tables need neither labels nor queries.
    """
    from rankloom.cli.reading import read
    from rankloom.data.frames import NoColumnError

    exact = _as_trained(model, source)
    exact = {name: value for name, value in exact.items() if reading.get(name) is None}
    if "features" in exact and not labelled:
        unused = ("label", "qid", "doc_id", "weight", "query_weight", "comment")
        needed = ("qid",) if model.needs_queries else ()
        exact |= dict.fromkeys(name for name in unused if reading.get(name) is None and name not in needed)
    while True:
        try:
            return read([source], reading, **exact)
        except NoColumnError as error:
            if labelled or error.role in exact or (error.role == "qid" and model.needs_queries):
                raise
            exact[error.role] = None


def _as_trained(model: Any, source: Any) -> dict[str, Any]:
    """How to read this source as the model's training data were read."""
    from rankloom.data.read import source_kind

    kind = source_kind(source)
    if kind == "text":
        return {"n_features": model.n_features, **model.about.get("reading", {})}
    if kind not in ("csv", "parquet") or model.feature_names is None:
        return {}
    if kind == "parquet":
        from rankloom.data.tables import written_here

        if written_here(source):
            return {}
    return {"features": list(model.feature_names)}


def measure_model(model: Any, data: RankingData, names: Sequence[str], threads: int | None) -> Evaluation:
    """Measures of a ranking by the model's scores, of values (mse, logloss, ece) by what it predicts."""
    from rankloom.measures.evaluate import evaluate
    from rankloom.measures.measure import Measure
    from rankloom.measures.presets import POINTS

    wanted = [Measure.parse(name) for name in names]
    points = [measure for measure in wanted if measure.name in POINTS]
    rest = [measure for measure in wanted if measure.name not in POINTS]
    scores = model.decision_function(data, threads)
    found = [evaluate(scores, data, measures=rest, threads=threads)] if rest else []
    if points:
        found.append(evaluate(model.values_of(scores), data, measures=points, threads=threads))
    return found[0] if len(found) == 1 else found[0].joined(found[1], wanted)


def scores_for(
    model: Any, data: RankingData, names: Sequence[str], threads: int | None
) -> NDArray[np.float64]:
    """One column of numbers for all of these measures: values where one of them measures values.

    Values rank as scores do unless large scores came so near to a probability of 0 or 1 that they tie there.
    """
    import numpy as np

    from rankloom.measures.measure import Measure
    from rankloom.measures.presets import POINTS

    scores: NDArray[np.float64] = model.decision_function(data, threads)
    kinds = {Measure.parse(name).name in POINTS for name in names}
    if True not in kinds:
        return scores
    values: NDArray[np.float64] = model.values_of(scores)
    if False in kinds and len(np.unique(values)) < len(np.unique(scores)):
        raise InputError(
            "some scores differ and are the same probability, so values do not rank as scores do; "
            "ask for mse, logloss and ece by themselves"
        )
    return values

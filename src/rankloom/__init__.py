"""Learning to rank: read any ranking data, measure any ranking, compare two rankers honestly.

    import rankloom as rl
    data = rl.read("train.txt")
    rl.evaluate(scores, data, measures=["ndcg@10", "map"])

Every public name lives in a module of its own and is imported when it is first asked for, so that
`import rankloom` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankloom.data.clicks import ClickLog, make_clicks
    from rankloom.data.generate import Generated, make_distinct, make_letor, make_mslr
    from rankloom.data.generate_topics import make_rcv1
    from rankloom.data.inspect import Finding, Inspection, inspect
    from rankloom.data.letor import Fold, Folds, read_folds
    from rankloom.data.ranking_data import RankingData
    from rankloom.data.read import read, write
    from rankloom.data.splits import k_folds, split
    from rankloom.data.store import load_store, save_store, verify_store
    from rankloom.data.table_writer import write_csv, write_parquet
    from rankloom.data.tables import read_csv, read_parquet
    from rankloom.data.text import read_text
    from rankloom.data.text_writer import write_text
    from rankloom.data.trec import Qrels, Run, read_qrels, read_ranking, read_run, read_scores
    from rankloom.data.trec_join import join_qrels, run_scores
    from rankloom.data.trec_writer import write_qrels, write_run, write_scores
    from rankloom.errors import (
        InputError,
        MissingPackageError,
        ModelError,
        ParseError,
        RankloomError,
        RankloomWarning,
        StoreError,
    )
    from rankloom.experiments.letor import Letor, letor
    from rankloom.experiments.record import Trial
    from rankloom.experiments.tune import tune
    from rankloom.experiments.tuning import Tuning
    from rankloom.measures.compare import compare, compare_values
    from rankloom.measures.comparison import Comparison, Difference
    from rankloom.measures.curves import ReliabilityCurve, reliability_curve
    from rankloom.measures.evaluate import evaluate
    from rankloom.measures.evaluation import Evaluation
    from rankloom.measures.measure import Measure
    from rankloom.models.explanation import Explanation
    from rankloom.models.linear import LinearModel
    from rankloom.models.load import load
    from rankloom.rankers.crr import CRR
    from rankloom.rankers.landmarks import Landmarks
    from rankloom.rankers.spd import SPD
    from rankloom.rankers.sweep import Sweep, SweepPoint, alpha_sweep
    from rankloom.warm import warm_up

__version__ = "0.1.0"

_HOMES = {
    "CRR": "rankloom.rankers.crr",
    "ClickLog": "rankloom.data.clicks",
    "Comparison": "rankloom.measures.comparison",
    "Difference": "rankloom.measures.comparison",
    "Evaluation": "rankloom.measures.evaluation",
    "Explanation": "rankloom.models.explanation",
    "Finding": "rankloom.data.inspect",
    "Fold": "rankloom.data.letor",
    "Folds": "rankloom.data.letor",
    "Generated": "rankloom.data.generate",
    "InputError": "rankloom.errors",
    "Inspection": "rankloom.data.inspect",
    "Landmarks": "rankloom.rankers.landmarks",
    "Letor": "rankloom.experiments.letor",
    "LinearModel": "rankloom.models.linear",
    "Measure": "rankloom.measures.measure",
    "MissingPackageError": "rankloom.errors",
    "ModelError": "rankloom.errors",
    "ParseError": "rankloom.errors",
    "Qrels": "rankloom.data.trec",
    "RankingData": "rankloom.data.ranking_data",
    "RankloomError": "rankloom.errors",
    "RankloomWarning": "rankloom.errors",
    "ReliabilityCurve": "rankloom.measures.curves",
    "Run": "rankloom.data.trec",
    "SPD": "rankloom.rankers.spd",
    "StoreError": "rankloom.errors",
    "Sweep": "rankloom.rankers.sweep",
    "SweepPoint": "rankloom.rankers.sweep",
    "Trial": "rankloom.experiments.record",
    "Tuning": "rankloom.experiments.tuning",
    "alpha_sweep": "rankloom.rankers.sweep",
    "compare": "rankloom.measures.compare",
    "compare_values": "rankloom.measures.compare",
    "evaluate": "rankloom.measures.evaluate",
    "inspect": "rankloom.data.inspect",
    "join_qrels": "rankloom.data.trec_join",
    "k_folds": "rankloom.data.splits",
    "letor": "rankloom.experiments.letor",
    "load": "rankloom.models.load",
    "load_store": "rankloom.data.store",
    "make_clicks": "rankloom.data.clicks",
    "make_distinct": "rankloom.data.generate",
    "make_letor": "rankloom.data.generate",
    "make_mslr": "rankloom.data.generate",
    "make_rcv1": "rankloom.data.generate_topics",
    "read": "rankloom.data.read",
    "read_csv": "rankloom.data.tables",
    "read_folds": "rankloom.data.letor",
    "read_parquet": "rankloom.data.tables",
    "read_qrels": "rankloom.data.trec",
    "read_ranking": "rankloom.data.trec",
    "read_run": "rankloom.data.trec",
    "read_scores": "rankloom.data.trec",
    "read_text": "rankloom.data.text",
    "reliability_curve": "rankloom.measures.curves",
    "run_scores": "rankloom.data.trec_join",
    "save_store": "rankloom.data.store",
    "split": "rankloom.data.splits",
    "tune": "rankloom.experiments.tune",
    "verify_store": "rankloom.data.store",
    "warm_up": "rankloom.warm",
    "write": "rankloom.data.read",
    "write_csv": "rankloom.data.table_writer",
    "write_parquet": "rankloom.data.table_writer",
    "write_qrels": "rankloom.data.trec_writer",
    "write_run": "rankloom.data.trec_writer",
    "write_scores": "rankloom.data.trec_writer",
    "write_text": "rankloom.data.text_writer",
}

__all__ = [
    "CRR",
    "SPD",
    "ClickLog",
    "Comparison",
    "Difference",
    "Evaluation",
    "Explanation",
    "Finding",
    "Fold",
    "Folds",
    "Generated",
    "InputError",
    "Inspection",
    "Landmarks",
    "Letor",
    "LinearModel",
    "Measure",
    "MissingPackageError",
    "ModelError",
    "ParseError",
    "Qrels",
    "RankingData",
    "RankloomError",
    "RankloomWarning",
    "ReliabilityCurve",
    "Run",
    "StoreError",
    "Sweep",
    "SweepPoint",
    "Trial",
    "Tuning",
    "alpha_sweep",
    "compare",
    "compare_values",
    "evaluate",
    "inspect",
    "join_qrels",
    "k_folds",
    "letor",
    "load",
    "load_store",
    "make_clicks",
    "make_distinct",
    "make_letor",
    "make_mslr",
    "make_rcv1",
    "read",
    "read_csv",
    "read_folds",
    "read_parquet",
    "read_qrels",
    "read_ranking",
    "read_run",
    "read_scores",
    "read_text",
    "reliability_curve",
    "run_scores",
    "save_store",
    "split",
    "tune",
    "verify_store",
    "warm_up",
    "write",
    "write_csv",
    "write_parquet",
    "write_qrels",
    "write_run",
    "write_scores",
    "write_text",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module, once."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'rankloom' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

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
    from rankloom.data.feedback import Feedback
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
    from rankloom.data.topics import Topics, read_topics
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
    from rankloom.experiments.protocols import experiment
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
    from rankloom.models.mixed import MixedModel
    from rankloom.models.net import NetModel
    from rankloom.models.net_module import ModuleModel
    from rankloom.models.scaled import ScaledModel
    from rankloom.models.trees import TreeModel
    from rankloom.online.loop import OnlineLoop, read_log
    from rankloom.rankers.committee import CommitteePerceptron
    from rankloom.rankers.crr import CRR
    from rankloom.rankers.lambda_report import LambdaReport
    from rankloom.rankers.lambdamart import LambdaMART
    from rankloom.rankers.lambdarank import LambdaRank
    from rankloom.rankers.lambdas import Gradients, Lambdas
    from rankloom.rankers.landmarks import Landmarks
    from rankloom.rankers.local_optimum import LocalOptimum, local_optimum
    from rankloom.rankers.mix import Mix, mix
    from rankloom.rankers.objective import objective
    from rankloom.rankers.pointwise import Pointwise
    from rankloom.rankers.prank import PRank
    from rankloom.rankers.progress import Progress
    from rankloom.rankers.ranknet import RankNet
    from rankloom.rankers.ranksvm import RankSVM
    from rankloom.rankers.ranksvm_path import PathPoint, RankSVMPath
    from rankloom.rankers.scaler import QueryScaler
    from rankloom.rankers.solar import SOLAR
    from rankloom.rankers.spd import SPD
    from rankloom.rankers.states import resume
    from rankloom.rankers.sweep import Sweep, SweepPoint, alpha_sweep
    from rankloom.reports.make import report
    from rankloom.warm import warm_up

__version__ = "0.1.0"

_HOMES = {
    "CRR": "rankloom.rankers.crr",
    "ClickLog": "rankloom.data.clicks",
    "CommitteePerceptron": "rankloom.rankers.committee",
    "Comparison": "rankloom.measures.comparison",
    "Difference": "rankloom.measures.comparison",
    "Evaluation": "rankloom.measures.evaluation",
    "Explanation": "rankloom.models.explanation",
    "Feedback": "rankloom.data.feedback",
    "Finding": "rankloom.data.inspect",
    "Fold": "rankloom.data.letor",
    "Folds": "rankloom.data.letor",
    "Generated": "rankloom.data.generate",
    "Gradients": "rankloom.rankers.lambdas",
    "InputError": "rankloom.errors",
    "Inspection": "rankloom.data.inspect",
    "LambdaMART": "rankloom.rankers.lambdamart",
    "LambdaRank": "rankloom.rankers.lambdarank",
    "LambdaReport": "rankloom.rankers.lambda_report",
    "Lambdas": "rankloom.rankers.lambdas",
    "Landmarks": "rankloom.rankers.landmarks",
    "Letor": "rankloom.experiments.letor",
    "LinearModel": "rankloom.models.linear",
    "LocalOptimum": "rankloom.rankers.local_optimum",
    "Measure": "rankloom.measures.measure",
    "MissingPackageError": "rankloom.errors",
    "Mix": "rankloom.rankers.mix",
    "MixedModel": "rankloom.models.mixed",
    "ModelError": "rankloom.errors",
    "ModuleModel": "rankloom.models.net_module",
    "NetModel": "rankloom.models.net",
    "OnlineLoop": "rankloom.online.loop",
    "PRank": "rankloom.rankers.prank",
    "ParseError": "rankloom.errors",
    "PathPoint": "rankloom.rankers.ranksvm_path",
    "Pointwise": "rankloom.rankers.pointwise",
    "Progress": "rankloom.rankers.progress",
    "Qrels": "rankloom.data.trec",
    "QueryScaler": "rankloom.rankers.scaler",
    "RankNet": "rankloom.rankers.ranknet",
    "RankSVM": "rankloom.rankers.ranksvm",
    "RankSVMPath": "rankloom.rankers.ranksvm_path",
    "RankingData": "rankloom.data.ranking_data",
    "RankloomError": "rankloom.errors",
    "RankloomWarning": "rankloom.errors",
    "ReliabilityCurve": "rankloom.measures.curves",
    "Run": "rankloom.data.trec",
    "SOLAR": "rankloom.rankers.solar",
    "SPD": "rankloom.rankers.spd",
    "ScaledModel": "rankloom.models.scaled",
    "StoreError": "rankloom.errors",
    "Sweep": "rankloom.rankers.sweep",
    "SweepPoint": "rankloom.rankers.sweep",
    "Topics": "rankloom.data.topics",
    "TreeModel": "rankloom.models.trees",
    "Trial": "rankloom.experiments.record",
    "Tuning": "rankloom.experiments.tuning",
    "alpha_sweep": "rankloom.rankers.sweep",
    "compare": "rankloom.measures.compare",
    "compare_values": "rankloom.measures.compare",
    "evaluate": "rankloom.measures.evaluate",
    "experiment": "rankloom.experiments.protocols",
    "inspect": "rankloom.data.inspect",
    "join_qrels": "rankloom.data.trec_join",
    "k_folds": "rankloom.data.splits",
    "letor": "rankloom.experiments.letor",
    "load": "rankloom.models.load",
    "load_store": "rankloom.data.store",
    "local_optimum": "rankloom.rankers.local_optimum",
    "make_clicks": "rankloom.data.clicks",
    "make_distinct": "rankloom.data.generate",
    "make_letor": "rankloom.data.generate",
    "make_mslr": "rankloom.data.generate",
    "make_rcv1": "rankloom.data.generate_topics",
    "mix": "rankloom.rankers.mix",
    "objective": "rankloom.rankers.objective",
    "read": "rankloom.data.read",
    "read_csv": "rankloom.data.tables",
    "read_folds": "rankloom.data.letor",
    "read_log": "rankloom.online.loop",
    "read_parquet": "rankloom.data.tables",
    "read_qrels": "rankloom.data.trec",
    "read_ranking": "rankloom.data.trec",
    "read_run": "rankloom.data.trec",
    "read_scores": "rankloom.data.trec",
    "read_text": "rankloom.data.text",
    "read_topics": "rankloom.data.topics",
    "reliability_curve": "rankloom.measures.curves",
    "report": "rankloom.reports.make",
    "resume": "rankloom.rankers.states",
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
    "SOLAR",
    "SPD",
    "ClickLog",
    "CommitteePerceptron",
    "Comparison",
    "Difference",
    "Evaluation",
    "Explanation",
    "Feedback",
    "Finding",
    "Fold",
    "Folds",
    "Generated",
    "Gradients",
    "InputError",
    "Inspection",
    "LambdaMART",
    "LambdaRank",
    "LambdaReport",
    "Lambdas",
    "Landmarks",
    "Letor",
    "LinearModel",
    "LocalOptimum",
    "Measure",
    "MissingPackageError",
    "Mix",
    "MixedModel",
    "ModelError",
    "ModuleModel",
    "NetModel",
    "OnlineLoop",
    "PRank",
    "ParseError",
    "PathPoint",
    "Pointwise",
    "Progress",
    "Qrels",
    "QueryScaler",
    "RankNet",
    "RankSVM",
    "RankSVMPath",
    "RankingData",
    "RankloomError",
    "RankloomWarning",
    "ReliabilityCurve",
    "Run",
    "ScaledModel",
    "StoreError",
    "Sweep",
    "SweepPoint",
    "Topics",
    "TreeModel",
    "Trial",
    "Tuning",
    "alpha_sweep",
    "compare",
    "compare_values",
    "evaluate",
    "experiment",
    "inspect",
    "join_qrels",
    "k_folds",
    "letor",
    "load",
    "load_store",
    "local_optimum",
    "make_clicks",
    "make_distinct",
    "make_letor",
    "make_mslr",
    "make_rcv1",
    "mix",
    "objective",
    "read",
    "read_csv",
    "read_folds",
    "read_log",
    "read_parquet",
    "read_qrels",
    "read_ranking",
    "read_run",
    "read_scores",
    "read_text",
    "read_topics",
    "reliability_curve",
    "report",
    "resume",
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

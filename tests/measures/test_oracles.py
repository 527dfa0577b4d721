"""Every preset beside the package it is named for, on random lists with ties, empty queries and short lists.

Each package is asked for its own mean over queries; scores are multiples of 1/4, which float32 holds exactly,
since XGBoost and trec_eval keep scores as float32.
"""

from __future__ import annotations

import shutil
import warnings

import numpy as np
import pytest

from rankloom.measures.evaluate import evaluate

KINDS = [(levels, ties) for levels in (2, 5) for ties in (False, True)]


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind[0]} levels, {'ties' if kind[1] else 'no ties'}")
def lists(request):
    return make_lists(*request.param)


def make_lists(levels, ties):
    """Forty queries of 1 to 14 rows; a quarter of them without a relevant row; labels and scores per row."""
    random = np.random.default_rng(7 * levels + ties)
    lengths = random.integers(1, 15, 40)
    qid = np.repeat(np.arange(40), lengths)
    labels = np.where(random.random(len(qid)) < 0.5, 0, random.integers(0, levels, len(qid))).astype(float)
    labels[np.isin(qid, random.choice(40, 10, replace=False))] = 0
    scores = random.integers(0, 6, len(qid)) / 4 if ties else random.permutation(len(qid)) / 4
    return Lists(scores, labels, qid, lengths, levels, random)


class Lists:
    def __init__(self, scores, labels, qid, lengths, levels, random):
        self.scores, self.labels, self.qid, self.lengths, self.levels = scores, labels, qid, lengths, levels
        self.ids = np.array([f"d{number}" for number in random.permutation(len(qid))])
        self.weights = random.integers(1, 10, len(lengths)).astype(float)

    def judged(self):
        """The queries that have a relevant row."""
        found = [query for query in range(40) if self.labels[self.qid == query].max() > 0]
        rows = np.isin(self.qid, found)
        part = Lists.__new__(Lists)
        part.scores, part.labels, part.qid = self.scores[rows], self.labels[rows], self.qid[rows]
        part.lengths, part.weights, part.levels = self.lengths[found], self.weights[found], self.levels
        part.ids = self.ids[rows]
        return part

    def ours(self, measure, labels=None, **more):
        labels = self.labels if labels is None else labels
        found = evaluate(self.scores, labels, qid=self.qid, doc_ids=self.ids, measures=measure, **more)
        return next(iter(found.values()))

    def dicts(self):
        """qrels and run as dictionaries, queries numbered from 1."""
        qrels, run = {}, {}
        for label, score, query, doc in zip(self.labels, self.scores, self.qid, self.ids, strict=True):
            qrels.setdefault(str(query + 1), {})[str(doc)] = int(label)
            run.setdefault(str(query + 1), {})[str(doc)] = float(score)
        return qrels, run


def close(wanted):
    return pytest.approx(wanted, abs=1e-9)


def lightgbm_says(lists, metrics, ks, weight=None, objective="lambdarank"):
    lightgbm = pytest.importorskip("lightgbm")
    group = lists.lengths if objective == "lambdarank" else None
    told = {"verbosity": -1, "feature_pre_filter": False}
    data = lightgbm.Dataset(
        np.zeros((len(lists.labels), 1)),
        label=lists.labels,
        group=group,
        weight=weight,
        init_score=lists.scores,
        params=told,
    )
    seen = {}
    settings = {"objective": objective, "metric": metrics, "eval_at": ks, "boost_from_average": False, **told}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing can be learned here
        lightgbm.train(
            settings,
            data,
            num_boost_round=1,
            valid_sets=[data],
            valid_names=["data"],
            callbacks=[lightgbm.record_evaluation(seen)],
        )
    return {name: values[0] for name, values in seen["data"].items()}


def test_lightgbm(lists):
    theirs = lightgbm_says(lists, ["ndcg", "map"], [1, 3, 10])
    for name, wanted in theirs.items():
        assert lists.ours(f"{name}/lightgbm") == close(wanted), name


def test_lightgbm_with_weights(lists):
    judged = lists.judged()
    theirs = lightgbm_says(judged, ["ndcg"], [3, 10], weight=np.repeat(judged.weights, judged.lengths))
    for name, wanted in theirs.items():
        assert judged.ours(f"{name}/lightgbm", query_weights=judged.weights) == close(wanted), name


def test_lightgbm_auc(lists):
    lists.labels = (lists.labels > 0).astype(float)
    theirs = lightgbm_says(lists, ["auc"], [1], objective="binary")
    found = evaluate(lists.scores, lists.labels, measures="auc/lightgbm")
    assert found["auc/lightgbm"] == close(theirs["auc"])


def xgboost_says(lists, metrics, weight=None, objective="rank:ndcg", grouped=True):
    xgboost = pytest.importorskip("xgboost")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = xgboost.DMatrix(np.zeros((len(lists.labels), 1)), label=lists.labels, base_margin=lists.scores)
        if grouped:
            data.set_group(lists.lengths)
        if weight is not None:
            data.set_weight(weight)
        settings = {"objective": objective, "eval_metric": metrics, "base_score": 0.5, "verbosity": 0}
        text = xgboost.train(settings, data, num_boost_round=0).eval_set([(data, "data")])
    pairs = (part.removeprefix("data-").split(":") for part in text.split("\t")[1:])
    return {name: float(number) for name, number in pairs}


def test_xgboost(lists):
    names = ["ndcg", "ndcg@1", "ndcg@3", "ndcg@10", "ndcg@3-", "ndcg@10-"]
    if lists.levels == 2:
        names += ["map", "map@1", "map@3", "map@10", "map@3-", "pre@1", "pre@3", "pre@10", "pre@3-"]
    for name, wanted in xgboost_says(lists, names).items():
        preset = "xgboost-" if name.endswith("-") else "xgboost"
        measure = name.removesuffix("-").replace("pre", "p")
        assert lists.ours(f"{measure}/{preset}") == close(wanted), name


def test_xgboost_with_weights(lists):
    judged = lists.judged()
    for name, wanted in xgboost_says(judged, ["ndcg@3", "ndcg"], weight=judged.weights).items():
        assert judged.ours(f"{name}/xgboost", query_weights=judged.weights) == close(wanted), name


def test_xgboost_auc(lists):
    lists.labels = (lists.labels > 0).astype(float)
    lists.scores = lists.scores / 64  # its sigmoid, in float32, makes ties of large scores
    theirs = xgboost_says(lists, ["auc"], objective="binary:logistic", grouped=False)
    found = evaluate(lists.scores, lists.labels, measures="auc/xgboost")
    assert found["auc/xgboost"] == close(theirs["auc"])


CATBOOST = {
    "NDCG": "ndcg",
    "NDCG:top=3": "ndcg@3",
    "NDCG:top=10": "ndcg@10",
    "NDCG:type=Exp;top=3": "ndcg@3/catboost:gain=exp2",
    "DCG:top=3": "dcg@3",
    "DCG:type=Exp;top=10": "dcg@10/catboost:gain=exp2",
    "MAP": "map",
    "MAP:top=1": "map@1",
    "MAP:top=3": "map@3",
    "MAP:top=10": "map@10",
    "MRR": "mrr",
    "MRR:top=3": "mrr@3",
    "PrecisionAt:top=3": "p@3",
    "PrecisionAt:top=10": "p@10",
    "RecallAt:top=3": "r@3",
    "RecallAt:top=10": "r@10",
    "QueryAUC:type=Ranking": "pairwise",
}


def test_catboost(lists):
    utils = pytest.importorskip("catboost.utils")
    for name, measure in CATBOOST.items():
        wanted = utils.eval_metric(lists.labels, lists.scores, name, group_id=lists.qid)[0]
        assert lists.ours(measure if "/" in measure else f"{measure}/catboost") == close(wanted), name
    # Its ERR takes a label as a probability, so that is what it is given.
    shares = lists.labels / 8
    for name, measure in {"ERR": "err/catboost", "ERR:top=3": "err@3/catboost"}.items():
        wanted = utils.eval_metric(shares, lists.scores, name, group_id=lists.qid)[0]
        assert lists.ours(measure, labels=shares) == close(wanted), name


def test_catboost_auc(lists):
    utils = pytest.importorskip("catboost.utils")
    binary = (lists.labels > 0).astype(float)
    wanted = utils.eval_metric(binary, lists.scores, "QueryAUC:type=Classic", group_id=lists.qid)[0]
    assert lists.ours("auc/catboost", labels=binary) == close(wanted)
    wanted = utils.eval_metric(lists.labels, lists.scores, "AUC:type=Ranking")[0]
    assert evaluate(lists.scores, lists.labels, measures="pairwise")["pairwise"] == close(wanted)


def test_catboost_with_weights(lists):
    utils = pytest.importorskip("catboost.utils")
    weights = np.repeat(lists.weights, lists.lengths)
    for name, measure in {"NDCG:top=3": "ndcg@3", "MRR": "mrr", "ERR": "err"}.items():
        labels = lists.labels / 8 if name == "ERR" else lists.labels
        wanted = utils.eval_metric(labels, lists.scores, name, group_id=lists.qid, group_weight=weights)[0]
        ours = lists.ours(f"{measure}/catboost", labels=labels, query_weights=lists.weights)
        assert ours == close(wanted), name


@pytest.mark.parametrize("k", [None, 1, 3, 10])
def test_scikit_learn(lists, k):
    metrics = pytest.importorskip("sklearn.metrics")
    at = "" if k is None else f"@{k}"
    for name, theirs in {"ndcg": metrics.ndcg_score, "dcg": metrics.dcg_score}.items():
        wanted = []
        for query in range(len(lists.lengths)):
            labels, scores = (column[lists.qid == query] for column in (lists.labels, lists.scores))
            if len(labels) > 1:
                wanted.append(theirs([labels], [scores], k=k))
            else:  # it refuses lists of one row
                wanted.append(labels[0] if name == "dcg" else float(labels[0] > 0))
        assert lists.ours(f"{name}{at}/sklearn") == close(np.mean(wanted)), name


def test_scikit_learn_errors():
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(3)
    labels, chances = random.integers(0, 2, 200), np.round(random.random(200), 2)
    chances[:2], labels[:2] = [0.0, 1.0], [1, 0]  # certain, and wrong
    found = evaluate(chances, labels, measures=["mse/sklearn", "logloss/sklearn"])
    assert found["mse/sklearn"] == close(metrics.mean_squared_error(labels, chances))
    assert found["logloss/sklearn"] == close(metrics.log_loss(labels, chances))


TREC = {
    "ndcg": "ndcg",
    "ndcg_cut_1": "ndcg@1",
    "ndcg_cut_3": "ndcg@3",
    "ndcg_cut_10": "ndcg@10",
    "map": "map",
    "map_cut_3": "map@3",
    "map_cut_10": "map@10",
    "recip_rank": "mrr",
    "P_3": "p@3",
    "P_10": "p@10",
    "recall_3": "r@3",
    "recall_10": "r@10",
}


def test_trec_eval(lists):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = lists.dicts()
    asked = {"ndcg", "ndcg_cut.1,3,10", "map", "map_cut.3,10", "recip_rank", "P.3,10", "recall.3,10"}
    per_query = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
    for name, measure in TREC.items():
        wanted = np.mean([values[name] for values in per_query.values()])
        assert lists.ours(f"{measure}/trec") == close(wanted), name


def test_trec_eval_where_documents_were_not_retrieved(lists):
    """What was judged and not retrieved is a row with the score -inf."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = lists.dicts()
    lists.scores[np.random.default_rng(8).random(len(lists.scores)) < 0.3] = -np.inf
    for query, doc, score in zip(lists.qid, lists.ids, lists.scores, strict=True):
        if score == -np.inf:
            del run[str(query + 1)][doc]
    asked = {"ndcg", "ndcg_cut.1,3,10", "map", "map_cut.3,10", "recip_rank", "P.3,10", "recall.3,10"}
    per_query = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
    for name, measure in TREC.items():
        wanted = sum(values[name] for values in per_query.values()) / 40
        assert lists.ours(f"{measure}/trec") == close(wanted), name


IR_MEASURES = ["nDCG", "nDCG@3", "AP", "AP@3", "AP(rel=2)", "AP(rel=2)@10", "RR", "P@3", "P(rel=2)@10"]


@pytest.mark.parametrize("name", [*IR_MEASURES, "R@3", "R(rel=2)@10"])
def test_ir_measures(lists, name):
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = lists.dicts()
    measure = ir_measures.parse_measure(name)
    wanted = ir_measures.calc_aggregate([measure], qrels, run)[measure]
    assert lists.ours(f"{name}/trec") == close(wanted)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script")
@pytest.mark.parametrize("name", ["ERR@3", "ERR@20", "nDCG(dcg='exp-log2')@10"])
def test_ir_measures_by_gdeval(lists, name):
    """It prints five decimals."""
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = lists.dicts()
    measure = ir_measures.parse_measure(name)
    rows = [ir_measures.Qrel(q, d, label) for q, docs in qrels.items() for d, label in docs.items()]
    ranked = [ir_measures.ScoredDoc(q, d, score) for q, docs in run.items() for d, score in docs.items()]
    wanted = ir_measures.calc_aggregate([measure], rows, ranked)[measure]
    assert lists.ours(f"{name}/trec") == pytest.approx(wanted, abs=6e-6)


RANX = {
    "ndcg": "ndcg",
    "ndcg@1": "ndcg@1",
    "ndcg@3": "ndcg@3",
    "ndcg@10": "ndcg@10",
    "ndcg_burges@3": "ndcg@3/ranx:gain=exp2",
    "map": "map",
    "map@3": "map@3",
    "map@10": "map@10",
    "mrr": "mrr",
    "mrr@3": "mrr@3",
    "precision@3": "p@3",
    "precision@10": "p@10",
    "recall@3": "r@3",
    "recall@10": "r@10",
}


def test_ranx():
    """It sorts by an argsort that keeps equal scores in order up to 15 rows; these lists have 14 at most.

    One test for all kinds of lists, since it compiles for half a minute in each process without a cache.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranx = pytest.importorskip("ranx")
        for kind in KINDS:
            lists = make_lists(*kind)
            qrels, run = lists.dicts()
            theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), list(RANX))
            for name, measure in RANX.items():
                ours = lists.ours(measure if "/" in measure else f"{measure}/ranx")
                assert ours == close(float(theirs[name])), (kind, name)


def letor_script(labels, relevant, topmost):
    """What the evaluation scripts of LETOR print for one ranked list: P@i and NDCG@i, 0 where they stop."""
    gains = [2.0**label - 1 for label in labels]

    def dcg(values):
        sums = [values[0]]
        for place in range(2, len(values) + 1):
            worth = 1 if place == 2 else np.log(2) / np.log(place)
            sums.append(sums[-1] + values[place - 1] * worth)
        return sums

    ours, best = dcg(gains), dcg(sorted(gains, reverse=True))
    ndcg = [a / b if b else 0 for a, b in zip(ours, best, strict=True)]
    hits = np.cumsum([label >= relevant for label in labels])
    padded = [*hits, *[hits[-1]] * topmost]
    precision = [padded[i] / (i + 1) for i in range(topmost)]
    return precision, ndcg + [0] * topmost, np.mean(ndcg)


@pytest.mark.parametrize(("preset", "relevant"), [("letor3", 1), ("letor4", 1), ("mslr", 2)])
def test_letor_scripts(lists, preset, relevant):
    """LETOR 3's script stops where a list ends; those of LETOR 4 and MSLR pad it for P@k, not NDCG@k."""
    seen = []
    for query in range(40):
        rows = np.flatnonzero(lists.qid == query)
        rows = rows[np.argsort(-lists.scores[rows], kind="stable")]
        precision, ndcg, mean = letor_script(lists.labels[rows].tolist(), relevant, 10)
        if preset == "letor3":
            precision[len(rows) :] = [0] * max(0, 10 - len(rows))
        seen.append((precision[2], precision[9], ndcg[2], ndcg[9], mean))
    names = ["p@3", "p@10", "ndcg@3", "ndcg@10", "mean-ndcg"][: 4 if preset == "letor3" else 5]
    for name, wanted in zip(names, np.mean(seen, axis=0), strict=False):
        assert lists.ours(f"{name}/{preset}") == close(wanted), name

"""rankloom online: rankings out, measures beside, and a folder that survives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rankloom as rl

QUERIES = """\
{"query": "q", "docs": ["a", "b", "c"], "x": [[1, 0], [0, 1], [0.5, 0.5]]}
{"query": "q", "clicks": ["c"]}
{"query": "q2", "docs": ["d", "e"], "x": [[0, 1], [1, 0]]}
{"query": "q2", "pairs": [["e", "d"]]}
"""


@pytest.fixture
def judged(tmp_path: Path) -> rl.RankingData:
    data = rl.make_letor(40, seed=2).data
    rl.write(data, tmp_path / "judged.txt")
    return rl.read(tmp_path / "judged.txt")


def test_letor_text_is_ranked_then_learned(run: Any, judged: rl.RankingData) -> None:
    done = run("online judged.txt --set gamma=10 --set max_pairs=20 --seed 3 --report 15 --model m.rank")
    learner = rl.SOLAR(gamma=10.0, max_pairs=20, seed=3)
    scores = learner.learn_many(judged)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == judged.n_rows
    by_doc = {(line[0], line[2]): float(line[4]) for line in lines}
    qids = [str(qid) for qid in judged.qids.repeat(judged.lengths)]
    assert [by_doc[qid, str(doc)] for qid, doc in zip(qids, judged.doc_ids, strict=True)] == scores.tolist()
    first = [line for line in lines if line[0] == qids[-1]]
    assert [int(line[3]) for line in first] == list(range(1, len(first) + 1))
    assert sorted((float(line[4]) for line in first), reverse=True) == [float(line[4]) for line in first]
    told = done.stderr.splitlines()
    assert told[0] == "rankloom: solar keeps a full covariance of 46 features"
    assert [line.split()[1] for line in told[1:]] == ["15", "30", "40"]
    assert told[-1] == f"rankloom: {learner.progress_}"
    assert rl.load("m.rank").weights.tolist() == learner.model_.weights.tolist()


@pytest.mark.parametrize("group", ["", "--group 7"])
def test_the_same_command_again_goes_on(run: Any, judged: rl.RankingData, tmp_path: Path, group: str) -> None:
    text = (tmp_path / "judged.txt").read_text()
    (tmp_path / "half.txt").write_text(text[: text.index(f"qid:{judged.qids[20]} ") - 2])
    whole = run(f"online judged.txt --state whole {group}")
    half = run(f"online half.txt --state parts {group} --snapshot-every 5")
    rest = run(f"online judged.txt --state parts {group} --compact")
    assert half.stdout + rest.stdout == whole.stdout
    assert "parts has learned from 20 queries; going on" in rest.stderr
    assert "20 queries had been learned before" in rest.stderr
    assert rest.stderr.splitlines()[-1] == whole.stderr.splitlines()[-1]
    with rl.OnlineLoop("whole") as one, rl.OnlineLoop("parts") as two:
        assert one.learner.model_ == two.learner.model_
    again = run("online judged.txt --state whole --method solar")
    assert again.stdout == ""
    assert "40 queries had been learned before" in again.stderr


def test_json_lines_through_a_pipe(run: Any) -> None:
    done = run("online - --state live --rule last-skip-above --eta 1 --json", stdin=QUERIES)
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first == {"query": "q", "ranking": ["a", "b", "c"], "scores": [0.0, 0.0, 0.0]}
    assert second["query"] == "q2"
    progress = json.loads(done.stderr.splitlines()[-1])
    assert progress["queries"] == 1
    assert progress["total"]["map"] == pytest.approx(1 / 3)
    entries = list(rl.read_log("live"))
    assert [(number, entry.id) for number, entry in entries] == [(1, "q"), (2, "q2")]
    assert entries[0][1].feedback.weights.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("group", ["", "--group 3"])
def test_whoever_sends_json_gets_an_answer_also_to_what_is_known(run: Any, group: str) -> None:
    line = '{"query": "q", "x": [[1], [2]], "labels": [0, 1]}\n'
    done = run(f"online - --state live {group}", stdin=line + line)
    assert len(done.stdout.splitlines()) == 2
    again = run(f"online - --state live {group}", stdin=line + line)
    assert [json.loads(one)["ranking"] for one in again.stdout.splitlines()] == [["1", "0"]] * 2
    assert "2 queries had been learned before" in again.stderr


def test_the_log(run: Any, run_json: Any) -> None:
    run("online - --state live", stdin=QUERIES + '{"query": "q", "labels": [0, 2, 1]}\n')
    lines = run("online log live").stdout.splitlines()
    assert lines[0].split() == ["number", "time", "id", "query", "rows", "feedback"]
    assert lines[2].endswith("1 click, 2 pairs")
    assert lines[3].endswith("1 pair")
    assert lines[4].endswith("labels, 2 of 3 above 0")
    one, _, three = run_json("online log live")
    assert (one["number"], one["id"], one["docs"], one["pairs"]) == (
        1,
        "q",
        ["a", "b", "c"],
        [[2, 0], [2, 1]],
    )
    assert (three["labels"], three["rows"]) == ([0, 2, 1], 3)


def test_to_start_from_a_model(run: Any) -> None:
    rl.LinearModel([1.0, 2.0]).save("m.rank")
    done = run("online - --start m.rank --method committee", stdin=QUERIES)
    assert json.loads(done.stdout.splitlines()[0])["ranking"] == ["b", "c", "a"]


WRONG = [
    ("online - a", "give one DATA (a file or -), or log FOLDER, got - a"),
    ("online missing.txt", "missing.txt: no such file"),
    ("online log nowhere", "nowhere holds no journal"),
    ("online log nowhere --seed 3", "--seed has no meaning with log"),
    ("online - --group 2", "--group is for --state"),
    ("online - --compact", "--compact is for --state"),
    ("online - --force", "--force is for --model"),
    ("online - --model -", "--model needs the name of a file"),
    ("online - --set steps=3", "solar has no parameter 'steps'"),
    ("online - --set gamma=-1", "gamma must be a number > 0"),
    ("online -", "the stream is empty"),
]


@pytest.mark.parametrize(("line", "told"), WRONG)
def test_what_cannot_work(complain: Any, line: str, told: str) -> None:
    assert told in complain(line, stdin="")


def test_a_bad_line_ends_the_stream_and_keeps_what_came_before(run: Any) -> None:
    text = '{"query": "q", "x": [[1], [2]], "labels": [0, 1]}\n{}\n'
    done = run("online - --state live --method prank", code=2, stdin=text)
    assert "standard input:2: every line must have" in done.stderr
    assert len(list(rl.read_log("live"))) == 1


def test_who_only_asks_for_a_ranking_need_not_wait_for_a_group(run: Any) -> None:
    text = '{"query": "q", "x": [[1], [2]]}\n{}\n'
    done = run("online - --state live --method prank --group 9", code=2, stdin=text)
    assert json.loads(done.stdout)["query"] == "q"


def test_methods_that_learn_online_say_where_streams_are(complain: Any, judged: rl.RankingData) -> None:
    told = complain("train solar judged.txt --stream --model m.rank")
    assert "solar learns from a stream with rankloom online" in told


def test_another_learner_is_refused(run: Any, complain: Any) -> None:
    run("online - --state live", stdin=QUERIES)
    assert "live holds solar(" in complain("online - --state live --set gamma=3", stdin=QUERIES)

"""How an answer is judged, and what the table must have."""

import fnmatch
import json
import re
import subprocess
import sys

import pytest

from tests.causes import scoring
from tests.causes.table import OURS, OURS_PREFIX, PENDING, RECORDINGS, RIGHT, SCENARIOS, SHORT
from tests.causes.verdict import judge, read
from tests.support.service import ROOT

sys.path.append(str(ROOT / "scripts"))
from counts import from_verdicts  # noqa: E402

TRAININGS = ROOT / "tests/causes/trainings"


def said(*causes, rules=(), steps=100):
    """What is read of an answer with these causes, each with its share."""
    budget = [{"cause": cause, "share": share} for cause, share in causes]
    found = [{"rule": name, "rule_evaluation_status": "IssuesFound", "verdict": {"sentence": sentence}} for name, sentence in rules]
    return read({"budget": budget, "threshold": 10, "sentence": "", "steps": steps}, found)


def measured(share=0.5, **parts):
    return {"share": share, "steps": 100, "world": 1, "wall_s": 10.0, "parts_s": parts or {"forward": 9.9}}


def test_the_largest_cause_above_the_threshold_is_said_first():
    assert said(("busy", 0.8), ("storage", 0.12), ("preprocessing", 0.08)).cause == "storage"
    assert said(("busy", 0.92), ("storage", 0.08)).cause == ""


@pytest.mark.parametrize("truth, answer, right", [
    ("healthy", said(("busy", 1.0)), True),
    ("healthy", said(("busy", 0.8), ("unknown", 0.2)), False),
    ("preprocessing", said(("busy", 0.5), ("preprocessing", 0.5)), True),
    ("preprocessing", said(("busy", 0.5), ("raw_data_input", 0.5)), False),
    ("preprocessing", said(("busy", 1.0)), False),
    ("straggler", said(("busy", 0.5), ("communication", 0.5)), False),
    ("straggler", said(("busy", 0.5), ("communication", 0.5), rules=[("Straggler", "Rank 0 is late")]), False),
    ("straggler", said(("busy", 0.5), ("communication", 0.5), rules=[("Straggler", "Rank 1 is late")]), True),
])
def test_an_answer_is_right_when_the_table_says_so(truth, answer, right):
    assert judge(truth, answer, measured()).right == right


def test_a_disturbed_training_is_not_counted():
    assert not judge("healthy", said(("busy", 1.0)), measured(forward=8.0, data=2.0)).counted
    assert not judge("preprocessing", said(("busy", 1.0)), measured(share=0.05)).counted
    assert judge("preprocessing", said(("busy", 1.0))).counted  # a made job, which nothing disturbs


@pytest.mark.parametrize("steps, right", [(100, True), (97, True), (80, False), (600, False)])
def test_a_wrong_number_of_steps_is_wrong(steps, right):
    assert judge("healthy", said(("busy", 1.0), steps=steps), measured()).right == right


def test_a_training_of_which_nothing_is_said_is_not_right():
    assert "nothing is divided up" in judge("healthy", said(), measured()).reason


def row(name, truth="healthy", cause="", **given):
    return {
        "kind": "real", "name": name, "truth": truth, "truth_share": 0.5, "said": cause, "said_share": 0.5, "right": True, "counted": True,
        "judged": True, "rules": {}, "failed": False, "reason": "", "contradictions": [], **given,
    }


def test_the_share_that_is_right_is_of_those_that_count():
    rows = [row("a"), row("b", right=False, cause="storage"), row("c", "preprocessing", "preprocessing"), row("d", counted=False, right=False)]
    assert scoring.summary(rows) == "2 of 3 right (66.7 %); nothing to find: 1 of 2 without a cause; rules found issues in 0 of 2 healthy ones; 1 not counted"
    assert scoring.table(rows)[2:4] == [
        "| real/a   | healthy 50.0 %       | no cause 50.0 %      | yes   |",
        "| real/b   | healthy 50.0 %       | storage 50.0 %       | no    |",
    ]


def test_the_share_tells_how_many_of_the_right_ones_are_unknown():
    rows = [row("a", "callbacks", "callbacks"), row("b", "time outside of all phases", "unknown"), row("c", right=False, cause="unknown")]
    assert scoring.summary(rows).startswith("2 of 3 right (66.7 %), 1 of them said to be unknown; nothing to find: ")


def test_findings_of_healthy_trainings_are_told():
    rows = [row("a", rules={"Dataloader": "", "ProfilerReport": ""}), row("b", rules={"Dataloader": ""}), row("c", "preprocessing", rules={"StepOutlier": ""})]
    assert scoring.findings_of_healthy(rows) == "rules found issues in 2 of 2 healthy ones: Dataloader (real/a, real/b)"
    assert "2 of 2 healthy ones: Dataloader (real/a, real/b)" in scoring.summary(rows)
    alone = [row("a", rules={"ProfilerReport": ""}), row("b")]
    assert scoring.findings_of_healthy(alone) == "rules found issues in 1 of 2 healthy ones: ProfilerReport (real/a)"


def test_the_table_of_the_page_is_replaced():
    page = f"# Verdicts\n\nText.\n\n{scoring.TITLE}\n\nan old table\n"
    assert scoring.with_table(page, ["2 of 2", "", "| a |"]) == f"# Verdicts\n\nText.\n\n{scoring.TITLE}\n\n2 of 2\n\n| a |\n"
    assert scoring.TITLE in (ROOT / "docs/verdicts.md").read_text()


def test_what_makes_a_run_fail():
    good = [row(str(number)) for number in range(40)]
    assert scoring.faults(good, short=False) == []
    assert scoring.faults([*good, row("x", "preprocessing", right=False, reason="none is said")], short=False) == []
    assert scoring.faults([*good, row("x", right=False, cause="storage")], short=False) == ["x has nothing to find, but storage is named"]
    assert scoring.faults([*good, *[row("x", "preprocessing", right=False)] * 3], short=False) == ["fewer than 95% are right"]
    assert scoring.faults([*good, row("x", "preprocessing", right=False, reason="none is said")], short=True) == ["x: none is said"]
    assert scoring.faults([*good, row("x", contradictions=["60 % and 0 %"])], short=True) == ["x contradicts itself: 60 % and 0 %"]
    assert scoring.faults([*good, row("x", failed=True, counted=False, judged=False, reason="it ended with 1")], short=True) == ["x: it ended with 1"]
    assert "too busy" in scoring.faults([*good[:3], *[row("x", counted=False)]], short=True)[0]


def test_what_is_known_to_be_wrong_fails_no_short_run(monkeypatch):
    monkeypatch.setitem(PENDING, "real/x", "not done yet")
    assert scoring.faults([row("x", right=False, contradictions=["60 % and 0 %"])], short=True) == []


def test_a_suite_counts_answers():
    rows = [row("a"), row("b", right=False, reason="none is said"), row("c", right=False), row("d", counted=False, right=False), row("e", contradictions=["1 % and 9 %"])]
    counts = from_verdicts("".join(json.dumps({**each, "pending": each["name"] == "c"}) + "\n" for each in rows))
    assert (counts.passed, counts.failed, counts.skipped) == (1, 2, 2)
    assert counts.failures == ["real/b: none is said", "real/e: 1 % and 9 %"]


def declared():
    """{training: its truth}, read from the sources: PyTorch need not be here."""
    texts = [path.read_text() for path in sorted(TRAININGS.glob("*.py"))]
    pairs = [pair for text in texts for pair in re.findall(r'^@training\("([^"]+)".*\)\ndef (\w+)', text, re.MULTILINE)]
    return {name.replace("_", "-"): truth for truth, name in pairs}


def test_every_truth_stands_in_the_table():
    trainings = declared()
    assert len(trainings) >= 50
    truths = {*trainings.values(), *RECORDINGS.values(), *SCENARIOS.values()}
    assert truths <= RIGHT.keys() and sum(truth == "healthy" for truth in trainings.values()) >= 10


def test_every_made_job_has_a_truth():
    listed = re.findall(r"^\| `([\w-]+)` \|", (ROOT / "docs/scenarios.md").read_text(), re.MULTILINE)
    assert sorted(SCENARIOS) == sorted(listed)


def test_what_is_pending_and_what_is_short_is_there():
    names = {f"real/{name}" for name in declared()} | {f"scenarios/{name}" for name in SCENARIOS} | {f"recordings/{name}" for name in RECORDINGS}
    names |= {f"recordings/{OURS_PREFIX}{path.stem}" for path in OURS.glob("*.rec")}
    assert PENDING.keys() <= names and all(fnmatch.filter(names, pattern) for pattern in SHORT)


def test_a_training_tells_its_truth():
    pytest.importorskip("torch", reason="PyTorch is not here: apt-get install python3-torch")
    out = subprocess.run([sys.executable, TRAININGS / "run.py", "remote-source-in-process", "--seconds", "2"], capture_output=True, text=True)
    told = json.loads(out.stdout)
    assert (told["training"], told["cause"]) == ("remote-source-in-process", "raw input")
    assert told["steps"] > 5 and 0.3 < told["share"] < 0.95 and set(told["parts_s"]) == {"data", "forward", "backward", "optimizer"}

"""What contradicts itself is found, and nothing else is."""

import pytest

from tests.causes.consistency import contradictions, told


@pytest.mark.parametrize("sentence, found", [
    ("The training process waited 5.9 % of each step (mean of 129 steps without the first, rank 0) for its next batch; that is not above the threshold of 20 %.", {("data", 5.9)}),
    ("Node n has 1 loader worker for 8 cores (12 %); the range is 70 to 200 %. 49.0 % of the step time after the first step was waited for batches.", {("data", 49.0)}),
    ("420 steps of 1 rank, 1.0 s in the mean: data 57.6 %, forward 12.0 %, 30.4 % outside of all phases.", {("data", 57.6), ("forward", 12.0), ("unnamed", 30.4)}),
    ("The host waits 60.0 % of a step for data, the GPU is idle 10.0 %.", {("data", 60.0)}),
    ("The steps were computing 34.1 % of 15 rank seconds; most was lost to preprocessing, 65.9 %.", set()),
])
def test_a_sentence_tells_its_numbers(sentence, found):
    assert told(sentence) == found


def rule(name, sentence, kind="finding"):
    return {"rule": name, "verdict": {"kind": kind, "sentence": sentence}}


def row(cause, share):
    return {"cause": cause, "share": share, "seconds": 15 * share}


def job(data=60.0, causes=(("busy", 0.4), ("preprocessing", 0.6)), sentence="The steps were computing 40.0 % of 15 rank seconds; most was lost to preprocessing, 60.0 %."):
    """Answers that fit together: a job of one rank without a GPU, which waits for its data."""
    phases = [{"phase": "data", "share_percent": data}, {"phase": "forward", "share_percent": 40.0}, {"phase": "unnamed", "share_percent": None}]
    diagnosis = {"unit": "rank_seconds", "sentence": sentence, "budget": [row(*each) for each in causes]}
    rules = [rule("DataloaderBottleneck", "The training process waited 60.2 % of each step (median of 100 steps, rank 0) for its next batch; the threshold is 20 %.")]
    report = {"framework": {"seconds": 15.0, "ranks": [{"phases": phases, "steps": 150, "wall_seconds": {"mean": 0.1, "max": 0.1}}]}, "diagnosis": diagnosis}
    return [{"diagnosis": diagnosis}, diagnosis, rules, report]


def test_what_fits_together_is_no_contradiction():
    assert contradictions(*job()) == []


def only(found, words):
    assert len(found) == 1 and words in found[0], found


def test_a_median_that_is_not_the_share_of_the_report_is_one():
    answers = job()
    answers[2] = [rule("DataloaderBottleneck", "The training process waited 0.3 % of each step (median of 100 steps, rank 0) for its next batch.")]
    only(contradictions(*answers), "DataloaderBottleneck says data 0.3 %, the report 60.0 to 60.0 %")


def test_a_clear_rule_beside_the_cause_that_it_looks_for_is_one():
    answers = job()
    answers[2][0]["verdict"]["kind"] = "clear"
    only(contradictions(*answers), "preprocessing is named first with 60.0 %, but DataloaderBottleneck is clear")


def test_a_rule_may_be_clear_about_a_small_cause_or_about_another_one():
    small = job(data=12.0, causes=(("busy", 0.88), ("preprocessing", 0.12)), sentence="The steps were computing 88.0 % of 15 rank seconds.")
    small[2] = [rule("DataloaderBottleneck", "The training process waited 12.0 % of each step for its next batch.", "clear")]
    assert contradictions(*small) == []
    answers = job()
    answers[2].append(rule("CommunicationBottleneck", "no rank waits for another one", "clear"))
    assert contradictions(*answers) == []


def test_a_budget_of_steps_has_the_waits_of_the_report():
    answers = job(data=10.0)
    answers[2] = []
    only(contradictions(*answers), "the budget has 60.0 % of the step time for waits for data, the report 10.0 to 10.0 %")


def test_time_beside_the_steps_is_no_part_of_their_waits():
    """An evaluation as long as the steps halves the share of the waits, and not their length."""
    answers = job(causes=(("busy", 0.2), ("preprocessing", 0.3), ("evaluation", 0.5)), sentence="The steps were computing 20.0 % of 30 rank seconds.")
    for each in answers[1]["budget"]:
        each["seconds"] *= 2
    assert contradictions(*answers) == []


def test_a_late_rank_takes_its_waits_out_of_those_for_data():
    causes = (("busy", 0.4), ("preprocessing", 0.1), ("late_rank", 0.5))
    assert contradictions(*job(causes=causes, sentence="The steps were computing 40.0 % of 15 rank seconds.")) == []


def test_a_budget_of_gpus_may_differ_as_it_has_another_clock():
    answers = job(data=10.0)
    answers[1]["unit"], answers[2] = "gpu_seconds", []
    assert contradictions(*answers) == []


@pytest.mark.parametrize("sentence", [
    "The steps were computing 99.0 % of 15 rank seconds.",
    "The GPUs were busy 41.0 % of 15 GPU seconds; most was lost to preprocessing, 60.0 %.",
    "The steps were computing 40.0 % of 15 rank seconds; most was lost to preprocessing, 75.0 %.",
    "The steps were computing 40.0 % of 15 rank seconds; nothing explains 75.0 %.",
])
def test_the_sentence_has_the_numbers_of_its_budget(sentence):
    only(contradictions(*job(sentence=sentence)), "which no row of its budget has")


def test_a_budget_adds_up():
    only(contradictions(*job(causes=(("busy", 0.4), ("preprocessing", 0.6), ("unknown", 0.1)))), "adds up to 110.0 %")


def test_page_and_report_have_the_budget_of_the_diagnosis():
    answers = job()
    answers[3]["diagnosis"] = {"budget": [row("busy", 1.0)]}
    only(contradictions(*answers), "the report has another budget")

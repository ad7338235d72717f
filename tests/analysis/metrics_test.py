"""Samples as rows, in stretches of time that nobody sees, and beside the steps."""

import pandas as pd
import pytest

AT = 1_795_000_000_000_000  # a multiple of a second
SECOND = 1_000_000


def sampled(frame):
    return list(zip((stamp.value // 1000 for stamp in frame["time"]), frame["value"]))


def test_what_the_agent_measured_is_there(service, training):
    cpu = training.system_metrics("node_cpu_percent")
    assert list(cpu.columns) == ["time", "node", "device", "metric", "value", "min", "max"]
    (series,) = service.get("/api/v1/jobs/training/metrics?metric=node_cpu_percent&points=8000")[1]["series"]
    assert [at for at, _ in sampled(cpu)] == series["times_us"]
    assert len(cpu) > 5  # a busy machine is read less often than the interval says
    assert cpu["value"].dropna().tolist() == [value for value in series["mean"] if value is not None]
    assert str(cpu["time"].dtype) == "datetime64[ns, UTC]" and cpu.attrs["units"] == {"node_cpu_percent": "%"}


def test_more_samples_than_an_answer_holds_are_all_there(sent):
    times = [AT + second * SECOND for second in range(17_000)]
    values = [(second * 7919) % 1000 / 10 for second in range(17_000)]
    sent.send("user.loss", times, values)
    assert sampled(sent.job.system_metrics("user.loss")) == list(zip(times, values))


def test_a_part_of_the_time_and_of_the_nodes_can_be_asked_for(sent):
    times = [AT + second * SECOND for second in range(100)]
    for node, device, value in (("a", "0", 1), ("a", "1", 2), ("b", "0", 3)):
        sent.send("gpu_util_percent", times, [value] * 100, node=node, device=device)
    start, end = (pd.Timestamp(AT + second * SECOND, unit="us", tz="UTC") for second in (10, 19))
    part = sent.job.system_metrics("gpu_util_percent", node="a", device="1", start=start, end=end.tz_convert("Asia/Tokyo"))
    assert sampled(part) == [(at, 2) for at in times[10:20]] and set(part["node"]) == {"a"}
    each = sent.job.system_metrics(["gpu_util_percent"], start=start, end=end)
    assert each.groupby(["node", "device"])["value"].agg(["count", "mean"]).values.tolist() == [[10, 1], [10, 2], [10, 3]]
    assert sampled(sent.job.system_metrics("gpu_util_percent", node="b", start="1999-12-31T23:00:00Z")) == [(at, 3) for at in times]


def test_rows_that_stand_for_several_samples_have_least_and_greatest(sent):
    sent.send("user.loss", [AT + second * SECOND for second in range(100)], list(range(100)))
    folded = sent.job.system_metrics("user.loss", points=10)
    assert len(folded) <= 11 and (folded["max"] - folded["min"]).max() >= 9
    assert folded["min"].min() == 0 and folded["max"].max() == 99 and folded["value"].between(folded["min"], folded["max"]).all()


def test_where_nothing_was_measured_a_row_is_empty(sent):
    sent.send("user.loss", [AT, AT + SECOND, AT + 60 * SECOND], [1, 2, 3])
    values = sent.job.system_metrics("user.loss")["value"]
    assert values.isna().tolist() == [False, False, True, False]


def test_a_time_without_a_zone_is_refused(training):
    with pytest.raises(ValueError, match="time zone"):
        training.system_metrics("node_cpu_percent", start="2026-11-20 20:00")


def test_each_step_has_what_the_metric_was_meanwhile(training):
    beside = training.correlate("node_cpu_percent", every=50)
    steps = training.steps(rank=0)
    assert list(beside.columns) == ["step", "start", "wall", "value", "marked"] and beside["wall"].equals(steps["wall"])
    assert beside["step"][beside["marked"]].tolist() == [step for step in steps["step"] if step % 50 == 0]
    cpu = training.system_metrics("node_cpu_percent")
    least, most = cpu["value"].min() - 1e-6, cpu["value"].max() + 1e-6
    assert beside["value"].notna().mean() > 0.9 and beside["value"].dropna().between(least, most).all()
    assert beside.attrs["unit"] == "%"


def test_a_metric_that_a_job_does_not_have_is_missing_beside_its_steps(training):
    assert training.correlate("gpu_util_percent")["value"].isna().all()

"""The data frames of a job hold what the service says."""

import pandas as pd
import pytest

from tests.analysis.conftest import Problem

PHASES = ["data", "transfer", "forward", "loss", "backward", "communication", "optimizer", "callback", "checkpoint", "other", "sync", "device_to_host"]
TIMES = [*PHASES, "unnamed", "evaluation", "gpu_idle", *("gpu_" + phase for phase in PHASES)]


def is_utc(column):
    return str(column.dtype) == "datetime64[ns, UTC]"


def micros(column):
    return [stamp.value // 1000 for stamp in column]


def test_a_job_is_described_in_the_words_of_the_service(service, training):
    assert training.describe() == service.get("/api/v1/jobs/training")[1]
    assert sorted(each["rank"] for each in training.describe()["ranks"]) == [0, 1]


def test_jobs_are_listed_through_all_pages(service, client, training):
    for number in range(501):
        assert service.request("POST", "/api/v1/jobs", {"name": f"many-{number}"})[0] == 201
    many = client.jobs(name_contains="many-", sort="name")
    assert sorted(many["name"]) == sorted(f"many-{number}" for number in range(501))
    assert is_utc(many["created"]) and is_utc(many["ended"]) and many["ended"].isna().all()
    (done,) = client.jobs(status=["Completed", "Failed"], rule="DataloaderBottleneck", rule_status=["IssuesFound", "Error"])["name"]
    assert done == "training"


def test_no_job_is_a_list_with_all_columns(client):
    none = client.jobs(created_after="2100-01-01T00:00:00Z")
    assert len(none) == 0 and is_utc(none["created"]) and "median_step_seconds" in none


def test_every_step_of_a_rank_is_there_in_order(service, training):
    steps = training.steps(rank=1)
    assert list(steps.columns) == ["rank", "step", "start", "wall", *TIMES]
    (summary,) = service.get("/api/v1/jobs/training/steps?rank=1")[1]["ranks"]
    assert len(steps) == summary["steps"]
    assert len(steps) > 5000, training.describe()["ranks"]  # more than a page
    assert steps["step"].is_monotonic_increasing and steps["step"].is_unique
    assert steps["start"].is_monotonic_increasing and is_utc(steps["start"])
    assert steps["wall"].mean() == pytest.approx(summary["wall_seconds"]["mean"], abs=1e-9)
    assert steps["wall"].min() >= 0.0002


def test_phases_are_columns_in_seconds(service, training):
    steps = training.steps(rank=0)
    assert len(steps) == service.get("/api/v1/jobs/training/steps?rank=0")[1]["ranks"][0]["steps"] > 100
    assert (steps["data"] >= 0.03).all() and (steps["forward"] >= 0.01).all()
    assert (steps["data"] + steps["forward"] <= steps["wall"]).all()
    assert (steps[["transfer", "backward", "checkpoint"]] == 0).all(axis=None)
    assert steps[[*PHASES, "unnamed"]].sum(axis=1).sub(steps["wall"]).abs().max() < 1e-9
    first = service.get("/api/v1/jobs/training/steps?rank=0&format=rows&limit=1")[1]["items"][0]
    assert micros(steps["start"])[0] == first["start_us"] and steps["wall"][0] == first["wall_seconds"]


def test_all_ranks_are_in_one_frame(training):
    each = [training.steps(rank=0), training.steps(rank=1)]
    pd.testing.assert_frame_equal(training.steps(), pd.concat(each, ignore_index=True))


def test_findings_and_rules_say_what_was_found(training):
    (finding,) = training.findings(rule="DataloaderBottleneck").to_dict("records")
    assert finding["rank"] == 0 and finding["start"] < finding["end"] and "Rank 0 waited" in finding["sentence"]
    assert finding["evidence"] and training.findings(rule="CPUBottleneck").empty
    rules = training.rules().set_index("name")
    row = rules.loc["DataloaderBottleneck"]
    assert (row["status"], row["kind"], row["severity"]) == ("IssuesFound", "finding", "high")
    assert row["parameters"]["threshold"] == 20 and is_utc(rules["evaluated"])
    assert rules.loc["LowGPUUtilization", "kind"] == "unknown"


def test_annotations_have_counts_and_seconds(training):
    (row,) = training.annotations().to_dict("records")
    assert (row["rank"], row["name"]) == (0, "model") and row["count"] == 120
    assert row["min"] <= row["mean"] <= row["max"] <= row["total"] and row["min"] >= 0.01
    assert training.annotations(rank=1).empty


def test_the_histogram_of_an_annotation_holds_each_of_them(service, training):
    bins = training.annotation_histogram("model")
    assert list(bins.columns) == ["rank", "name", "low", "high", "count"]
    (row,) = training.annotations().to_dict("records")
    assert bins["count"].sum() == row["count"] == 120 and set(bins["rank"]) == {0} and set(bins["name"]) == {"model"}
    assert bins["low"].iloc[0] <= row["min"] < bins["high"].iloc[0] and bins["low"].iloc[-1] <= row["max"] < bins["high"].iloc[-1]
    assert (bins["low"].iloc[1:].values == bins["high"].iloc[:-1].values).all() and (bins["low"] < bins["high"]).all()
    (bins_of_service,) = service.get("/api/v1/jobs/training/steps?rank=0")[1]["ranks"][0]["annotations"]
    assert bins["count"].tolist() == bins_of_service["histogram"]["counts"]


def test_histograms_of_all_names_and_of_none(training):
    pd.testing.assert_frame_equal(training.annotation_histogram(), training.annotation_histogram("model", rank=0))
    for none in (training.annotation_histogram("nobody's"), training.annotation_histogram(rank=1)):
        assert none.empty and list(none.dtypes) == list(training.annotation_histogram().dtypes)


def test_the_diagnosis_adds_up(service, training):
    diagnosis = training.diagnosis()
    answer = service.get("/api/v1/jobs/training/diagnosis")[1]
    assert list(diagnosis["cause"]) == [row["cause"] for row in answer["budget"]]
    assert diagnosis.attrs["sentence"] and "budget" not in diagnosis.attrs
    if len(diagnosis):  # there was time to divide up
        assert abs(diagnosis["share"].sum() - 1) < 1e-6


def test_the_report_is_a_dictionary_or_a_page(service, training, tmp_path):
    said = training.report()
    assert said["job"]["name"] == "training" and said["hosts"]["ranks"] == 2
    (tmp_path / "report.html").write_text("an older one, which is replaced")
    assert training.report(tmp_path / "report.html") is None
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n") and "<title>training – report</title>" in page


def test_usage_has_a_row_for_each_node_and_metric(service, training):
    usage = training.usage()
    assert usage.to_dict("records") == service.get("/api/v1/jobs/training/usage")[1]["rows"]
    assert "node_cpu_percent" in set(usage["metric"]) and usage.attrs["of"] == "samples"


def test_a_heat_map_has_the_values_of_its_bytes(sent):
    at = 1_795_000_000_000_000
    sent.send("gpu_util_percent", [at, at + 1_000_000, at + 60_000_000], [0, 50, 100], device="0")
    sent.send("gpu_util_percent", [at, at + 1_000_000], [25, 75], device="1")
    heat = sent.job.heatmap("gpu_util_percent", columns=100)
    assert list(heat.index) == [("host-1", "0"), ("host-1", "1")] and micros(heat.columns)[0] == at
    tolerance = 100 / 254 / 2 + 1e-9
    assert heat.iloc[0, :2].tolist() == pytest.approx([0, 50], abs=tolerance)
    assert heat.iloc[1, :2].tolist() == pytest.approx([25, 75], abs=tolerance)
    assert heat.iloc[0, -1] == pytest.approx(100, abs=tolerance) and heat.iloc[0, 10:50].isna().all()


def test_a_job_without_data_gives_frames_without_rows(sent):
    job = sent.job
    assert list(job.steps().columns) == ["rank", "step", "start", "wall", *TIMES]
    frames = [job.steps(), job.system_metrics("node_cpu_percent"), job.findings(), job.annotations(), job.annotation_histogram()]
    frames += [job.usage(), job.heatmap("node_cpu_percent")]
    assert [len(frame) for frame in frames] == [0] * 7
    assert is_utc(job.steps()["start"]) and is_utc(job.system_metrics("node_cpu_percent")["time"]) and is_utc(job.findings()["start"])


def test_a_preview_says_what_a_rule_would_say(training):
    would = training.preview("DataloaderBottleneck", threshold=99)
    assert would["rule_evaluation_status"] == "NoIssuesFound" and would["judged"]["complete"]
    assert would["parameters"]["threshold"] == 99 and would["now"]["parameters"]["threshold"] == 20
    assert would["difference"] == "it would not have fired; with its parameters of now it did"
    mine = training.preview("Custom", name="mine", metric="node_cpu_percent", threshold=0, patience=0, window=2)
    assert mine["verdict"]["kind"] == "finding" and mine["now"] is None
    with pytest.raises(Problem, match="threshold is 101"):
        training.preview("DataloaderBottleneck", threshold=101)

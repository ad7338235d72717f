"""Windows of traces as data frames."""

import json
import urllib.request

import pytest

from tests.analysis.conftest import Problem


def span(cat, name, start, duration, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration, "args": args}


TRACE = {
    "traceEvents": [
        span("user_annotation", "ProfilerStep#7", 0, 300),
        span("cpu_op", "aten::mm", 10, 20, **{"External id": 5, "Input Dims": [[2, 3]]}),
        span("cuda_runtime", "cudaLaunchKernel", 15, 2, correlation=9),
        span("kernel", "sgemm", 50, 20, correlation=9, device=0, **{"External id": 5}),
        span("kernel", "relu", 90, 10, correlation=10, device=0),
    ]
}


def send(service, path, body, content_type):
    request = urllib.request.Request(f"{service.url}/api/v1{path}", json.dumps(body).encode(), {"Content-Type": content_type})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def window(service, client):
    send(service, "/jobs", {"name": "traced"}, "application/json")
    made = send(service, "/jobs/traced/traces?rank=3", TRACE, "application/octet-stream")
    return client.job("traced").window(made["id"])


def test_kernels_and_operators_are_rows(window):
    kernels = window.kernels()
    assert kernels["name"].tolist() == ["sgemm", "relu"] and kernels["total"].tolist() == [2e-5, 1e-5]
    assert kernels["launched_by"].tolist() == ["aten::mm", None]
    assert window.kernels(name="rel")["calls"].tolist() == [1]
    assert window.operators()["device_total"].tolist() == [2e-5]
    assert window.operators(shapes=True, rank=3)["shapes"].tolist() == ["[[2, 3]]"]


def test_the_parts_of_a_step_add_up(window):
    rows = window.breakdown()
    assert rows["step"].isna().tolist() == [True, False] and rows["device"].tolist() == [0, 0]
    parts = rows.drop(columns=["device", "step", "wall"]).sum(axis=1)
    assert (parts - rows["wall"]).abs().max() < 1e-9
    assert rows["wall"][0] == pytest.approx(5e-5)


def test_calls_are_a_tree(window):
    calls = window.calls()
    assert calls["kind"].tolist() == ["thread", "operator", "launch"] and calls["parent"].tolist()[1:] == [0, 1]
    assert calls["self"][1] == pytest.approx(1.8e-5) and calls["device_self"][1] == pytest.approx(2e-5)


def test_a_change_has_its_best_and_its_worst_step(window):
    rows = window.what_if().set_index("change")
    assert rows["best_step"]["copies"] == rows["worst_step"]["copies"] == pytest.approx(2e-5), "of one kernel, without copies"
    assert rows["best_step"]["computing"] == pytest.approx(1e-5) and rows["worst_saved_share"]["computing"] == 0.5
    assert rows["kernel"].dropna().tolist() == ["sgemm", "relu"]


def test_spans_are_found_by_name_and_time(window):
    spans = window.spans()
    assert list(spans.columns) == ["track", "kind", "name", "start", "duration", "correlation"] and len(spans) == 5
    assert window.spans("SGEMM")["start"].tolist() == [5e-5]
    assert window.spans(start=8e-5, tracks=[1])["name"].tolist() == ["relu"]


def test_a_window_describes_itself(window, client):
    assert window.describe()["traces"][0]["rank"] == 3
    assert client.job("traced").windows()["what"].tolist() == ["trace"]
    with pytest.raises(Problem, match="no trace of rank 5"):
        window.kernels(rank=5)


def test_windows_are_compared_and_ranks_laid_side_by_side(service, window):
    again = {"traceEvents": [*TRACE["traceEvents"], span("cpu_op", "aten::relu", 40, 5)]}
    other = send(service, "/jobs/traced/traces?rank=3", again, "application/octet-stream")
    rows = window.compare(other["id"], rows="operators", rank=3)
    assert dict(zip(rows["name"], rows["change"])) == {"aten::relu": "added", "aten::mm": "unsure"}
    assert rows["after"].tolist()[0] == pytest.approx(5e-6) and rows["noise"].isna().all()
    assert window.compare(window)["difference"].tolist() == [0.0]
    assert len(window.ranks()) == 0
    with pytest.raises(ValueError, match="not kernels or operators"):
        window.compare(other["id"], rows="spans")

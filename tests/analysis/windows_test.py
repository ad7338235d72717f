"""Spans of a window as a data frame. That they come from a training shows tests/e2e/windows_test.py."""

import json
import urllib.request

import pytest

from tests.analysis.conftest import Problem
from tests.support import wire

START_US = 1_795_205_614_000_000
COLUMNS = [(name, "") for name in ("window", "name", "process", "thread", "step", "start_ns", "duration_ns")]
SESSION = bytes(range(16))


class Agent:
    """An agent that sends what a test wants."""

    def __init__(self, service, job):
        self.url, self.job, self.sequence = service.url, job, 0

    def push(self, kind, payload, **schema):
        self.sequence += 1
        frame = wire.frame(kind, SESSION, self.sequence, START_US, self.job, "host-1", payload, **schema)
        headers = {"Content-Type": "application/vnd.stepscope.frames"}
        request = urllib.request.Request(f"{self.url}/api/v1/ingest/frames", wire.push([frame]), headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert json.load(answer)["rejected"] == []

    def say(self, event, **more):
        self.push(wire.LIFECYCLE, json.dumps({"event": event, "at_us": START_US, **more}))

    def span(self, rank, name, step, start_ns, duration_ns):
        columns = wire.schema(COLUMNS, rank, [name])
        table = wire.row([1, 0, 4711, 2, step, start_ns, duration_ns], [0] * 7)
        self.push(wire.SPANS, table, columns=columns, columns_hash=wire.schema_hash(columns))


@pytest.fixture(scope="module")
def recorded(service, client):
    agent = Agent(service, "windows")
    agent.say("started", command=["train"], facts={"allows": ["interval", "spans"]})
    job = client.job("windows")
    window = job.ask_for_spans(100, num_steps=5)
    assert (window["id"], window["status"]) == ("1", "Open")
    assert job.ask_for_spans(100, num_steps=5) == window
    agent.span(0, "decode", 100, START_US * 1000 + 1500, 11_250_417)
    agent.span(0, "augment", 104, START_US * 1000 + 2_000_000, 5)
    agent.span(1, "decode", 101, START_US * 1000, 0)
    agent.say("answered", command="spans-1", outcome="done", reason="rank 1: 1 of 5 steps are whole", spans=3, dropped=2)
    return job


def test_spans_are_rows_with_times_and_seconds(recorded):
    spans = recorded.spans("1")
    assert list(spans.columns) == ["rank", "process", "thread", "name", "step", "start", "duration"]
    assert spans["rank"].tolist() == [0, 0, 1] and spans["name"].tolist() == ["decode", "augment", "decode"]
    assert spans["step"].tolist() == [100, 104, 101]
    assert str(spans["start"].dtype) == "datetime64[ns, UTC]"
    assert [start.value // 1000 for start in spans["start"]] == [START_US + 1, START_US + 2000, START_US]
    assert spans["duration"].tolist() == [0.011250417, 5e-9, 0]
    assert spans["process"].unique() == [4711] and spans["thread"].unique() == [2]


def test_a_rank_and_a_name_can_be_chosen(recorded):
    assert recorded.spans(1, rank=1)["step"].tolist() == [101]
    assert recorded.spans(1, rank=0, annotation="augment")["step"].tolist() == [104]
    none = recorded.spans(1, rank=7)
    assert len(none) == 0 and str(none["start"].dtype) == "datetime64[ns, UTC]" and none["duration"].dtype == "float64"


def test_windows_say_how_they_stand(recorded):
    windows = recorded.windows()
    assert windows["id"].tolist() == ["1"] and windows["status"].tolist() == ["Recorded"]
    assert windows["reason"].tolist() == ["host-1: rank 1: 1 of 5 steps are whole"]
    assert (windows["spans"][0], windows["dropped"][0]) == (3, 2)
    assert str(windows["asked"].dtype) == "datetime64[ns, UTC]"


def test_what_is_not_there_is_a_problem(recorded, client):
    with pytest.raises(Problem, match="there is no window 2"):
        recorded.spans(2)
    with pytest.raises(Problem, match="start_step"):
        recorded.ask_for_spans(-1)

"""Windows of operators: PyTorch's profiler runs in a few steps, and the training is the same as without it."""

import json
import os
import re
import threading
import time

import pytest
import torch

import stepscope
from stepscope import _marks
from stepscope._hooks import _capture_file, _capture_limits, _cuda_graphs
from tests.python.intake import Intake
from tests.torch.nets import step
from tests.torch.training import CNN, outcome, start

KINETO = torch.profiler.kineto_available()
records = pytest.mark.skipif(not KINETO or torch.__version__ < "2.5", reason="this PyTorch records no windows")

# The losses of CNN, and at its end a digest of the weights.
WEIGHED = CNN.replace('if __name__ == "__main__": main()', "").replace(
    "        net.train()\n",
    "        net.train()\n    import hashlib\n    print(hashlib.sha256(b''.join(p.detach().numpy().tobytes() for p in net.parameters())).hexdigest())\n",
) + 'if __name__ == "__main__": main(workers=0)\n'


def ask(intake, first, steps=2, window=1, more=""):
    intake.drain_until(lambda i: i.started, "the process")
    return intake.ask(f"window|window {steps} steps from step {first} for window {window}{more}")


def net():
    return torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))


def train(model, optimizer, steps):
    for _ in range(steps):
        step(model, optimizer, torch.randn(4, 16), torch.randn(4, 1))


@pytest.fixture(autouse=True)
def no_graphs(monkeypatch):
    monkeypatch.setattr(_cuda_graphs.graphs, "captured", 0)


@pytest.fixture
def training():
    model = net()
    return model, torch.optim.SGD(model.parameters(), 0.1)


def next_step():
    """The number of the open step."""
    return _marks._session.rings[0].number


def told(intake):
    """What the rank's fact says of the last window."""
    return intake.drain_until(lambda i: i.started and "window" in i.facts(), "an answer").facts()["window"]


def record(intake, training, steps=2, window=1, ahead=3):
    first = next_step() + ahead
    assert ask(intake, first, steps, window) == 1
    train(*training, ahead + steps + 3)
    return first


def names(trace):
    return [event.get("name", "") for event in json.loads(trace["text"])["traceEvents"]]


@records
def test_a_window_has_the_operators_of_its_steps(agent, training, tmp_path, monkeypatch):
    monkeypatch.setattr(_capture_file, "places", lambda: [str(tmp_path)])
    train(*training, 5)
    first = record(agent, training, steps=3)
    agent.drain_until(lambda i: i.traces, "the trace")
    (trace,) = agent.traces
    assert (trace["window"], trace["first"], trace["steps"], trace["note"]) == (1, first, 3, "")
    assert trace["start_us"] > 0 and trace["stop_us"] > 0 and trace["save_us"] > 0
    seen = names(trace)
    assert [name for name in seen if name.startswith("ProfilerStep#")] == [f"ProfilerStep#{first + i}" for i in range(3)]
    assert seen.count("aten::addmm") == 6 or seen.count("aten::linear") == 6
    assert told(agent).startswith("done")
    assert not list(tmp_path.iterdir()) or [each.name for each in tmp_path.iterdir()] == ["marks.sock"]
    assert not torch.autograd._profiler_enabled() and _marks._session.at_window is None


@records
@pytest.mark.parametrize("more", ["", " with shapes"])
def test_shapes_are_recorded_where_they_are_asked_for(agent, training, more):
    train(*training, 5)
    assert ask(agent, next_step() + 3, more=more) == 1
    train(*training, 8)
    agent.drain_until(lambda i: i.traces, "the trace")
    events = json.loads(agent.traces[0]["text"])["traceEvents"]
    shaped = [event for event in events if event.get("args", {}).get("Input Dims")]
    assert bool(shaped) == bool(more)


@records
def test_twenty_windows_in_one_process(agent, training):
    train(*training, 5)
    before = len(os.listdir("/proc/self/fd"))
    for window in range(1, 21):
        record(agent, training, window=window)
        agent.drain_until(lambda i, n=window: len(i.traces) == n, "the trace")
    assert [trace["window"] for trace in agent.traces] == list(range(1, 21))
    assert all(len([name for name in names(trace) if name.startswith("ProfilerStep#")]) == 2 for trace in agent.traces)
    assert len(os.listdir("/proc/self/fd")) <= before


@records
def test_the_training_is_bit_identical(intake):
    bare = outcome(start("-c", WEIGHED, hooks=False))
    assert bare[0] == 0 and len(bare[1].splitlines()) == 64
    process = start("-c", WEIGHED, socket=intake.path)
    losses = [process.stdout.readline() for _ in range(20)]
    intake.drain_until(lambda i: len(i.steps) >= 19, "the steps")
    assert ask(intake, 25, 5) == 1
    code, out, err = outcome(process)
    assert (code, "".join(losses) + out, err) == bare
    intake.drain_until(lambda i: i.ended, "the end")
    assert [(trace["first"], trace["steps"]) for trace in intake.traces] == [(25, 5)]


@records
def test_a_child_ends_the_window(agent, training):
    train(*training, 5)
    first = next_step() + 2
    ask(agent, first, 5)
    train(*training, 4)
    child = os.fork()
    if not child:
        os._exit(torch.autograd._profiler_enabled())
    assert os.waitpid(child, 0)[1] == 0
    train(*training, 3)
    agent.drain_until(lambda i: i.traces, "the trace")
    (trace,) = agent.traces
    assert "forked" in trace["note"] and 1 <= trace["steps"] < 5


@records
def test_a_profiler_of_the_training_goes_first(agent, training):
    train(*training, 5)
    ask(agent, next_step() + 2, 5)
    train(*training, 4)
    assert torch.autograd._profiler_enabled()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as own:
        train(*training, 3)
    assert any(event.key == "aten::addmm" for event in own.key_averages())
    agent.drain_until(lambda i: i.traces, "the trace")
    assert "profiler of its own" in agent.traces[0]["note"]


@records
def test_a_profiler_on_another_thread_waits_for_the_window_to_end(agent, training):
    train(*training, 5)
    other = torch.nn.Linear(16, 16)
    problems, seen, stop = [], [], threading.Event()

    def profile_again_and_again():
        while not stop.is_set():
            try:
                with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as own:
                    other(torch.randn(4, 16))
                seen.append(any(event.key == "aten::addmm" for event in own.key_averages()))
            except Exception as problem:
                problems.append(problem)
                return
            time.sleep(0.002)

    thread = threading.Thread(target=profile_again_and_again)
    thread.start()
    try:
        for window in range(1, 13):
            ask(agent, next_step() + 2, 5, window)
            for _ in range(12):
                train(*training, 1)
                time.sleep(0.001)
    finally:
        stop.set()
        thread.join()
    assert not problems and all(seen)


def capture_a_graph():
    """As far as a build without CUDA goes: the training's own call, which its base class refuses."""
    with pytest.raises((AttributeError, TypeError)):
        torch.cuda.CUDAGraph.capture_begin(None)


@records
def test_a_window_ends_before_a_cuda_graph_is_captured(agent, training):
    train(*training, 5)
    ask(agent, next_step() + 2, 5)
    train(*training, 4)
    assert torch.autograd._profiler_enabled()
    capture_a_graph()
    assert not torch.autograd._profiler_enabled()
    train(*training, 3)
    agent.drain_until(lambda i: i.traces, "the trace")
    assert "began to capture a CUDA graph" in agent.traces[0]["note"]


@records
@pytest.mark.parametrize(
    "cuda, reason",
    [("12.4", "of CUDA 12.4 is known to crash"), (None, "is not known to work"), ("12.8", ""), ("13.0", ""), ("12", "of CUDA 12 is known")],
)
def test_beside_cuda_graphs_that_the_profiler_does_not_bear_none_is_recorded(agent, training, monkeypatch, cuda, reason):
    monkeypatch.setattr(torch.version, "cuda", cuda)
    capture_a_graph()
    train(*training, 5)
    record(agent, training)
    agent.drain_until(lambda i: i.traces or reason and "window" in i.facts(), "an answer")
    assert bool(agent.traces) is not bool(reason)
    assert reason in agent.facts().get("window", "")


@pytest.mark.parametrize("name", ["CUDA_INJECTION64_PATH", "KINETO_USE_DAEMON", "HSA_TOOLS_LIB"])
def test_beside_another_tool_none_is_recorded(monkeypatch, name):
    monkeypatch.setenv(name, "1")
    assert f"{name} is set" in _capture_limits.why_never(torch, 3)


@records
def test_while_a_profiler_of_the_training_warms_up_no_window_begins(agent, training):
    train(*training, 5)
    first = next_step() + 6
    ask(agent, first, 2)
    own = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=torch.profiler.schedule(wait=0, warmup=8, active=2, repeat=1))
    with own:
        for _ in range(10):
            train(*training, 1)
            own.step()
    assert "another profiler is active" in told(agent) and not agent.traces
    assert any(event.key == "aten::addmm" for event in own.key_averages())


@records
def test_while_another_profiler_is_active_none_is_recorded(agent, training):
    train(*training, 5)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as own:
        record(agent, training)
    assert "another profiler is active" in told(agent) and not agent.traces
    assert own.key_averages()


@records
@pytest.mark.parametrize(
    "place, name, value, reason",
    [
        (_capture_limits, "LEAST_MEMORY", 1 << 60, "memory is short"),
        (_capture_file, "LEAST_DISK", 1 << 60, "no room for its file"),
        (_capture_file, "MOST_BYTES", 100, "are the most"),
        (_capture_file, "places", lambda: ["/nowhere"], "/nowhere: No such file"),
    ],
)
def test_what_is_short_is_said(agent, training, monkeypatch, place, name, value, reason):
    train(*training, 5)
    monkeypatch.setattr(place, name, value)
    record(agent, training)
    assert reason in told(agent) and not agent.traces
    monkeypatch.undo()
    record(agent, training, window=2)
    agent.drain_until(lambda i: i.traces, "the window after it")


@records
@pytest.mark.parametrize("name, value", [("_MOST_SECONDS", 0.0), ("_MOST_GROWTH", -1)])
def test_a_window_that_takes_too_much_ends_early(agent, training, monkeypatch, name, value):
    train(*training, 5)
    monkeypatch.setattr(_capture_limits, name, value)
    record(agent, training, steps=5)
    agent.drain_until(lambda i: i.traces, "the trace")
    assert agent.traces[0]["steps"] == 1 and "are the most" in agent.traces[0]["note"]


@records
def test_after_a_dear_window_none_follows(agent, training, monkeypatch):
    train(*training, 5)
    monkeypatch.setattr(_capture_limits, "_MOST_COST_US", 0)
    record(agent, training)
    agent.drain_until(lambda i: i.traces, "the trace")
    record(agent, training, window=2)
    agent.drain_until(lambda i: "refused" in i.facts().get("window", ""), "the refusal")
    assert "the last window cost" in agent.facts()["window"]


@records
@pytest.mark.parametrize(
    "first, steps, reason", [(0, 2, "step 0 had begun"), (100, 9, "1 to 8 are"), (100, 0, "1 to 8 are")]
)
def test_steps_that_cannot_be(agent, training, first, steps, reason):
    train(*training, 5)
    ask(agent, first, steps)
    train(*training, 3)
    assert reason in told(agent)


def test_a_request_of_another_kind_is_refused(agent, training):
    train(*training, 5)
    agent.drain_until(lambda i: i.started, "the process")
    agent.ask("window")
    train(*training, 3)
    assert re.search("refused: .*(another version|without Kineto)", told(agent))


@pytest.mark.parametrize("version", ["2.0.1", "2.4.0+cu121", "1.13.1", "none"])
def test_versions_that_are_known_for_trouble_are_refused(monkeypatch, version):
    monkeypatch.setattr(torch, "__version__", version)
    monkeypatch.setattr(torch.profiler, "kineto_available", lambda: True)
    assert version in _capture_limits.why_never(torch, 2)


@pytest.mark.skipif(KINETO, reason="this PyTorch has Kineto")
def test_without_kineto_the_reason_says_so(agent, training):
    train(*training, 5)
    ask(agent, next_step() + 2)
    train(*training, 3)
    assert "built without Kineto" in told(agent)


@records
def test_a_training_that_ends_hands_over_what_there_is(tmp_path):
    code = WEIGHED.replace("steps=60", "steps=40")
    with Intake(tmp_path / "a") as intake:
        process = start("-c", code, socket=intake.path)
        for _ in range(20):
            process.stdout.readline()
        intake.drain_until(lambda i: len(i.steps) >= 19, "the steps")
        ask(intake, 37, 8)
        code, _, err = outcome(process)
        assert (code, err) == (0, "")
        intake.drain_until(lambda i: i.ended, "the end")
        assert [(trace["first"], trace["note"]) for trace in intake.traces] == [(37, "the training ended")]


@records
def test_an_agent_that_is_killed_meanwhile(tmp_path):
    """The file waits for the agent that comes next, which asks again and is not answered by another window."""
    bare = outcome(start("-c", WEIGHED, hooks=False))
    first = Intake(tmp_path / "a").start()
    process = start("-c", WEIGHED, socket=first.path)
    losses = [process.stdout.readline() for _ in range(20)]
    first.drain_until(lambda i: len(i.steps) >= 19, "the steps")
    ask(first, 22, 3)
    process.stdin.write("\n")
    process.stdin.flush()
    losses += [process.stdout.readline()]
    first.kill()
    losses += [process.stdout.readline() for _ in range(20)]
    with Intake(first.path) as second:
        time.sleep(2.2)  # for so long a process does not look for an agent that it has lost
        code, out, err = outcome(process)
        second.drain_until(lambda i: i.ended, "the end")
        assert (code, "".join(losses) + out, err) == bare
        assert [(trace["first"], trace["steps"]) for trace in [*first.traces, *second.traces]] == [(22, 3)]


@records
def test_a_script_asks_for_its_own_windows(agent, training):
    train(*training, 5)
    first = next_step() + 10
    assert stepscope.window(first, 3, shapes=True) and stepscope.window(first + 3, 2)
    assert not stepscope.window(first + 2) and "waits or is recorded" in stepscope.info()["window"]
    assert not stepscope.window(first + 20, 9) and "1 to 8 are" in stepscope.info()["window"]
    train(*training, 20)
    agent.drain_until(lambda i: len(i.traces) == 2, "two traces")
    said = [(trace["window"], trace["by"], trace["first"], trace["steps"], trace["note"]) for trace in agent.traces]
    assert said == [(0, "script", first, 3, ""), (0, "script", first + 3, 2, "")]
    assert "Input Dims" in agent.traces[0]["text"] and "Input Dims" not in agent.traces[1]["text"]
    assert agent.traces[0]["slower_us"] >= 0
    assert "recorded" in told(agent)
    train(*training, 60)
    assert _marks._session.at_window is None


@records
def test_the_next_step_needs_no_number(agent, training):
    train(*training, 5)
    first = next_step()
    assert stepscope.window(num_steps=2)
    train(*training, 5)
    agent.drain_until(lambda i: i.traces, "the trace")
    assert (agent.traces[0]["first"], agent.traces[0]["steps"]) == (first + 1, 2)


@records
def test_profiling_by_hand(agent, training):
    train(*training, 5)
    first = next_step()
    assert stepscope.start_profiling() and not stepscope.start_profiling()
    train(*training, 3)
    stepscope.stop_profiling()
    assert not torch.autograd._profiler_enabled()
    agent.drain_until(lambda i: i.traces, "the trace")
    (trace,) = agent.traces
    assert (trace["by"], trace["first"], trace["steps"], trace["note"]) == ("start_profiling", first, 3, "")
    assert stepscope.start_profiling()
    stepscope.stop_profiling()
    assert "no step ended" in stepscope.info()["window"]
    assert stepscope.start_profiling()
    train(*training, 12)
    agent.drain_until(lambda i: len(i.traces) == 2, "the second trace")
    assert agent.traces[1]["steps"] == 8 and "had not come" in agent.traces[1]["note"]
    stepscope.stop_profiling()


@records
def test_a_schedule_of_the_agent_is_kept_beside_a_request(agent, training):
    train(*training, 5)
    first = next_step() + 20
    agent.drain_until(lambda i: i.started, "the process")
    assert agent.ask(f"window|window 2 steps from step {first} for window 0") == 1
    train(*training, 1)
    record(agent, training)
    train(*training, 30)
    agent.drain_until(lambda i: len(i.traces) == 2, "both traces")
    assert [(trace["window"], trace["by"]) for trace in agent.traces] == [(1, ""), (0, "schedule")]
    assert agent.traces[1]["first"] == first
    assert agent.ask(f"window|window 2 steps from step {first} for window 0") == 1
    train(*training, 3)
    assert "it was recorded" in told(agent)


@records
def test_a_script_s_windows_change_no_result(intake):
    bare = outcome(start("-c", WEIGHED, hooks=False))
    asks = "import stepscope\nstepscope.window(5, 4)\nstepscope.window(30, 8, shapes=True)\n"
    assert outcome(start("-c", asks + WEIGHED, socket=intake.path)) == bare
    intake.drain_until(lambda i: i.ended, "the end")
    assert [(trace["first"], trace["steps"]) for trace in intake.traces] == [(5, 4), (30, 8)]


def test_while_no_window_waits_nothing_is_called(agent, training):
    train(*training, 5)
    assert _marks._session.at_window is None



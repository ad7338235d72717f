"""A window of operators of a real training: asked for by REST, recorded by PyTorch's profiler, read by REST.

It needs a PyTorch of 2.5 or later: the words of STEPSCOPE_TORCH_PYTHON start a Python that has one (docs/development.md)."""

import os
import shlex
import subprocess
import time

import pytest

from tests.e2e.run_test import described
from tests.e2e.windows_test import ask, over
from tests.support.service import program, wait_for

PYTHON = shlex.split(os.environ.get("STEPSCOPE_TORCH_PYTHON", ""))

# Waits in its step 10 until a file is there, and then trains on, a step each 20 ms.
TRAINING = """
import os, sys, time, torch
torch.set_num_threads(1)
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(int(sys.argv[2])):
    while step == 10 and not os.path.exists(sys.argv[1]):
        time.sleep(0.02)
    optimizer.zero_grad()
    loss = net(torch.randn(8, 64)).square().mean()
    loss.backward()
    optimizer.step()
    time.sleep(0.02)
    if step > 10 and not os.path.exists(sys.argv[1]):
        break
"""


def run(service, job, log, *words, flags=()):
    command = [program("stepscope-agent"), "run", "--server", service.url, "--job", job, "--push", "1s", *flags, "--", *PYTHON, *words]
    with open(log, "w") as errors:
        return subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)


def reaches_step(service, job, number):
    def now():
        code, steps = service.get(f"/api/v1/jobs/{job}/steps")
        return code == 200 and steps["ranks"] and steps["ranks"][0].get("last_step", -1) >= number

    return wait_for(now, f"step {number}", seconds=120)  # PyTorch takes its time to be imported


def traced(service, job, number):
    def now():
        code, window = service.get(f"/api/v1/jobs/{job}/windows/{number}")
        return window if code == 200 and window["traces"] else None

    return wait_for(now, f"the trace of window {number}")


@pytest.mark.skipif(not PYTHON, reason="STEPSCOPE_TORCH_PYTHON names no Python with a PyTorch 2.5 or later")
def test_a_window_that_was_asked_for_has_operators(service, folder):
    go, log = folder / "go", folder / "agent.log"
    training = run(service, "captured", log, "-c", TRAINING, go, 150)
    try:
        described(service, "captured", "InProgress")
        reaches_step(service, "captured", 7)
        assert ask(service, "captured", what="operators", start_step=1000, num_steps=9)[0] == 400
        code, window = ask(service, "captured", what="operators", start_step=20, num_steps=5, shapes=True)
        assert (code, window["what"], window["status"], window["traces"]) == (201, "operators", "Open", [])
        missing = service.get("/api/v1/jobs/captured/windows/1/operators")
        assert missing[0] == 404 and "none yet" in missing[1]["detail"]
        wait_for(lambda: "keeps the spans that the service asked for: spans-1" in log.read_text(), "the agent to hear of it")
        go.touch()
        training.communicate(timeout=120)
        assert training.returncode == 0, log.read_text()
    finally:
        training.kill()
        training.wait()
    window = traced(service, "captured", 1)
    (trace,) = window["traces"]
    assert (trace["rank"], trace["step_count"], trace["step_markers"], trace["faults"]) == (0, 5, "profiler", {})
    capture = trace["capture"]
    assert (capture["first_step"], capture["steps"], capture["note"]) == (20, 5, "")
    assert all(0 < capture[cost] < 10 for cost in ("start_seconds", "stop_seconds", "save_seconds"))
    print(capture)
    operators = {row["name"]: row for row in service.get("/api/v1/jobs/captured/windows/1/operators")[1]["operators"]}
    assert operators["aten::addmm"]["calls"] == 10
    assert window["shapes"] is True and trace["with_shapes"] is True
    by_shape = service.get("/api/v1/jobs/captured/windows/1/operators?shapes=true")[1]["operators"]
    assert {row["shapes"] for row in by_shape if row["name"] == "aten::addmm"} == {"[[64], [8, 64], [64, 64], [], []]", "[[1], [8, 64], [64, 1], [], []]"}
    (device,) = service.get("/api/v1/jobs/captured/windows/1/breakdown")[1]["devices"]
    assert device["device"] is None and len(device["steps"]) == 5
    assert over(service, "captured", 1)["reason"] is None


@pytest.mark.skipif(not PYTHON, reason="STEPSCOPE_TORCH_PYTHON names no Python with a PyTorch 2.5 or later")
def test_while_the_service_is_away_the_file_waits(service, folder):
    go, log = folder / "go", folder / "agent.log"
    training = run(service, "away", log, "-c", TRAINING, go, 700)
    try:
        described(service, "away", "InProgress")
        reaches_step(service, "away", 7)
        assert ask(service, "away", what="operators", start_step=20, num_steps=3)[0] == 201
        wait_for(lambda: "keeps the spans" in log.read_text(), "the agent to hear of it")
        service.stop()
        go.touch()
        time.sleep(3)
        service.start()
        window = traced(service, "away", 1)
        assert window["traces"][0]["capture"]["steps"] == 3
    finally:
        training.kill()
        training.wait()


def test_an_agent_that_records_none_is_not_asked(service, folder):
    words = [program("stepscope-agent"), "run", "--server", service.url, "--job", "no-windows", "--push", "1s", "--windows", "off", "--", "sleep", "300"]
    agent = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        described(service, "no-windows", "InProgress")
        code, problem = ask(service, "no-windows", what="operators", start_step=1)
        assert code == 409 and "--windows off" in problem["detail"]
        assert ask(service, "no-windows", start_step=1)[0] == 201
    finally:
        agent.terminate()
        agent.wait()


@pytest.mark.skipif(not PYTHON, reason="STEPSCOPE_TORCH_PYTHON names no Python with a PyTorch 2.5 or later")
def test_the_script_and_the_agent_s_schedule_need_nobody_who_asks(service, folder):
    go, log = folder / "go", folder / "agent.log"
    go.touch()
    script = TRAINING.replace("torch.manual_seed(1)", "torch.manual_seed(1)\nimport stepscope; assert stepscope.window(60, 2, shapes=True)")
    training = run(service, "own", log, "-c", script, go, 120, flags=("--start-step", "30", "--num-steps", "3"))
    try:
        training.communicate(timeout=120)
        assert training.returncode == 0, log.read_text()
    finally:
        training.kill()
        training.wait()
    scheduled, asked = traced(service, "own", 1), traced(service, "own", 2)
    assert [(each["what"], each["asked_by"], each["start_step"], each["num_steps"], each["status"]) for each in (scheduled, asked)] == [
        ("operators", "schedule", 30, 3, "Recorded"),
        ("operators", "script", 60, 2, "Recorded"),
    ]
    assert asked["traces"][0]["with_shapes"] and not scheduled["traces"][0]["with_shapes"]
    assert asked["traces"][0]["capture"]["slower_seconds"] is not None


@pytest.mark.skipif(not PYTHON, reason="STEPSCOPE_TORCH_PYTHON names no Python with a PyTorch 2.5 or later")
def test_with_auto_one_early_window_comes_by_itself(service, folder):
    """It waits until 0.3 % of the job's time is as much as a window may cost."""
    go, log = folder / "go", folder / "agent.log"
    go.touch()
    training = run(service, "auto", log, "-c", TRAINING, go, 100_000, flags=("--windows", "auto"))
    try:
        described(service, "auto", "InProgress")
        reasons = set()

        def now():
            page = service.get("/api/v1/jobs/auto/windows")[1]
            reasons.add(page["automatic"]["reason"])
            return page["items"][0] if page["items"] and page["items"][0]["traces"] else None

        window = wait_for(now, "a window that nobody asked for", seconds=240, pause=1)
        assert (window["what"], window["asked_by"], window["num_steps"]) == ("operators", "early", 4)
        assert any(reason and "0.3 % of the job's time" in reason for reason in reasons), reasons
        capture = window["traces"][0]["capture"]
        assert capture["steps"] == 4 and capture["slower_seconds"] is not None
        spent = sum(capture[part] for part in ("start_seconds", "stop_seconds", "save_seconds", "slower_seconds"))
        print(capture, spent)
        assert spent < 1, capture
        assert training.poll() is None
    finally:
        go.unlink()  # a signal may reach only the program that starts this Python
        training.wait(60)

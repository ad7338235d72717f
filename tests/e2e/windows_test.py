"""A window of a real training: every span of its steps is stored, and they are what the statistics of these steps say."""

import os
import subprocess

from tests.e2e.run_test import PYTHON, described
from tests.support.service import ROOT, program, wait_for

# Annotations named "only ..." are open in the steps of the window alone. The training waits in step 10 until the window is
# asked for.
TRAINING = """
import os, sys, threading, time
import stepscope

def load():
    with stepscope.annotate("only in a thread"):
        time.sleep(0.001)

for step in range(60):
    while step == 10 and not os.path.exists(sys.argv[1]):
        time.sleep(0.02)
    with stepscope.annotate("decode"):
        time.sleep(0.001)
    if 20 <= step < 30:
        with stepscope.annotate("only here"):
            for _ in range(3):
                with stepscope.annotate("only inside"):
                    time.sleep(0.0005)
        thread = threading.Thread(target=load)
        thread.start()
        thread.join()
    stepscope.step(step)
time.sleep(1)
"""


def ask(service, job, **body):
    return service.request("POST", f"/api/v1/jobs/{job}/windows", body)


def over(service, job, number):
    """The window, once it is over."""

    def now():
        code, window = service.get(f"/api/v1/jobs/{job}/windows/{number}")
        return window if code == 200 and window["status"] != "Open" else None

    return wait_for(now, f"the end of window {number}")


def spans_of(service, job, number):
    """The spans of a window, from all pages."""
    spans, cursor = [], ""
    while cursor is not None:
        code, page = service.get(f"/api/v1/jobs/{job}/windows/{number}/spans?limit=7{cursor}")
        assert code == 200, page
        spans += page["items"]
        cursor = page["next"] and "&cursor=" + page["next"]
    return spans


def heard(log, number):
    return wait_for(lambda: f"keeps the spans that the service asked for: spans-{number}" in log.read_text(), "the agent to hear of it")


def test_the_spans_of_a_window_are_its_statistics(service, folder):
    go, log = folder / "go", folder / "agent.log"
    words = [program("stepscope-agent"), "run", "--server", service.url, "--job", "spans", "--push", "1s", "--", PYTHON, "-c", TRAINING, go]
    with open(log, "w") as errors:
        agent = subprocess.Popen(
            list(map(str, words)), stdin=subprocess.DEVNULL, stderr=errors, env={**os.environ, "PYTHONPATH": str(ROOT / "python")}
        )
    try:
        described(service, "spans", "InProgress")
        wait_for(lambda: service.get("/api/v1/jobs/spans")[1]["ranks"], "the rank")

        def ended_step():
            code, steps = service.get("/api/v1/jobs/spans/steps")
            return code == 200 and steps["ranks"] and steps["ranks"][0].get("last_step") == 9

        wait_for(ended_step, "step 9")
        assert ask(service, "spans", start_step=9, num_steps=3)[0] == 201
        late = over(service, "spans", 1)
        assert late["status"] == "NotRecorded" and "step 9 had begun" in late["reason"]

        code, window = ask(service, "spans", start_step=20, num_steps=10)
        assert (code, window["status"]) == (201, "Open")
        assert ask(service, "spans", start_step=30)[0] == 409
        heard(log, 2)
        go.touch()
        assert agent.wait(timeout=120) == 0, log.read_text()
    finally:
        agent.kill()
        agent.wait()
    window = over(service, "spans", 2)
    assert (window["status"], window["reason"], window["dropped"]) == ("Recorded", None, 0)
    spans = spans_of(service, "spans", 2)
    assert window["spans"] == len(spans) == 60
    statistics = {each["name"]: each for each in service.get("/api/v1/jobs/spans/steps")[1]["ranks"][0]["annotations"]}
    assert statistics["decode"]["count"] == 60
    for name, count in (("only here", 10), ("only inside", 30), ("only in a thread", 10)):
        seconds = [span["duration_seconds"] for span in spans if span["name"] == name]
        said = statistics[name]
        assert len(seconds) == said["count"] == count
        assert abs(sum(seconds) - said["total_seconds"]) < 1e-8
        assert (min(seconds), max(seconds)) == (said["min_seconds"], said["max_seconds"])
    assert [span["step"] for span in spans if span["name"] == "decode"] == list(range(20, 30))
    assert all(span["thread"] > 0 for span in spans if span["name"] == "only in a thread")
    (decode,) = [span for span in spans if span["name"] == "decode" and span["step"] == 25]
    (step,) = [step for step in service.get("/api/v1/jobs/spans/steps?format=rows&limit=100")[1]["items"] if step["step"] == 25]
    assert step["start_us"] <= decode["start_us"] + 1 <= step["start_us"] + step["wall_seconds"] * 1e6 + 2


def test_an_agent_that_may_not_is_not_asked(service):
    words = [program("stepscope-agent"), "run", "--server", service.url, "--job", "no-spans", "--push", "1s", "--allow", "none", "--", "sleep", "300"]
    agent = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        described(service, "no-spans", "InProgress")
        code, problem = ask(service, "no-spans", start_step=1)
        assert code == 409 and "records spans" in problem["detail"]
    finally:
        agent.terminate()
        agent.wait()

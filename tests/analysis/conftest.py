"""stepscope.analysis against the real service, with a job that a real agent has profiled."""

import os
import subprocess
import sys
import time

import pytest

pytest.importorskip("pandas", reason="pandas is not here: apt-get install python3-pandas")

from tests.e2e.conftest import passable_folder  # noqa: E402
from tests.support.service import ROOT, Service, program, wait_for  # noqa: E402

sys.path.insert(0, str(ROOT / "python"))

from stepscope.analysis import Client, Problem, Unreachable  # noqa: E402,F401 (the tests take them from here)

PYTHON = ROOT / ".venv/bin/python"
# Two ranks. The first waits for its data, for as long as a rule wants to see; the second makes more steps than a page of the service holds.
TRAINING = """
import os, time
import stepscope
rank = 1 if os.fork() == 0 else 0
os.environ["RANK"], os.environ["WORLD_SIZE"] = str(rank), "2"
for _ in range(120 if rank == 0 else 5300):
    if rank == 0:
        with stepscope.phase("data"):
            time.sleep(0.08)
        with stepscope.phase("forward"), stepscope.annotate("model"):
            time.sleep(0.02)
    else:
        time.sleep(0.0002)
    stepscope.step()
time.sleep(1)
if rank == 0:
    os.wait()
else:
    stepscope._marks._session.bye()
    os._exit(0)
"""


def below_agent(service, job, *command, flags=(), **more):
    words = [program("stepscope-agent"), "run", "--server", service.url, "--job", job, "--push", "1s", *flags, "--"]
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "python"), **more}
    done = subprocess.run([*words, *map(str, command)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, env=variables)
    assert done.returncode == 0, done.stdout + done.stderr


def judged(service, job):
    code, answer = service.get(f"/api/v1/jobs/{job}/rules")
    rules = {each["rule"]: each["rule_evaluation_status"] for each in answer["items"]} if code == 200 else {}
    return rules.get("DataloaderBottleneck") == "IssuesFound" and "InProgress" not in rules.values()


@pytest.fixture(scope="session")
def service():
    with passable_folder() as folder:
        started = Service(folder).start()
        yield started
        started.stop()


@pytest.fixture(scope="session")
def client(service):
    return Client(service.url)


@pytest.fixture(scope="session")
def training(service, client):
    """A job of two ranks that has ended and was judged."""
    below_agent(service, "training", PYTHON, "-c", TRAINING, flags=("--interval", "100ms"))
    wait_for(lambda: judged(service, "training"), "the rules have judged for the last time")
    return client.job("training")


@pytest.fixture
def sent(service, client):
    """A job into which a test sends what it wants to have measured."""
    name = f"sent-{time.monotonic_ns()}"

    class Sent:
        job = client.job(name)

        @staticmethod
        def send(metric, times_us, values, node="host-1", device=""):
            body = {"node": node, "times_us": times_us, "series": [{"metric": metric, "device": device, "values": values}]}
            code, answer = service.request("POST", f"/api/v1/jobs/{name}/samples", body)
            assert (code, answer["stored"]) == (200, sum(value is not None for value in values)), answer

    code, answer = service.request("POST", "/api/v1/jobs", {"name": name, "configuration": {"interval_ms": 1000}})
    assert code == 201, answer
    return Sent

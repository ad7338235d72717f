"""The agent's end of the mark socket as a process, and trainings as processes that mark."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Optional

from tests.support.service import program, wait_for

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))
from python_package import staged  # noqa: E402

PACKAGE = staged()


# A script's begin: mark(n) makes so many steps, each with an annotation.
MARKS = """
import stepscope, sys
def mark(steps):
    for _ in stepscope.loader(range(steps)):
        with stepscope.annotate("work"):
            pass
        stepscope.step()
"""


class Intake:
    """The real intake (tests/support/intake_probe.cpp). Keeps everything that it drained."""

    def __init__(self, path: Path):
        self.path = path
        self.process = None
        self.started, self.ended, self.steps, self.annotations, self.sums = [], [], [], {}, {}
        self.metrics = []  # (rank, metric, value)
        self.traces = []

    def start(self):
        command = [program("tests/intake_probe"), str(self.path)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        assert self.process.stdout.readline() == "listening\n"
        return self

    def stop(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def ask(self, command: str) -> int:
        """How many processes were told."""
        return self.drain(f"ask {command}").told

    def drain(self, line: str = "drain"):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        batch = json.loads(self.process.stdout.readline())
        self.told = batch["told"]
        self.started += batch["started"]
        self.ended += batch["ended"]
        self.traces += batch["traces"]
        self.metrics += [(said["rank"], said["metric"], said["value"]) for said in batch["metrics"]]
        for marks in batch["marks"]:
            self.steps += marks["steps"]
            for name, row in marks["annotations"].items():
                self.annotations[name] = self.annotations.get(name, 0) + row["count"]
                self.sums[name] = self.sums.get(name, 0) + row["sum_ns"]
        return self

    def drain_until(self, condition, what: str):
        wait_for(lambda: condition(self.drain()), what, pause=0.01)
        return self

    def facts(self):
        return self.started[-1]["facts"]


def training(code: str, socket: Optional[Path], python: str = sys.executable, **environment) -> subprocess.Popen:
    """Runs code in a Python that finds the package and, at `socket`, its agent; None is that of the node."""
    env = {**os.environ, "PYTHONPATH": str(PACKAGE), "STEPSCOPE_SOCKET": str(socket), **environment}
    if socket is None:
        del env["STEPSCOPE_SOCKET"]
    pipe = subprocess.PIPE
    command = [python, "-c", code]
    return subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def finish(process: subprocess.Popen, code: int = 0) -> str:
    """The output of a process, after it ended with this code and without a word on standard error."""
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (code, "")
    return out

"""The demo job (examples/slow_loader.py): real, whole without an agent, clean when interrupted."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.python.intake import PACKAGE

pytest.importorskip("numpy")
DEMO = Path(__file__).resolve().parents[2] / "examples/slow_loader.py"


def start(tmp_path, *options, socket=""):
    env = {**os.environ, "TMPDIR": str(tmp_path), "STEPSCOPE_SOCKET": str(socket), "PYTHONPATH": str(PACKAGE)}
    pipe = subprocess.PIPE
    command = [sys.executable, str(DEMO), *options]
    return subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True)


def test_it_trains_without_an_agent_and_cleans_up(tmp_path):
    out, err = start(tmp_path, "--steps", "30", "--seconds", "500").communicate(timeout=600)
    before, after = re.search(r"30 steps in \d+ s, loss ([\d.]+) -> ([\d.]+)", out).groups()
    assert float(after) < float(before)
    assert err == "" and list(tmp_path.iterdir()) == []


def test_each_step_shows_its_wait_for_data(tmp_path, intake):
    out, err = start(tmp_path, "--steps", "5", socket=intake.path).communicate(timeout=120)
    intake.drain_until(lambda i: i.ended, "end of the demo")
    assert err == "" and len(intake.steps) == 5
    for step in intake.steps:
        assert step["phases"]["data"] > 0.2 * step["wall_ns"]
    assert intake.annotations["decompress"] == 5


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_it_cleanly(tmp_path, number, code):
    process = start(tmp_path)
    assert "writing" in process.stdout.readline()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (code, "")
    assert [path for path in tmp_path.iterdir() if path.name.startswith("slow-loader")] == []

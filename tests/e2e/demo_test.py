"""scripts/demo itself, with the programs that the tests built: what it shows, its exit codes, and what it leaves."""

import os
import re
import signal
import socket
import subprocess
import uuid
from pathlib import Path

import pytest

from tests.support.service import ROOT, program, wait_for

LIMIT_SECONDS = 400


class Demo:
    """scripts/demo in a folder and with a mark in the environment, by which all its processes are known."""

    def __init__(self, folder, *options):
        self.folder = folder
        self.mark = f"STEPSCOPE_TEST_MARK={uuid.uuid4()}"
        self.log = folder / "log"
        (folder / "tmp").mkdir()
        (folder / "tmp").chmod(0o711)
        name, _, value = self.mark.partition("=")
        environment = {**os.environ, name: value, "TMPDIR": str(folder / "tmp")}
        environment["STEPSCOPE_BUILD"] = str(Path(program("stepscope-server")).parent)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [ROOT / "scripts/demo", *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                start_new_session=True,
            )

    def output(self):
        return self.log.read_text()

    def wait_for(self, pattern):
        wait_for(lambda: re.search(pattern, self.output()) or self.process.poll() is not None, pattern, LIMIT_SECONDS)
        assert re.search(pattern, self.output()), self.output()

    def interrupt(self):
        """Ctrl-C of a terminal: to the whole group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def living(self):
        """The processes that came from this demo and still run, as words."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (place / "environ").read_bytes().split(b"\0"):
                    found.append((place / "cmdline").read_text().replace("\0", " "))
            except OSError:
                pass
        return found

    def left(self):
        """Everything that it left: processes and files."""
        return self.living() + [str(path) for path in (self.folder / "tmp").iterdir()]

    def end(self):
        if self.process.poll() is None:
            self.interrupt()
            self.process.wait(90)


@pytest.fixture
def demo(folder):
    started = []

    def start(*options):
        started.append(Demo(folder, *options))
        return started[-1]

    yield start
    for each in started:
        each.end()


def test_the_bottleneck_of_a_real_training_is_found_and_told(demo):
    run = demo("--once", "--seconds", "30")
    code = run.process.wait(LIMIT_SECONDS)
    out = run.output()
    assert code == 0, out
    assert re.search(r"job demo-\S+: Completed", out)
    assert re.search(r"DataloaderBottleneck +IssuesFound\n +The training process waited \d+\.\d % of the time", out), out
    assert re.search(r"webhook \S+: rule\.issues_found .*\(signature valid\)", out)
    assert re.search(r"page: http://127\.0\.0\.1:\d+/jobs/demo-", out)
    assert "missing" not in out
    assert run.left() == []


def test_what_was_missing_is_said(demo):
    run = demo("--once", "--seconds", "1")
    assert run.process.wait(LIMIT_SECONDS) == 1
    assert re.search(r"missing: DataloaderBottleneck is \w+, not IssuesFound", run.output()), run.output()
    assert run.left() == []


@pytest.mark.parametrize("moment", [r"demo: start the service", r"  serves http", r"step [1-9]\d*, "])
def test_ctrl_c_leaves_nothing(demo, moment):
    run = demo("--seconds", "60")
    run.wait_for(moment)
    run.interrupt()
    assert run.process.wait(90) == 128 + signal.SIGINT, run.output()
    assert "stopped by SIGINT" in run.output() and "Traceback" not in run.output()
    assert run.left() == []


def test_without_once_it_serves_until_it_is_stopped(demo):
    run = demo("--seconds", "1")
    run.wait_for(r"serving; Ctrl-C ends it")
    assert run.process.poll() is None
    run.process.send_signal(signal.SIGTERM)
    assert run.process.wait(90) == 128 + signal.SIGTERM
    assert run.left() == []


def test_an_occupied_port_is_named(demo):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        run = demo("--once", "--port", str(port))
        assert run.process.wait(LIMIT_SECONDS) == 1
    assert f"demo: port {port} of 127.0.0.1 is not free" in run.output()
    assert run.left() == []

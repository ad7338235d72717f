"""Trainings that start by themselves on a node with an agent for all, with the real service."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.service import ROOT, program, wait_for

PYTHON = ROOT / ".venv/bin/python"
FAKE_NVML = Path(program("stepscope-agent")).parent / "tests/fake_nvml/libnvidia-ml.so.1"
TRAINING = """
import stepscope, sys, time
for number in range(int(sys.argv[1])):
    with stepscope.phase("forward"):
        time.sleep(0.02)
    stepscope.step()
"""

SAYS = """
import os, stepscope, sys, time
stepscope.metric("first", 0.25)
for number in range(int(sys.argv[1])):
    stepscope.metric("samples_per_second", 1000 * int(os.environ["RANK"]) + number)
    time.sleep(0.02)
stepscope.metric("last", 7)
"""


class Daemon:
    def __init__(self, service, folder, *options):
        self.socket = folder / "agent.sock"
        self.log = folder / "agent.log"
        self.words = [program("stepscope-agent"), "daemon", "--server", service.url, "--push", "1s", "--end-after", "3s", "--socket", str(self.socket), *options]
        self.process = None

    def start(self):
        heard = self.said("are heard at")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stderr=log)
        wait_for(lambda: self.said("are heard at") > heard, "the daemon listens")
        return self

    def said(self, text):
        return self.log.read_text().count(text) if self.log.exists() else 0

    def wait_until_said(self, text):
        try:
            wait_for(lambda: self.said(text), f"the log says {text!r}")
        except AssertionError as late:
            raise AssertionError(f"{late}; it says:\n{self.log.read_text()}") from None

    def stop(self):
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) == 0
        return time.monotonic() - begin


@pytest.fixture
def daemon(service, folder):
    running = Daemon(service, folder).start()
    yield running
    if running.process.poll() is None:
        running.stop()


@contextmanager
def training(daemon, job, steps=100_000, rank=0, code=TRAINING, **variables):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "STEPSCOPE_SOCKET": str(daemon.socket), "RANK": str(rank), **variables}
    environment = {name: value for name, value in environment.items() if value is not None}
    if job:
        environment["STEPSCOPE_JOB"] = job
    process = subprocess.Popen([PYTHON, "-c", code, str(steps)], env=environment)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def described(service, job):
    code, answer = service.get(f"/api/v1/jobs/{job}")
    return answer if code == 200 else None


def wait_for_status(service, job, status):
    return wait_for(lambda: (answer := described(service, job)) and answer["status"] == status and answer, f"{job} is {status}")


def steps(service, job):
    """How many steps are known of each rank."""
    code, answer = service.get(f"/api/v1/jobs/{job}/steps")
    return {each["rank"]: each["steps"] for each in answer.get("ranks", [])} if code == 200 else {}


def test_two_trainings_at_once_are_two_jobs(service, daemon):
    with training(daemon, "bert"), training(daemon, "bert", rank=1), training(daemon, "gpt", steps=150) as short:
        wait_for(lambda: steps(service, "bert").keys() == {0, 1}, "steps of both ranks")
        short.wait()
        gone = wait_for_status(service, "gpt", "Completed")
        assert gone["nodes"][0]["exit_code"] is None and gone["nodes"][0]["signal"] is None
        assert "how they ended is not known" in gone["secondary_status_transitions"][-1]["message"]
        assert steps(service, "gpt") == {0: 150}
        assert described(service, "bert")["status"] == "InProgress"
        command = described(service, "bert")["nodes"][0]["facts"]["command"]
        assert command[0].endswith("python") and command[-1] == "100000"
    assert len(wait_for_status(service, "bert", "Completed")["ranks"]) == 2


def gpus_of(service, job):
    """The GPUs that describe-job names, and those that have samples."""
    answer = described(service, job)
    code, metrics = service.get(f"/api/v1/jobs/{job}/metrics?metric=gpu_util_percent,gpu_power_watts&points=100")
    sampled = {(one["metric"], one["device"]) for one in metrics["series"] if any(value is not None for value in one["mean"])} if code == 200 else set()
    return answer and {gpu["device"] for node in answer["nodes"] for gpu in node["gpus"]}, sampled


@pytest.mark.skipif(not FAKE_NVML.exists(), reason="the tests in C++ are not built")
def test_each_job_has_its_own_gpus(service, folder, monkeypatch):
    """Two users share a node so; a job that hides no GPU has all."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(FAKE_NVML.parent))
    monkeypatch.setenv("FAKE_NVML_GPUS", "2")
    daemon = Daemon(service, folder).start()
    try:
        with training(daemon, "first", CUDA_VISIBLE_DEVICES="0"), training(daemon, "second", CUDA_VISIBLE_DEVICES="1"), training(daemon, "all"):
            for job, gpus in (("first", {"gpu0"}), ("second", {"gpu1"}), ("all", {"gpu0", "gpu1"})):
                series = {(metric, gpu) for metric in ("gpu_util_percent", "gpu_power_watts") for gpu in gpus}
                wait_for(lambda job=job, gpus=gpus, series=series: gpus_of(service, job) == (gpus, series), f"the GPUs of {job} are {gpus}")
            time.sleep(3)  # nor does a later tick bring another one's
            assert gpus_of(service, "first")[1] == {("gpu_util_percent", "gpu0"), ("gpu_power_watts", "gpu0")}
            assert gpus_of(service, "second")[1] == {("gpu_util_percent", "gpu1"), ("gpu_power_watts", "gpu1")}
    finally:
        daemon.stop()


def test_slurm_names_the_job_of_a_process_that_does_not(service, daemon):
    with training(daemon, None, SLURM_JOB_ID="4711", SLURM_JOB_NAME="tune"):
        wait_for(lambda: steps(service, "tune-4711"), "steps")
    assert described(service, "tune-4711")["group"] == "tune"


def test_a_daemon_that_is_started_again_goes_on_with_the_jobs(service, daemon):
    with training(daemon, "long"):
        before = wait_for(lambda: steps(service, "long"), "steps")[0]
        assert daemon.stop() < 10
        daemon.start()
        wait_for(lambda: steps(service, "long")[0] > before + 50, "steps of the second life")
        assert described(service, "long")["status"] == "InProgress"
    wait_for_status(service, "long", "Completed")


def test_a_daemon_that_starts_after_the_training(service, folder):
    """The training names no socket, so it looks at the usual places."""
    place = folder / "stepscope"
    place.mkdir(mode=0o700)
    late, began = Daemon(service, place), folder / "began"
    code = f"import stepscope\nassert not stepscope.info()['enabled']\nopen({str(began)!r}, 'w')\n{TRAINING}"
    with training(late, "early", code=code, STEPSCOPE_SOCKET=None, XDG_RUNTIME_DIR=str(folder)):
        wait_for(began.exists, "the training")
        late.start()
        try:
            wait_for(lambda: steps(service, "early").get(0, 0) > 50, "steps")
            assert described(service, "early")["status"] == "InProgress"
        finally:
            late.stop()


def test_a_daemon_that_is_killed_loses_no_job(service, daemon):
    with training(daemon, "hard"):
        before = wait_for(lambda: steps(service, "hard"), "steps")[0]
        daemon.process.kill()
        daemon.process.wait()
        daemon.start()
        wait_for(lambda: steps(service, "hard")[0] > before + 50, "steps of the second life")


def test_a_training_that_restarts_is_the_same_job(service, daemon):
    with training(daemon, "elastic") as first:
        before = wait_for(lambda: steps(service, "elastic"), "steps")[0]
        first.kill()
    with training(daemon, "elastic"):
        wait_for(lambda: steps(service, "elastic")[0] > before + 50, "steps of the second process")
        assert described(service, "elastic")["status"] == "InProgress"


def test_a_job_that_has_ended_is_left_alone_with_one_line(service, daemon):
    with training(daemon, "over", steps=20) as short:
        short.wait()
        wait_for_status(service, "over", "Completed")
    with training(daemon, "over"):
        wait_for(lambda: daemon.said("takes no more of job over"), "the refusal")
        with training(daemon, "other"):
            wait_for(lambda: steps(service, "other"), "steps of another job")
        assert daemon.said("takes no more of job over") == 1
    assert steps(service, "over") == {0: 20}


def metrics(service, job, *names):
    """The values of each metric and device, oldest first."""
    code, answer = service.get(f"/api/v1/jobs/{job}/metrics?metric={','.join('user.' + name for name in names)}&points=1000")
    series = answer["series"] if code == 200 else []
    return {(one["metric"], one["device"]): [value for value in one["max"] if value is not None] for one in series}


def test_metrics_that_ranks_set_are_series_of_their_job(service, daemon):
    """Each job has its own metrics, and a value that was set just before the end is there too."""
    with training(daemon, "metered", 150, code=SAYS) as first, training(daemon, "metered", 150, 1, SAYS) as second, training(daemon, "other", 150, 2, SAYS) as third:
        for process in (first, second, third):
            assert process.wait(60) == 0
    for job in ("metered", "other"):
        wait_for_status(service, job, "Completed")
    found = metrics(service, "metered", "first", "samples_per_second", "last")
    for rank in (0, 1):
        speeds = found.pop(("user.samples_per_second", f"rank{rank}"))
        assert len(speeds) >= 3 and speeds[-1] == 1000 * rank + 149 and speeds == sorted(speeds), "the newest of each tick"
        assert found.pop(("user.first", f"rank{rank}")) == [0.25] and found.pop(("user.last", f"rank{rank}")) == [7]
    assert found == {}
    assert {device for _, device in metrics(service, "other", "samples_per_second")} == {"rank2"}


def test_metrics_go_on_when_the_daemon_is_started_again(service, daemon):
    with training(daemon, "long", code=SAYS):
        before = wait_for(lambda: metrics(service, "long", "samples_per_second"), "the metric")
        newest = before[("user.samples_per_second", "rank0")][-1]
        daemon.stop()
        daemon.start()
        wait_for(lambda: metrics(service, "long", "samples_per_second")[("user.samples_per_second", "rank0")][-1] > newest + 100, "values of the second life")


# Stands for a training: torch is what its memory maps say.
LOADS_TORCH = """
import mmap, sys, time
with open(sys.argv[1]) as torch:
    mapped = mmap.mmap(torch.fileno(), 0, prot=mmap.PROT_READ)
time.sleep(300)
"""


@contextmanager
def deaf(folder):
    """A training of the job `deaf` that the hooks do not come into."""
    torch = folder / "torch/_C.any.so"
    torch.parent.mkdir()
    torch.write_text("torch")
    process = subprocess.Popen([sys.executable, "-S", "-c", LOADS_TORCH, torch], env={**os.environ, "STEPSCOPE_JOB": "deaf"})
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_training_that_names_a_job_and_cannot_be_heard_is_logged(folder, daemon):
    with deaf(folder):
        daemon.wait_until_said("job deaf: ")
        assert daemon.said("-S leaves out site")


def test_the_job_of_a_training_that_is_matched_says_why_it_has_no_steps(service, folder):
    daemon = Daemon(service, folder, "--match", "torch/_C.any.so").start()

    def missing():
        status, job = service.get("/api/v1/jobs/deaf")
        return status == 200 and job["nodes"] and job["nodes"][0]["facts"].get("hooks_missing")

    with deaf(folder) as process:
        assert f"(pid {process.pid}, -c) runs torch" in wait_for(missing, "the reason")
    daemon.stop()


def test_two_processes_of_one_rank_are_told(service, daemon):
    def warning():
        status, job = service.get("/api/v1/jobs/twice")
        return status == 200 and job["ranks"] and job["ranks"][0]["facts"].get("second_process")

    with training(daemon, "twice") as one, training(daemon, "twice") as other:
        said = wait_for(warning, "the second process is told")
        assert said.startswith("2 processes say that they are rank 0") and str(one.pid) in said and str(other.pid) in said
        diagnosis = wait_for(lambda: told_as_missing(service, "twice", said), "the diagnosis says that its steps are of one of them")
        assert diagnosis["confidence"] == "steps seen in part"


def told_as_missing(service, job, reason):
    status, diagnosis = service.get(f"/api/v1/jobs/{job}/diagnosis")
    return status == 200 and any(reason in each for each in diagnosis["missing"] or []) and diagnosis

"""A command under the agent, with the real service: what describe-job, the metrics and the page say of it."""

import os
import shutil
import signal
import subprocess
from contextlib import contextmanager

import pytest

from tests.support.service import ROOT, program, wait_for

PYTHON = ROOT / ".venv/bin/python"
BROWSER = ROOT / "tests/browser"


def agent(service, job, *command, flags=(), **options):
    named = ["--job", job] if job else []
    words = [program("stepscope-agent"), "run", "--server", service.url, *named, "--push", "1s", *flags, "--", *map(str, command)]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)


@contextmanager
def running(*given, **options):
    process = agent(*given, **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=60)


def finish(process):
    """(exit code, standard error)"""
    errors = process.communicate(timeout=120)[1]
    return process.returncode, errors


def described(service, job, status):
    """describe-job, once its status is as wanted."""
    def now():
        code, answer = service.get(f"/api/v1/jobs/{job}")
        return answer if code == 200 and answer["status"] == status else None

    return wait_for(now, f"{job} is {status}")


def test_a_command_that_succeeds_completes_its_job(service):
    assert finish(agent(service, "fine", "sleep", "3"))[0] == 0
    job = described(service, "fine", "Completed")
    assert job["failure"] is None and job["nodes"][0]["exit_code"] == 0
    assert [each["status"] for each in job["secondary_status_transitions"]][-1] == "Completed"


def test_exit_code_and_last_words_of_a_command_that_fails_are_told(service):
    code, errors = finish(agent(service, "broken", "sh", "-c", "sleep 1; echo out of luck >&2; exit 7"))
    assert code == 7 and "out of luck" in errors
    failure = described(service, "broken", "Failed")["failure"]
    assert failure["exit_code"] == 7 and failure["output"] == ["out of luck"]


def test_a_signal_reaches_the_command_and_is_told(service):
    with running(service, "stopped", "sleep", "300") as process:
        described(service, "stopped", "InProgress")
        process.send_signal(signal.SIGTERM)
        assert finish(process)[0] == -signal.SIGTERM
    assert described(service, "stopped", "Failed")["failure"]["signal"] == signal.SIGTERM


def test_a_command_that_is_not_there_is_named(service):
    code, errors = finish(agent(service, "nothing", "/no/such/program"))
    assert code == 127 and "/no/such/program" in errors


def test_without_a_service_the_command_runs_all_the_same(folder):
    class Nowhere:
        url = "http://127.0.0.1:9"

    code, _ = finish(agent(Nowhere, "alone", "sh", "-c", f"sleep 1; touch {folder}/done; exit 3"))
    assert code == 3 and (folder / "done").exists()


def test_slurm_names_job_group_and_node(service):
    slurm = {"SLURM_JOB_ID": "4711", "SLURM_JOB_NAME": "fine tune", "SLURM_STEP_ID": "0", "SLURMD_NODENAME": "gpu-07", "SLURM_LOCALID": "0"}
    code, errors = finish(agent(service, None, "sleep", "2", env={**os.environ, **slurm}))
    assert code == 0 and "job fine-tune-4711 of node gpu-07, named by Slurm" in errors
    job = described(service, "fine-tune-4711", "Completed")
    assert job["group"] == "fine tune" and [node["name"] for node in job["nodes"]] == ["gpu-07"]


def test_samples_of_the_machine_arrive_while_the_command_runs(service):
    with running(service, "live", "sleep", "300"):
        def series():
            code, answer = service.get("/api/v1/jobs/live/metrics?metric=node_cpu_percent,memory_used_bytes&points=100")
            enough = code == 200 and len(answer["series"]) == 2 and all(len(each["times_us"]) > 4 for each in answer["series"])
            return answer["series"] if enough else None

        for each in wait_for(series, "two series with samples"):
            known = [value for value in each["mean"] if value is not None]
            assert known and all(value >= 0 for value in known)
            assert each["metric"] != "node_cpu_percent" or max(known) <= 100


# A training with two loaders as old versions of torch have them: forks without a name of their own.
TRAINING = """
import os, time
import stepscope
for _ in range(2):
    if os.fork() == 0:
        parent = os.getppid()
        while os.getppid() == parent: time.sleep(0.5)
        os._exit(0)
while True:
    stepscope.step()
    time.sleep(0.05)
"""


def test_the_processes_of_a_rank_are_sampled(service):
    with running(service, "tree", PYTHON, "-c", TRAINING, env={**os.environ, "PYTHONPATH": str(ROOT / "python")}):
        def series():
            answer = service.get("/api/v1/jobs/tree/metrics?metric=process_loaders,process_thread_cpu_percent,process_resident_bytes&points=100")[1]
            known = {each["metric"]: [value for value in each["mean"] if value is not None] for each in answer.get("series", []) if each["device"] == "rank0"}
            return known if max(known.get("process_loaders") or [0]) > 1 else None

        known = wait_for(series, "two loaders of rank 0")
        assert max(known["process_loaders"]) == 2
        assert max(known["process_thread_cpu_percent"]) < 100 and min(known["process_resident_bytes"]) > 1e6


@pytest.mark.skipif(not shutil.which("node"), reason="Node is not here")
def test_the_page_shows_a_training_while_it_runs(service):
    if not (BROWSER / "node_modules").exists():
        pytest.skip("npm --prefix tests/browser ci was not run")
    with running(service, "training", PYTHON, ROOT / "examples/slow_loader.py", "--seconds", "120", stdout=subprocess.DEVNULL):
        wait_for(lambda: (ranks := service.get("/api/v1/jobs/training/steps")[1].get("ranks")) and ranks[0]["steps"] > 5, "steps")
        out = subprocess.run(
            ["node", "--test", "real_service_test.mjs"], cwd=BROWSER, capture_output=True, text=True, timeout=120,
            env={**os.environ, "STEPSCOPE_URL": service.url, "STEPSCOPE_JOB": "training"},
        )
        assert out.returncode == 0, out.stdout + out.stderr


def test_the_card_of_a_job_comes_last_and_leaves_the_output_alone(service):
    process = agent(service, "carded", "sh", "-c", "sleep 2; echo mine; echo theirs >&2", flags=["--card"], stdout=subprocess.PIPE)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and out == "mine\n"
    above, _, card = errors.partition("\ncarded  Completed, ")
    assert "theirs" in above and "1 node" in card and f"More: {service.url}/jobs/carded\n" in card
    status = described(service, "carded", "Completed")["profiler_rule_evaluation_statuses"]
    assert "InProgress" not in {each["rule_evaluation_status"] for each in status}


def test_a_second_process_of_a_launch_prints_no_card(service):
    errors = finish(agent(service, "carded-second", "true", flags=["--card"], env={**os.environ, "RANK": "1"}))[1]
    assert "carded-second  Completed" not in errors

"""The other commands of the agent, with the real service."""

import json
import os
import signal
import subprocess
import time

from tests.support.service import ROOT, program, wait_for


def agent(*words, **options):
    return subprocess.run([program("stepscope-agent"), *map(str, words)], capture_output=True, text=True, timeout=120, **options)


def test_check_finds_a_service_that_is_well(service):
    done = agent("check", "--server", service.url, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = {line["name"]: line for line in json.loads(done.stdout)["checks"] if line["area"] == "service"}
    assert lines["reachable"]["finding"] == lines["clock"]["finding"] == "ok"
    assert "none is needed" in lines["token"]["detail"]


def status_of(service, job):
    return service.get(f"/api/v1/jobs/{job}")[1].get("status")


def points(service, job):
    """Times and values of the load as they are stored, for all of the job."""
    return service.get(f"/api/v1/jobs/{job}/metrics?metric=load_1m")[1]["series"]


def test_a_recording_is_the_job_that_run_would_have_made(service, folder):
    path = folder / "job.rec"
    made = agent("record", "--out", path, "--job", "recorded", "--interval", "100ms", "--", "sh", "-c", "sleep 3; exit 5")
    assert made.returncode == 5
    again = agent("record", "--out", path, "--job", "recorded", "--", "true")
    assert again.returncode == 2 and "nothing is written over" in again.stderr

    sent = agent("replay", path, "--server", service.url)
    assert sent.returncode == 0, sent.stderr
    wait_for(lambda: status_of(service, "recorded") == "Failed", "the recorded job has failed")
    once = points(service, "recorded")
    assert len(once) == 1 and sum(value is not None for value in once[0]["mean"]) > 10

    sent = agent("replay", path, "--server", service.url)
    assert sent.returncode == 0 and points(service, "recorded") == once
    sent = agent("replay", path, "--server", service.url, "--job", "renamed")
    assert sent.returncode == 0
    wait_for(lambda: status_of(service, "renamed") == "Failed", "the renamed job has failed")
    assert points(service, "renamed") == once


def test_record_without_a_command_records_the_machine_until_it_is_interrupted(service, folder):
    path = folder / "node.rec"
    with subprocess.Popen([program("stepscope-agent"), "record", "--out", path, "--job", "machine", "--interval", "100ms"], stderr=subprocess.PIPE, text=True) as recorder:
        assert "recorded in" in recorder.stderr.readline()
        time.sleep(2)
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait(30) == 0
    assert path.stat().st_mode & 0o777 == 0o600
    sent = agent("replay", path, "--server", service.url)
    assert sent.returncode == 0, sent.stderr
    wait_for(lambda: status_of(service, "machine") == "Completed", "the recorded job is completed")
    (load,) = points(service, "machine")
    assert sum(value is not None for value in load["mean"]) > 8


def test_a_damaged_recording_is_sent_only_when_asked(service, folder):
    path = folder / "cut.rec"
    assert agent("record", "--out", path, "--job", "cut", "--", "sleep", "2").returncode == 0
    path.write_bytes(path.read_bytes()[:-10])
    refused = agent("replay", path, "--server", service.url)
    assert refused.returncode == 1 and "nothing was sent" in refused.stderr
    assert service.get("/api/v1/jobs/cut")[0] == 404
    sent = agent("replay", path, "--server", service.url, "--damaged")
    assert sent.returncode == 0 and service.get("/api/v1/jobs/cut")[0] == 200


def test_metrics_are_read_from_the_output_of_a_command(service):
    script = "echo loss 7.5 >&2; echo speed=41; sleep 2; echo 'last line: loss 0.25' >&2; exit 0"
    words = ["run", "--server", service.url, "--job", "spoken", "--log-metric", "loss=loss ([0-9.]+)", "--log-metric", r"speed=speed=(\d+)"]
    done = agent(*words, "--", "sh", "-c", script)
    assert done.returncode == 0 and done.stdout == "speed=41\n" and "last line: loss 0.25\n" in done.stderr
    wait_for(lambda: status_of(service, "spoken") == "Completed", "the job is completed")
    series = {one["metric"]: one for one in service.get("/api/v1/jobs/spoken/metrics?metric=user.loss,user.speed")[1]["series"]}
    assert [value for value in series["user.loss"]["mean"] if value is not None] == [7.5, 0.25]
    assert [value for value in series["user.speed"]["mean"] if value is not None] == [41]


SAYS = """
import os, stepscope, time
for i in range(40):
    stepscope.metric("samples_per_second", 1480 + i)
    time.sleep(0.05)
stepscope.metric("loss", float("nan"))
stepscope.metric("no name", 1)
stepscope.metric("last", int(os.environ["RANK"]) + 0.5)
"""


def test_metrics_that_ranks_set_are_series_of_the_ranks(service):
    both = f"for rank in 0 1; do RANK=$rank {ROOT}/.venv/bin/python -c '{SAYS}' & done; wait"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = agent("run", "--server", service.url, "--job", "metered", "--", "bash", "-c", both, env=environment)
    assert done.returncode == 0 and done.stdout == "", done.stderr
    wait_for(lambda: status_of(service, "metered") == "Completed", "the job is completed")
    found = service.get("/api/v1/jobs/metered/metrics?metric=user.samples_per_second,user.loss,user.last")[1]["series"]
    values = {(one["metric"], one["device"]): [value for value in one["max"] if value is not None] for one in found}
    for rank in (0, 1):
        speeds = values.pop(("user.samples_per_second", f"rank{rank}"))
        assert len(speeds) >= 2 and speeds[-1] == 1519 and speeds == sorted(speeds), "the newest of each tick"
        assert values.pop(("user.last", f"rank{rank}")) == [rank + 0.5], "set in front of the end"
    assert values == {}, "what is no number, or has no name, is not there"

"""The spool, in which frames wait on disk while the service is away, with the real programs."""

import os
import shutil
import signal
import socket
import subprocess
import time

import pytest

from tests.e2e.run_test import PYTHON
from tests.e2e.traces_test import trace_of
from tests.support.service import ROOT, program, wait_for

INTERVAL_US = 500_000
TICKS = """
    select encode(session, 'hex'), min(from_us), max(to_us), sum(rows) from frames join jobs using (job_id)
    where name = '{}' and kind = 1 group by session order by 2"""
LOST = "select coalesce(sum(lost), 0) from streams join jobs using (job_id) where name = '{}'"

# Hands a trace over as the hooks of PyTorch do, once the service is away.
WITH_TRACE = """
import os, sys, time
import stepscope
from stepscope import _marks, _wire

for step in range(12):
    stepscope.step(step)
    time.sleep(0.01)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.02)
file = os.memfd_create("trace")
os.write(file, sys.argv[2].encode())
_marks._session.post(_wire.trace(0, 7, 1, (100, 200, 300), "", "script"), file)
time.sleep(1)
"""


def agent(service, spool, job, *command):
    words = [program("stepscope-agent"), "run", "--server", service.url, "--job", job, "--node", "n1", "--push", "1s", "--spool", str(spool)]
    return subprocess.Popen([*words, "--", *command], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def flush(service, spool, *more):
    words = [program("stepscope-agent"), "flush", "--server", service.url, "--spool", str(spool), *more]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


def stored_bytes(spool):
    return sum(path.stat().st_size for path in spool.glob("*/*") if path.name != "acked")


def ticks(service, job):
    """(session, first, last, count) of each session; no instant of the grid is missing or doubled within one."""
    found = [(session, int(first), int(last), int(count)) for session, first, last, count in service.sql(TICKS.format(job))]
    for session, first, last, count in found:
        assert count == (last - first) // INTERVAL_US + 1, f"session {session}: {count} ticks in {(last - first) / 1e6} s"
    return found


def test_what_a_killed_agent_left_is_delivered_by_the_next(service, folder):
    spool = folder / "spool"
    first = agent(service, spool, "killed", "sleep", "60")
    wait_for(lambda: service.get("/api/v1/jobs/killed")[0] == 200, "the job is known")
    service.kill()
    wait_for(lambda: spool.exists() and stored_bytes(spool) > 0, "something is on disk")
    time.sleep(6)
    first.kill()
    killed_us = time.time_ns() // 1000
    first.wait(10)  # its command runs on
    service.start()
    second = agent(service, spool, "killed", "sleep", "3")
    errors = second.communicate(timeout=60)[1]
    assert second.returncode == 0 and "left by another agent" in errors
    # A service that was built before the agent may not know all its metrics.
    assert "the service refused" not in errors, errors
    sessions = ticks(service, "killed")
    assert len(sessions) == 2
    # Behind the last cut, and what the disk took.
    assert killed_us - sessions[0][2] < 3_500_000, "what was on disk arrived"
    assert sessions[0][3] >= 20 and service.sql(LOST.format("killed")) == [["0"]]
    assert stored_bytes(spool) == 0


def test_flush_delivers_a_run_that_never_met_the_service(service, folder):
    spool = folder / "spool"
    service.kill()
    run = agent(service, spool, "alone", "sh", "-c", "sleep 2; exit 3")
    errors = run.communicate(timeout=60)[1]
    assert run.returncode == 3 and "stepscope-agent flush" in errors
    away = flush(service, spool, "--wait", "2s")
    assert away.returncode == 1 and "not delivered" in away.stdout
    service.start()
    done = flush(service, spool)
    assert done.returncode == 0 and "nothing is left" in done.stdout, done.stdout + done.stderr
    job = service.get("/api/v1/jobs/alone")[1]
    assert job["status"] == "Failed" and job["failure"]["exit_code"] == 3
    assert ticks(service, "alone")[0][3] >= 3
    assert not list(spool.glob("*")) and "delivered 0 frames" in flush(service, spool).stdout


def test_a_trace_that_was_not_sent_waits_for_the_next_agent(service, folder):
    spool, away = folder / "spool", folder / "away"
    run = agent(service, spool, "traced", "env", f"PYTHONPATH={ROOT / 'python'}", PYTHON, "-c", WITH_TRACE, str(away), trace_of(0))
    wait_for(lambda: service.get("/api/v1/jobs/traced")[0] == 200, "the job is known")
    service.kill()
    away.touch()
    errors = run.communicate(timeout=60)[1]
    assert run.returncode == 0 and "1 traces of job traced wait in the spool" in errors, errors
    (file,) = spool.glob("traces/*/*")
    assert file.stat().st_mode & 0o077 == 0
    service.start()
    done = flush(service, spool)
    assert done.returncode == 0 and "and 1 traces; nothing is left" in done.stdout, done.stdout + done.stderr
    window = service.get("/api/v1/jobs/traced/windows/1")[1]
    assert [trace["capture"]["steps"] for trace in window["traces"]] == [1]
    assert service.get("/api/v1/jobs/traced/windows/1/kernels")[1]["kernels"][0]["name"] == "sgemm"
    assert not list(spool.glob("*"))


def test_what_was_meant_for_another_service_stays(service, folder):
    class Elsewhere:
        url = "http://127.0.0.1:9"

    spool = folder / "spool"
    run = agent(Elsewhere, spool, "elsewhere", "sleep", "1")
    time.sleep(3)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert stored_bytes(spool) > 0
    assert "delivered 0 frames" in flush(service, spool).stdout and stored_bytes(spool) > 0
    assert flush(service, spool, "--all").returncode == 0
    assert service.get("/api/v1/jobs/elsewhere")[0] == 200


def test_hosts_that_share_a_home_have_spools_of_their_own(service, folder):
    """The agent names frames that another host left, and does not take them; it delivers those that lie where all hosts
    wrote before."""
    home, copy = folder / "home", folder / "stepscope-agent"
    home.mkdir(mode=0o700)
    shutil.copy(program("stepscope-agent"), copy)
    as_user = {"env": {"HOME": str(home), "PATH": os.environ["PATH"]}, "cwd": folder}
    if os.geteuid() == 0:
        shutil.chown(home, "nobody")
        as_user |= {"user": "nobody"}

    def flushed(*more):
        return subprocess.run([copy, "flush", "--server", service.url, "--all", *more], capture_output=True, text=True, timeout=60, **as_user)

    run = subprocess.Popen([copy, "run", "--server", "http://127.0.0.1:9", "--job", "shared", "--", "sleep", "1"], stderr=subprocess.DEVNULL, **as_user)
    time.sleep(3)
    run.send_signal(signal.SIGINT)
    run.wait(60)
    place = home / ".local/state/stepscope"
    ours, theirs = place / socket.gethostname(), place / "another-host"
    assert stored_bytes(ours) > 0
    ours.rename(theirs)
    named = flushed()
    assert named.returncode == 0 and f"another host has samples in {theirs}" in named.stdout and stored_bytes(theirs) > 0, named.stdout + named.stderr
    (session,) = theirs.glob("*")
    session.rename(place / session.name)
    assert flushed().returncode == 0 and service.get("/api/v1/jobs/shared")[0] == 200
    assert "another host" not in flushed().stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small disk")
def test_a_full_disk_harms_nobody(service, folder):
    spool = folder / "spool"
    spool.mkdir(mode=0o700)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", spool], capture_output=True).returncode != 0:
        pytest.skip("no right to mount here")
    try:
        (spool / "ballast").write_bytes(b"x" * (2 << 20))
        service.kill()
        run = agent(service, spool, "full", "sh", "-c", "sleep 14; exit 5")
        time.sleep(9)
        assert stored_bytes(spool) == 0
        (spool / "ballast").unlink()
        errors = run.communicate(timeout=60)[1]
        assert run.returncode == 5 and "the spool cannot be written" in errors and "takes samples again" in errors
        service.start()
        assert flush(service, spool).returncode == 0
        assert ticks(service, "full")[0][3] >= 25
    finally:
        subprocess.run(["umount", spool], check=True)

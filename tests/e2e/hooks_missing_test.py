"""A training that the hooks do not come into: its node's facts say why, until it is heard of after all."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from tests.support.service import ROOT, program, wait_for

pytest.importorskip("torch", reason="PyTorch is not here: apt-get install python3-torch")

SCRIPT = """
import os, sys, time
sys.path += sys.argv[2].split(os.pathsep)  # where the tests have torch from
import torch
def wait_for(name):
    while not os.path.exists(os.path.join(sys.argv[1], name)):
        time.sleep(0.05)
wait_for("mark")
sys.path.insert(0, sys.argv[3])
import stepscope
for _ in range(50):
    stepscope.step()
wait_for("end")
"""


@contextmanager
def training(service, folder, *flags, env=()):
    """A Python with these flags below the agent, which waits for files in the folder and has a secret argument."""
    script = folder / "train.py"
    script.write_text(SCRIPT)
    words = [program("stepscope-agent"), "run", "--server", service.url, "--job", "unseen", "--push", "1s", "--", *env, sys.executable, *flags,
             script, folder, os.pathsep.join(filter(None, sys.path)), ROOT / "python", "--token=hush"]
    process = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


def missing(service):
    """What the node's facts say, once the job is there."""
    code, job = service.get("/api/v1/jobs/unseen")
    return job["nodes"][0]["facts"].get("hooks_missing", "") if code == 200 and job["nodes"] else ""


WAYS = [
    (["-I"], [], "-I ignores PYTHONPATH"),
    ([], ["env", "-u", "PYTHONPATH"], "PYTHONPATH was taken away"),
    ([], ["env", "-u", "STEPSCOPE_JOB"], "STEPSCOPE_JOB was taken away"),
]


def ranks(service):
    code, job = service.get("/api/v1/jobs/unseen")
    return code == 200 and job["ranks"]


@pytest.mark.parametrize("flags, env, reason", WAYS)
def test_why_nothing_is_seen_is_said_until_marks_come(service, folder, flags, env, reason):
    with training(service, folder, *flags, env=env) as process:
        said = wait_for(lambda: missing(service), "the reason")
        assert reason in said and "train.py" in said and "hush" not in said
        (folder / "mark").touch()
        wait_for(lambda: not missing(service), "the reason is withdrawn")
        (folder / "end").touch()
        errors = process.communicate(timeout=60)[1]
        assert process.returncode == 0 and errors.count("runs torch without the hooks") == 1


def test_a_second_process_that_is_not_seen_is_told_beside_one_that_is(service, folder):
    """The shell starts the script twice: one is heard, and the other one has no hooks until it ends."""
    other = folder / "other"
    other.mkdir()
    both = f'"$@" & first=$!; shift; "{sys.executable}" -I "$1" "{other}" "$3" "$4"; wait $first'
    with training(service, folder, env=["sh", "-c", both, "sh"]) as process:
        (folder / "mark").touch()
        wait_for(lambda: ranks(service), "the first one is heard")
        said = wait_for(lambda: missing(service), "the reason")
        assert "-I ignores PYTHONPATH" in said
        (other / "mark").touch()
        (other / "end").touch()
        wait_for(lambda: not missing(service), "the reason is withdrawn", 90)
        (folder / "end").touch()
        process.communicate(timeout=60)
        assert process.returncode == 0

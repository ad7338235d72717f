"""A job that mpirun starts: an agent for each rank of a node, of which the first one serves them all."""

import os
import shutil
import subprocess

import pytest

from tests.e2e.run_test import described
from tests.support.service import ROOT, program, wait_for

PYTHON = ROOT / ".venv/bin/python"
RANKS, STEPS = 4, 150
# The node ends with its first rank, so that one waits for the others, as a barrier of MPI would make it.
TRAINING = """
import os, pathlib, stepscope, sys, time
for number in range(int(sys.argv[1])):
    with stepscope.phase("forward"):
        time.sleep(0.02)
    stepscope.step()
folder, rank = pathlib.Path(sys.argv[2]), os.environ["OMPI_COMM_WORLD_RANK"]
(folder / ("done" + rank)).touch()
while rank == "0" and len(list(folder.glob("done*"))) < int(os.environ["OMPI_COMM_WORLD_SIZE"]):
    time.sleep(0.05)
"""


def words(service, folder):
    run = [program("stepscope-agent"), "run", "--server", service.url, "--job", "mpi", "--push", "1s", "--socket", folder / "agent.sock"]
    return [str(word) for word in [*run, "--", PYTHON, "-c", TRAINING, STEPS, folder]]


def assert_one_node_with_all_ranks(service):
    job = described(service, "mpi", "Completed")
    assert len(job["nodes"]) == 1 and job["nodes"][0]["exit_code"] == 0
    ranks = {each["rank"]: each for each in job["ranks"]}
    assert sorted(ranks) == list(range(RANKS))
    assert {(each["local_rank"], each["world_size"]) for each in ranks.values()} == {(rank, RANKS) for rank in range(RANKS)}
    assert len({each["pid"] for each in ranks.values()}) == RANKS
    steps = {each["rank"]: each["steps"] for each in service.get("/api/v1/jobs/mpi/steps")[1]["ranks"]}
    assert steps == dict.fromkeys(range(RANKS), STEPS)
    (load,) = service.get("/api/v1/jobs/mpi/metrics?metric=load_1m&points=1000")[1]["series"]
    assert sum(value is not None for value in load["mean"]) > 2
    [[sessions]] = service.sql("select count(distinct session) from streams join jobs using (job_id) where name = 'mpi'")
    assert sessions == "1", "one agent alone samples the node"


def test_four_ranks_of_mpirun_are_one_node(service, folder):
    started = []
    try:
        for rank in range(RANKS):
            place = {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_LOCAL_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(RANKS)}
            environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), **place}
            started.append(subprocess.Popen(words(service, folder), stdin=subprocess.DEVNULL, env=environment))
        wait_for(lambda: all(process.poll() is not None for process in started), "the ranks end", seconds=90)
        assert [process.returncode for process in started] == [0] * RANKS
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
                process.wait()
    assert_one_node_with_all_ranks(service)


@pytest.mark.skipif(not shutil.which("mpirun"), reason="mpirun (Debian: openmpi-bin) is not here")
def test_ranks_that_the_real_mpirun_starts_are_one_node(service, folder):
    mpirun = ["mpirun", "-np", str(RANKS), "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]
    done = subprocess.run([*mpirun, *words(service, folder)], env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert_one_node_with_all_ranks(service)

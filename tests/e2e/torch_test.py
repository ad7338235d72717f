"""An unmodified PyTorch script below the agent, with the real service: steps, phases, and what the rule says."""

import math
import os
import subprocess

import pytest

from tests.e2e.browsing import in_browser
from tests.support.service import ROOT, program, wait_for

pytest.importorskip("torch", reason="PyTorch is not here: apt-get install python3-torch")
from tests.torch.ranks_test import RANKS  # noqa: E402

PHASES = {"data", "forward", "loss", "backward", "optimizer"}
ENOUGH_WORKERS = math.ceil(0.7 * (os.cpu_count() or 1))  # for the rule Dataloader, on any number of cores

EXAMPLE = ROOT / "examples/torch_loader.py"
PYTHON = ROOT / ".venv/bin/python"


def below_agent(service, job, *words, flags=()):
    command = [program("stepscope-agent"), "run", "--server", service.url, "--job", job, "--push", "1s", *flags, "--", PYTHON, *map(str, words)]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    pipe = subprocess.PIPE
    return subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, env=variables)


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def verdict(service, job, name):
    """The verdict of a rule on a job that has ended."""

    def now():
        code, answer = service.get(f"/api/v1/jobs/{job}/rules")
        rules = {each["rule"]: each for each in answer["items"]} if code == 200 else {}
        rule = rules.get(name)
        return rule if rule and rule["rule_evaluation_status"] in ("IssuesFound", "NoIssuesFound") else None

    return wait_for(now, f"{name} has judged {job}")


def rank_of(service, job):
    """The summary of steps of the job's only rank; None before there are any."""
    code, answer = service.get(f"/api/v1/jobs/{job}/steps")
    return next(iter(answer["ranks"]), None) if code == 200 else None


def suits(workers, cores):
    """The status of Dataloader for so many workers: 70 to 200 % of the cores are right. No workers count as one."""
    return "NoIssuesFound" if 70 <= 100 * max(workers, 1) / cores <= 200 else "IssuesFound"


@pytest.mark.parametrize("job, workers, words, status", [
    ("slow", 0, (), "IssuesFound"),
    ("fast", ENOUGH_WORKERS, ("--decode-ms", "0"), "NoIssuesFound"),
])
def test_a_script_without_a_change_is_judged(service, job, workers, words, status):
    train = (EXAMPLE, "--seconds", "20", "--batch", "8", "--width", "80", "--workers", workers)  # both jobs do this; their loading of data differs
    assert "epoch" in finish(below_agent(service, job, *train, *words))
    rule = verdict(service, job, "DataloaderBottleneck")
    assert rule["rule_evaluation_status"] == status and rule["verdict"]["kind"] == ("finding" if status == "IssuesFound" else "clear"), rule
    rank = rank_of(service, job)
    assert rank["steps"] >= 20 and PHASES <= {each["phase"] for each in rank["phases"]}, rank
    described = service.get(f"/api/v1/jobs/{job}")[1]
    found = verdict(service, job, "Dataloader")["rule_evaluation_status"]
    assert found == suits(workers, described["nodes"][0]["cores"]) and (found == "NoIssuesFound" or not workers)
    facts = described["ranks"][0]
    assert facts["framework"].startswith("torch ") and facts["facts"]["loader_batch_size"] == "8", facts


def test_ranks_that_share_gradients_are_those_of_the_job(service, folder):
    """Two processes with DistributedDataParallel over gloo, and the one that spawns them, which is no rank itself."""
    (folder / "train.py").write_text(RANKS)
    finish(below_agent(service, "ddp", folder / "train.py", folder))

    def known():
        code, answer = service.get("/api/v1/jobs/ddp/steps")
        ranks = {each["rank"]: each for each in answer["ranks"]} if code == 200 else {}
        return ranks if [ranks[rank]["steps"] for rank in sorted(ranks)] == [20, 20] else None

    ranks = wait_for(known, "20 steps of each of two ranks")
    wanted = {"data", "forward", "backward", "optimizer", "communication"}
    assert all(wanted <= {each["phase"] for each in rank["phases"]} for rank in ranks.values()), ranks
    assert {(each["rank"], each["world_size"]) for each in service.get("/api/v1/jobs/ddp")[1]["ranks"]} == {(0, 2), (1, 2)}


def test_a_step_has_the_times_of_the_gpus_clock(service, folder):
    """With a stand-in of CUDA, whose GPU works for 3, 5 and 7 ms and rests for 11 in each step."""
    (folder / "train.py").write_text(f"import sys; sys.path.append({str(ROOT)!r}); from tests.torch.gpus import script; script(steps=30)")
    finish(below_agent(service, "gpu", folder / "train.py"))

    def known():
        code, answer = service.get("/api/v1/jobs/gpu/steps?format=rows")
        return answer["items"] if code == 200 and len(answer["items"]) == 30 else None

    rows = wait_for(known, "30 steps")
    gpu = {row["step"]: row["gpu"] for row in rows if row["gpu"] is not None}
    timed = set(range(3, 15))  # twelve, before the clock knows what it costs
    unknown = timed - set(gpu)  # a busy machine held the training up: a step told late has no times, nor has one that the agent waits for too long
    assert len(unknown) <= 3 and not {0, 1, 2} & set(gpu), (unknown, gpu)
    for times in gpu.values():
        assert times["idle_seconds"] == pytest.approx(0.011)
        assert times["phases_seconds"] == pytest.approx({"forward": 0.003, "backward": 0.005, "optimizer": 0.007})
    assert service.get("/api/v1/jobs/gpu")[1]["ranks"][0]["facts"]["gpu_clock"].startswith(("on", "every ", "off: the steps are too short"))


def test_steps_and_phases_are_shown_while_it_trains(service):
    process = below_agent(service, "live", EXAMPLE, "--seconds", "600")

    def known(least):
        assert process.poll() is None, process.communicate()
        rank = rank_of(service, "live")
        return rank if rank and rank["steps"] >= least else None

    try:
        first = wait_for(lambda: known(1), "the first steps")
        later = wait_for(lambda: known(first["steps"] + 20), "more of them")
        assert PHASES <= {each["phase"] for each in later["phases"]}, later
        in_browser("real_live_test.mjs", STEPSCOPE_URL=service.url, STEPSCOPE_JOB="live")
        assert process.poll() is None and service.get("/api/v1/jobs/live")[1]["status"] == "InProgress"
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_the_hooks_can_be_switched_off(service, folder):
    (folder / "train.py").write_text("import os, sys; print('PYTHONPATH' in os.environ, '_stepscope_start' in sys.modules)")
    assert finish(below_agent(service, "off", folder / "train.py", flags=("--no-python",))) == "False False\n"
    assert finish(below_agent(service, "on", folder / "train.py")) == "True True\n"

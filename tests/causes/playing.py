"""Lets the service see a training: a real one, a recording of one, or a made one."""

import fnmatch
import json
import os
import subprocess
import time
from pathlib import Path
from typing import NamedTuple, Optional

from building import ROOT, Failed, tail
from description import FINAL_JOB, is_over

from tests.causes import quota
from tests.causes.table import RECORDINGS, SCENARIOS, SHORT

KINDS = ("real", "recordings", "scenarios")
SCRIPT = ROOT / "tests/causes/trainings/run.py"
JUDGE_SECONDS = 90  # for the rules of a job that has ended
QUIET_SECONDS = 10  # for a job that never ends, as a node of it is silent
PLAY_SECONDS = 180  # for what is not a training in real time
START_SECONDS = 120  # for a training to start and to end, besides the time that it trains
PAUSE = 0.3


class Skipped(Exception):
    """This training cannot be here, for a reason that is no fault."""


class Case(NamedTuple):
    kind: str
    name: str
    truth: str
    details: dict  # what run.py tells of a real training; the path of a recording

    @property
    def job(self):
        return f"{self.kind}-{self.name}".replace("_", "-")


class Setting(NamedTuple):
    """A running service, and what trainings are played with."""

    programs: Path
    client: object
    children: object
    folder: Path
    python: list
    seconds: float


def real_cases(python):
    """(cases, version of PyTorch) that the Python has; the trainings alone know it."""
    asked = subprocess.run([*python, SCRIPT, "--list"], capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=ROOT)
    if asked.returncode:
        raise Failed(f"no PyTorch: {' '.join(map(str, python))} says\n{asked.stderr[-600:]}")
    told = json.loads(asked.stdout.splitlines()[-1])
    return [Case("real", name, row["truth"], row) for name, row in told["trainings"].items()], told["torch"]


# Cause of a recorded training -> the part of its loop that it is measured by.
RECORDED_PARTS = {
    "preprocessing": "data", "one_worker": "data", "slow_source": "data", "disk_input": "data", "host_to_device": "transfer",
    "device_to_host": "output", "item_sync": "output", "callback": "output", "checkpoint": "output",
}


def with_share(row):
    """What a recorded training measured of itself, with the share of its cause where its clocks have it."""
    part = RECORDED_PARTS.get(row["cause"])
    return {**row, "share": row["parts_s"].get(part, 0.0) / row["wall_s"]} if part else row


def recorded_cases(folder, prefix=""):
    """The recordings of a folder, with what their trainings measured of themselves. The prefix tells two of a name apart."""
    file = next((path for path in (folder / "truth.jsonl", folder.parent / "truth.jsonl") if path.is_file()), None)
    told = map(json.loads, file.read_text().splitlines()) if file else ()
    truths = {row["cause"]: with_share(row) for row in told}
    paths = sorted(folder.glob("*.rec"))
    return [
        Case("recordings", prefix + path.stem, RECORDINGS.get(path.stem, ""), {"path": path, "measured": truths.get(path.stem)}) for path in paths
    ]


def scenario_cases():
    return [Case("scenarios", name, truth, {}) for name, truth in SCENARIOS.items()]


def chosen(cases, only, short):
    """The cases that somebody wants: their names, or kind/name, fit a pattern."""
    names = [pattern if "/" in pattern else f"*/{pattern}" for pattern in only] or (SHORT if short else ["*"])
    return [case for case in cases if any(fnmatch.fnmatch(f"{case.kind}/{case.name}", name) for name in names)]


def run(setting, command, log_path, seconds, env=None):
    """Runs a command to its end; its output is in the log."""
    with open(log_path, "wb") as log:
        process = setting.children.start(command, log, cwd=ROOT, env={**os.environ, **(env or {})})
    deadline = time.monotonic() + seconds
    while process.poll() is None:
        if time.monotonic() > deadline:
            setting.children.stop(process, 10)
            raise Failed(f"it did not end within {seconds:.0f} s:\n{tail(log_path, 5)}")
        time.sleep(PAUSE)
    if process.returncode:
        raise Failed(f"it ended with {process.returncode}:\n{tail(log_path, 12)}")


def measured_in(log_path):
    """What the first rank said of itself."""
    lines = [line for line in log_path.read_text(errors="replace").splitlines() if line.startswith('{"training"')]
    told = {row["rank"]: row for row in map(json.loads, lines)}
    if 0 not in told:
        raise Failed(f"it said no truth:\n{tail(log_path, 12)}")
    return told[0]


def train(setting, case) -> Optional[dict]:
    details = case.details
    if details["missing"]:
        raise Skipped(details["missing"])
    seconds = setting.seconds * details["longer"]
    words = [*setting.python, SCRIPT, case.name, "--seconds", seconds, "--ranks", details["ranks"]]
    command = [setting.programs / "stepscope-agent", "run", "--server", setting.client.url, "--job", case.job, "--spool", "none", "--", *words]
    log_path = setting.folder / f"{case.job}.log"
    if not details["quota_percent"]:
        run(setting, command, log_path, seconds * 3 + START_SECONDS)
        return measured_in(log_path)
    with quota.group(details["quota_percent"]) as (group, reason):
        if reason:
            raise Skipped(reason)
        run(setting, quota.inside(group, command), log_path, seconds * 3 + START_SECONDS, {"QUOTA_GROUP": str(group)})
        return measured_in(log_path)


def replay(setting, case):
    if not case.truth:
        raise Skipped("its truth is not in the table")
    command = [setting.programs / "stepscope-agent", "replay", case.details["path"], "--server", setting.client.url, "--job", case.job]
    run(setting, command, setting.folder / f"{case.job}.log", PLAY_SECONDS)


def play_scenario(setting, case):
    command = [setting.programs / "stepscope-scenario", case.name, "--server", setting.client.url, "--speed", "0", "--job", case.job]
    run(setting, command, setting.folder / f"{case.job}.log", PLAY_SECONDS)


PLAYERS = {"real": train, "recordings": replay, "scenarios": play_scenario}


def wait_for_rules(setting, job):
    """Waits until all rules have said their last, or the job does not end."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) < JUDGE_SECONDS:
        described = setting.client.job(job)
        if described and is_over(described):
            return
        if described and described["status"] not in FINAL_JOB and waited > QUIET_SECONDS:
            return
        time.sleep(PAUSE)
    raise Failed(f"its rules did not come to an end within {JUDGE_SECONDS} s")


class Answers(NamedTuple):
    """What the service says of a job."""

    described: dict
    diagnosis: dict
    rules: list
    report: dict


def ask(client, job):
    path = f"/api/v1/jobs/{job}"
    return Answers(
        client.call("GET", path), client.call("GET", f"{path}/diagnosis"), client.call("GET", f"{path}/rules")["items"], client.call("GET", f"{path}/report")
    )


def play(setting, case):
    """(what the training measured of itself or None, answers)."""
    measured = PLAYERS[case.kind](setting, case)
    wait_for_rules(setting, case.job)
    return measured, ask(setting.client, case.job)

#!/usr/bin/env python3
"""From the sample that crosses a rule's threshold to IssuesFound in the answer of the service, with the settings that people have:
jobs that push every 2 s begin to wait at a moment that is known, and the list of jobs is asked ten times a second. A rule of steps
judges each of them; one of samples the share of all ticks, at a scan each minute of data and before its first trigger at looks
each 5 s.

    bench/rules/delay.py [--rounds 3] [--jobs 40]
"""

import argparse
import functools
import os
import random
import statistics
import sys
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, clean_end, compare, fresh_folder  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from tests.support import wire  # noqa: E402
from tests.support.service import Service  # noqa: E402

FIGURES = [
    Figure("p50", "s from the sample that crosses the threshold to the status, p50", digits=1),
    Figure("p95", "s, p95", 15, 1),
    Figure("most", "s, the longest", digits=1),
]
TICK_US, PUSH_TICKS = 500_000, 4  # a step is as long as a tick
GOOD_TICKS = 80  # as many bad ticks and one more are above half of all
GIVE_UP_SECONDS = 150


class WaitsForCore:
    rule = {"rule": "CPUBottleneck", "parameters": {"patience": 0}}
    kind = wire.TICKS
    columns = wire.schema([("at_us", ""), ("cpu_util_percent", "0"), ("gpu_util_percent", "0")])

    @staticmethod
    def row(number, at_us):
        return wire.row([at_us, *((2_000, 9_500) if number < GOOD_TICKS else (9_900, 300))], [0, 2, 2])


class WaitsForBatches:
    rule = {"rule": "DataloaderBottleneck"}
    kind = wire.STEPS
    columns = wire.schema([("step", ""), ("start_us", ""), ("wall_ns", ""), ("data", "")], rank=0)

    @staticmethod
    def row(number, at_us):
        """A step that ends at `at_us`."""
        wall_ns = TICK_US * 1000
        return wire.row([number, at_us - TICK_US, wall_ns, wall_ns // (50 if number < GOOD_TICKS else 2)], [0, 0, 0, 0])


class Job(threading.Thread):
    """A node that trains well for 40 s, and then waits."""

    def __init__(self, service, name, trouble):
        super().__init__(daemon=True)
        self.service, self.title, self.trouble, self.session = service, name, trouble, os.urandom(16)
        self.sequence = self.ticks = 0
        self.begin_us = time.time_ns() // 1000 + random.randrange(2_000_000)  # not all at once
        self.ended = threading.Event()

    @property
    def crosses_us(self):
        return self.begin_us + 2 * GOOD_TICKS * TICK_US

    def run(self):
        self.push([self.frame(wire.LIFECYCLE, b'{"event":"started","at_us":%d,"group":"","interval_ms":500,"command":["train"],"facts":{"cores":1,"gpus":["GPU"]}}' % self.begin_us)])
        while not self.ended.is_set():
            due_us = self.begin_us + (self.ticks + PUSH_TICKS - 1) * TICK_US
            self.ended.wait(max(0.0, due_us / 1e6 - time.time()))
            rows = [self.trouble.row(number, self.begin_us + number * TICK_US) for number in range(self.ticks, self.ticks + PUSH_TICKS)]
            self.push([self.frame(self.trouble.kind, row, self.trouble.columns) for row in rows])
            self.ticks += PUSH_TICKS

    def frame(self, kind, payload, columns=b""):
        self.sequence += 1
        return wire.frame(kind, self.session, self.sequence, self.begin_us, self.title, "node-1", payload, columns, wire.schema_hash(columns) if columns else 0)

    def push(self, frames):
        status, answer = self.service.request("POST", "/api/v1/ingest/frames", wire.push(frames), "application/vnd.stepscope.frames")
        assert status == 200 and not answer["rejected"], answer


def watch(service, rule, jobs):
    """{job: when it was first seen in trouble}"""
    seen, until = {}, time.monotonic() + GIVE_UP_SECONDS
    while len(seen) < len(jobs) and time.monotonic() < until:
        status, answer = service.get(f"/api/v1/jobs?rule={rule}&rule_status=IssuesFound&limit=500")
        assert status == 200, answer
        for each in answer["items"]:
            seen.setdefault(each["name"], time.time())
        time.sleep(0.1)
    return seen


def measure(options, service, trouble):
    jobs = [Job(service, f"delay-{time.time_ns()}-{number}", trouble) for number in range(options.jobs)]
    for job in jobs:
        status, answer = service.request("POST", "/api/v1/jobs", {"name": job.title, "configuration": {"rules": [trouble.rule]}})
        assert status == 201, answer
    for job in jobs:
        job.start()
    names = {job.title for job in jobs}
    seen = {name: at for name, at in watch(service, trouble.rule["rule"], jobs).items() if name in names}
    for job in jobs:
        job.ended.set()
        job.join()
    assert len(seen) == len(jobs), f"{len(jobs) - len(seen)} jobs were never in trouble"
    delays = sorted(seen[job.title] - job.crosses_us / 1e6 for job in jobs)
    return {"p50": statistics.median(delays), "p95": delays[int(0.95 * len(delays))], "most": delays[-1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=40)
    options = parser.parse_args()
    with fresh_folder() as folder, clean_end():
        service = Service(folder).start()
        try:
            contenders = [Contender(each.rule["rule"], functools.partial(measure, options, service, each)) for each in (WaitsForBatches, WaitsForCore)]
            compare("rules_delay", FIGURES, contenders, options.rounds, {"jobs": options.jobs})
        finally:
            service.stop()


if __name__ == "__main__":
    main()

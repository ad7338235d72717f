#!/usr/bin/env python3
"""Many live jobs, each of a node with GPUs and ranks, all judged by all rules: what it costs, and how late they are.

The same pushes go to a service that judges and to one that does not; the difference of their CPU time, PostgreSQL included, is
what judging costs. Before anything is counted two minutes go by: all jobs begin at once, and so does the first compaction of them
all.

    bench/rules/jobs.py [--rounds 2] [--jobs 1000] [--seconds 60] [--slot 10s] [--push-seconds 2] [--warm-seconds 120]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, clean_end, compare, fresh_folder, own_cpu_seconds, tree_cpu_seconds, tree_memory_bytes  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from tests.support.service import Service, program, use_all_descriptors  # noqa: E402

FIGURES = [
    Figure("cores", "cores in use, service and PostgreSQL together", digits=2),
    Figure("service", "cores, the service alone", digits=2),
    Figure("rules", "cores for judging: with it less without", 1.0, 2),
    Figure("per_job", "ms of CPU for one evaluation of a job by all rules", digits=2),
    Figure("age_p50", "s since a job's last evaluation, p50", digits=1),
    Figure("age_p99", "s since a job's last evaluation, p99", digits=1),
    Figure("memory", "MB, service and PostgreSQL", digits=0),
    Figure("unserved", "% of pushes that were not answered", digits=2),
]
AGES = "select extract(epoch from clock_timestamp()) - max(evaluated_us) / 1e6 from rule_states group by job_id"
TURNS = "select sum(most) from (select max(revision) most from rule_states group by job_id) jobs"


def make_frames(options, folder):
    words = ["--frames", folder / "frames", "--job", "live", "--job-each", "--all-metrics", "--nodes", options.jobs, "--cores", 16, "--gpus", options.gpus]
    words += ["--ranks", options.gpus, "--step-ms", 250, "--seconds", options.warm_seconds + options.seconds + 10, "--push-seconds", options.push_seconds]
    words += ["--begin-us", int(time.time()) * 10**6]
    subprocess.run([program("bench/make_frames"), *map(str, words)], check=True, capture_output=True)


class Pushing(threading.Thread):
    """Ends when all pushes were answered; `out` is what the agents say."""

    def __init__(self, options, folder, service):
        super().__init__(daemon=True)
        seconds = options.warm_seconds + options.seconds + 30
        words = ["--port", service.port, "--frames", folder / "frames", "--every-ms", 1000 * options.push_seconds, "--seconds", seconds]
        self.command, self.out = [program("bench/agents"), *map(str, words)], None

    def run(self):
        self.out = subprocess.run(self.command, check=True, capture_output=True, text=True).stdout


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def numbers(service, statement):
    return [float(row[0]) for row in service.sql(statement) if row[0]]


def observe(options, service):
    """Figures of the seconds that count."""
    process = service.process.pid
    own, whole, turns = own_cpu_seconds(process), tree_cpu_seconds(process), sum(numbers(service, TURNS))
    began, ages = time.monotonic(), []
    while time.monotonic() - began < options.seconds:
        time.sleep(5)
        ages += numbers(service, AGES)
    seconds = time.monotonic() - began
    figures = {
        "cores": (tree_cpu_seconds(process) - whole) / seconds, "service": (own_cpu_seconds(process) - own) / seconds,
        "memory": tree_memory_bytes(process) / 1e6, "turns": (sum(numbers(service, TURNS)) - turns) / seconds,
    }
    if ages:
        figures |= {"age_p50": statistics.median(ages), "age_p99": quantile(ages, 0.99)}
    return figures


def serve(options, folder, *words):
    folder = folder / f"service-{time.time_ns()}"
    folder.mkdir(mode=0o711)
    service = Service(folder, *words).start()
    try:
        make_frames(options, folder)
        pushing = Pushing(options, folder, service)
        pushing.start()
        time.sleep(options.warm_seconds)
        figures = observe(options, service)
        pushing.join()
        out = json.loads(pushing.out)
        return figures | {"unserved": 100 * (1 - out["answered"] / out["due"])}
    finally:
        service.stop()


class Sides:
    """The one without judging comes first: the other is compared with it."""

    def __init__(self, options, folder):
        self.options, self.folder, self.without = options, folder, None

    def unjudged(self):
        self.without = serve(self.options, self.folder, "--evaluators", "0")
        return {name: value for name, value in self.without.items() if not name.startswith(("age", "lag"))}

    def judged(self):
        figures = serve(self.options, self.folder, "--evaluation-interval", self.options.slot)
        figures["rules"] = figures["cores"] - self.without["cores"]
        if figures["turns"]:
            figures["per_job"] = 1e3 * figures["rules"] / figures["turns"]
        return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--gpus", type=int, default=8, help="and ranks, of each job")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--warm-seconds", type=int, default=120, help="before anything is counted")
    parser.add_argument("--push-seconds", type=int, default=2, help="how much a push has; with 10 taking them leaves more of the machine to the rules")
    parser.add_argument("--slot", default="10s", help="between two evaluations of a job")
    options = parser.parse_args()
    use_all_descriptors()
    with fresh_folder() as folder, clean_end():
        sides = Sides(options, folder)
        compare("rules_jobs", FIGURES, [Contender("not judged", sides.unjudged), Contender("judged by all rules", sides.judged)], options.rounds, {
            "jobs": options.jobs, "gpus": options.gpus, "slot": options.slot, "push_seconds": options.push_seconds, "seconds": options.seconds, "warm_seconds": options.warm_seconds,
        })


if __name__ == "__main__":
    main()

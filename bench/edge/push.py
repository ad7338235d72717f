#!/usr/bin/env python3
"""1,000 agents, one push a second each over kept connections: who is served, how fast, and what it costs.

The frames are real, and go into a real PostgreSQL, durable with each answer. Time counts from when a push was due,
so a late start counts too. The CPU of the service is told apart by its threads, and from PostgreSQL's; its threads are
counted behind the last push, its memory at its most since the first. The stock server takes the same pushes and throws them away.

    bench/edge/push.py [--rounds 3] [--seconds 30] [--agents 1000]
"""

import argparse
import functools
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, clean_end, compare, fresh_folder, own_cpu_seconds, tree_cpu_seconds  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from bench.edge.sides import Stock  # noqa: E402
from tests.support.service import Service, program, use_all_descriptors  # noqa: E402

FIGURES = [
    Figure("starved", "agents of which a push was never answered", 0, 0),
    Figure("lost", "frames that were due and are not stored", 0, 0),
    Figure("late", "% of pushes not answered within their second", digits=2),
    Figure("p50", "ms from due to answered, p50", digits=2),
    Figure("p99", "ms from due to answered, p99", 50, 2),
    Figure("cpu_edge", "us of CPU per push: the edge's loop, which reads small pushes, too", 100, 1),
    Figure("cpu_workers", "us of CPU per push: the threads that answer, which read large pushes", digits=1),
    Figure("cpu_ingest", "us of CPU per push: the threads that commit", digits=1),
    Figure("cpu_rest", "us of CPU per push: rules and all other threads", digits=1),
    Figure("cpu_postgres", "us of CPU per push: PostgreSQL", digits=1),
    Figure("cpu_all", "us of CPU per push: all of it", digits=1),
    Figure("threads", "threads of the service", 64, 0),
    Figure("rss", "MB of memory of the service at its most", 150, 1),
]
# The begin of a thread's name -> the figure that has its CPU time.
GROUPS = {"edge": "cpu_edge", "tls": "cpu_edge", "worker": "cpu_workers", "http": "cpu_workers", "answer": "cpu_workers", "ingest": "cpu_ingest", "commit": "cpu_ingest"}


def group_of(name):
    return next((group for begin, group in GROUPS.items() if name.startswith(begin)), "cpu_rest")


def threads_cpu(process):
    """{group: CPU seconds} of the threads of a process, to the nanosecond."""
    used = Counter()
    for task in Path(f"/proc/{process}/task").iterdir():
        used[group_of((task / "comm").read_text().strip())] += int((task / "schedstat").read_text().split()[0]) / 1e9
    return used


def status_of(process):
    """The kernel's figures of a process, by name: {"VmHWM": 61234, "Threads": 31, ...}; memory in kB."""
    lines = [line.split() for line in Path(f"/proc/{process}/status").read_text().splitlines()]
    return {name.rstrip(":"): int(rest[0]) for name, *rest in lines if rest and rest[0].isdigit()}


def forget_peak(process):
    """VmHWM begins anew."""
    Path(f"/proc/{process}/clear_refs").write_text("5")


def make_frames(options, folder, job, seconds, *more):
    words = ["--frames", folder / "frames", "--job", job, "--nodes", options.agents, "--cores", options.cores, "--seconds", seconds, "--push-seconds", 1]
    words += ["--begin-us", (int(time.time()) - seconds) * 10**6, *more]
    subprocess.run([program("bench/make_frames"), *map(str, words)], check=True, capture_output=True)


def push(options, folder, port, path="/api/v1/ingest/frames"):
    words = ["--port", port, "--frames", folder / "frames", "--path", path, "--seconds", options.seconds + 10]
    return json.loads(subprocess.run([program("bench/agents"), *map(str, words)], check=True, capture_output=True).stdout)


def served(out):
    assert out["other"] == {}, out["first_other"]
    late = 100 * (1 - out["answered_within_an_interval"] / out["due"])
    return {"starved": out["starved_agents"], "late": late, "p50": out["p50_ms"], "p99": out["p99_ms"]}


def run_ours(options, folder, service):
    job, process = f"push-{time.time_ns()}", service.process.pid
    status, answer = service.request("POST", "/api/v1/jobs", {"name": job, "configuration": {"rules": []}})
    assert status == 201, answer
    make_frames(options, folder, job, options.seconds, *["--all-metrics"] * options.all_metrics)
    forget_peak(process)
    before, own, whole = threads_cpu(process), own_cpu_seconds(process), tree_cpu_seconds(process)
    out = push(options, folder, service.port)
    threads, own, whole = threads_cpu(process) - before, own_cpu_seconds(process) - own, tree_cpu_seconds(process) - whole
    status = status_of(process)
    stored = int(service.sql(f"select sum(stored) from streams join jobs using (job_id) where name = '{job}'")[0][0])
    assert stored == out["acknowledged_frames"], "acknowledged is not stored"
    each = 1e6 / out["answered"]
    groups = {name: threads[name] * each for name in set(GROUPS.values())}
    rest = own - sum(threads[name] for name in set(GROUPS.values()))
    # An agent's first push holds the start of the job too.
    sizes = {"lost": out["due"] + options.agents - stored, "threads": status["Threads"], "rss": status["VmHWM"] / 1e3}
    return {**served(out), **sizes, **groups, "cpu_rest": rest * each, "cpu_postgres": (whole - own) * each, "cpu_all": whole * each}


def run_stock(options, folder):
    make_frames(options, folder, "stock", options.seconds, *["--all-metrics"] * options.all_metrics)
    side = Stock(folder).start()
    try:
        before = own_cpu_seconds(side.process.pid)
        out = push(options, folder, side.port, side.body)
        used = own_cpu_seconds(side.process.pid) - before
    finally:
        side.stop()
    return {**served(out), "cpu_all": used * 1e6 / out["answered"]}


def measure(options, folder):
    service = Service(folder).start()
    try:
        compare("" if options.all_metrics else "edge_push", FIGURES, [
            Contender("stepscope, stored", functools.partial(run_ours, options, folder, service)),
            Contender("cpp-httplib, thrown away", functools.partial(run_stock, options, folder)),
        ], options.rounds, {"agents": options.agents, "seconds": options.seconds, "cores": options.cores, "measured": time.strftime("%F")})
    finally:
        service.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--cores", type=int, default=64, help="of each node: two series each")
    parser.add_argument("--all-metrics", action="store_true", help="all that agents tell today, not those that the goal was set for; nothing is written")
    options = parser.parse_args()
    use_all_descriptors()
    with fresh_folder() as folder, clean_end():
        measure(options, folder)


if __name__ == "__main__":
    main()

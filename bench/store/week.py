#!/usr/bin/env python3
"""A job of 64 nodes and 7 days, generated and stored, and how long the page's calls then take.

The samples go straight from their generator to the service, over 8 kept connections, as fast as it takes them: nothing
else is kept of them. Each node has 208 series at 2 Hz and 8 ranks with a step a second. The compactor takes its turns
as it does in life, and ends when all has come. Rules are off: what judging costs is another question.

The calls are those that web/src makes for a job of GPUs, over the whole job and over an hour of it, with answers
compressed as browsers ask for them, and the two that scripts make. One that the service refuses is shown with its reason.

    bench/store/week.py [--nodes 64] [--days 7] [--folder DIR] [--keep-folder]
    bench/store/week.py --folder DIR --only-queries        once more on what is stored
"""

import argparse
import json
import os
import random
import statistics
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlencode

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, clean_end, fresh_folder, print_table, summaries, take_turns, tree_cpu_seconds, write_results  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from bench.store.asks import DAY, HOUR, Client  # noqa: E402
from bench.store.sides import TABLES, Stepscope, stream  # noqa: E402
from ingest_cost import table_bytes  # noqa: E402
from tests.support.service import wait_for  # noqa: E402

JOB = "week"
# The metrics that web/src/job/panels.ts asks for in one call.
PAGE = (
    "gpu_util_percent,gpu_memory_used_percent,node_cpu_percent,node_iowait_percent,memory_used_percent,disk_read_bytes_per_second,"
    "disk_write_bytes_per_second,network_receive_bytes_per_second,network_send_bytes_per_second,pressure_cpu_percent,"
    "pressure_memory_percent,pressure_io_percent,load_1m"
)
PAGE_POINTS = 360
BROWSER = "gzip, deflate, br, zstd"  # browsers accept these from this machine and over TLS
GOAL_MS = 50
CALLS = {
    "list": "the list of jobs", "describe": "describe the job", "rules": "its rules", "charts": "all charts, whole job",
    "charts_hour": "all charts, one hour", "gpus_hour": "GPU utilisation of each GPU, one hour", "steps": "steps of 8 ranks",
    "heatmap": "heat map of GPU utilisation", "heatmap_hour": "the same, one hour", "usage": "usage table",
}
STORED = [
    Figure("samples", "million samples stored", digits=1), Figure("steps", "million steps stored", digits=2),
    Figure("wall", "s, until all was stored", digits=0), Figure("wall_compacted", "s, until all was compacted", digits=0),
    Figure("cpu", "CPU-seconds of service and PostgreSQL", digits=0), Figure("cpu_million", "the same per million samples"),
    Figure("bytes", "MB in the database", digits=1), Figure("bytes_sample", "bytes per sample", 1.0, 2),
    Figure("bytes_step", "bytes per step", digits=1),
]


def figures():
    calls = [figure for name, words in CALLS.items() for figure in (
        Figure(f"{name}_p50", f"ms, {words}, p50", digits=1), Figure(f"{name}_p95", f"ms, {words}, p95", GOAL_MS, 1),
        Figure(f"{name}_size", f"KB, {words}, compressed", digits=1),
    )]
    return STORED + calls


class Living(Stepscope):
    """The compactor takes its turns."""

    def __init__(self, folder):
        super().__init__(folder, "--keep-samples", "0")

    def metric(self, name):
        lines = self.get("/metrics")[1].splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(name))

    def compacted(self):
        """Whether all is compacted. Makes the job's next turn due at once, since a turn that ends meanwhile puts it off."""
        self.set_due(0)
        return self.sql("select (select count(*) from frames) + (select count(*) from job_rollups where stale)") == [["0"]]

    def bytes(self):
        """(of samples, of steps)"""
        self.sql("vacuum")
        return table_bytes(self, *TABLES), table_bytes(self, "step_blocks")


def say_progress(side, samples, stop):
    began = time.monotonic()
    while not stop.wait(30):
        stored, compacted = side.metric("stepscope_ingest_samples_total"), side.metric("stepscope_compact_frames_total")
        waiting = side.metric("stepscope_ingest_frames_total") - compacted
        spent, used = time.monotonic() - began, tree_cpu_seconds(side.process.pid)
        print(
            f"{spent:5.0f} s: {stored / 1e6:.1f} million samples and steps, {100 * stored / samples:.1f} %, {stored / spent / 1e6:.2f} million/s;"
            f" {waiting:.0f} frames wait for the compactor; {used:.0f} CPU-s", flush=True,
        )


def store(side, options, begin_us):
    """Fills the job; the figures of STORED."""
    side.add_job(JOB, options.interval_ms, waits=False)
    cpu, began, stop = tree_cpu_seconds(side.process.pid), time.monotonic(), threading.Event()
    expected = options.nodes * options.days * DAY * (208 * 1000 / options.interval_ms + 6 * options.ranks)  # a step counts as six
    progress = threading.Thread(target=say_progress, args=(side, expected, stop), daemon=True)
    progress.start()
    try:
        made = stream(
            side, JOB, nodes=options.nodes, seconds=int(options.days * DAY), tick_ms=options.interval_ms, ranks=options.ranks,
            push_seconds=options.push_seconds, begin_us=begin_us,
        )
        wall = time.monotonic() - began
        wait_for(side.compacted, "all frames become blocks", 7200, 2)
    finally:
        stop.set()
        progress.join()
    used = tree_cpu_seconds(side.process.pid) - cpu
    of_samples, of_steps = side.bytes()
    steps = int(side.sql("select coalesce(sum(rows), 0) from step_blocks")[0][0])
    return {
        "samples": made["samples"] / 1e6, "steps": steps / 1e6, "wall": wall, "wall_compacted": time.monotonic() - began, "cpu": used,
        "cpu_million": used * 1e6 / made["samples"], "bytes": (of_samples + of_steps) / 1e6, "bytes_sample": of_samples / made["samples"],
        "bytes_step": of_steps / max(1, steps),
    }


def paths(seconds, begin):
    """{call: its path}; the hour is another one each time."""
    first = begin + random.randrange(0, max(1, int(seconds) - HOUR))
    margin = HOUR // 20  # the page asks for a little more, so that edges are drawn
    page = {"metric": PAGE, "points": PAGE_POINTS, "fold": "metric", "times": "runs"}  # the page asks so for jobs of many nodes
    hour = {"from_us": (first - margin) * 10**6, "to_us": (first + HOUR + margin) * 10**6}
    calls = {
        "charts": ("metrics", page), "charts_hour": ("metrics", {**page, **hour}), "steps": ("steps", {"most": 8}),
        "gpus_hour": ("metrics", {"metric": "gpu_util_percent", "points": PAGE_POINTS, "times": "runs", **hour}),
        "rules": ("rules", {}), "usage": ("usage", {}), "heatmap": ("heatmap", {"metric": "gpu_util_percent"}),
        "heatmap_hour": ("heatmap", {"metric": "gpu_util_percent", **hour}),
    }
    job = f"/api/v1/jobs/{JOB}"
    return {"list": "/api/v1/jobs", "describe": job} | {name: f"{job}/{part}?{urlencode(query)}" for name, (part, query) in calls.items()}


def ask(client, name, options, begin):
    """p50, p95 and size of one call; nothing when it is refused."""
    took, size = [], 0
    for number in range(options.requests + 2):
        path, began = paths(options.days * DAY, begin)[name], time.perf_counter()
        try:
            size = len(client.get(path, {"Accept-Encoding": BROWSER}))
        except AssertionError as refused:
            print(f"{name} is refused: {refused}", flush=True)
            return {}
        if number >= 2:  # the first ones open files
            took.append(1e3 * (time.perf_counter() - began))
    return {f"{name}_p50": statistics.median(took), f"{name}_p95": statistics.quantiles(took, n=20)[-1], f"{name}_size": size / 1e3}


def measure(options, folder):
    side = Living(folder)
    try:
        kept = folder / "week.json"
        if not options.only_queries:
            begin = int(time.time()) // HOUR * HOUR - int(options.days * DAY)
            kept.write_text(json.dumps({"begin": begin, "days": options.days, "stored": store(side, options, begin * 10**6)}))
        known = json.loads(kept.read_text())
        options.days = known["days"]
        client = Client(side.port)
        wait_for(side.compacted, "all is compacted and folded", 1800, 2)
        page = Contender("stepscope", lambda: {
            key: value for name in CALLS for key, value in ask(client, name, options, known["begin"]).items()
        })
        values = take_turns([page], options.rounds)
        values["stepscope"] |= {name: [value] for name, value in known["stored"].items()}
        rows = summaries(figures(), values)
        print_table([figure for figure in figures() if figure.name in values["stepscope"]], rows)
        write_results("store_week", rows, {key: getattr(options, key) for key in ("nodes", "days", "interval_ms", "ranks", "push_seconds", "requests")})
    finally:
        side.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--days", type=float, default=7)
    parser.add_argument("--interval-ms", type=int, default=500)
    parser.add_argument("--push-seconds", type=int, default=10, help="of samples in a push; an agent's default is 2")
    parser.add_argument("--ranks", type=int, default=8, help="of each node")
    parser.add_argument("--requests", type=int, default=20, help="of each call in a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the database is; a temporary one when left out")
    parser.add_argument("--keep-folder", action="store_true")
    parser.add_argument("--only-queries", action="store_true", help="on what is stored in --folder")
    options = parser.parse_args()
    with fresh_folder(options.folder, options.keep_folder or options.only_queries) as folder, clean_end():
        measure(options, folder)


if __name__ == "__main__":
    main()

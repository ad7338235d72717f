#!/usr/bin/env python3
"""How long a chart takes, at the HTTP client over a kept connection: the service against VictoriaMetrics, Prometheus
and InfluxDB.

All hold the same samples, compacted (Prometheus keeps the last hours in memory, as always), and get the same ranges
at random, without their caches of answers. Before anything is timed, the answers are compared, number by number.
VictoriaMetrics gives least, mean and greatest by its function rollup(), Prometheus by three functions in one request;
one series raw comes from /api/v1/export and from a range. The hour that percentiles slide over was sampled at 1 Hz,
because PromQL has its windows in seconds, the rest at 2 Hz.

    bench/store/queries.py [--rounds 3] [--days 7] [--only VictoriaMetrics,Prometheus]

About 20 minutes, most of them to store 77 million samples four times.
"""

import argparse
import functools
import os
import statistics
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, clean_end, compare, fresh_folder  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from bench.store.asks import ASKS, DAY, HOUR, Chart, Client  # noqa: E402
from bench.store.peers import PEERS  # noqa: E402
from bench.store.sides import Stepscope, stream  # noqa: E402

OURS = "stepscope"
LONGEST = 20  # seconds that a round gives to a chart, once it was asked for a few times
FEWEST = 3


def charts(days):
    """The week asks for a few points more than 1,000, so that a bin is a rollup's: 600 s. The jobs follow each other in
    time, because Prometheus takes no sample that is older than others by an hour."""
    now = int(time.time()) // HOUR * HOUR
    node = {"nodes": 4, "seconds": 2 * HOUR, "push_seconds": 10}
    slow = {**node, "tick_ms": 1000}
    week = {"nodes": 8, "seconds": days * DAY, "push_seconds": 300, "metric": "gpu_util_percent"}
    step = 60 * -(-(2 * days * DAY // 1010 + 1) // 120)  # whole minutes, as the service rounds up
    return [
        Chart("week", f"64 series, {days} days, 1,008 points", 40, "week", "gpu_util_percent", week, now - 4 * HOUR - days * DAY, "", "", days * DAY, 1010, step),
        Chart("percentiles", "1 series, 1 h, p5, p50 and p95 of 501 samples", 3, "node", "gpu_power_watts", slow, now - 4 * HOUR, "node-1", "gpu5", step=1, window=501),
        Chart("raw", "1 series, 1 h, all 7,200 samples", 0.6, "eight", "cpu_util_percent", node, now - 2 * HOUR, "node-1", "cpu5"),
        Chart("eight", "8 series, 1 h, 900 points of 1,000", 2.5, "eight", "gpu_power_watts", node, now - 2 * HOUR, "node-2", "", HOUR, 1000, 4),
    ]


def check_same(chart, name, ours, theirs):
    """The two answers of one range, number by number."""
    assert ours.keys() == theirs.keys(), f"{chart.name}, {name}: {sorted(ours)[:3]} but {sorted(theirs)[:3]}"
    for key, numbers in ours.items():
        assert len(numbers) == len(theirs[key]), f"{chart.name} {key}, {name}: {len(numbers)} but {len(theirs[key])} numbers"
        furthest = max(abs(one - other) for one, other in zip(numbers, theirs[key]))
        assert furthest < 0.01, f"{chart.name} {key}, {name}: differ by {furthest}"
    print(f"{chart.name}, {name}: {len(ours)} rows of {len(next(iter(ours.values())))} numbers are the same", flush=True)


def check_answers(sides, chart):
    begin, numbers = chart.at_random(), {}
    for name, side in sides.items():
        if path := ASKS[name].path(chart, begin):
            numbers[name] = ASKS[name].numbers(chart, Client(side.port).get(path))
    for name in numbers.keys() - {OURS}:
        check_same(chart, name, numbers[OURS], numbers[name])


def times(client, paths):
    took = []
    for path in paths:
        began = time.perf_counter()
        client.get(path)
        took.append(1e3 * (time.perf_counter() - began))
        if sum(took) > 1e3 * LONGEST and len(took) >= FEWEST:
            break
    return took


def timed(name, side, shown, options):
    """One round: the figures of all charts."""
    client, figures = Client(side.port), {}
    for chart in shown:
        paths = [ASKS[name].path(chart, chart.at_random()) for _ in range(options.requests)]
        if paths[0]:
            times(client, paths[:FEWEST])
            took = times(client, paths)
            figures |= {f"{chart.name}_p50": statistics.median(took), f"{chart.name}_p95": statistics.quantiles(took, n=20)[-1]}
    return figures


def store(sides, shown):
    jobs = {chart.job: chart for chart in shown}
    for job, chart in jobs.items():
        for name, side in sides.items():
            began = time.monotonic()
            side.add_job(job, chart.made.get("tick_ms", 500))
            made = stream(side, job, begin_us=chart.begin * 10**6, **chart.made)
            print(f"{job}, {name}: {made['samples']} samples stored in {time.monotonic() - began:.0f} s", flush=True)
    for side in sides.values():
        side.compact()


def figures_of(shown):
    return [figure for chart in shown for figure in (
        Figure(f"{chart.name}_p50", f"ms, {chart.words}, p50", chart.goal_ms, 2), Figure(f"{chart.name}_p95", f"ms, {chart.words}, p95", digits=2),
    )]


def measure(options, folder, children):
    shown, sides = charts(options.days), {}
    chosen = options.only.split(",") if options.only else PEERS
    try:
        sides[OURS] = Stepscope(folder)
        sides |= {name: PEERS[name](folder, children) for name in chosen}
        store(sides, shown)
        for chart in shown:
            check_answers(sides, chart)
        contenders = [Contender(name, functools.partial(timed, name, side, shown, options)) for name, side in sides.items()]
        name = "_".join(["store_queries", *chosen]) if options.only else "store_queries"
        compare(name, figures_of(shown), contenders, options.rounds, {"requests": options.requests, "days": options.days})
    finally:
        for side in sides.values():
            side.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--requests", type=int, default=50, help="of each chart in a round")
    parser.add_argument("--only", default="", help="peers, separated by commas; the results then go to a file named after them")
    options = parser.parse_args()
    with fresh_folder() as folder, clean_end() as children:
        measure(options, folder, children)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How long a chart takes, at the HTTP client over a kept connection: the service against VictoriaMetrics.

Both hold the same samples, compacted, and get the same ranges at random, without their caches of answers. Before
anything is timed, the answers are compared, number by number. VictoriaMetrics gives least, mean and greatest by
its function rollup(); one series raw comes from /api/v1/export. The service answers at most 4,000 points a series,
so the hour that is read raw was sampled at 1 Hz, the rest at 2 Hz.

    bench/store/queries.py [--rounds 3] [--days 7]        about 8 minutes, 4 of which to store 77 million samples
"""

import argparse
import functools
import http.client
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, compare  # noqa: E402
from processes import Children, Stopped, stop_on_signals  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from bench.store.sides import Stepscope, Victoria, make_samples, send  # noqa: E402

HOUR, DAY = 3600, 86_400


@dataclass(frozen=True)
class Chart:
    """A request, and the samples that it is made on."""

    name: str
    words: str
    goal_ms: float
    metric: str
    made: dict  # what make_frames gets
    begin: int = 0  # of the samples, seconds since the epoch
    node: str = ""
    device: str = ""
    seconds: int = HOUR
    points: int = 4000
    step: int = 0  # seconds; 0: every sample

    def at_random(self):
        """The begin of a range, on the grid of the bins."""
        rest = self.made["seconds"] - self.seconds
        return self.begin + random.randrange(0, rest + 1, self.step or 1)


def charts(days):
    """The week asks for a few points more than 1,000, so that a bin is a rollup's: 600 s."""
    now = int(time.time()) // HOUR * HOUR
    node = {"nodes": 4, "seconds": 2 * HOUR, "push_seconds": 10}
    week = {"nodes": 8, "seconds": days * DAY, "push_seconds": 300, "metric": "gpu_util_percent"}
    step = 60 * -(-(2 * days * DAY // 1010 + 1) // 120)  # whole minutes, as the service rounds up
    return [
        Chart("raw", "1 series, 1 h, every sample", 0.6, "cpu_util_percent", {**node, "tick_ms": 1000}, now - 2 * HOUR, "node-1", "cpu5"),
        Chart("eight", "8 series, 1 h, 900 points of 1,000", 2.5, "user.gpu_power_watts", node, now - 2 * HOUR, "node-2", "", HOUR, 1000, 4),
        Chart("week", f"64 series, {days} days, 1,008 points", 40, "gpu_util_percent", week, now - days * DAY, "", "", days * DAY, 1010, step),
    ]


class Client:
    """One kept connection."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)

    def get(self, path):
        self.connection.request("GET", path)
        reply = self.connection.getresponse()
        body = reply.read()
        assert reply.status == 200, body[:300]
        return body


def stepscope_path(chart, begin):
    query = {"metric": chart.metric, "from_us": begin * 10**6, "to_us": (begin + chart.seconds) * 10**6 - 1, "points": chart.points}
    query |= {key: getattr(chart, key) for key in ("node", "device") if getattr(chart, key)}
    return f"/api/v1/jobs/{chart.name}/metrics?{urlencode(query)}"


def victoria_path(chart, begin):
    labels = {"__name__": chart.metric, "job": chart.name, "node": chart.node, "device": chart.device}
    series = "{" + ",".join(f'{key}="{value}"' for key, value in labels.items() if value) + "}"
    end = begin + chart.seconds - 0.001
    if not chart.step:
        return f"/api/v1/export?{urlencode({'match[]': series, 'start': begin, 'end': end})}"
    # A bin there ends at its time and holds what is later than its begin: 1 ms before ours.
    query = {"query": f"rollup({series}[{chart.step}s])", "start": begin + chart.step - 0.001, "end": end, "step": chart.step, "nocache": 1}
    return f"/api/v1/query_range?{urlencode(query)}"


def stepscope_numbers(chart, body):
    """{(node, device, which): [numbers]}"""
    series = json.loads(body)["series"]
    names = ("min", "mean", "max") if chart.step else ("mean",)
    return {(each["node"], each["device"], name): each[name] for each in series for name in names}


def victoria_numbers(chart, body):
    if not chart.step:
        lines = [json.loads(line) for line in body.splitlines()]
        return {(line["metric"]["node"], line["metric"]["device"], "mean"): line["values"] for line in lines}
    words = {"min": "min", "avg": "mean", "max": "max"}
    result = json.loads(body)["data"]["result"]
    keys = [(each["metric"]["node"], each["metric"]["device"], words[each["metric"]["rollup"]]) for each in result]
    return {key: [float(value) for _, value in each["values"]] for key, each in zip(keys, result)}


def check_same(chart, ours, theirs):
    """The two answers of one range, number by number."""
    assert ours.keys() == theirs.keys(), f"{chart.name}: {sorted(ours)[:3]} but {sorted(theirs)[:3]}"
    for key, numbers in ours.items():
        assert len(numbers) == len(theirs[key]), f"{chart.name} {key}: {len(numbers)} but {len(theirs[key])} numbers"
        furthest = max(abs(one - other) for one, other in zip(numbers, theirs[key]))
        assert furthest < 0.01, f"{chart.name} {key}: differ by {furthest}"
    print(f"{chart.name}: {len(ours)} rows of {len(next(iter(ours.values())))} numbers are the same", flush=True)


def timed(side, path_of, shown, options):
    """One round: the figures of all charts."""
    client, figures = Client(side.port), {}
    for chart in shown:
        paths = [path_of(chart, chart.at_random()) for _ in range(options.requests)]
        for path in paths[:3]:
            client.get(path)
        took = []
        for path in paths:
            began = time.perf_counter()
            client.get(path)
            took.append(1e3 * (time.perf_counter() - began))
        figures |= {f"{chart.name}_p50": statistics.median(took), f"{chart.name}_p95": statistics.quantiles(took, n=20)[-1]}
    return figures


def store(sides, shown, folder):
    for chart in shown:
        began = time.monotonic()
        tick_ms = chart.made.get("tick_ms", 500)
        made = make_samples(folder, chart.name, begin_us=chart.begin * 10**6, **chart.made)
        for side in sides:
            side.add_job(chart.name, tick_ms)
            send(side, folder)
        print(f"{chart.name}: {made['samples']} samples stored twice in {time.monotonic() - began:.0f} s", flush=True)
    for side in sides:
        side.compact()


def figures_of(shown):
    return [figure for chart in shown for figure in (
        Figure(f"{chart.name}_p50", f"ms, {chart.words}, p50", chart.goal_ms, 2), Figure(f"{chart.name}_p95", f"ms, {chart.words}, p95", digits=2),
    )]


def measure(options, folder, children):
    shown, sides = charts(options.days), []
    try:
        sides += [Stepscope(folder), Victoria(folder, children)]
        ours, theirs = sides
        store(sides, shown, folder)
        for chart in shown:
            begin = chart.at_random()
            answers = Client(ours.port).get(stepscope_path(chart, begin)), Client(theirs.port).get(victoria_path(chart, begin))
            check_same(chart, stepscope_numbers(chart, answers[0]), victoria_numbers(chart, answers[1]))
        compare("store_queries", figures_of(shown), [
            Contender("stepscope", functools.partial(timed, ours, stepscope_path, shown, options)),
            Contender("VictoriaMetrics", functools.partial(timed, theirs, victoria_path, shown, options)),
        ], options.rounds, {"requests": options.requests, "days": options.days})
    finally:
        for side in sides:
            side.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--requests", type=int, default=50, help="of each chart in a round")
    options = parser.parse_args()
    stop_on_signals()
    children = Children()
    folder = Path(tempfile.mkdtemp(prefix="stepscope-bench-"))
    folder.chmod(0o711)
    try:
        measure(options, folder, children)
        return 0
    except Stopped as stopped:
        return stopped.exit_code
    finally:
        children.end_all()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""How much memory the service takes for charts of a node with very many series: 8,000 cores of two series each, an
hour of them at 2 Hz (115 million samples), before and after they are compacted. Memory is what the service holds at
its most during a request, the first one since its start, beyond what it held before.

    bench/store/wide.py [--cores 8000] [--rounds 3]       about 5 minutes
"""

import argparse
import functools
import os
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, clean_end, fresh_folder, print_table, summaries, take_turns, write_results  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from bench.edge.push import forget_peak, status_of  # noqa: E402
from bench.store.asks import HOUR  # noqa: E402
from bench.store.queries import Client  # noqa: E402
from bench.store.sides import Stepscope, stream  # noqa: E402

CORE = "metric=cpu_util_percent&node=node-0&device=cpu7"
ASKS = {
    "samples": ("all samples of an hour of one of them", f"metrics?{CORE}&points=8000&from_us={{begin}}&to_us={{end}}"),
    "folded": ("360 points of an hour, all of them folded", "metrics?metric=cpu_util_percent&fold=metric&points=360&from_us={begin}&to_us={end}"),
    "percentiles": ("sliding percentiles of an hour of one of them", f"percentiles?{CORE}&points=1000&window=120&from_us={{begin}}&to_us={{end}}"),
    "usage": ("usage of an hour", "usage?from_us={begin}&to_us={end}"),
}
FIGURES = [Figure(f"{name}_{what}", f"{unit} {words}", digits=1) for name, (words, _) in ASKS.items() for what, unit in (("mb", "MB of memory for"), ("ms", "ms of"), ("kb", "KB of"))]


def memory_of(side, path):
    """(MB, ms, size of the answer); a service that answered before keeps memory for half a minute."""
    side.stop()
    side.start()
    client, process = Client(side.port), side.process.pid
    client.get("/api/v1/jobs/wide")
    forget_peak(process)
    before, began = status_of(process)["VmRSS"], time.perf_counter()
    body = client.get(f"/api/v1/jobs/wide/{path}")
    took = time.perf_counter() - began
    return (status_of(process)["VmHWM"] - before) / 1e3, 1e3 * took, len(body) / 1e3


def one_round(side, begin, names):
    figures = {}
    for name in names:
        _, path = ASKS[name]
        took = memory_of(side, path.format(begin=begin * 10**6, end=(begin + HOUR) * 10**6 - 1))
        figures |= zip((f"{name}_mb", f"{name}_ms", f"{name}_kb"), took)
    return figures


def measure(options, folder):
    side = Stepscope(folder)
    try:
        begin = int(time.time()) // HOUR * HOUR - HOUR
        side.add_job("wide")
        stream(side, "wide", nodes=1, cores=options.cores, gpus=0, seconds=HOUR, push_seconds=10, begin_us=begin * 10**6)
        phase = functools.partial(one_round, side, begin)
        values = take_turns([Contender("before compaction", lambda: phase(ASKS))], options.rounds)
        side.compact()
        rolled = ASKS.keys() - {"folded"}  # there are no rollups of so many devices
        values |= take_turns([Contender("afterwards", lambda: phase(rolled))], options.rounds)
    finally:
        side.stop()
    rows = summaries(FIGURES, values)
    print_table(FIGURES, rows)
    write_results("store_wide", rows, {"cores": options.cores, "measured": time.strftime("%F")})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", type=int, default=8000, help="two series each; a frame has 16,384 columns at most")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with fresh_folder() as folder, clean_end():
        measure(options, folder)


if __name__ == "__main__":
    main()

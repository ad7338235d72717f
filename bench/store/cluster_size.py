#!/usr/bin/env python3
"""How many workers a fleet needs: jobs of a fleet are placed on shards and shards on workers, as Citus does, and their load is added up.

A job's rows lie in one shard, so the largest jobs decide: the busiest worker has to bear its share of them. What a million samples cost each
part is read from the results of bench/store/citus.py (pushes of 2 s), or given. Sizes of jobs are drawn from a log-normal distribution until
the fleet is full; each row of the table is the median of several fleets, with the range of the busiest worker.

    bench/store/cluster_size.py [--nodes 10000] [--series 208] [--largest 512] [--cores 8]
"""

import argparse
import json
import math
import random
import statistics
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "results" / "citus.json"
TICKS_A_SECOND = 2
BYTES_A_SAMPLE = 1.3  # frames until they are compacted, then blocks: docs/speed.md
FRAMES_KEPT_SECONDS = 900  # at most so long a frame waits for its block
BUSY = 0.5  # of its cores a machine may be busy with pushes; charts, rules and compaction have the rest
FLEETS = 25


def measured(name):
    """CPU-seconds per million samples of one part, on the cluster."""
    rows = json.loads(RESULTS.read_text())
    return next(row["median"] for row in rows if row["figure"] == name and row["contender"].startswith("Citus"))


def jobs_of(nodes, largest, dice):
    """Sizes of jobs in nodes, until the fleet is full."""
    sizes = []
    while (left := nodes - sum(sizes)) > 0:
        sizes.append(min(left, largest, max(1, round(dice.lognormvariate(math.log(8), 1.4)))))
    return sizes


def busiest(sizes, shards, workers, dice):
    """The share of the fleet's load that the busiest worker has: jobs on shards by hash, shards on workers in turn."""
    load = [0] * workers
    for size in sizes:
        load[dice.randrange(shards) % workers] += size
    return max(load) / sum(sizes)


def simulate(options):
    samples = options.nodes * options.series * TICKS_A_SECOND
    pushes = options.nodes / options.push_seconds
    per_second = samples / 1e6
    print(f"{options.nodes} nodes x {options.series} series at {TICKS_A_SECOND} Hz, a push each {options.push_seconds:g} s:")
    print(f"  {samples / 1e6:.2f} M samples/s, {pushes:,.0f} pushes and rows of frames/s, {pushes * FRAMES_KEPT_SECONDS / 1e6:.1f} M rows of frames at most")
    print(f"  {samples * BYTES_A_SAMPLE / 1e6:.1f} MB/s, {samples * BYTES_A_SAMPLE * 86400 * options.days / 1e12:.1f} TB in {options.days} days")
    service, coordinator = options.service * per_second, options.coordinator * per_second
    replicas = math.ceil(service / (options.cores * BUSY))
    print(f"  service: {service:.1f} cores, {replicas} replicas of {options.cores} cores; {replicas * options.connections} connections to the coordinator")
    print(f"  coordinator: {coordinator:.1f} cores" + ("" if coordinator <= options.cores * BUSY else "  <- more than one machine bears"))
    print(f"  {'workers':>8} {'shards':>7} {'busiest, of all':>22} {'cores of it':>12}")
    dice = random.Random(options.seed)
    for workers in (1, 2, 4, 8, 16, 32):
        shards = max(32, 4 * workers)
        shares = [busiest(jobs_of(options.nodes, options.largest, dice), shards, workers, dice) for _ in range(FLEETS)]
        cores = statistics.median(shares) * options.workers * per_second
        enough = "  <- enough" if cores <= options.cores * BUSY else ""
        print(f"  {workers:>8} {shards:>7} {statistics.median(shares):>7.1%} ({min(shares):.1%}-{max(shares):.1%}) {cores:>12.2f}{enough}")
        if enough:
            break


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--series", type=int, default=208, help="of a node")
    parser.add_argument("--push-seconds", type=float, default=2)
    parser.add_argument("--largest", type=int, default=512, help="nodes of the largest job")
    parser.add_argument("--cores", type=int, default=8, help="of each machine")
    parser.add_argument("--days", type=int, default=30, help="that samples are kept")
    parser.add_argument("--connections", type=int, default=40, help="of one service")
    parser.add_argument("--seed", type=int, default=1)
    for part in ("service", "coordinator", "workers"):
        parser.add_argument(f"--{part}", type=float, help="CPU-seconds per million samples; from the results when left out")
    options = parser.parse_args()
    for part in ("service", "coordinator", "workers"):
        if getattr(options, part) is None:
            setattr(options, part, measured(part))
    simulate(options)


if __name__ == "__main__":
    main()

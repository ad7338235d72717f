#!/usr/bin/env python3
"""How many workers a fleet needs: jobs of a fleet are placed on shards and shards on workers, as Citus does, and their load is added up.

A job's rows lie in one shard, so the largest jobs decide: the busiest worker has to bear its share of them. What a million samples cost each
part is read from the results of bench/store/citus.py: once for pushes of a large job, which are stored several at a time, and once for
pushes that are stored one by one, as those of small jobs are; a fleet lies between. Sizes of jobs are drawn from a log-normal distribution until
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
OWN_CONNECTIONS = 8  # sessions of a service with each worker, past the coordinator


PARTS = ("service", "coordinator", "workers")


def measured(name):
    """CPU-seconds per million samples, on the cluster."""
    rows = json.loads(RESULTS.read_text())
    return next(row["median"] for row in rows if row["figure"] == name and row["contender"].startswith("Citus"))


def costs():
    """(part -> CPU-seconds per million samples of pushes that are stored together, the same of pushes one by one)."""
    together = {part: measured(part) for part in PARTS}
    alone = measured("cpu_jobs") / sum(together.values())  # its parts are taken to be as large
    return together, {part: cost * alone for part, cost in together.items()}


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
    together, alone = ({part: cost * per_second for part, cost in each.items()} for each in costs())
    replicas = math.ceil(alone["service"] / (options.cores * BUSY))
    sessions = replicas * options.connections
    print(f"  service: {together['service']:.1f} to {alone['service']:.1f} cores, {replicas} replicas of {options.cores} cores; {sessions} connections to the "
          f"coordinator, {sessions + replicas * OWN_CONNECTIONS} to each worker")
    print(f"  coordinator: {together['coordinator']:.1f} to {alone['coordinator']:.1f} cores"
          + ("" if alone["coordinator"] <= options.cores * BUSY else "  <- more than one machine bears"))
    print("  cores of the busiest worker: pushes stored together, and one by one")
    print(f"  {'workers':>8} {'shards':>7} {'busiest, of all':>22} {'together':>9} {'one by one':>11}")
    dice = random.Random(options.seed)
    for workers in (1, 2, 4, 8, 16, 32):
        shards = max(32, 4 * workers)
        shares = [busiest(jobs_of(options.nodes, options.largest, dice), shards, workers, dice) for _ in range(FLEETS)]
        least, most = (statistics.median(shares) * each["workers"] for each in (together, alone))
        enough = "  <- enough" if most <= options.cores * BUSY else ""
        print(f"  {workers:>8} {shards:>7} {statistics.median(shares):>7.1%} ({min(shares):.1%}-{max(shares):.1%}) {least:>9.2f} {most:>11.2f}{enough}")
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
    parser.add_argument("--connections", type=int, default=34, help="of one service with the coordinator, which keeps as many with each worker")
    parser.add_argument("--seed", type=int, default=1)
    simulate(parser.parse_args())


if __name__ == "__main__":
    main()

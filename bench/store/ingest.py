#!/usr/bin/env python3
"""What it costs to take samples and to keep them: the service with its PostgreSQL against VictoriaMetrics, Prometheus
and InfluxDB.

The same samples go to all over 8 kept connections (Prometheus: one), each side in a fresh folder every round; pushes
of 2 s, which agents send by default, over one for each node, as agents do. Ours and InfluxDB are durable with each
answer; VictoriaMetrics writes to its disk within seconds, which are waited for; Prometheus leaves that to the kernel.
Only then comes the compaction (there: the merge; the snapshot; a cold shard), all at once, and with --turn-seconds also
the way it happens while a job runs: a turn whenever so much time has come. Sizes are of tables with their indexes after
a vacuum, without the write-ahead log; there of the folder, log included; Prometheus's after compaction is that of a
snapshot.

    bench/store/ingest.py [--rounds 3] [--nodes 20] [--seconds 3600]        about 8 minutes a round
"""

import argparse
import functools
import os
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, clean_end, compare, fresh_folder  # noqa: E402
from ingest_cost import counted  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from bench.store.peers import PEERS  # noqa: E402
from bench.store.sides import Stepscope, make_samples, send  # noqa: E402

FIGURES = [
    Figure("ingest", "CPU-seconds per million samples, to where they are durable", 0.15),
    Figure("compact", "CPU-seconds per million samples, compaction"),
    Figure("disk_before", "bytes per sample before compaction", 1.5, 2),
    Figure("disk", "bytes per sample after compaction", 1.0, 2),
    Figure("disk_blocks", "bytes per sample, blocks", digits=2),
    Figure("disk_rollups", "bytes per sample, rollups", digits=2),
]


def begin_us(seconds):
    """The time at which samples begin that ended lately, on a whole hour."""
    return (int(time.time()) // 3600 * 3600 - seconds) * 10**6


def whole(options, start, push_seconds, connections, folder):
    """Pushes all samples, then compacts once."""
    side = start(folder)
    try:
        samples = make_samples(
            folder, "whole", side.body, nodes=options.nodes, seconds=options.seconds, push_seconds=push_seconds, begin_us=begin_us(options.seconds)
        )["samples"]
        side.add_job("whole")
        taken = counted(side, samples, lambda: send(side, folder, connections))
        assert side.stored() in (None, samples), f"{samples} sent, {side.stored()} stored"
        before = side.bytes()
        compacted = counted(side, samples, side.compact)
        after = side.bytes()
    finally:
        side.stop()
    sizes = {f"disk_{what}": size / samples for what, size in after.items() if what != "all"}
    return {
        "ingest": taken["cpu"], "compact": compacted["cpu"],
        "disk_before": before["all"] / samples, "disk": after["all"] / samples, **sizes,
    }


def in_turns(options, start, folder):
    """Pushes and compactions in turns, as while a job runs: a window of blocks is written again with each turn in it."""
    side, samples, taken, compacted = start(folder), 0, 0, 0
    try:
        side.add_job("turns")
        began = begin_us(options.turn_seconds * options.turns)
        for turn in range(options.turns):
            made = make_samples(
                folder, "turns", side.body, nodes=options.turn_nodes, seconds=options.turn_seconds, push_seconds=10,
                begin_us=began + turn * options.turn_seconds * 10**6,
            )
            samples += made["samples"]
            taken += counted(side, 1e6, lambda: send(side, folder, options.connections))["cpu"]
            compacted += counted(side, 1e6, side.compact)["cpu"]
        after = side.bytes()
    finally:
        side.stop()
    sizes = {f"disk_{what}": size / samples for what, size in after.items() if what != "all"}
    return {"ingest": taken * 1e6 / samples, "compact": compacted * 1e6 / samples, "disk": after["all"] / samples, **sizes}


def in_fresh_folder(measure):
    with fresh_folder() as folder:
        return measure(folder)


def contenders(options, children):
    ways = {
        "stepscope, pushes of 10 s": functools.partial(whole, options, Stepscope, 10, options.connections),
        "stepscope, pushes of 2 s, a connection a node": functools.partial(whole, options, Stepscope, 2, options.nodes),
        f"stepscope, a turn each {options.turn_seconds} s": functools.partial(in_turns, options, Stepscope),
    }
    for name, peer in PEERS.items():
        ways[name] = functools.partial(whole, options, functools.partial(peer, children=children), 10, options.connections)
    ways["VictoriaMetrics, pushes of 2 s, a connection a node"] = functools.partial(whole, options, functools.partial(PEERS["VictoriaMetrics"], children=children), 2, options.nodes)
    return [Contender(name, functools.partial(in_fresh_folder, way)) for name, way in ways.items() if options.only in name]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=3600, help="of samples, at 2 Hz")
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--turn-seconds", type=int, default=300, help="as often as the compactor comes to a job that runs")
    parser.add_argument("--turn-nodes", type=int, default=10)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--only", default="", help="contenders with this in their names; nothing is written then")
    options = parser.parse_args()
    shown = ("nodes", "seconds", "turns", "turn_nodes", "connections")
    name = "" if options.only else "store_ingest"
    with clean_end() as children:
        compare(name, FIGURES, contenders(options, children), options.rounds, {key: getattr(options, key) for key in shown})


if __name__ == "__main__":
    main()

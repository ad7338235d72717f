#!/usr/bin/env python3
"""What a tick costs the sampling thread, by collector: bench/agent_collectors, some rounds of it, as bench/results/agent_ticks.json.

`here` is this machine, `large` a made-up node with 192 cores, 8 disks and 8 ports of InfiniBand, whose files lie on a
disk: parsing, without what the kernel does to write such a text. Processes are 8 ranks with 8 loaders each.

    bench/agent_ticks.py [--rounds 3] [--alone]       --alone: with cold caches, as they are twice a second
"""

import argparse
import functools
import os
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from harness import ROOT, Contender, Figure, compare  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from tests.support.service import program  # noqa: E402

COLLECTORS = ("cpu", "frequency", "load", "memory", "faults", "pressure", "disk", "nfs", "network", "tcp", "rdma", "gpu", "cgroup", "all", "process")
FIGURES = [
    Figure("here", "us of CPU time a tick, this machine"),
    Figure("large", "us of CPU time a tick, 192 cores"),
    Figure("series", "series of the large node", digits=0),
]


class Rounds:
    """One run of the program serves all collectors of a round."""

    def __init__(self, command):
        self.command, self.rows = command, {}

    def figures(self, collector):
        if collector not in self.rows:
            lines = subprocess.run(self.command, capture_output=True, text=True, check=True).stdout.splitlines()
            self.rows = {words[0]: words[1:] for words in map(str.split, lines[1:])}
        words = self.rows.pop(collector)
        if collector == "process":
            return {"here": float(words[0]) / 1000}
        return {"here": float(words[0]) / 1000, "large": float(words[2]) / 1000, "series": int(words[3])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--alone", action="store_true")
    options = parser.parse_args()
    rounds = Rounds([program("bench/agent_collectors"), *(["--alone"] if options.alone else [])])
    contenders = [Contender(name, functools.partial(rounds.figures, name)) for name in COLLECTORS]
    compare("agent_ticks", FIGURES, contenders, options.rounds, {"caches": "cold" if options.alone else "warm"})


if __name__ == "__main__":
    main()

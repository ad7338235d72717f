#!/usr/bin/env python3
"""How small each codec makes the samples, and what CPU time it takes: ours, at three levels of zstd, against what
other stores use. A column is 600 s of one series at 2 Hz, by itself; times are in none of them, because a block has
one column of times for all its series. The program fails when a value does not come back.

    bench/store/codec.py [--rounds 3] [--nodes 8]        about a minute
"""

import argparse
import functools
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, compare  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from tests.support.service import program  # noqa: E402

KINDS = ("all", "cores", "smooth", "GPUs", "pages", "bursts", "constants")
FIGURES = [
    *(Figure(f"bytes_{kind}", f"bytes per sample, {kind}", digits=3) for kind in KINDS),
    Figure("encode", "CPU ns per sample to encode", digits=1),
    Figure("decode", "CPU ns per sample to decode", digits=1),
]


def ask(*options):
    command = [program("bench/codec"), *map(str, options)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def measured(codec, options):
    costs = {cost["kind"]: cost for cost in ask("--codec", codec, "--nodes", options.nodes, "--blocks", options.blocks)}
    whole = costs["all"]
    times = {name: whole[f"{name}_ns"] / whole["samples"] for name in ("encode", "decode")}
    return {f"bytes_{kind}": costs[kind]["bytes"] / costs[kind]["samples"] for kind in KINDS} | times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--blocks", type=int, default=6)
    options = parser.parse_args()
    contenders = [Contender(codec, functools.partial(measured, codec, options)) for codec in ask()]
    compare("codec", FIGURES, contenders, options.rounds, {"nodes": options.nodes, "blocks": options.blocks})


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""CPU time of the rules: samples a second of each when a whole job is folded, and of one evaluation of a job that is an hour
old and of one that is a day old. Beside them sliding percentiles by histogram and by sorting each window.

    bench/rules/cost.py [--rounds 5] [--rule NAME]
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, clean_end, compare  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from tests.support.service import program  # noqa: E402

FIGURES = [
    Figure("samples", "million samples a second of CPU time", digits=1),
    Figure("steps", "million steps a second of CPU time", digits=1),
    Figure("young", "us of CPU for an evaluation of a job of 1 h, 8 GPUs, 8 ranks", digits=0),
    Figure("old", "us of CPU for an evaluation of a job of 24 h", digits=0),
    Figure("ratio", "24 h / 1 h", 1.2, 2),
    Figure("state", "bytes of state after 24 h", digits=0),
]


def run(name, *words):
    return [json.loads(line) for line in subprocess.check_output([program(f"bench/{name}"), *words], text=True).splitlines()]


def figures_of(cost):
    """The figures in a line of rules_cost, without the rates of data that the rule is not shown."""
    figures = {"young": cost["evaluation_us_1h"], "old": cost["evaluation_us_24h"], "state": cost["state_bytes_24h"]}
    figures["ratio"] = figures["old"] / figures["young"]
    rates = {"samples": cost["samples_per_second"] / 1e6, "steps": cost["steps_per_second"] / 1e6}
    return {**figures, **{name: rate for name, rate in rates.items() if rate}}


def cost_of(rule):
    return lambda: figures_of(run("rules_cost", "--rule", rule)[0])


def all_together():
    costs = run("rules_cost")
    total = {key: sum(cost[key] for cost in costs) for key in ("evaluation_us_1h", "evaluation_us_24h", "state_bytes_24h")}
    return figures_of({**total, "samples_per_second": 0, "steps_per_second": 0})


def percentiles(*words):
    return lambda: {"samples": run("rules_percentile", *words)[0]["samples_per_second"] / 1e6}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rule", help="only this one; nothing is written then")
    options = parser.parse_args()
    rules = [options.rule] if options.rule else [cost["rule"] for cost in run("rules_cost")]
    contenders = [Contender(rule, cost_of(rule)) for rule in rules]
    if not options.rule:
        contenders += [
            Contender("all rules", all_together),
            Contender("percentiles by histogram", percentiles()),
            Contender("percentiles by sorting", percentiles("--sort")),
        ]
    with clean_end():
        compare(None if options.rule else "rules_cost", FIGURES, contenders, options.rounds, {})


if __name__ == "__main__":
    main()

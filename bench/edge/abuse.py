#!/usr/bin/env python3
"""The abuse test with a clock: how fast people and agents are served while others do harm.

    bench/edge/abuse.py [--rounds 3] [--seconds 60]

Ends with 1 when the p99 of a person's requests is above 50 ms, or memory above 512 MB.
"""

import argparse
import os
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, clean_end, fresh_folder, print_table, summaries, take_turns, write_results  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from tests.fault.abuse import AGENTS, run  # noqa: E402
from tests.support.service import Service, use_all_descriptors  # noqa: E402

FIGURES = [
    Figure("person_p50", "ms of a person's request, p50", digits=2),
    Figure("person_p99", "ms of a person's request (the chart below apart), p99", 50, 2),
    Figure("person_max", "ms of a person's request, worst", digits=1),
    Figure("chart_p50", "ms of the chart over all 200 nodes, which the store computes, p50", digits=1),
    Figure("chart_max", "ms of the same, worst", digits=1),
    Figure("person_faults", "requests of a person not answered with 200", 0, 0),
    Figure("person_busy", "requests of a person told to come back", 0, 0),
    Figure("push_p99", "ms from when a push was due to its answer, p99", digits=1),
    Figure("starved", "agents of which a push was never answered", 0, 0),
    Figure("lost", "frames sent and not stored", 0, 0),
    Figure("memory", "MB of the server, peak", 512, 1),
    Figure("leaked", "descriptors not given back", 0, 0),
]


def one_round(options):
    use_all_descriptors()
    with fresh_folder() as folder:
        service = Service(folder)
        try:
            seen = run(service.start(), folder, options.seconds)
        finally:
            service.stop()
    pushes = seen["pushes"]
    return {
        "person_p50": seen["person_p50_ms"], "chart_p50": seen["chart_p50_ms"], "chart_max": seen["chart_max_ms"],
        "person_p99": seen["person_p99_ms"], "person_max": seen["person_max_ms"], "person_faults": len(seen["person_faults"]), "person_busy": seen["person_busy"],
        "push_p99": pushes["p99_ms"], "starved": pushes["starved_agents"], "lost": pushes["due"] + AGENTS - seen["stored"],
        "memory": seen["peak_memory_bytes"] / 1e6, "leaked": seen["descriptors_after"] - seen["descriptors_before"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    with clean_end():
        rows = summaries(FIGURES, take_turns([Contender("stepscope", lambda: one_round(options))], options.rounds))
    print_table(FIGURES, rows)
    write_results("abuse", rows, {"seconds": options.seconds, "measured": time.strftime("%F")})
    above = [row["figure"] for row in rows if row["goal"] is not None and row["median"] > row["goal"]]
    print(f"above the goal: {', '.join(above)}" if above else "every goal is kept")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())

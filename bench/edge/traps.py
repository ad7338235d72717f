#!/usr/bin/env python3
"""Throws the known traps at a stock cpp-httplib server and at the service, one by one, and writes what happened.

Each trap meets a server that was just started, with 3 GiB of addresses. docs/traps.md is made of the results.

    bench/edge/traps.py [--only T5] [--side ours]      all of them: about 15 minutes
    bench/edge/traps.py --page                         writes the page again, from the results that are there
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import RESULTS, ROOT, fresh_folder, write_results  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from bench.edge import traps_bodies, traps_heads, traps_page, traps_process, traps_slow  # noqa: E402
from bench.edge.sides import Ours, Stock  # noqa: E402

TRAPS = sorted(
    (trap for part in (traps_slow, traps_bodies, traps_heads, traps_process) for trap in part.TRAPS), key=lambda trap: int(trap[0][1:]))


def throw(trap, make):
    """One trap at a fresh server: the row of the results."""
    name, thrown, function = trap
    with fresh_folder() as folder:
        side, began = make(folder), time.monotonic()
        try:
            side.start()
            happened, held = function(side)
            if ended := side.end_word():
                happened += "" if ended in happened or name == "T23" else f"; the server {ended}"
        finally:
            side.stop()
    print(f"{name:4} {side.name:6} {'held  ' if held else '-     ' if held is None else 'CAUGHT'} {time.monotonic() - began:5.1f} s  {happened}", flush=True)
    return {"trap": name, "side": side.name, "thrown": thrown, "happened": happened, "held": held}


def known_rows():
    path = RESULTS / "traps.json"
    return json.loads(path.read_text()) if path.exists() else []


def save(rows):
    """The new rows in place of older ones of the same trap and side."""
    merged = {(row["trap"], row["side"]): row for row in [*known_rows(), *rows]}
    order = sorted(merged, key=lambda key: (int(key[0][1:]), key[1] == "ours"))
    write_results("traps", [merged[key] for key in order], {})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="a trap, such as T5")
    parser.add_argument("--side", choices=("stock", "ours"))
    parser.add_argument("--page", action="store_true", help="only write the page again")
    options = parser.parse_args()
    if not options.page:
        if missing := traps_process.missing_programs():
            parser.error(f"needs {', '.join(missing)}")
        chosen = [trap for trap in TRAPS if not options.only or trap[0] in options.only]
        sides = [make for make in (Stock, Ours) if options.side in (None, make.name)]
        save([throw(trap, make) for trap in chosen for make in sides])
    traps_page.write(known_rows())
    return 0


if __name__ == "__main__":
    sys.exit(main())

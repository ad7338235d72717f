#!/usr/bin/env python3
"""How long a build and a check of Stepscope take on this machine, with nothing cached: the table of docs/development.md.

    bench/build_times.py [programs] [change] [suite] [--checkout FOLDER]

    programs  what scripts/demo builds: both programs, optimised, in a fresh folder
    change    a rule is changed, in a tree that is built: until its test has said what it thinks of it
    suite     all of scripts/test, in a fresh clone

Without a word all three, one after another (about 40 minutes on 2 cores). The last commit is measured, in a clone that is
removed; `--checkout` measures another one, such as a clone of an older commit, where it lies. Packages must be
installed already (scripts/setup --tests). Both are told: seconds on the clock, which other work on the machine makes
longer, and seconds of CPU time, which it hardly does.
"""

import argparse
import contextlib
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))
from harness import ROOT, Figure, clean_end, fresh_folder, print_table, summaries, write_results  # noqa: E402

FIGURES = [
    Figure("programs", "s on the clock until both programs are built", 360, 0),
    Figure("programs_cpu", "s of CPU time until both programs are built", None, 0),
    Figure("change", "s on the clock from a changed rule to its test's result", 20, 1),
    Figure("suite", "s on the clock for all of scripts/test", 1500, 0),
    Figure("suite_cpu", "s of CPU time for all of scripts/test", None, 0),
]
NOTHING_CACHED = {**os.environ, "CCACHE_DISABLE": "1"}


def run(folder, *command):
    """Runs to the end; (seconds on the clock, seconds of CPU time)."""
    print(f"  {' '.join(map(str, command))}", flush=True)
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, cwd=folder, env=NOTHING_CACHED, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode != 0:
        sys.exit(f"{command[0]} ended with {ended.returncode}:\n{(ended.stdout + ended.stderr)[-4000:]}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def programs(tree):
    run(tree, "cmake", "--preset", "release")
    wall, cpu = run(tree, "cmake", "--build", "--preset", "release", "--target", "stepscope-server", "stepscope-agent")
    return {"programs": wall, "programs_cpu": cpu}


def change(tree):
    rule = next(tree.glob("rules/**/idle_gpu.cpp"))
    run(tree, "cmake", "--preset", "dev")
    run(tree, "ninja", "-C", "build/dev", "test_rules")
    text = rule.read_text()
    try:
        rule.write_text(text + "\nnamespace stepscope {\nint AddedByTheBenchmark() {\n  return 1;\n}\n}  // namespace stepscope\n")
        seconds = sum(run(tree, *command)[0] for command in (
            ("ninja", "-C", "build/dev", "test_rules"), ("build/dev/tests/test_rules", "--gtest_filter=IdleGpu*:IdleGPU*")))
    finally:
        rule.write_text(text)
    return {"change": seconds}


def suite(tree):
    wall, cpu = run(tree, "scripts/test")
    return {"suite": wall, "suite_cpu": cpu}


MEASURES = {"programs": programs, "change": change, "suite": suite}


@contextlib.contextmanager
def checkout(given):
    if given:
        yield Path(given).resolve()
        return
    with fresh_folder() as folder:
        run(folder, "git", "clone", "--quiet", "--no-hardlinks", ROOT, "tree")
        yield Path(folder) / "tree"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="programs|change|suite", help="what to measure; all of it when left out")
    parser.add_argument("--checkout", help="a folder to measure instead of a clone of the last commit")
    options = parser.parse_args()
    if wrong := set(options.what) - set(MEASURES):
        parser.error(f"there is no {', '.join(sorted(wrong))} to measure: {', '.join(MEASURES)}")
    values = {}
    with checkout(options.checkout) as tree:
        for name in options.what or MEASURES:
            print(f"measures {name}", flush=True)
            values.update({figure: [value] for figure, value in MEASURES[name](tree).items()})
    rows = summaries(FIGURES, {"checkout" if options.checkout else "this commit": values})
    print_table([figure for figure in FIGURES if figure.name in values], rows)
    if not options.checkout and not options.what:
        write_results("build_times", rows, {})


if __name__ == "__main__":
    with clean_end():
        main()

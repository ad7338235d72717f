"""Runs the targets of tests/fuzz: see scripts/fuzz, which starts this. scripts/test uses the same functions."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from building import ROOT, Failed, build, tail
from counts import Counts
from processes import Children, Stopped, ignore_signals, stop_on_signals

SEEDS = ROOT / "tests/fuzz/corpus"
BUILD = ROOT / "build/fuzz"
FOUND = BUILD / "found"  # inputs that broke a promise
GROWN = BUILD / "corpus"  # inputs that reached new code, kept from run to run
# A corpus whose target is gone can be left over in a checkout: an older scripts/fuzz --keep wrote files that git does not know.
TARGETS = sorted(path.name for path in SEEDS.iterdir() if (SEEDS.parent / f"{path.name}.cpp").is_file())
EMPTY_TARGET = b'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'


def say(line=""):
    print(line, flush=True)


def lacking():
    """The name of what libFuzzer lacks here; empty when it lacks nothing."""
    if not shutil.which("clang++"):
        return "clang"
    with tempfile.TemporaryDirectory() as folder:
        command = ["clang++", "-x", "c++", "-fsanitize=fuzzer,address,undefined", "-o", f"{folder}/target", "-"]
        compiled = subprocess.run(command, input=EMPTY_TARGET, capture_output=True)
    return "" if compiled.returncode == 0 else "the run-time library of clang (libclang-rt-*-dev)"


def compares(programs):
    """Whether the build in this folder compares heads with a second parser."""
    cache = (programs / "CMakeCache.txt").read_text()
    return re.search(r"^HTTP_PARSER_LIBRARY:.*NOTFOUND$", cache, re.MULTILINE) is None


class Fuzzing:
    """Runs targets, as many at once as there are processors; logs lie in `folder`."""

    def __init__(self, children, folder):
        self.children, self.folder = children, folder

    def build(self, names):
        build(self.children, "fuzz", [f"fuzz_{name}" for name in names], self.folder, say)

    def run(self, command, log_path):
        with open(log_path, "wb") as log:
            return self.children.start(command, log, cwd=ROOT).wait()

    def each(self, names, do):
        """Counts of `do(name)`, which gives the failure, or nothing."""
        counts, pool = Counts(), ThreadPoolExecutor(os.cpu_count() or 1)
        try:
            for name, failure in zip(names, pool.map(do, names)):
                if failure:
                    counts.fail(f"fuzz {name}: {failure}")
                else:
                    counts.passed += 1
        except Stopped:
            pool.shutdown(wait=False, cancel_futures=True)
            self.children.end_all()
            raise
        return counts

    def replay(self, names, programs):
        """The corpora once, with the programs of an ordinary build."""

        def one(name):
            log = self.folder / f"replay-{name}.log"
            code = self.run([programs / f"tests/fuzz/fuzz_{name}", SEEDS / name], log)
            if code != 0:
                say(f"--- fuzz_{name} ---\n{tail(log)}\n---")
            return f"the corpus ends with {code}" if code != 0 else None

        return self.each(names, one)

    def fuzz(self, names, seconds):
        def one(name):
            (GROWN / name).mkdir(parents=True, exist_ok=True)
            FOUND.mkdir(exist_ok=True)
            log = self.folder / f"fuzz-{name}.log"
            command = [
                BUILD / f"tests/fuzz/fuzz_{name}", f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=1024",
                "-print_final_stats=1", f"-dict={ROOT / 'tests/fuzz/http.dict'}", f"-artifact_prefix={FOUND}/{name}-",
                GROWN / name, SEEDS / name,
            ]
            code = self.run(command, log)
            text = log.read_text(errors="replace")
            runs = re.search(r"number_of_executed_units: (\d+)", text)
            covered = re.findall(r" cov: (\d+) ", text)
            say(f"  {name}: {int(runs[1]) if runs else 0:,} inputs, {covered[-1] if covered else 0} edges covered")
            if code == 0 and runs:
                return None
            say(f"--- fuzz_{name} ---\n{tail(log, 60)}\n---")
            return f"see {FOUND.relative_to(ROOT)}/{name}-*"

        return self.each(names, one)

    def keep(self, names):
        """Adds to the corpora of the repository what covers more than they do."""
        for name in names:
            log = self.folder / f"merge-{name}.log"
            command = [BUILD / f"tests/fuzz/fuzz_{name}", "-merge=1", "-use_counters=0", SEEDS / name, GROWN / name]
            if self.run(command, log) != 0:
                raise Failed(f"merging {name} failed:\n{tail(log)}")
            files = list((SEEDS / name).iterdir())
            say(f"  {name}: {len(files)} files, {sum(path.stat().st_size for path in files):,} bytes")


def suite(children, folder, programs, seconds):
    """The fuzz suite of scripts/test: the corpora with the targets in the build `programs`, then libFuzzer where it has time."""
    fuzzing = Fuzzing(children, folder)
    counts = fuzzing.replay(TARGETS, programs)
    if not compares(programs):
        say("  skipped: no http-parser here (libhttp-parser-dev): heads are not compared with a second parser")
        counts.skipped += 1
    if seconds == 0:
        say("  only the corpora: scripts/fuzz lets libFuzzer invent more")
        return counts
    if lack := lacking():
        say(f"  skipped: libFuzzer needs {lack}: only the corpora ran")
        counts.skipped += len(TARGETS)
        return counts
    say(f"  builds {BUILD.relative_to(ROOT)}")
    fuzzing.build(TARGETS)
    counts.add(fuzzing.fuzz(TARGETS, seconds))
    return counts


def parse():
    parser = argparse.ArgumentParser(prog="scripts/fuzz", add_help=False)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    for name in options.targets:
        if name not in TARGETS:
            parser.error(f"there is no target {name}; there are {', '.join(TARGETS)}")
    if options.seconds < 1:
        parser.error("--seconds must be 1 or more")
    return options


def main():
    stop_on_signals()
    options = parse()
    names = options.targets or TARGETS
    if lack := lacking():
        say(f"fuzz: needs {lack}: scripts/setup --tests")
        return 1
    children = Children()
    folder = Path(tempfile.mkdtemp(prefix="stepscope-fuzz-"))
    try:
        fuzzing = Fuzzing(children, folder)
        fuzzing.build(names)
        began = time.monotonic()
        counts = fuzzing.fuzz(names, options.seconds)
        if not compares(BUILD):
            say("fuzz: no http-parser here (libhttp-parser-dev): heads were not compared with a second parser")
        if options.keep:
            fuzzing.keep(names)
    except Stopped as stopped:
        say(f"fuzz: stopped by {stopped}")
        return stopped.exit_code
    except Failed as fault:
        say(f"fuzz: {fault}")
        return 1
    finally:
        ignore_signals()
        children.end_all()
        shutil.rmtree(folder, ignore_errors=True)
    say(f"fuzz: {time.monotonic() - began:.0f} s, {counts.line()}")
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs the suites: see scripts/test, which starts this."""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from building import ROOT, Failed, build, last_line, npm_packages, run, tail
from counts import Counts, from_junit, from_node, from_verdicts
from fuzzing import suite as fuzz_suite
from processes import Children, Stopped, ignore_signals, stop_on_signals
from scratch import in_memory

LIMIT_SECONDS = 2400  # for one test program
GOES_WELL = ("[ RUN ", "[       OK ", "[-----")  # lines of GoogleTest
SAY_EVERY = 20
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "second_deadlock_stack=1:die_after_fork=0",
}


def say(line=""):
    print(line, flush=True)


def checked_extension():
    """The variables for a Python that is not built with the sanitizers and loads an extension that is: it also has to
    allocate where they see it, and what it keeps to its end is no leak of ours."""
    libraries = [subprocess.check_output(["gcc", f"-print-file-name={name}"], text=True).strip() for name in ("libasan.so", "libubsan.so")]
    return {
        "STEPSCOPE_EXTENSION_FLAGS": "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g -O1",
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": SANITIZER_OPTIONS["ASAN_OPTIONS"] + ":detect_leaks=0",
    }


def listed_programs(folder):
    """The programs that CMake lists: `folder` may still have some that an older tree built."""
    listed = folder / "programs.txt"
    if not listed.is_file():
        raise Failed(f"there is no {listed}: configure again")
    programs = [folder / name for name in listed.read_text().split()]
    missing = [program.name for program in programs if not os.access(program, os.X_OK)]
    if missing:
        raise Failed(f"not built: {', '.join(missing)}")
    return sorted(programs)


class Suites:
    """The suites of one run. Each gives its Counts; logs lie in `folder`."""

    def __init__(self, preset, children, folder, fuzz_seconds, memory=()):
        """`memory`: variables for suites whose tests have databases. Some tests of Python have a /dev/shm of their own."""
        self.memory = dict(memory)
        self.preset, self.children, self.folder, self.fuzz_seconds = preset, children, folder, fuzz_seconds
        self.programs = ROOT / "build" / preset
        self.npm_lock, self.page_built = threading.Lock(), False
        self.environment = {**os.environ, **SANITIZER_OPTIONS, "STEPSCOPE_BUILD": str(self.programs)}
        self.environment["STEPSCOPE_BUILD_DIR"] = str(self.programs)

    def build(self):
        build(self.children, self.preset, [], self.folder, say)

    def run_program(self, command, name, variables=()):
        """Runs to the end; (exit code or None when it took too long, log)."""
        log_path = self.folder / f"{name}.log"
        memory = {} if name.startswith(("python", "torch")) else self.memory
        with open(log_path, "wb") as log:
            process = self.children.start(command, log, cwd=ROOT, env={**self.environment, **memory, **dict(variables)})
        said = began = time.monotonic()
        while process.poll() is None:
            time.sleep(0.05)
            now = time.monotonic()
            if now - began > LIMIT_SECONDS:
                self.children.stop(process, 10)
                return None, log_path
            if now - said > SAY_EVERY:
                said = now
                say(f"  {name}, {now - began:.0f} s: {last_line(log_path)[:100]}")
        return process.returncode, log_path

    def checked(self, name, code, log_path, read):
        """The counts of a program; what it did not say itself is a failure of its own."""
        try:
            counts = read()
        except (OSError, ValueError) as fault:
            counts = Counts()
            say(f"  {name}: {fault}")
        if code is None:
            counts.fail(f"{name}: did not end within {LIMIT_SECONDS} s: {last_line(log_path)[:100]}")
        elif code != 0 and not counts.failed:
            counts.fail(f"{name}: ended with {code}")
        if counts.total() == 0:
            counts.fail(f"{name}: ran no test")
        if counts.failed:
            say(f"--- {name} ---\n{tail(log_path, 120, without=GOES_WELL)}\n---")
        say(f"  {name}: {', '.join([counts.line(), *counts.failures])}")
        return counts

    def gtest(self, program):
        report = self.folder / f"{program.name}.xml"
        command = [program, f"--gtest_output=xml:{report}"]  # the last line names the test that runs
        code, log = self.run_program(command, program.name)
        return self.checked(program.name, code, log, lambda: from_junit(report.read_text(errors="replace")))

    def pytest(self, name, *places, variables=(), python=(ROOT / ".venv/bin/python",)):
        places = [place for place in places if (ROOT / place).exists()]
        report = self.folder / f"{name}.xml"
        command = [*python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={report}"]
        code, log = self.run_program(command + places, name, variables)
        return self.checked(name, code, log, lambda: from_junit(report.read_text()))

    def npm(self, name, folder, *options):
        self.npm_packages(folder)
        code, log = self.run_program(["npm", "--prefix", folder, "test", "--silent", *options], name)
        return self.checked(name, code, log, lambda: from_node(log.read_text(errors="replace")))

    def npm_packages(self, folder):
        with self.npm_lock:  # two suites use one folder
            npm_packages(self.children, folder, self.folder / "npm.log", say)

    def lint(self):
        return self.pytest("lint", *(f"tests/{name}_test.py" for name in LINT))

    def cpp(self):
        programs = listed_programs(self.programs / "tests")
        counts = Counts()
        pool = ThreadPoolExecutor(os.cpu_count() or 1)
        try:
            for each in pool.map(self.gtest, programs):
                counts.add(each)
        except Stopped:
            pool.shutdown(wait=False, cancel_futures=True)
            self.children.end_all()
            raise
        return counts

    def fuzz(self):
        return fuzz_suite(self.children, self.folder, self.programs, self.fuzz_seconds)

    def python(self):
        return self.pytest("python", "tests/python", variables=self.extension())

    def extension(self):
        """The variables with which the package's extension is built and loaded."""
        return checked_extension() if self.preset == "asan" else {}

    def analysis(self):
        """The analysis library. Without pandas the suite is skipped, and says so."""
        missing = subprocess.run([ROOT / ".venv/bin/python", "-c", "import pandas"], capture_output=True)
        if missing.returncode:
            say("  analysis: skipped: this system has no python3-pandas")
            return Counts(skipped=1)
        return self.pytest("analysis", "tests/analysis")

    def torch(self):
        """The hooks with a real PyTorch, in both forms of the package. Without one the suite is skipped, and says so."""
        missing = subprocess.run([ROOT / ".venv/bin/python", "-c", "import torch"], capture_output=True)
        if missing.returncode:
            say("  torch: skipped: this system has no python3-torch")
            return Counts(skipped=1)
        return self.both_forms("torch")

    def torch_modern(self):
        """The hooks with another PyTorch than the system's, where somebody names a Python that has one: the words of
        STEPSCOPE_TORCH_PYTHON start it. What does not work then is a failure, not a skip."""
        python = shlex.split(os.environ.get("STEPSCOPE_TORCH_PYTHON", ""))
        if not python:
            say("  torch_modern: skipped: STEPSCOPE_TORCH_PYTHON names no Python with a PyTorch 2")
            return Counts(skipped=1)
        return self.both_forms("torch_modern", python=python)

    def both_forms(self, name, **options):
        counts = self.pytest(name, "tests/torch", variables=self.extension(), **options)
        counts.add(self.pytest(f"{name}_pure", "tests/torch", variables={"STEPSCOPE_PURE": "1"}, **options))
        return counts

    def e2e(self):
        self.npm_packages("tests/browser")  # a test opens the page in a browser
        return self.pytest("e2e", "tests/e2e")

    def verdicts(self):
        """What is said of trainings whose bottleneck is known, and how it is judged."""
        counts = self.pytest("verdicts", "tests/causes")
        told = self.folder / "verdicts.jsonl"
        command = [ROOT / ".venv/bin/python", "scripts/verdicts.py", "--short", "--programs", self.programs, "--json", told]
        code, log = self.run_program(command, "verdicts_short")
        counts.add(self.checked("verdicts_short", code, log, lambda: from_verdicts(told.read_text())))
        return counts

    def fault(self):
        return self.pytest("fault", "tests/fault")

    def package(self):
        return self.pytest("package", "tests/package")

    def contract(self):
        return self.npm("contract", "tests/contract")

    def build_page(self):
        """Checks and builds web/dist, once a run: it is emptied first, and a suite in another lane may be reading it."""
        self.npm_packages("web")
        with self.npm_lock:
            if not self.page_built:
                log = self.folder / "page.log"
                run(self.children, ["npm", "--prefix", "web", "run", "build"], log, "npm run build", say)
                self.page_built = True

    def web(self):
        self.build_page()
        return self.npm("web", "web", "--ignore-scripts")

    def browser(self):
        self.build_page()
        return self.npm("browser", "tests/browser", "--ignore-scripts")


# The long ones first, so that the last lane does not work alone.
ALL = ("lint", "e2e", "browser", "fault", "torch", "cpp", "verdicts", "python", "analysis", "package", "torch_modern", "contract", "web", "fuzz")
LINT = ("layers", "lint", "suites", "python_imports", "sql_rules", "sql_refused", "traps_page")  # of tests/
WITHOUT_BUILD = ("lint", "web")
WITH_SANITIZER = ("cpp", "python", "contract", "e2e", "fault")
USUAL = {"dev": ALL, "tsan": WITH_SANITIZER, "asan": (*WITH_SANITIZER, "torch")}


LANES = 3  # suites at a time: most of them wait for trainings that play, and for answers


def run_suite(suites, name):
    began = time.monotonic()
    say(f"test: {name}")
    try:
        found = getattr(suites, name)()
    except Failed as fault:
        found = Counts()
        found.fail(f"{name}: {fault}")
    if found.total() == 0:
        found.fail(f"{name}: ran no test")
    say(f"test: {name} took {time.monotonic() - began:.0f} s")
    return found


def run_all(suites, names):
    counts = Counts()
    if any(name not in WITHOUT_BUILD for name in names):
        began = time.monotonic()
        say(f"test: builds {suites.preset}")
        suites.build()
        say(f"test: the build took {time.monotonic() - began:.0f} s")
    pool = ThreadPoolExecutor(LANES)
    try:
        for found in pool.map(lambda name: run_suite(suites, name), names):
            counts.add(found)
    except Stopped:
        pool.shutdown(wait=False, cancel_futures=True)
        suites.children.end_all()
        raise
    return counts


def parse():
    parser = argparse.ArgumentParser(prog="scripts/test", add_help=False)
    parser.add_argument("--asan", dest="preset", action="store_const", const="asan", default="dev")
    parser.add_argument("--tsan", dest="preset", action="store_const", const="tsan")
    parser.add_argument("--only", action="append", choices=ALL)
    parser.add_argument("--fuzz-seconds", type=int, default=0)
    options = parser.parse_args()
    options.names = options.only or list(USUAL[options.preset])
    return options


def main():
    stop_on_signals()
    options = parse()
    began = time.monotonic()
    children = Children()
    folder = Path(tempfile.mkdtemp(prefix="stepscope-test-"))
    try:
        with in_memory() as memory:
            counts = run_all(Suites(options.preset, children, folder, options.fuzz_seconds, memory), options.names)
    except Stopped as stopped:
        say(f"test: stopped by {stopped}")
        return stopped.exit_code
    except Failed as fault:
        say(f"test: {fault}")
        counts = Counts()
        counts.fail("the build")
    finally:
        ignore_signals()
        children.end_all()
        shutil.rmtree(folder, ignore_errors=True)
    say(f"test: took {time.monotonic() - began:.0f} s")
    for name in counts.failures:
        say(f"failed: {name}")
    say(counts.line())
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""What all benchmarks share: contenders take turns (A B A B ...) on the same machine, figures are medians with
minimum and maximum, and bench/results/NAME.json gets one line for each figure.

CPU time is that of a whole process tree, from the kernel's clock of each process: exact, and blind to what else
the machine does. Wall time is shown only where it is the question.
"""

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
OUT = ROOT / "bench" / "out"  # downloads, not committed
sys.path.append(str(ROOT / "scripts"))
from processes import Children, Stopped, descendants, stop_on_signals  # noqa: E402

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
CPUCLOCK_SCHED = 2


@contextmanager
def fresh_folder(given=None, keep=False):
    """A folder that PostgreSQL's user may pass through; goes at the end, unless it is to be kept."""
    folder = given or Path(tempfile.mkdtemp(prefix="stepscope-bench-"))
    folder.mkdir(exist_ok=True, parents=True)
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        if keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def clean_end():
    """Children that do not outlive the `with`. A stopping signal leaves it in good order, and ends the program."""
    stop_on_signals()
    children = Children()
    try:
        yield children
    except Stopped as stopped:
        sys.exit(stopped.exit_code)
    finally:
        children.end_all()


def peer_program(package, name=None):
    """The peer's program, named like its package or else: the installed one, else unpacked from the distribution's package."""
    name = name or package
    if found := shutil.which(name):
        return found
    return next(str(file) for file in (peer_folder(package) / place / name for place in ("bin", "sbin")) if file.exists())


def peer_folder(package):
    """The /usr of the distribution's package, unpacked."""
    unpacked = OUT / package / "usr"
    if not unpacked.exists():
        OUT.mkdir(exist_ok=True)
        subprocess.run(["apt-get", "download", package], cwd=OUT, check=True)
        archive = next(OUT.glob(f"{package}_*.deb"))
        subprocess.run(["dpkg", "-x", archive, OUT / package], check=True)
    return unpacked


def own_cpu_seconds(process):
    """CPU time of a process with all its threads, those that ended too; 0 when it is gone."""
    try:
        return time.clock_gettime((~process << 3) | CPUCLOCK_SCHED)
    except OSError:
        return 0.0


def waited_cpu_seconds(process):
    """CPU time of the children that a process has waited for."""
    try:
        after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(after_name[13]) + int(after_name[14])) / TICKS_PER_SECOND


def tree(process, without=()):
    """A process and its living descendants, but for the trees of `without`."""
    cut = {each for root in without for each in [root, *descendants(root)]}
    return [each for each in [process, *descendants(process)] if each not in cut]


def tree_cpu_seconds(process, without=()):
    return sum(own_cpu_seconds(each) + waited_cpu_seconds(each) for each in tree(process, without))


def memory_kilobytes(process):
    """{"Rss": ..., "Private_Dirty": ...} of one process; empty when it is gone."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return {}
    return {line.split(":")[0]: int(line.split()[1]) for line in lines}


def tree_memory_bytes(process, without=()):
    """Resident memory of the tree. Pages that its processes share with each other or with others, such as those
    of a library, count once."""
    private, shared = 0, [0]
    for each in tree(process, without):
        kilobytes = memory_kilobytes(each)
        own = kilobytes.get("Private_Clean", 0) + kilobytes.get("Private_Dirty", 0)
        private += own
        shared.append(kilobytes.get("Rss", 0) - own)
    return (private + max(shared)) * 1024


class Repeated(threading.Thread):
    """Does `once` again and again while it is inside a `with`, and notes how long each took, in ms."""

    def __init__(self, pause_seconds):
        super().__init__(daemon=True)
        self.pause_seconds, self.over, self.took_ms = pause_seconds, threading.Event(), []

    def run(self):
        while not self.over.wait(self.pause_seconds):
            began = time.perf_counter()
            self.once()
            self.took_ms.append(1e3 * (time.perf_counter() - began))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


@dataclass(frozen=True)
class Figure:
    """A measured quantity, and how it is shown."""

    name: str
    unit: str
    goal: float = None  # the most that ours may be
    digits: int = 3


@dataclass(frozen=True)
class Contender:
    name: str
    run: Callable[[], dict]  # one round: figure's name -> value


def take_turns(contenders, rounds):
    """{contender: {figure: [a value for each round]}}"""
    values = {contender.name: {} for contender in contenders}
    for number in range(1, rounds + 1):
        for contender in contenders:
            print(f"round {number} of {rounds}: {contender.name}", flush=True)
            for figure, value in contender.run().items():
                values[contender.name].setdefault(figure, []).append(value)
    return values


def summaries(figures, values):
    """One row for each figure of each contender."""
    rows = []
    for figure in figures:
        for contender, measured in values.items():
            if figure.name not in measured:
                continue
            given = measured[figure.name]
            rows.append({
                "figure": figure.name, "unit": figure.unit, "contender": contender, "goal": figure.goal,
                "median": round(statistics.median(given), 6), "min": round(min(given), 6), "max": round(max(given), 6),
                "rounds": len(given),
            })
    return rows


def print_table(figures, rows):
    digits = {figure.name: figure.digits for figure in figures}
    width = max(len(row["contender"]) for row in rows)
    for figure in figures:
        goal = f", goal at most {figure.goal:g}" if figure.goal is not None else ""
        print(f"\n{figure.name}, {figure.unit}{goal}")
        for row in (row for row in rows if row["figure"] == figure.name):
            shown = [f"{row[key]:.{digits[figure.name]}f}" for key in ("median", "min", "max")]
            print(f"  {row['contender']:<{width}}  {shown[0]:>10}   ({shown[1]} to {shown[2]})")


def write_results(name, rows, conditions):
    """bench/results/NAME.json: an array with one line for each figure, the conditions in each."""
    machine = {"machine": f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"}
    RESULTS.mkdir(exist_ok=True)
    lines = [json.dumps({**row, **conditions, **machine}) for row in rows]
    path = RESULTS / f"{name}.json"
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"\nwritten to {path.relative_to(ROOT)}")


def compare(name, figures, contenders, rounds, conditions):
    """The whole of a benchmark. Without a name nothing is written."""
    rows = summaries(figures, take_turns(contenders, rounds))
    print_table(figures, rows)
    if name:
        write_results(name, rows, conditions)

#!/usr/bin/env python3
"""What `with stepscope.annotate(...)` costs the training, recorded, switched off (STEPSCOPE_SOCKET is empty) and with no agent yet (it is
not set, so one is looked for now and then), in both forms, beside what else can be put around a stretch of code: contextlib.nullcontext,
PyTorch's record_function (no profiler runs), a clock read by ctypes at both ends, and ranges pushed and popped by ctypes as NVTX bindings
do; and what `stepscope.metric(...)` costs. Nanoseconds of wall time for one `with` or call, the loop taken off, the least of all batches.
And what the package costs a process: to import it, and in memory.

Each contender is a process of its own (bench/python/managers.py), with the distribution's Python.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from harness import Contender, Figure, clean_end, compare  # noqa: E402
from python_package import staged  # noqa: E402

PYTHON = "/usr/bin/python3"
ONE = Figure("one annotation", "ns", goal=100, digits=0)
DISABLED = Figure("one annotation, nobody records", "ns", goal=30, digits=0)
ALONE = Figure("one annotation, no agent yet", "ns", goal=30, digits=0)
METRIC = Figure("one metric", "ns", goal=100, digits=0)
METRIC_DISABLED = Figure("one metric, nobody records", "ns", goal=30, digits=0)
METRIC_ALONE = Figure("one metric, no agent yet", "ns", goal=30, digits=0)
IMPORT = Figure("import of the package, CPU time", "ms", goal=15, digits=1)
IMPORT_OFF = Figure("import of the package, nobody records, CPU time", "ms", goal=15, digits=1)
MEMORY = Figure("memory of a process that imported it and filled a ring", "MB", goal=5, digits=1)
FIGURES = {figure.name: figure for figure in (ONE, DISABLED, ALONE, METRIC, METRIC_DISABLED, METRIC_ALONE, IMPORT, IMPORT_OFF, MEMORY)}
NVTX = """
int nvtxRangePushA(const char* name) { return name[0]; }
int nvtxRangePop(void) { return 0; }
"""


FILLED_RING = """
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6

before = resident()
import stepscope
for _ in range(9000):
    with stepscope.annotate("forward"):
        pass
after = resident()
assert stepscope.info()["connected"] and stepscope.info()["dropped"], "no ring was filled"
print(after - before)
"""
TIMED_IMPORT = "import time; began = time.process_time_ns(); import stepscope; print((time.process_time_ns() - began) / 1e6)"


def said(words, package, folder, pure="", socket=""):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("STEPSCOPE_", "PYTHON"))}
    environment |= {"PYTHONPATH": str(package), "PYTHONPYCACHEPREFIX": f"{folder}/cache", "STEPSCOPE_PURE": pure, "XDG_RUNTIME_DIR": f"{folder}/nobody"}
    if socket is not None:
        environment["STEPSCOPE_SOCKET"] = socket
    return json.loads(subprocess.run([PYTHON, *words], env=environment, check=True, stdout=subprocess.PIPE).stdout)


def measured(kind, batches, package, folder, pure=""):
    """The figures that managers.py prints: name -> value."""
    words = [str(ROOT / "bench/python/managers.py"), kind, str(batches), str(folder)]
    return said(words, package, folder, pure, {"disabled": "", "alone": None}.get(kind, socket_in(folder)))


def socket_in(folder):
    return f"{folder}/agent.sock"


def imported(package, folder, pure):
    """Times of the import in processes that have loaded nothing else; the median of nine."""
    sockets = {IMPORT.name: socket_in(folder), IMPORT_OFF.name: ""}
    return {name: statistics.median(said(["-c", TIMED_IMPORT], package, folder, pure, socket) for _ in range(9)) for name, socket in sockets.items()}


def contenders(batches, package, folder):
    def ours(pure):
        figures = [measured(kind, batches, package, folder, pure) for kind in ("stepscope", "disabled", "alone")]
        memory = {MEMORY.name: said(["-c", FILLED_RING], package, folder, pure, socket_in(folder))}
        return {**figures[0], **figures[1], **figures[2], **imported(package, folder, pure), **memory}

    peers = {
        "contextlib.nullcontext": "nullcontext",
        "torch.profiler.record_function": "record_function",
        "clock by ctypes at both ends": "ctypes",
        "push and pop by ctypes, as NVTX": "nvtx",
    }
    yield Contender("stepscope, C extension", lambda: ours(""))
    yield Contender("stepscope, pure Python", lambda: ours("1"))
    for name, kind in peers.items():
        yield Contender(name, lambda kind=kind: measured(kind, batches, package, folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=100, help="of 4,000 annotations, in each round")
    options = parser.parse_args()
    with clean_end(), tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(socket_in(folder))
        listener.listen(1000)  # connections wait there with what is sent to them, and nobody takes them
        source = Path(folder) / "nvtx.c"
        source.write_text(NVTX)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", f"{folder}/libnvtx.so", str(source)], check=True)
        package = staged()
        measured("stepscope", 1, package, folder)  # fills the cache of byte code
        measured("stepscope", 1, package, folder, "1")
        version = subprocess.run([PYTHON, "-c", "import platform; print(platform.python_version())"], check=True, capture_output=True, text=True)
        compare("annotate", list(FIGURES.values()), list(contenders(options.batches, package, folder)), options.rounds, {"python": version.stdout.strip()})


if __name__ == "__main__":
    main()

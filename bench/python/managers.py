"""One contender of annotate.py, in a process of its own: managers.py KIND BATCHES FOLDER prints its figures as JSON."""

import contextlib
import json
import os
import sys
import time

BATCH = 4000


def loop_ns(manager, batches, between=lambda: None):
    """The least of all batches: what it costs when the machine does nothing else."""
    empty, full = [], []
    for _ in range(batches):
        between()
        numbers = range(BATCH)
        began = time.perf_counter_ns()
        for _ in numbers:
            pass
        empty.append(time.perf_counter_ns() - began)
        began = time.perf_counter_ns()
        for _ in numbers:
            with manager("forward"):
                pass
        full.append(time.perf_counter_ns() - began)
    return (min(full) - min(empty)) / BATCH


def call_ns(metric, batches, between=lambda: None):
    """Nanoseconds that a call takes which sets a metric."""
    empty, full = [], []
    for _ in range(batches):
        between()
        values = [1480.0 + i for i in range(BATCH)]
        began = time.perf_counter_ns()
        for _ in values:
            pass
        empty.append(time.perf_counter_ns() - began)
        began = time.perf_counter_ns()
        for value in values:
            metric("samples_per_second", value)
        full.append(time.perf_counter_ns() - began)
    return (min(full) - min(empty)) / BATCH


def recorded(batches):
    """The ring is emptied between batches, as the agent does from another process."""
    import stepscope
    from stepscope import _marks, _wire

    with stepscope.annotate("forward"):
        pass
    assert stepscope.info()["connected"], stepscope.info()["reason"]
    fd = _marks._session.rings[0].fd

    def empty():
        os.pwrite(fd, os.pread(fd, 8, 8 * _wire.WRITE_WORD), 8 * _wire.READ_WORD)

    cost = loop_ns(stepscope.annotate, batches, empty)
    metric = call_ns(stepscope.metric, batches, empty)
    assert stepscope.info()["dropped"] == 0, "marks were dropped: nothing was measured"
    return {"one annotation": cost, "one metric": metric}


def unrecorded(batches, why):
    import stepscope

    cost = {f"one annotation, {why}": loop_ns(stepscope.annotate, batches), f"one metric, {why}": call_ns(stepscope.metric, batches)}
    assert not stepscope.info()["enabled"], "an agent came"
    return cost


def record_function():
    from torch.profiler import record_function

    return record_function


def by_ctypes():
    """Two reads of the clock, as a binding without compiled parts does it."""
    import ctypes

    class Timespec(ctypes.Structure):
        _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]

    read = ctypes.CDLL(None).clock_gettime
    read.argtypes = [ctypes.c_int, ctypes.c_void_p]

    class Clock:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            read(1, address)

        def __exit__(self, *_):
            read(1, address)

    where = Timespec()
    address = ctypes.addressof(where)
    return Clock


def like_nvtx(folder):
    import ctypes

    library = ctypes.CDLL(f"{folder}/libnvtx.so")
    library.nvtxRangePushA.argtypes = [ctypes.c_char_p]

    class Range:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            library.nvtxRangePushA(self.name.encode())

        def __exit__(self, *_):
            library.nvtxRangePop()

    return Range


def main():
    kind, batches, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if kind == "stepscope":
        figures = recorded(batches)
    elif kind == "disabled":
        figures = unrecorded(batches, "nobody records")
    elif kind == "alone":
        figures = unrecorded(batches, "no agent yet")
    else:
        made = {
            "nullcontext": lambda: contextlib.nullcontext,
            "record_function": record_function,
            "ctypes": by_ctypes,
            "nvtx": lambda: like_nvtx(folder),
        }[kind]()
        figures = {"one annotation": loop_ns(made, batches)}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()

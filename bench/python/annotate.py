#!/usr/bin/env python3
"""What `with stepscope.annotate(...)` costs the training, recorded and disabled, beside a context manager
that does nothing (contextlib.nullcontext). Nanoseconds of wall time for one `with`, the loop taken off.

The ring is emptied between batches that fit into it, as the agent does from another process.
"""

import argparse
import contextlib
import os
import socket
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "python")]
from harness import Contender, Figure, compare  # noqa: E402
from stepscope import _marks, _wire, annotate  # noqa: E402
from stepscope._session import Session  # noqa: E402

BATCH = 4000
FIGURE = Figure("one annotation", "ns", goal=100, digits=0)
DISABLED = Figure("one annotation, nobody records", "ns", goal=30, digits=0)


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


def recorded(session, batches):
    def empty_rings():
        for ring in session.rings:
            ring.words[_wire.READ_WORD] = ring.position

    _marks._session = session
    figure = loop_ns(annotate, batches, empty_rings)
    assert session.rings and not session.info()["dropped"], "marks were dropped: nothing was measured"
    return {FIGURE.name: figure}


def disabled(batches):
    _marks._session = Session()
    return {DISABLED.name: loop_ns(annotate, batches)}


def nothing(batches):
    return {figure.name: loop_ns(contextlib.nullcontext, batches) for figure in (FIGURE, DISABLED)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=50, help=f"of {BATCH} annotations, in each round")
    options = parser.parse_args()
    os.environ.pop("STEPSCOPE_SOCKET", None)
    with tempfile.TemporaryDirectory() as folder, socket.socket(
        socket.AF_UNIX, socket.SOCK_SEQPACKET
    ) as listener:
        listener.bind(f"{folder}/agent.sock")
        listener.listen()
        os.environ["STEPSCOPE_SOCKET"] = f"{folder}/agent.sock"
        session = Session()
        del os.environ["STEPSCOPE_SOCKET"]
        contenders = [
            Contender("stepscope, recorded", lambda: recorded(session, options.batches)),
            Contender("stepscope, disabled", lambda: disabled(options.batches)),
            Contender("contextlib.nullcontext", lambda: nothing(options.batches)),
        ]
        conditions = {"python": ".".join(map(str, sys.version_info[:3])), "form": session.info()["form"]}
        compare("annotate", [FIGURE, DISABLED], contenders, options.rounds, conditions)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What windows of operators cost a PyTorch training. It needs a PyTorch of 2.5 or later, with Kineto.

Window: wall time, and CPU time, that the training spends to begin the profiler, to end it and to write the file, for 5 steps of about
1.3 ms (103 modules), and how much longer these steps take themselves. Idle: CPU time that a step takes while no window waits, in a process that has
recorded one, beside a process with hooks that has recorded none and one without hooks; turns and forks as in hooks.py.
"""

import argparse
import gc
import os
import random
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import hooks
import torch
import torch._dynamo  # once, and not in each process
from harness import Contender, Figure, compare
from hooks import MODELS, Trainee, Training, version

from tests.python.intake import Intake

import stepscope
from stepscope import _hooks, _marks
from stepscope._hooks._capture import Capture
from stepscope._session import Session

STEPS = 5
MODEL = MODELS[1]
KINDS = ("bare", "hooks", "after a window")
COSTS = {"begin": "start_us", "end": "stop_us", "write the file": "save_us"}
CPU = Figure(f"all of that and the hand-over, {STEPS} steps, CPU", "ms", goal=30, digits=2)
FIGURES = [
    *(Figure(f"to {what}, {STEPS} steps", "ms", digits=2) for what in COSTS),
    Figure(f"all of that, {STEPS} steps", "ms", goal=30, digits=2),
    CPU,
    Figure(f"how much longer {STEPS} steps take", "ms", digits=2),
]
ADDED = Figure("added to a step of 103 modules while no window waits, CPU", "us", digits=1)


class Recorder(Trainee):
    """A training with hooks that has recorded a window before it is measured, or none."""

    def train(self, kind, told, answer):
        if kind == "bare":
            return super().train(kind, told, answer)
        if kind == "after a window":
            self.warm(windows=1)
        return super().train("hooks" if kind == "hooks" else "ready", told, answer)

    def warm(self, windows):
        """Records so many windows, one after the other, each between steps that tell how long steps are."""
        _marks.adopt(Session())
        _hooks.begin(torch)
        torch.optim.SGD([torch.zeros(1, requires_grad=True)], 0.1)
        for _ in range(self.model.warm):
            self.training.step()
        for _ in range(windows):
            ring = _marks._session.rings[0]
            assert stepscope.window(int(ring.number) + 60, STEPS), stepscope.info()["window"]
            for _ in range(60 + STEPS + 60):
                self.training.step()
        assert _marks._session.at_window is None


class Windows(Recorder):
    """A training that records windows and ends."""

    def train(self, kind, told, answer):
        spent = []
        for name in ("_begin", "_hand_over"):
            setattr(Capture, name, taking(getattr(Capture, name), spent))
        self.warm(windows=2)  # the intake keeps two traces of a process
        session, until = _marks._session, time.monotonic() + 20
        while session._waiting._messages and time.monotonic() < until:  # the intake was busy
            time.sleep(0.05)
            session.tend(time.monotonic_ns())
        session.bye()
        os.write(answer, b"%20d" % (sum(spent) // 2))


def taking(call, spent):
    """The call, which notes the CPU time that it takes, in ns."""

    def run(*args):
        began = time.process_time_ns()
        done = call(*args)
        spent.append(time.process_time_ns() - began)
        return done

    return run


def recorded(intake, sets):
    """{figure: value}: medians over the windows of so many trainings."""
    before, cpu_ms = len(intake.traces), []
    for number in range(sets):
        with Windows(MODEL, Training(MODEL), "windows", False) as trainee:
            intake.drain_until(lambda each, want=before + 2 * (number + 1): len(each.traces) >= want, "the traces")
            cpu_ms.append(int(os.read(trainee.answers, 20)) / 1e6)
    traces = intake.traces[before:]
    values = {f"to {what}, {STEPS} steps": statistics.median(trace[field] for trace in traces) / 1000 for what, field in COSTS.items()}
    values[f"all of that, {STEPS} steps"] = statistics.median(sum(trace[field] for field in COSTS.values()) for trace in traces) / 1000
    values[CPU.name] = statistics.median(cpu_ms)
    values[f"how much longer {STEPS} steps take"] = statistics.median(trace["slower_us"] for trace in traces) / 1000
    return values


def idle(sets):
    """{kind: us that a step takes more than the bare one}"""
    took = {kind: [] for kind in KINDS}
    for _ in range(sets):
        training = Training(MODEL)
        gc.collect()
        gc.freeze()
        with ExitStack() as running:
            trainees = {kind: running.enter_context(Recorder(MODEL, training, kind, False)) for kind in random.sample(KINDS, len(KINDS))}
            for _ in range(MODEL.turns):
                for kind in random.sample(KINDS, len(KINDS)):
                    took[kind].append(trainees[kind].block_us())
    return {kind: {ADDED.name: hooks.difference(took, kind)} for kind in KINDS}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sets", type=int, default=5, help="of processes in each round")
    options = parser.parse_args()
    torch.set_num_threads(1)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder, Intake(Path(folder) / "agent.sock") as intake:
        os.environ["STEPSCOPE_SOCKET"] = str(intake.path)
        added = {}

        def hooks_alone():
            added.update(idle(options.sets))
            return added["hooks"]

        contenders = [
            Contender("a window", lambda: recorded(intake, options.sets)),
            Contender("hooks", hooks_alone),
            Contender("hooks, after a window", lambda: added["after a window"]),
        ]
        facts = {"torch": torch.__version__, "python": ".".join(map(str, sys.version_info[:3]))}
        compare(f"windows-{version()}", [*FIGURES, ADDED], contenders, options.rounds, facts)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What the hooks cost an unmodified PyTorch training: CPU time of the process that they add to a step, of a short one
and of a usual one. Data, forward, loss, backward, optimizer and the end of the step are marked: six marks a step.

What the hooks add is measured with the smallest model, whose step is so short that a difference of microseconds shows on a busy
machine: blocks of its steps with the hooks, without them, and without them once more (the A/A control: what a difference of nothing
looks like) follow each other in turns, and the lower quartile of each kind counts: the least of some tens of blocks of a long step is
luck, by more than is looked for. The shares are of the step of a model of 103 modules (1.3 ms)
and of a larger one (about 30 ms), measured without hooks: that a long step pays what a short one does is an assumption. So both models
are also measured as they are, in the same turns; there a difference of nothing may be larger than what is looked for, so look at the
control first. The real intake reads the ring. STEPSCOPE_PURE=1 measures the package without its C extension. Each version of PyTorch has
a file of results. Needs python3-torch.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT)]
os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build/dev"))
import torch  # noqa: E402
from harness import Contender, Figure, compare  # noqa: E402
from torch import nn  # noqa: E402

from tests.python.intake import PACKAGE, Intake  # noqa: E402

sys.path.insert(0, str(PACKAGE))
from stepscope import _hooks, _marks  # noqa: E402
from stepscope._session import Session  # noqa: E402

# Of a block. A training runs for hours: what its first steps cost, in which the hooks find the root modules and the caches fill,
# is not what a step costs.
WARM, STEPS = 40, 100


class Training:
    """`width` and the pairs of layers make the step long."""

    def __init__(self, width, batch, pairs):
        layers = [layer for _ in range(pairs) for layer in (nn.Linear(width, width), nn.ReLU())]
        self.net = nn.Sequential(*layers, nn.Linear(width, 1), nn.Flatten())
        self.loss = nn.MSELoss()
        self.optimizer = torch.optim.SGD(self.net.parameters(), 1e-4, foreach=False)
        data = torch.utils.data.TensorDataset(torch.randn(batch * 64, width), torch.randn(batch * 64, 1))
        self.loader = torch.utils.data.DataLoader(data, batch)
        self.batches = iter(self.loader)

    def step(self):
        try:
            x, y = next(self.batches)
        except StopIteration:
            self.batches = iter(self.loader)
            return self.step()
        self.optimizer.zero_grad()
        self.loss(self.net(x), y).backward()
        self.optimizer.step()

    def block_us(self, steps, warm=WARM):
        """CPU time of a step. The process's other threads idle."""
        for _ in range(warm):
            self.step()
        began = time.process_time_ns()
        for _ in range(steps):
            self.step()
        return (time.process_time_ns() - began) / steps / 1000


def with_hooks(training, steps, warm):
    _hooks.begin(torch)
    # The optimizer was made before: its class is wrapped when one is made.
    torch.optim.SGD([torch.zeros(1, requires_grad=True)], 0.1)
    try:
        return training.block_us(steps, warm)
    finally:
        _hooks.end()


def added_us(training, blocks, steps=STEPS, warm=WARM):
    """What hooks add to a step, what nothing adds, and how long the step is."""
    kinds = {"bare": training.block_us, "control": training.block_us, "hooks": lambda *sizes: with_hooks(training, *sizes)}
    took = {name: [] for name in kinds}
    for _ in range(max(2, blocks)):
        for name in random.sample(list(kinds), len(kinds)):
            took[name].append(kinds[name](steps, warm))
    usual = {name: statistics.quantiles(values, n=4)[0] for name, values in took.items()}
    return usual["hooks"] - usual["bare"], usual["control"] - usual["bare"], usual["bare"]


class Rounds:
    """Both contenders come out of the same blocks."""

    def __init__(self, blocks):
        self.blocks, self.control = blocks, {}
        self.smallest, self.steps = Training(2, 1, 1), {"103 modules": Training(24, 4, 50), "the larger model": Training(96, 72, 50)}

    def hooks(self):
        ours, nothing, _ = added_us(self.smallest, self.blocks)
        values, self.control = {ADDED.name: ours}, {ADDED.name: nothing}
        for name, training in self.steps.items():
            bare = min(training.block_us(4) for _ in range(8))
            print(f"  a step of {name}: {bare:.0f} us", flush=True)
            values[share(name).name], self.control[share(name).name] = ours / bare * 100, nothing / bare * 100
            self.measure(name, training, values)
        return values

    def measure(self, name, training, values):
        blocks, steps, warm = DIRECT[name]
        ours, nothing, bare = added_us(training, blocks * self.blocks // 100, steps, warm)
        for found, added in ((values, ours), (self.control, nothing)):
            found[direct(name).name], found[direct_share(name).name] = added, added / bare * 100


ADDED = Figure("added to a step, CPU", "us", digits=1)


def share(name):
    return Figure(f"share of a step of {name}", "%", goal=0.5, digits=3)


# Blocks of each kind for 100 of the smallest model; steps of a block, and those in front of it: the first ones look at each module's
# call, and Python then makes its bytecode anew for the classes whose functions were replaced.
DIRECT = {"103 modules": (40, 100, 150), "the larger model": (30, 10, 20)}


def direct(name):
    return Figure(f"added to a step of {name}, measured on it, CPU", "us", digits=1)


def direct_share(name):
    return Figure(f"share of a step of {name}, measured on it", "%", goal=0.5, digits=3)


def version():
    """Of PyTorch: 1.13, 2.6."""
    return ".".join(torch.__version__.split(".")[:2])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--blocks", type=int, default=100, help="of each kind, in each round")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as folder, Intake(Path(folder) / "agent.sock") as intake:
        os.environ["STEPSCOPE_SOCKET"] = str(intake.path)
        _marks.adopt(Session())
        rounds = Rounds(options.blocks)
        contenders = [Contender("hooks", rounds.hooks), Contender("A/A control", lambda: rounds.control)]
        figures = [ADDED, *map(share, rounds.steps), *(figure(name) for name in rounds.steps for figure in (direct, direct_share))]
        facts = {"torch": torch.__version__, "python": ".".join(map(str, sys.version_info[:3])), "form": _marks.info()["form"]}
        form = "hooks_pure" if os.environ.get("STEPSCOPE_PURE") else "hooks"
        compare(f"{form}-{version()}", figures, contenders, options.rounds, facts)
        assert len(intake.drain().steps) > 100, "nothing was recorded"


if __name__ == "__main__":
    main()

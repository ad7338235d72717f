#!/usr/bin/env python3
"""What the hooks cost an unmodified PyTorch training: CPU time of the process that they add to a step of about 1.3 ms (103 modules),
to one of about 30 ms, and to the smallest there is, on which microseconds show best. Data, forward, loss, backward, optimizer and the
end of the step are marked: six marks a step.

Four processes train the same model: with the hooks, with the hooks and the GPU's clock (with a stand-in of CUDA whose calls take 1 us each,
about what CUDA's do; the clock times as many steps as it can afford), without them, and without them once more (the A/A control: what a
difference of nothing looks like). Each is warm, as a training of hours is. They take turns on one core, in blocks of a fraction of a second and in
random order, so what else the machine does meets all of them. Where a model lies in memory makes more of a difference than hooks do:
the four are forks of the process that made it, and a round makes several such sets. The median of what each turn differs from
the bare process's counts. The real intake reads the ring.
With --cuda the models train on a GPU, batches are copied there, the clock is the GPU's own, and a block ends when the GPU is done.
STEPSCOPE_PURE=1 measures the package without its C extension. Each version of PyTorch has a file of results. Needs python3-torch.
"""

import argparse
import gc
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT)]
os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build/dev"))
import torch  # noqa: E402
from harness import Contender, Figure, compare  # noqa: E402
from torch import nn  # noqa: E402

from tests.python.intake import PACKAGE, Intake  # noqa: E402
from tests.torch import gpus  # noqa: E402

sys.path.insert(0, str(PACKAGE))
from stepscope import _hooks, _marks  # noqa: E402
from stepscope._session import Session  # noqa: E402


@dataclass(frozen=True)
class Model:
    name: str
    width: int
    batch: int
    pairs: int  # so many pairs of layers; they and the width make the step long
    warm: int  # steps before anything is measured
    turns: int
    steps: int  # so many in a turn


MODELS = (
    Model("the smallest model", 2, 1, 1, 500, 12, 200),
    Model("103 modules", 24, 4, 50, 300, 12, 30),
    Model("the larger model", 96, 72, 50, 10, 6, 4),
)


class Training:
    """`move` takes it to a GPU, in the process that trains: CUDA does not outlive a fork."""

    def __init__(self, model):
        layers = [layer for _ in range(model.pairs) for layer in (nn.Linear(model.width, model.width), nn.ReLU())]
        self.net = nn.Sequential(*layers, nn.Linear(model.width, 1), nn.Flatten())
        self.loss = nn.MSELoss()
        self.optimizer = torch.optim.SGD(self.net.parameters(), 1e-4, foreach=False)
        rows = model.batch * 64
        data = torch.utils.data.TensorDataset(torch.randn(rows, model.width), torch.randn(rows, 1))
        self.loader = torch.utils.data.DataLoader(data, model.batch)
        self.batches, self.device = iter(self.loader), "cpu"

    def move(self):
        self.device = "cuda"
        self.net.to("cuda")

    def step(self):
        try:
            x, y = next(self.batches)
        except StopIteration:
            self.batches = iter(self.loader)
            return self.step()
        if self.device != "cpu":
            x, y = x.to(self.device), y.to(self.device)
        self.optimizer.zero_grad()
        self.loss(self.net(x), y).backward()
        self.optimizer.step()


class Trainee:
    """A process that trains a block of steps when it is told to. It ends with the `with`."""

    def __init__(self, model, training, kind, cuda):
        self.model, self.training, self.cuda = model, training, cuda
        told, self.tell = os.pipe()
        self.answers, answer = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            try:
                os.close(self.tell)
                self.train(kind, told, answer)
            except Exception:
                traceback.print_exc()
            finally:
                os._exit(0)  # the files that the parent has open are the parent's
        os.close(told)
        os.close(answer)

    def train(self, kind, told, answer):
        if self.cuda:
            self.training.move()
            os.environ["STEPSCOPE_GPU_TIMES"] = "1" if kind == "clock" else "0"
        elif kind == "clock":
            pretend_cuda()
        if kind in ("hooks", "clock"):
            _marks.adopt(Session())
            _hooks.begin(torch)
            # The training's optimizer was made before: its class is wrapped when one is made.
            torch.optim.SGD([torch.zeros(1, requires_grad=True)], 0.1)
        for _ in range(self.model.warm):
            self.training.step()
        while os.read(told, 1):
            self.training.step()  # fills the caches that the other processes had
            began = time.process_time_ns()
            for _ in range(self.model.steps):
                self.training.step()
            if self.cuda:
                torch.cuda.synchronize()
            os.write(answer, b"%20d" % (time.process_time_ns() - began))

    def block_us(self):
        """CPU time of a step."""
        os.write(self.tell, b"x")
        answer = os.read(self.answers, 20)
        assert answer, "a training failed, see above"
        return int(answer) / self.model.steps / 1000

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.tell)
        os.close(self.answers)
        os.waitpid(self.process, 0)


KINDS = ("bare", "control", "hooks", "clock")


def pretend_cuda():
    """A GPU that is never behind, in this process. Each call takes as long as CUDA's."""
    gpu = gpus.pretend(type("For ever", (), {"setattr": staticmethod(setattr)}))
    gpu.done = float("inf")
    for owner, names in ((gpu.Event, ("record", "query", "elapsed_time")), (torch.cuda, ("current_stream", "is_current_stream_capturing"))):
        for name in names:
            setattr(owner, name, taking_time(getattr(owner, name)))


def taking_time(call):
    def slow(*args):
        over = time.perf_counter_ns() + 1_000
        done = call(*args)
        while time.perf_counter_ns() < over:
            pass
        return done

    return slow


def turns(model, sets, cuda):
    """{kind: [us of a step, one for each turn]}"""
    took = {kind: [] for kind in KINDS}
    for _ in range(sets):
        training = Training(model)
        gc.collect()
        gc.freeze()  # a collection would copy pages that the processes share, at another time in each
        with ExitStack() as running:
            trainees = {kind: running.enter_context(Trainee(model, training, kind, cuda)) for kind in random.sample(KINDS, len(KINDS))}
            for _ in range(model.turns):
                for kind in random.sample(KINDS, len(KINDS)):
                    took[kind].append(trainees[kind].block_us())
    return took


def added(model):
    return Figure(f"added to a step of {model.name}, CPU", "us", digits=1)


def share(model):
    return Figure(f"share of a step of {model.name}", "%", goal=None if model is MODELS[0] else 0.5, digits=3)


def share_of_smallest(model):
    """The time added to the smallest model's step, which shows it best, as a share of this model's step."""
    return Figure(f"what is added to the smallest model's step, as a share of a step of {model.name}", "%", goal=0.5, digits=3)


def difference(took, kind):
    """us: the median over all turns."""
    return statistics.median(ours - bare for ours, bare in zip(took[kind], took["bare"]))


def shares(took, kind):
    """{figure: value}; `took` by model."""
    values = {}
    for model in MODELS:
        bare, more = statistics.median(took[model]["bare"]), difference(took[model], kind)
        values[added(model).name], values[share(model).name] = more, more / bare * 100
        values[share_of_smallest(model).name] = values[added(MODELS[0]).name] / bare * 100
    return values


class Rounds:
    """The rounds of all contenders, which come out of the same turns."""

    def __init__(self, sets, cuda):
        self.sets, self.cuda, self.control, self.clock = sets, cuda, {}, {}

    def hooks(self):
        took = {}
        for model in MODELS:
            took[model] = turns(model, self.sets, self.cuda)
            print(f"  a step of {model.name}: {statistics.median(took[model]['bare']):.0f} us", flush=True)
        self.control, self.clock = shares(took, "control"), shares(took, "clock")
        return shares(took, "hooks")


def gpu_name():
    """The name of the first GPU, without CUDA: that must not begin in the process that forks."""
    command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0]


def version():
    """The version of PyTorch: 1.13, 2.6."""
    return ".".join(torch.__version__.split(".")[:2])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sets", type=int, default=7, help="of three processes, for each model in each round")
    parser.add_argument("--cuda", action="store_true", help="train on the GPU, with its own clock")
    options = parser.parse_args()
    torch.set_num_threads(1)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder, Intake(Path(folder) / "agent.sock") as intake:
        os.environ["STEPSCOPE_SOCKET"] = str(intake.path)
        rounds = Rounds(options.sets, options.cuda)
        contenders = [
            Contender("hooks", rounds.hooks),
            Contender("hooks and GPU clock", lambda: rounds.clock),
            Contender("A/A control", lambda: rounds.control),
        ]
        figures = [*(figure(model) for model in MODELS for figure in (added, share)), *map(share_of_smallest, MODELS[1:])]
        facts = {"torch": torch.__version__, "python": ".".join(map(str, sys.version_info[:3])), "form": _marks.info()["form"]}
        form = "hooks_pure" if os.environ.get("STEPSCOPE_PURE") else "hooks"
        if options.cuda:
            form, facts["gpu"] = f"{form}_cuda", gpu_name()
        compare(f"{form}-{version()}", figures, contenders, options.rounds, facts)
        assert len(intake.drain().steps) > 100, "nothing was recorded"


if __name__ == "__main__":
    main()

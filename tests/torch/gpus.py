"""A stand-in of torch.cuda: a GPU whose time is that of the work which it was given. Also for processes without hooks."""

import os
import sys

import pytest
import torch

from tests.torch.nets import Net, loader, step

FORWARD, BACKWARD, OPTIMIZER, IDLE = 3.0, 5.0, 7.0, 11.0  # ms


class Stream:
    def __init__(self, number):
        self.cuda_stream = number


class Gpu:
    """A GPU with one clock: work is queued by its length, and done when `catch_up` is called. It is idle from the time at
    which all is done until the next work comes: `rest`."""

    def __init__(self):
        self.queued = self.done = 0.0
        self.made, self.fault, self.capturing, self.hangs_at, self.asked = 0, {}, False, float("inf"), 0
        self.stream = Stream(0)
        gpu = self

        class Event:
            def __init__(self, enable_timing=False):
                assert enable_timing
                gpu.fail("make")
                gpu.made += 1
                self.number = gpu.made

            def record(self, stream):
                gpu.fail("record")
                self.at = gpu.queued

            def query(self):
                gpu.fail("query")
                gpu.asked += 1
                return self.at <= min(gpu.done, gpu.hangs_at)

            def elapsed_time(self, other):
                gpu.fail("elapsed_time")
                assert self.at <= gpu.done and other.at <= gpu.done, "who asks earlier gets an exception of CUDA's"
                return other.at - self.at

            def synchronize(self):
                raise AssertionError("nobody waits for the GPU")

        self.Event = Event

    def fail(self, call):
        if call in self.fault:
            raise self.fault[call]

    def work(self, milliseconds):
        self.queued += milliseconds

    def catch_up(self):
        self.done = self.queued

    def rest(self, milliseconds):
        """All is done, and for so long nothing comes."""
        self.queued += milliseconds
        self.done = self.queued


def take_meta_for_a_device(monkeypatch):
    """Copies to the device "meta" are seen as those to a GPU are."""
    from stepscope._hooks import _waits

    monkeypatch.setattr(_waits, "uses_device", lambda torch: True)
    monkeypatch.setattr(_waits, "on_gpu", lambda tensor: tensor.device.type != "cpu")


def pretend(monkeypatch):
    """In the place of torch.cuda, before the hooks are installed."""
    gpu = Gpu()
    shown = type("Shown", (), {"name": "H100"})
    answers = {"current_device": 0, "get_device_properties": shown}
    for name, answer in answers.items():
        monkeypatch.setattr(torch.cuda, name, lambda *_, answer=answer: answer)
    owner = os.getpid()
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: os.getpid() == owner)  # not in a forked child
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: gpu.capturing)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device=None: gpu.stream)
    monkeypatch.setattr(torch.cuda, "Event", gpu.Event)
    if "stepscope._hooks" in sys.modules:
        monkeypatch.setattr(sys.modules["stepscope._hooks._gpu_times"], "device_of", lambda torch: 0)
    return gpu


@pytest.fixture
def gpu(monkeypatch):
    return pretend(monkeypatch)


class Launching(Net):
    """A network whose computations take the GPU some time."""

    def __init__(self, gpu):
        super().__init__()
        self.gpu = gpu

    def forward(self, x):
        self.gpu.work(FORWARD)
        x = super().forward(x)
        if x.requires_grad:
            x.register_hook(lambda _: self.gpu.work(BACKWARD))
        return x


class Sgd(torch.optim.SGD):
    gpu = None

    def step(self, closure=None):
        self.gpu.work(OPTIMIZER)
        return super().step(closure)


def script(steps, behind=0, forks_at=0):
    """A training with this GPU in a process of its own, that prints its losses. A child that it forks trains on."""
    torch.manual_seed(5)
    torch.set_num_threads(1)
    gpu = pretend(type("For ever", (), {"setattr": staticmethod(setattr)}))
    net = Launching(gpu)
    optimizer = Sgd(net.parameters(), 0.01)
    optimizer.gpu, ends, child, made = gpu, [], None, 0
    for number, (x, y) in enumerate(loader(steps)):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        ends.append(gpu.queued)
        gpu.done = ends[-1 - behind] if len(ends) > behind else 0
        if not behind:
            gpu.rest(IDLE)
        if child != 0:
            print(loss.item().hex(), flush=True)
        if forks_at and number == forks_at:
            child, made = os.fork(), gpu.made
    if child == 0:
        os._exit(gpu.made != made)  # it has no part in its parent's GPU
    if child:
        print("child", os.waitpid(child, 0)[1])


def training(gpu, steps, behind=0, idle=IDLE, each=None):
    """Trains for so many steps. The GPU is so many of them `behind`; where it is none, it rests between two of them."""
    net = Launching(gpu)
    optimizer = Sgd(net.parameters(), 0.01)
    optimizer.gpu, ends = gpu, []
    for x, y in loader(steps):
        step(net, optimizer, x, y)
        ends.append(gpu.queued)
        gpu.done = ends[-1 - behind] if len(ends) > behind else 0
        if not behind:
            gpu.rest(idle)
        if each:
            each(len(ends))
    return net, optimizer

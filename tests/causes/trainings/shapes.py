"""Trainings that are slow at one end, or grow: nothing in them is waited for in each step."""

import os
import time
from pathlib import Path

import torch
from clocks import training
from torch import nn
from work import SIZE, Model, Samples, batches_of, compute_cpu, one_step, rows, train
from torch.utils.data import DataLoader


@training("start-up", "startup")
def long_start_up(run):
    """The script prepares itself for a third of the time before its first step."""
    with run.part("startup"):
        time.sleep(run.seconds / 2)
    train(run, Model(0.05), rows(50))


@training("start-up", "startup")
def slow_first_batch(run):
    """The first batch takes a fifth of the time, as an index is read; all others are there at once."""

    class Indexed(Samples):
        read = False

        def __getitem__(self, i):
            if not self.read:
                with run.part("startup"):
                    time.sleep(run.seconds / 5)
                self.read = True
            return super().__getitem__(i)

    train(run, Model(0.05), DataLoader(Indexed(), 4))


@training("long end", "finish")
def long_end(run):
    """After its last step the script works for a third of the time: it writes what it has learnt."""
    train(run, Model(0.05), rows(50))
    with run.part("finish"):
        time.sleep(run.seconds / 2)


@training("leak")
def memory_leak(run):
    """Each step keeps 1 MB for ever, which slows nothing down."""
    kept = []
    train(run, Model(0.05), rows(50), lambda step, _: kept.append(bytearray(os.urandom(4096) * 256)))


@training("slower and slower", "growth", longer=6)
def slower_and_slower(run):
    """The forward pass goes through a list that grows: the last steps take about five times as long as the first ones."""
    model = Model(0.02)
    end = run.seconds

    def grow(step, _):
        model.seconds = 0.02 + 0.1 * (end - run.left()) / end
        run.seconds_in["growth"] = run.seconds_in.get("growth", 0.0) + model.seconds - 0.02

    train(run, model, rows(50), grow)


@training("slower and slower", "log", longer=6)
def metrics_that_accumulate(run):
    """Each step computes a mean over all losses so far, outside of all phases: from nothing up to 120 ms."""
    end = run.seconds

    def summarise(step, _):
        with run.part("log"):
            time.sleep(0.12 * max(0.0, end - run.left()) / end)

    train(run, Model(0.03), rows(50), summarise)


def throttled_seconds():
    """How long the group of this process was kept from its cores."""
    for line in Path(os.environ["QUOTA_GROUP"], "cpu.stat").read_text().splitlines():
        name, _, value = line.partition(" ")
        if name in ("throttled_time", "throttled_usec"):
            return int(value) / (1e9 if name == "throttled_time" else 1e6)
    return 0.0


@training("quota", "throttled", longer=2.0, quota_percent=15)
def cpu_quota(run):
    """A container may use 15 % of a core: what takes 20 ms of computing takes 130 ms."""
    before = throttled_seconds()
    train(run, Model(0.02, compute_cpu), rows(50))
    run.seconds_in["throttled"] = throttled_seconds() - before


@training("healthy")
def optimizer_in_backward(run):
    """Each of 41 parameters has an optimizer of its own, which steps within the backward pass."""
    net = nn.Sequential(*[nn.Linear(SIZE, SIZE, bias=False) for _ in range(39)], Model(0.06))
    kept = []

    def own(parameter):
        optimizer = torch.optim.SGD([parameter], 1e-3)
        node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]

        def update(*_):
            optimizer.step()
            optimizer.zero_grad()

        node.register_hook(update)
        kept.append((optimizer, node))

    for parameter in net.parameters():
        own(parameter)
    for x, y in batches_of(run, rows(50)):
        with run.part("forward"):
            loss = nn.functional.mse_loss(net(x), y)
        with run.part("backward"):
            loss.backward()
        run.step_ended()


@training("healthy")
def tiny_model(run):
    """A model so small that Python takes more time than its arithmetic: on a CPU that is computing."""
    net = nn.Sequential(*[nn.Sequential(nn.Linear(SIZE, SIZE), nn.ReLU()) for _ in range(30)], nn.Linear(SIZE, 1))
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    x, y = torch.ones(4, SIZE), torch.ones(4, 1)
    while run.going():
        with run.part("forward"):
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        run.step_ended()


@training("healthy")
def gradient_accumulation(run):
    """The optimizer steps after each fourth backward pass."""
    model = Model(0.02)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    for number, (x, y) in enumerate(batches_of(run, rows(400))):
        with run.part("forward"):
            loss = nn.functional.mse_loss(model(x), y) / 4
        with run.part("backward"):
            loss.backward()
        if number % 4 == 3:
            with run.part("optimizer"):
                optimizer.step()
                optimizer.zero_grad()
            run.step_ended()


@training("healthy")
def learning_rates_tried(run):
    """As a search for a learning rate does: each 30 steps all weights and the optimizer are set back."""
    model = Model(0.04)
    first = {name: value.clone() for name, value in model.state_dict().items()}
    torch.optim.SGD(model.parameters(), 1e-6)  # the first optimizer imports much: before the clocks begin
    rate = 1e-6
    while run.going():
        model.load_state_dict(first)
        optimizer = torch.optim.SGD(model.parameters(), rate)
        for x, y in rows(30):
            if run.going():
                one_step(run, model, optimizer, x, y)
                run.step_ended()
        rate *= 2

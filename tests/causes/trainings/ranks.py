"""Trainings of two ranks, which meet over gloo: who is late, and what costs the talk itself."""

import os

import torch
import torch.distributed as dist
from clocks import training
from torch import nn
from torch.utils.data import DataLoader
from work import Model, Samples, SlowFile, batches_of, compute, one_step, rows

LATE = 1  # the rank that the others wait for


def parallel(run, model):
    dist.init_process_group("gloo", init_method=f"file://{os.environ['MEET']}", rank=run.rank, world_size=run.world)
    return nn.parallel.DistributedDataParallel(model)


def train_together(run, model, loader, step_seconds, after=None):
    """So many steps that both ranks end together. after(step) comes at the end of each iteration."""
    net = parallel(run, model)
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    steps = max(24, int(run.seconds / step_seconds))
    run.seconds *= 4  # the number of steps decides
    for x, y in batches_of(run, loader):
        one_step(run, net, optimizer, x, y)
        if after:
            after(run.steps)
        run.step_ended()
        if run.steps == steps:
            break
    dist.barrier()
    dist.destroy_process_group()


class Backward(nn.Module):
    """A model whose backward pass takes so long."""

    def __init__(self, seconds):
        super().__init__()
        self.line, self.seconds = nn.Linear(8, 1), seconds

    def forward(self, x):
        seen = self.line(x)
        seen.register_hook(lambda gradient: compute(self.seconds))
        return seen


def late(run, part, seconds):
    """The time that the others waited for the late rank: known, as its work is of a known length."""
    run.seconds_in[part] = run.steps * seconds


@training("straggler", "late", ranks=2)
def straggler_in_forward(run):
    """Rank 1 computes its forward pass for 70 ms, the other one for 20 ms."""
    train_together(run, Model(0.07 if run.rank == LATE else 0.02, compute), rows(1000), 0.08)
    late(run, "late", 0.05)


@training("straggler", "late", ranks=2)
def straggler_in_backward(run):
    """Rank 1 computes its backward pass for 70 ms, the other one for 20 ms."""
    train_together(run, Backward(0.07 if run.rank == LATE else 0.02), rows(1000), 0.08)
    late(run, "late", 0.05)


@training("straggler in its data", "late", ranks=2)
def straggler_in_data(run):
    """Rank 1 prepares its batches for 60 ms, the other one has them at once; the model takes 20 ms."""
    loader = DataLoader(Samples(0.015, compute), 4) if run.rank == LATE else rows(1000)
    train_together(run, Model(0.02, compute), loader, 0.09)
    late(run, "late", 0.06)


@training("straggler outside of all phases", "late", ranks=2)
def straggler_outside_of_phases(run):
    """Rank 1 computes metrics for 50 ms after each step, the other one goes on and waits for it."""
    train_together(run, Model(0.03, compute), rows(1000), 0.09, lambda step: compute(0.05) if run.rank == LATE else None)
    late(run, "late", 0.05)


@training("checkpoints of one rank", "checkpoint", ranks=2)
def checkpoints_of_rank_0(run):
    """Rank 0 writes a checkpoint to storage that takes 0.8 s in each 20th step, and the other one waits."""
    state = {"weights": torch.ones(1_000_000)}

    def save(step):
        if run.rank == 0 and step % 20 == 19:
            with run.part("checkpoint"):
                torch.save(state, SlowFile(0.8))

    train_together(run, Model(0.03), rows(1000), 0.08, save)


class Wide(nn.Module):
    """A model of many weights and little work: most of its time is for the exchange of gradients."""

    def __init__(self):
        super().__init__()
        self.weights, self.line = nn.Parameter(torch.zeros(20_000_000)), nn.Linear(8, 1)

    def forward(self, x):
        return self.line(x) + self.weights[:1].sum()


@training("communication in the backward pass", "backward", ranks=2)
def large_gradients(run):
    """Two ranks exchange gradients of 80 MB in each step over gloo; the model takes a few milliseconds."""
    train_together(run, Wide(), rows(1000), 0.25)


@training("communication", "talk", ranks=2)
def all_reduce_by_hand(run):
    """Two ranks add up 40 MB by a call of their own after each step; the model takes 20 ms."""
    dist.init_process_group("gloo", init_method=f"file://{os.environ['MEET']}", rank=run.rank, world_size=run.world)
    model, numbers = Model(0.02), torch.ones(10_000_000)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    steps, run.seconds = int(run.seconds / 0.13), run.seconds * 4
    for x, y in batches_of(run, rows(1000)):
        one_step(run, model, optimizer, x, y)
        with run.part("talk"):
            dist.all_reduce(numbers)
        run.step_ended()
        if run.steps == steps:
            break
    dist.destroy_process_group()


@training("healthy", ranks=2)
def balanced_ranks(run):
    """Two ranks of equal work, a forward pass of 60 ms."""
    train_together(run, Model(0.06), rows(1000), 0.065)

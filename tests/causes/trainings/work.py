"""What the trainings are made of: models, data, and work of a known length."""

import time

import torch
from clocks import clock
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

SIZE = 8


def compute(seconds):
    """Keeps a core busy until the time is over."""
    end = clock() + seconds
    while clock() < end:
        sum(range(200))


def compute_cpu(seconds):
    """Uses so much CPU time, however long others keep the cores from it: work that has to be done."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(200))


class Model(nn.Module):
    """A model whose forward pass takes so long. Its sleep stands for the work of a GPU or of other cores, so that several
    trainings fit on a small machine."""

    def __init__(self, seconds, work=time.sleep, width=SIZE):
        super().__init__()
        self.line, self.seconds, self.work = nn.Linear(width, 1), seconds, work

    def forward(self, x):
        self.work(self.seconds)
        return self.line(x)


class Samples(Dataset):
    """Samples that take so long each: `work` computes, sleeps, or reads."""

    def __init__(self, seconds=0.0, work=time.sleep, count=10**6):
        self.seconds, self.work, self.count = seconds, work, count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if self.seconds:
            self.work(self.seconds)
        return torch.ones(SIZE) * (i % 3), torch.ones(1)


class SlowFile:
    """Storage that takes so long for a checkpoint of 4 MB."""

    def __init__(self, seconds):
        self.seconds = seconds

    def write(self, text):
        time.sleep(self.seconds * len(text) / 4_000_000)
        return len(text)

    def flush(self):
        pass


def rows(batches, batch=4):
    """Batches that are there at once."""
    return DataLoader(TensorDataset(torch.ones(batches * batch, SIZE), torch.ones(batches * batch, 1)), batch)


def batches_of(run, loader):
    """The batches of a loader, again and again until the time is over; the waits for them are the part `data`."""
    while True:
        with run.part("data"):
            iterator = iter(loader)
        batch = ()
        while batch is not None:
            if not run.going():
                return
            with run.part("data"):
                batch = next(iterator, None)
            if batch is not None:
                yield batch


def one_step(run, model, optimizer, x, y):
    optimizer.zero_grad()
    with run.part("forward"):
        loss = nn.functional.mse_loss(model(x), y)
    with run.part("backward"):
        loss.backward()
    with run.part("optimizer"):
        optimizer.step()
    return loss


def train(run, model, loader, after=None, optimizer=None):
    """The loop that everybody writes. after(step, loss) comes at the end of each iteration."""
    optimizer = optimizer or torch.optim.SGD(model.parameters(), 1e-3)
    for x, y in batches_of(run, loader):
        loss = one_step(run, model, optimizer, x, y)
        if after:
            after(run.steps, loss)
        run.step_ended()


def evaluate(run, model, batches, seconds):
    """An evaluation of so many batches, each of so many seconds."""
    with run.part("evaluation"):
        model.eval()
        usual, model.seconds = model.seconds, seconds
        with torch.no_grad():
            for x, _ in rows(batches):
                model(x)
        model.seconds = usual
        model.train()

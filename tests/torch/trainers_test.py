"""Loops that drive a training as Lightning and Accelerate do. Neither is packaged by the distribution, so these are
their ways of calling torch, written down: the real ones were not met."""

import contextlib
import types

import torch
from torch import nn
from torch.utils.data import DataLoader

from tests.torch.nets import Net, loader


class LightningLikeOptimizer:
    """A wrapper whose class is the optimizer's too, which shares its attributes and hands a closure on."""

    def __init__(self, optimizer, strategy):
        self.__dict__ = {name: value for name, value in optimizer.__dict__.items() if name != "step"}
        self.__class__ = type("Lightning" + type(optimizer).__name__, (type(self), type(optimizer)), {})
        self._optimizer, self._strategy = optimizer, strategy

    def step(self, closure):
        return self._strategy(self._optimizer, closure)


class Closure:
    """Forward, zero_grad and backward, run by the optimizer."""

    def __init__(self, module, batch, optimizer):
        self.module, self.batch, self.optimizer = module, batch, optimizer

    def __call__(self):
        with torch.enable_grad():
            loss = self.module.training_step(self.batch)
            self.optimizer.zero_grad()
            torch.autograd.backward(loss)
            return loss.detach()


class LightningLikeModule(Net):
    def training_step(self, batch):
        x, y = batch
        return nn.functional.mse_loss(self(x), y)

    def validation_step(self, batch):
        return nn.functional.mse_loss(self(batch[0]), batch[1])


def fit(module, optimizer, epochs, batches):
    wrapped = LightningLikeOptimizer(optimizer, lambda inner, closure: inner.step(closure=closure))
    module.eval()
    with torch.no_grad():  # its sanity check
        for _, batch in zip(range(2), loader(4)):
            module.validation_step(batch)
    module.train()
    for _ in range(epochs):
        for batch in loader(batches):
            wrapped.step(Closure(module, batch, wrapped))
        with torch.inference_mode():
            for batch in loader(6):
                module.validation_step(batch)


def test_a_loop_like_lightnings(agent):
    module = LightningLikeModule()
    fit(module, torch.optim.Adam(module.parameters()), 3, 8)
    steps = agent.drain().steps
    assert [row["step"] for row in steps] == list(range(24))
    assert all({"data", "forward", "backward", "optimizer"} == set(row["phases"]) for row in steps[4:])
    assert all(sum(row["phases"].values()) <= row["wall_ns"] for row in steps)
    assert agent.annotations == {"evaluation": 2}  # the third one ends with the process


class AccelerateLikeOptimizer(torch.optim.Optimizer):
    """A wrapper that has no parameters of its own, and steps only where gradients are synchronised."""

    def __init__(self, optimizer, state):
        self.optimizer, self.state_of_gradients = optimizer, state

    def step(self, closure=None):
        if self.state_of_gradients.synchronised:
            self.optimizer.step(closure)

    def zero_grad(self, set_to_none=None):
        if self.state_of_gradients.synchronised:
            self.optimizer.zero_grad()


class AccelerateLikeLoader(DataLoader):
    """A loader that is one batch ahead, to know which one is the last."""

    def __iter__(self):
        batches = super().__iter__()
        current = next(batches)
        for following in batches:
            yield current
            current = following
        yield current


class Accelerate:
    def __init__(self, accumulate):
        self.synchronised, self.each, self.seen = False, accumulate, 0

    def prepare(self, net, optimizer, batches):
        forward = net.forward
        net.forward = types.MethodType(lambda module, *args: forward(*args), net)
        return net, AccelerateLikeOptimizer(optimizer, self), AccelerateLikeLoader(batches.dataset, batch_size=4)

    @contextlib.contextmanager
    def accumulate(self):
        self.seen += 1
        self.synchronised = self.seen % self.each == 0
        yield

    def backward(self, loss):
        (loss / self.each).backward()


def test_a_loop_like_accelerates(agent):
    accelerate, net = Accelerate(accumulate=2), Net()
    net, optimizer, batches = accelerate.prepare(net, torch.optim.AdamW(net.parameters()), loader(12))
    for _ in range(2):
        for x, y in batches:
            with accelerate.accumulate():
                accelerate.backward(nn.functional.mse_loss(net(x), y))
                optimizer.step()
                optimizer.zero_grad()
    steps = agent.drain().steps
    assert [row["step"] for row in steps] == list(range(12)) and agent.annotations == {}
    assert all({"forward", "backward", "optimizer"} <= set(row["phases"]) for row in steps)
    assert sum("data" in row["phases"] for row in steps) >= 11

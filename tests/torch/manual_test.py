"""Trainings that step their optimizers themselves, through the wrappers of Lightning and of Accelerate: classes and
methods have the names and the order of calls of the real ones, which no distribution packages."""

import functools

import pytest
import torch
from torch import nn

from tests.torch.nets import Net, loader


def nothing():
    return None


class Precision:
    """lightning.pytorch.plugins.Precision: the closure is run by the optimizer."""

    def optimizer_step(self, optimizer, model, closure, **named):
        return optimizer.step(closure=functools.partial(self._wrap_closure, model, optimizer, closure), **named)

    def _wrap_closure(self, model, optimizer, closure):
        result = closure()
        model.on_before_optimizer_step(optimizer)
        return result

    def backward(self, tensor, model, optimizer, *args, **named):
        model.backward(tensor, *args, **named)


class MixedPrecision(Precision):
    """The closure is run here: a GradScaler steps no optimizer that has one."""

    def __init__(self, scaler):
        self.scaler = scaler

    def optimizer_step(self, optimizer, model, closure, **named):
        result = closure()
        model.on_before_optimizer_step(optimizer)
        stepped = self.scaler.step(optimizer, **named)
        self.scaler.update()
        return stepped if stepped is not None else result

    def backward(self, tensor, model, optimizer, *args, **named):
        super().backward(self.scaler.scale(tensor), model, optimizer, *args, **named)


class Strategy:
    def __init__(self, precision, model):
        self.precision_plugin, self.model = precision, model

    def optimizer_step(self, optimizer, closure, model=None, **named):
        return self.precision_plugin.optimizer_step(optimizer, model=model or self.model, closure=closure, **named)

    def backward(self, closure_loss, optimizer, *args, **named):
        self.precision_plugin.backward(closure_loss, self.model, optimizer, *args, **named)
        return closure_loss


class LightningOptimizer:
    """The result of Lightning's `self.optimizers()`: it is no Optimizer, and shows the attributes of one."""

    def __init__(self, optimizer, strategy):
        self._optimizer, self._strategy = optimizer, strategy
        self._on_before_step = self._on_after_step = nothing

    def step(self, closure=None, **named):
        self._on_before_step()
        output = self._strategy.optimizer_step(self._optimizer, closure or nothing, **named)
        self._on_after_step()
        return output

    def __getattr__(self, name):
        return getattr(self._optimizer, name)


class LightningModule(nn.Module):
    automatic_optimization = False

    def prepare(self, precision):
        strategy = Strategy(precision, self)
        self.__dict__["_strategy"] = strategy
        self.__dict__["_wrapped"] = [LightningOptimizer(each, strategy) for each in self.configure_optimizers()]
        return self

    def optimizers(self):
        return self._wrapped if len(self._wrapped) > 1 else self._wrapped[0]

    def manual_backward(self, loss, *args, **named):
        self._strategy.backward(loss, None, *args, **named)

    def backward(self, loss, *args, **named):
        loss.backward(*args, **named)

    def on_before_optimizer_step(self, optimizer):
        pass


class Gan(LightningModule):
    """Both of its optimizers step for each batch; `rest` batches pass between two steps of the second one."""

    def __init__(self, rest=0):
        super().__init__()
        self.generator, self.discriminator, self.rest = Net(), nn.Sequential(nn.Linear(9, 8), nn.ReLU(), nn.Linear(8, 1)), rest

    def configure_optimizers(self):
        return torch.optim.Adam(self.discriminator.parameters()), torch.optim.Adam(self.generator.parameters())

    def judge(self, x, y):
        return self.discriminator(torch.cat([x, y], 1))

    def training_step(self, batch, number):
        of_discriminator, of_generator = self.optimizers()
        x, y = batch
        of_discriminator.zero_grad()
        self.manual_backward(nn.functional.softplus(self.judge(x, self.generator(x).detach())).mean() + nn.functional.softplus(-self.judge(x, y)).mean())
        of_discriminator.step()
        if number % (self.rest + 1) == 0:
            of_generator.zero_grad()
            self.manual_backward(nn.functional.softplus(-self.judge(x, self.generator(x))).mean())
            of_generator.step()


class Single(LightningModule):
    """A module with one optimizer that steps after each second batch; every other of its steps has a closure."""

    def __init__(self, each=2):
        super().__init__()
        self.net, self.each, self.made = Net(), each, 0

    def configure_optimizers(self):
        return (torch.optim.SGD(self.net.parameters(), 0.01),)

    def training_step(self, batch, number):
        loss = nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.manual_backward(loss / self.each)
        if (number + 1) % self.each == 0:
            self.made += 1
            self.optimizers().step(closure=(lambda: loss.detach()) if self.made % 2 else None)
            self.optimizers().zero_grad()


def fit(module, batches, epochs=2, before=nothing):
    module.train()
    for _ in range(epochs):
        for number, batch in enumerate(loader(batches)):
            before()
            module.training_step(batch, number)


def are_whole(steps, many):
    """Checks that each step is there once, with its phases."""
    assert [row["step"] for row in steps] == list(range(many))
    assert all({"forward", "backward", "optimizer"} <= set(row["phases"]) for row in steps[1:])
    assert all(sum(row["phases"].values()) <= row["wall_ns"] for row in steps)


@pytest.mark.parametrize("rest", [0, 4])
def test_lightnings_manual_optimization_of_two_optimizers(agent, rest):
    fit(Gan(rest).prepare(Precision()), 12)
    are_whole(agent.drain().steps, 24)
    assert agent.annotations == {}


def test_lightnings_manual_optimization_with_accumulation(agent):
    fit(Single().prepare(Precision()), 12)
    are_whole(agent.drain().steps, 12)


def overflow(at):
    """Gradients of these batches are infinite."""
    seen = []

    def factor():
        seen.append(1)
        return float("inf") if len(seen) in at else 1.0

    return factor


def a_scaler():
    """A GradScaler that scales on a CPU."""
    if not hasattr(torch.amp, "GradScaler"):
        pytest.skip("this version scales on a GPU only")
    return torch.amp.GradScaler("cpu", init_scale=4.0)


class Overflowing(Single):
    def __init__(self, factor):
        super().__init__(each=1)
        self.factor = factor

    def manual_backward(self, loss, *args, **named):
        super().manual_backward(loss * self.factor(), *args, **named)


def test_lightnings_mixed_precision_skips_steps(agent):
    scaler = a_scaler()
    fit(Overflowing(overflow((1, 6, 7, 24))).prepare(MixedPrecision(scaler)), 12)
    assert scaler.get_scale() == 4.0 / 16
    are_whole(agent.drain().steps, 24)


class GradientState:
    sync_gradients = True


class AcceleratedOptimizer(torch.optim.Optimizer):
    """accelerate.optimizer: it steps where gradients are synchronised, and knows from a method that it puts in the
    optimizer's place whether the scaler let it."""

    def __init__(self, optimizer, state, scaler=None):
        self.optimizer, self.scaler, self.gradient_state = optimizer, scaler, state
        self._is_overflow = self._accelerate_step_called = False
        self._optimizer_original_step_method = optimizer.step
        self._optimizer_patched_step_method = patch_optimizer_step(self, optimizer.step)

    def zero_grad(self, set_to_none=None):
        if self.gradient_state.sync_gradients:
            self.optimizer.zero_grad()

    def step(self, closure=None):
        if not self.gradient_state.sync_gradients:
            return
        if self.scaler is None:
            self.optimizer.step(closure)
            return
        self.optimizer.step = self._optimizer_patched_step_method
        self.scaler.step(self.optimizer, closure)
        self.scaler.update()
        self._is_overflow = not self._accelerate_step_called
        self.optimizer.step = self._optimizer_original_step_method
        self._accelerate_step_called = False

    @property
    def step_was_skipped(self):
        return self._is_overflow


def patch_optimizer_step(accelerated_optimizer, method):
    def patched_step(*args, **named):
        accelerated_optimizer._accelerate_step_called = True
        return method(*args, **named)

    return patched_step


class AcceleratedScheduler:
    def __init__(self, scheduler, optimizers, processes=1):
        self.scheduler, self.optimizers, self.processes = scheduler, optimizers, processes

    def step(self):
        if not self.optimizers[0].gradient_state.sync_gradients:
            self.scheduler._step_count += 1
            return
        if any(each.step_was_skipped for each in self.optimizers):
            return
        for _ in range(self.processes):
            self.scheduler.step()


def accelerated(scaler, factor, batches=12, each=1):
    net, state = Net(), GradientState()
    inner = torch.optim.AdamW(net.parameters())
    optimizer = AcceleratedOptimizer(inner, state, scaler)
    scheduler = AcceleratedScheduler(torch.optim.lr_scheduler.StepLR(inner, 1000), [optimizer], processes=2)
    for _ in range(2):
        for number, (x, y) in enumerate(loader(batches)):
            state.sync_gradients = (number + 1) % each == 0
            loss = nn.functional.mse_loss(net(x), y) / each * factor()
            (scaler.scale(loss) if scaler else loss).backward()
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    return optimizer


@pytest.mark.parametrize("each", [1, 3])
def test_accelerates_optimizer_and_scheduler(agent, each):
    accelerated(None, overflow(()), each=each)
    are_whole(agent.drain().steps, 24 // each)


@pytest.mark.parametrize("each", [1, 3])
def test_accelerates_scaler_skips_steps(agent, each):
    """The first one, two in a row and the last one are skipped: each is a step that did not update."""
    scaler = a_scaler()
    optimizer = accelerated(scaler, overflow((each, 6 * each, 7 * each, 24)), each=each)
    assert optimizer.step_was_skipped and scaler.get_scale() == 4.0 / 16
    are_whole(agent.drain().steps, 24 // each)

"""The callbacks of trainers: of skorch as it is, of Lightning and Transformers by the functions that call their callbacks.
The distribution has no package of these two, so the functions are written down; the real ones were not met."""

import sys
import time
import types

import pytest
import torch
from torch import nn

import stepscope
from tests.torch.nets import Net, loader, step, train

SLOW_S = 0.002
NAMES = {"lightning": "lightning.pytorch.trainer.call", "pytorch_lightning": "pytorch_lightning.trainer.call"}


def callbacks(agent):
    """Seconds of callbacks in each step, by number of step."""
    return {row["step"]: row["phases"].get("callback", 0) / 1e9 for row in agent.drain().steps}


def _call_callback_hooks(trainer, hook_name, *args):
    for callback in trainer.callbacks:
        getattr(callback, hook_name, lambda *_: None)(trainer, *args)


def _call_lightning_module_hook(trainer, hook_name, *args):
    return getattr(trainer.module, hook_name)(*args)


class CallbackHandler:
    def __init__(self, callbacks):
        self.callbacks = callbacks

    def call_event(self, event, *args):
        for callback in self.callbacks:
            getattr(callback, event, lambda *_: None)(*args)


class Module(Net):
    def on_train_batch_end(self):
        time.sleep(SLOW_S)

    def optimizer_step(self, optimizer, closure):
        optimizer.step(closure)


class Slow:
    def on_train_batch_end(self, trainer):
        time.sleep(SLOW_S)

    def on_step_end(self, *args):
        time.sleep(SLOW_S)


def trainer_module(monkeypatch, name, **attributes):
    module = types.ModuleType(name)
    vars(module).update(attributes)
    monkeypatch.setitem(sys.modules, name, module)
    return module


def lightning(monkeypatch, name="lightning"):
    return trainer_module(monkeypatch, NAMES[name], _call_callback_hooks=_call_callback_hooks,
                          _call_lightning_module_hook=_call_lightning_module_hook)


@pytest.fixture(params=NAMES)
def call(request, monkeypatch):
    return lightning(monkeypatch, request.param)


def fit(call, callbacks, batches=12):
    trainer = types.SimpleNamespace(callbacks=callbacks, module=Module())
    optimizer = torch.optim.SGD(trainer.module.parameters(), 0.01)
    for x, y in loader(batches):
        def closure():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(trainer.module(x), y)
            loss.backward()
            return loss

        call._call_callback_hooks(trainer, "on_train_batch_start")
        call._call_lightning_module_hook(trainer, "optimizer_step", optimizer, closure)
        call._call_callback_hooks(trainer, "on_train_batch_end")
        call._call_lightning_module_hook(trainer, "on_train_batch_end")


def test_callbacks_and_hooks_of_a_lightning_module_are_a_phase(agent, call):
    fit(call, [Slow()])
    took = callbacks(agent)
    assert list(took) == list(range(12))
    assert took[0] == 0 and all(each >= 2 * SLOW_S for each in list(took.values())[1:])
    assert all(sum(row["phases"].values()) <= row["wall_ns"] for row in agent.steps)
    assert "callback" in stepscope.info()["hooks"].partition(";")[0]


def test_the_step_itself_is_no_callback(agent, call):
    """Lightning calls the step in the same way as a callback."""
    fit(call, [])
    agent.drain()
    for row in agent.steps[4:]:
        assert {"forward", "backward", "optimizer"} <= set(row["phases"])
        assert row["phases"]["callback"] < row["wall_ns"] - row["phases"]["backward"] - row["phases"]["forward"]


def test_callbacks_with_nothing_to_do_are_no_phase(agent, call):
    trainer = types.SimpleNamespace(callbacks=[Slow()])
    net, optimizer = train(4)
    for x, y in loader(8):
        step(net, optimizer, x, y)
        call._call_callback_hooks(trainer, "on_nothing")
    took = sorted(callbacks(agent).values())
    assert took[len(took) // 2] == 0  # the median, since the machine may have put off a callback


def test_a_callback_that_evaluates_is_an_evaluation(agent, call):
    class Validates:
        def on_train_batch_end(self, trainer):
            with torch.no_grad():
                for x, _ in loader(6):
                    trainer.module(x)
                    time.sleep(SLOW_S)

    trainer = types.SimpleNamespace(callbacks=[Validates()], module=Net())
    net, optimizer = train(6, trainer.module)
    for _ in range(3):
        call._call_callback_hooks(trainer, "on_train_batch_end")
        train(4, net, optimizer)
    assert sum(callbacks(agent).values()) == 0 and agent.annotations == {"evaluation": 3}
    assert all(sum(row["phases"].values()) <= row["wall_ns"] for row in agent.steps)


def test_a_checkpoint_within_a_callback_is_a_checkpoint(agent, call, tmp_path):
    class Saves:
        def on_train_batch_end(self, trainer):
            torch.save(torch.zeros(1 << 20), tmp_path / "weights")
            time.sleep(SLOW_S)

    trainer = types.SimpleNamespace(callbacks=[Saves()])
    net, optimizer = train(6)
    call._call_callback_hooks(trainer, "on_train_batch_end")
    train(4, net, optimizer)
    took = callbacks(agent)
    (saved,) = [row for row in agent.steps if "checkpoint" in row["phases"]]
    assert took[saved["step"]] >= SLOW_S and sum(saved["phases"].values()) <= saved["wall_ns"]


@pytest.mark.parametrize("reason", [KeyboardInterrupt(), ValueError("of the callback")])
def test_what_a_callback_raises_comes_through(agent, call, reason):
    class Raises:
        def on_train_batch_end(self, trainer):
            raise reason

    train(4)
    with pytest.raises(type(reason)) as raised:
        call._call_callback_hooks(types.SimpleNamespace(callbacks=[Raises()]), "on_train_batch_end")
    assert raised.value is reason


def test_callbacks_of_transformers_are_a_phase(agent, monkeypatch):
    trainer_module(monkeypatch, "transformers.trainer_callback", CallbackHandler=CallbackHandler)
    handler, net = CallbackHandler([Slow()]), Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x, y in loader(12):
        step(net, optimizer, x, y)
        handler.call_event("on_step_end", None, None, None)
    took = callbacks(agent)
    assert took[0] == 0 and all(each >= SLOW_S for each in list(took.values())[1:])


def test_a_trainer_that_is_imported_later_is_seen_with_its_optimizer(agent, monkeypatch):
    train(6)
    assert "no callback: no trainer that has them is imported" in stepscope.info()["hooks"]
    fit(lightning(monkeypatch), [Slow()])
    assert sum(each >= 2 * SLOW_S for each in callbacks(agent).values()) >= 11
    assert "no callback" not in stepscope.info()["hooks"]


def test_skorch_shows_its_callbacks(agent):
    skorch = pytest.importorskip("skorch", reason="skorch is not here: apt-get install python3-skorch")
    import numpy

    class Rests(skorch.callbacks.Callback):
        def on_batch_end(self, net, training=False, **_):
            if training:
                time.sleep(SLOW_S)

    x, y = numpy.ones((64, 8), "float32"), numpy.ones((64, 1), "float32")
    net = skorch.NeuralNet(Net, criterion=nn.MSELoss, max_epochs=3, batch_size=8, callbacks=[Rests()], verbose=0)
    net.fit(x, y)
    took = callbacks(agent)
    epoch = len(took) // 3
    assert len(took) == 3 * epoch > 15 and agent.annotations == {"evaluation": 2}
    assert sum(each >= SLOW_S for each in took.values()) == 3 * epoch - 1
    for row in agent.steps[4:]:
        assert {"data", "forward", "loss", "backward", "optimizer"} <= set(row["phases"])
        assert sum(row["phases"].values()) <= row["wall_ns"]

"""`model.fit` with our callback in its list. Classes, methods and the order of calls are those of Keras, which no
distribution packages: of Keras 3, and of Keras 2 where that differs."""

import sys
import types

import pytest

import stepscope


@pytest.fixture
def agent(intake, session_at):
    session_at(intake.path)
    return intake


class Callback:
    """keras.callbacks.Callback, with the calls that a list makes."""

    _supports_tf_logs = False

    def __init__(self):
        self.validation_data = self._model = self.params = None

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self._model = model

    def on_train_batch_begin(self, batch, logs=None):
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch, logs=None):
        self.on_batch_end(batch, logs=logs)

    def _implements_train_batch_hooks(self):
        names = ("on_batch_begin", "on_batch_end", "on_train_batch_begin", "on_train_batch_end")
        return any(getattr(type(self), name) is not getattr(Callback, name) for name in names)


def _default(self, *args, **named):
    """The function of a callback that has none of this name."""


for _name in ("batch_begin", "batch_end", "epoch_begin", "epoch_end", "train_begin", "train_end", "test_begin", "test_end",
              "test_batch_begin", "test_batch_end", "predict_begin", "predict_end", "predict_batch_begin", "predict_batch_end"):
    setattr(Callback, "on_" + _name, _default)


class History(Callback):
    def on_train_begin(self, logs=None):
        self.epochs = []

    def on_epoch_end(self, epoch, logs=None):
        self.epochs.append(logs)


class EarlyStopping(Callback):
    def __init__(self, epoch):
        super().__init__()
        self.at = epoch

    def on_epoch_end(self, epoch, logs=None):
        self.model.stop_training = epoch == self.at

    def set_model(self, model):
        self.model = model


class CallbackList:
    """Keras 3 calls each callback; Keras 2 calls those of batches only where one of them has such functions."""

    def __init__(self, callbacks, model, version, **params):
        self.callbacks, self.version = [History(), *callbacks], version
        self._supports_tf_logs = all(getattr(each, "_supports_tf_logs", False) for each in self.callbacks)
        self._should_call_train_batch_hooks = version == 3 or any(each._implements_train_batch_hooks() for each in self.callbacks)
        for each in self.callbacks:
            each.set_model(model)
            each.set_params(params)

    def __getattr__(self, name):
        def call(*args, **named):
            if "train_batch" in name and not self._should_call_train_batch_hooks:
                return
            for each in self.callbacks:
                getattr(each, name)(*args, **named)

        return call


class Model:
    """A model whose `fit` and `evaluate` call back as the trainers of both versions do."""

    def __init__(self, version, steps_per_execution=1):
        self.version, self.steps_per_execution, self.stop_training, self.trained = version, steps_per_execution, False, 0

    def fit(self, batches, epochs=1, initial_epoch=0, callbacks=(), validation=0, validation_freq=1):
        self.stop_training = False
        called = CallbackList(callbacks, self, self.version, epochs=epochs, steps=batches, verbose=0)
        called.on_train_begin()
        for epoch in range(initial_epoch, epochs):
            called.on_epoch_begin(epoch)
            for first in range(0, batches, self.steps_per_execution):
                last = min(first + self.steps_per_execution, batches) - 1
                called.on_train_batch_begin(first)
                self.trained += 1
                called.on_train_batch_end(last, {"loss": 1.0})
                if self.stop_training:
                    break
            if validation and (epoch + 1) % validation_freq == 0:
                self.evaluate(validation, called)
            called.on_epoch_end(epoch, {"loss": 1.0})
            if self.stop_training:
                break
        called.on_train_end(logs={"loss": 1.0})

    def evaluate(self, batches, callbacks=()):
        called = callbacks if isinstance(callbacks, CallbackList) else CallbackList(callbacks, self, self.version)
        called.on_test_begin()
        for batch in range(batches):
            called.on_test_batch_begin(batch)
            called.on_test_batch_end(batch, {"loss": 1.0})
        called.on_test_end({"loss": 1.0})


@pytest.fixture(params=[2, 3])
def model(request, monkeypatch):
    """A model of a Keras that the script has loaded."""
    monkeypatch.setitem(sys.modules, "keras", types.SimpleNamespace(callbacks=types.SimpleNamespace(Callback=Callback)))
    return Model(request.param)


def numbers(agent):
    return [row["step"] for row in agent.drain().steps]


def test_each_batch_is_a_step_once(agent, model):
    model.fit(5, epochs=3, callbacks=[stepscope.keras.Callback()])
    assert numbers(agent) == list(range(15)) and model.trained == 15 and agent.annotations == {}


def test_validation_makes_no_steps(agent, model):
    model.fit(5, epochs=4, callbacks=[stepscope.keras.Callback()], validation=3, validation_freq=2)
    assert numbers(agent) == list(range(20)) and agent.annotations == {"evaluation": 2}


def test_batches_that_are_executed_together_are_one_step(agent, model):
    model.steps_per_execution = 2
    model.fit(5, epochs=2, callbacks=[stepscope.keras.Callback()])
    assert numbers(agent) == list(range(6)) and model.trained == 6


def test_a_training_that_is_stopped_and_goes_on(agent, model):
    """Another callback stops it after an epoch, and `fit` goes on with the next one and the same callback."""
    ours = stepscope.keras.Callback()
    model.fit(5, epochs=8, callbacks=[EarlyStopping(1), ours])
    model.evaluate(4, callbacks=[ours])
    model.fit(5, epochs=3, initial_epoch=2, callbacks=[ours])
    assert numbers(agent) == list(range(15)) and model.trained == 15 and agent.annotations == {"evaluation": 1}


def test_a_batch_that_raises_is_no_step(agent, model):
    class Interrupts(Callback):
        def on_train_batch_begin(self, batch, logs=None):
            if batch == 3:
                raise KeyboardInterrupt

    ours = stepscope.keras.Callback()
    with pytest.raises(KeyboardInterrupt):
        model.fit(5, callbacks=[Interrupts(), ours])
    assert numbers(agent) == [0, 1, 2]

"""The callback, driven by the calls that Keras documents: no distribution has a Keras to train with."""

import gc
import sys
import time
import types
import weakref

import pytest

import stepscope
from stepscope import _marks

BATCH, DATA = 0.004, 0.008


@pytest.fixture
def agent(intake, session_at):
    session_at(intake.path)
    return intake


class KerasCallback:
    """The attributes of keras.callbacks.Callback, and those that its CallbackList asks for."""

    def __init__(self):
        self.params = None
        self._model = None

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self._model = model

    def _implements_train_batch_hooks(self):
        return any(getattr(type(self), name) is not getattr(KerasCallback, name) for name in ("on_train_batch_begin", "on_train_batch_end"))

    def on_train_batch_begin(self, batch, logs=None):
        pass

    def on_train_batch_end(self, batch, logs=None):
        pass

    def on_test_batch_begin(self, batch, logs=None):
        pass

    def on_test_batch_end(self, batch, logs=None):
        pass


def a_keras(name="keras", backend="torch"):
    """The module, as a script has loaded it."""
    inner = types.SimpleNamespace(callbacks=types.SimpleNamespace(Callback=KerasCallback))
    inner.backend = types.SimpleNamespace(backend=lambda: backend)
    return inner if name == "keras" else types.SimpleNamespace(keras=inner)


def evaluate(callback, seconds):
    callback.on_test_begin()
    callback.on_test_batch_begin(0)
    time.sleep(seconds)
    callback.on_test_batch_end(0, {"loss": 1.0})
    callback.on_test_end({"loss": 1.0})


def fit(callback, epochs=2, batches=3, validation=0.0, after_epoch=0.0, fetches_within=False):
    """`fetches_within`: as TensorFlow's trainer does, whose train_function takes the iterator."""
    callback.set_params({"epochs": epochs})
    callback.on_train_begin({})
    for epoch in range(epochs):
        callback.on_epoch_begin(epoch, {})
        for batch in range(batches):
            time.sleep(0 if fetches_within else DATA)
            callback.on_train_batch_begin(batch, {})
            time.sleep(DATA + BATCH if fetches_within else BATCH)
            callback.on_train_batch_end(batch, {"loss": 1.0})
        if validation:
            evaluate(callback, validation)
        time.sleep(after_epoch)
        callback.on_epoch_end(epoch, {"loss": 1.0})
    callback.on_train_end({})


def phases(step):
    return {name: ns / 1e9 for name, ns in step["phases"].items()}


def test_each_batch_is_a_step_with_its_wait(agent):
    fit(stepscope.keras.Callback())
    agent.drain()
    assert [step["step"] for step in agent.steps] == [0, 1, 2, 3, 4, 5]
    for step in agent.steps:
        assert phases(step)["data"] >= DATA and step["wall_ns"] / 1e9 - phases(step)["data"] >= BATCH
    assert sum("callback" in step["phases"] for step in agent.steps) <= 1  # nothing was done between the epochs


@pytest.mark.parametrize("name, backend", [("keras", "tensorflow"), ("tensorflow", "tensorflow"), ("tensorflow", None)])
def test_a_wait_that_does_not_show_is_no_short_wait(agent, monkeypatch, name, backend):
    """The backend None: a Keras that does not say which one it has."""
    module = a_keras(name, backend)
    if backend is None:
        del module.keras.backend
    monkeypatch.setitem(sys.modules, name, module)
    fit(stepscope.keras.Callback(), fetches_within=True, after_epoch=0.03)
    steps = agent.drain().steps
    assert len(steps) == 5  # nothing tells where the first one begins
    assert all("data" not in step["phases"] and step["wall_ns"] / 1e9 >= DATA + BATCH for step in steps)
    assert phases(steps[2])["callback"] >= 0.03


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_backends_that_fetch_before_the_batch_show_their_waits(agent, monkeypatch, backend):
    monkeypatch.setitem(sys.modules, "keras", a_keras(backend=backend))
    fit(stepscope.keras.Callback())
    assert all(phases(step)["data"] >= DATA for step in agent.drain().steps)


def test_what_is_done_between_epochs_is_phase_callback(agent):
    fit(stepscope.keras.Callback(), after_epoch=0.03)
    steps = agent.drain().steps
    assert phases(steps[3])["callback"] >= 0.03 and all("callback" not in step["phases"] for step in steps[1:3])


def test_validation_is_apart_from_the_steps(agent):
    fit(stepscope.keras.Callback(), validation=0.5)
    steps = agent.drain().steps
    assert len(steps) == 6 and agent.annotations == {"evaluation": 2} and agent.sums["evaluation"] >= 1e9
    assert steps[3]["step"] == 3 and all(sum(step["phases"].values()) <= step["wall_ns"] for step in steps)
    begin = steps[2]["start_us"] * 1000 + steps[2]["wall_ns"]
    end = steps[3]["start_us"] * 1000 + steps[3]["wall_ns"]
    assert end - begin - steps[3]["wall_ns"] >= 0.49e9


@pytest.mark.parametrize("kind", ["test", "predict"])
def test_a_long_evaluation_is_told_while_it_goes_on(agent, monkeypatch, kind):
    callback = stepscope.keras.Callback()
    monkeypatch.setattr(stepscope.keras, "_PIECE_NS", 1)
    callback.on_train_begin({})
    callback.on_train_batch_begin(0, {})
    began = time.monotonic_ns()
    callback.on_train_batch_end(0, {})
    getattr(callback, f"on_{kind}_begin")()
    for batch in range(5):
        time.sleep(0.01)
        getattr(callback, f"on_{kind}_batch_end")(batch, {"loss": 1.0})
        assert agent.drain().annotations == {"evaluation": batch + 1}
    getattr(callback, f"on_{kind}_end")({"loss": 1.0})
    took = time.monotonic_ns() - began
    callback.on_train_batch_begin(1, {})
    callback.on_train_batch_end(1, {})
    agent.drain()
    assert 5e7 <= agent.sums["evaluation"] <= took
    assert agent.steps[-1]["wall_ns"] <= time.monotonic_ns() - began - agent.sums["evaluation"]


def test_evaluation_by_itself_makes_no_step(agent):
    callback = stepscope.keras.Callback()
    evaluate(callback, 0.01)
    callback.on_predict_begin()
    callback.on_predict_end()
    assert agent.drain().steps == [] and agent.annotations == {"evaluation": 2}


def test_time_between_two_trainings_is_no_step(agent):
    callback = stepscope.keras.Callback()
    fit(callback, epochs=1)
    time.sleep(0.5)
    fit(callback, epochs=1)
    steps = agent.drain().steps
    first, last = steps[2], steps[3]
    pause_ns = (last["start_us"] - first["start_us"]) * 1000 - first["wall_ns"]
    assert len(steps) == 6 and pause_ns >= 0.49e9


@pytest.mark.parametrize("name", ["keras", "tensorflow"])
def test_where_keras_is_loaded_it_is_one_of_its_callbacks(agent, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, a_keras(name))
    callback = stepscope.keras.Callback()
    assert isinstance(callback, KerasCallback) and isinstance(callback, stepscope.keras.Callback)
    assert callback._implements_train_batch_hooks() and callback._supports_tf_logs
    fit(callback, epochs=1)
    assert len(agent.drain().steps) == 3


def test_it_keeps_no_model_alive(agent, monkeypatch):
    monkeypatch.setitem(sys.modules, "keras", a_keras())

    class Model:
        pass

    callback, model = stepscope.keras.Callback(), Model()
    callback.set_model(model)
    seen = weakref.ref(model)
    del model
    gc.collect()
    assert seen() is None


def test_a_subclass_says_more(agent, monkeypatch):
    monkeypatch.setitem(sys.modules, "keras", a_keras())

    class Mine(stepscope.keras.Callback):
        def on_train_batch_end(self, batch, logs=None):
            super().on_train_batch_end(batch, logs)
            self.losses = logs["loss"]

    callback = Mine()
    fit(callback, epochs=1)
    assert callback.losses == 1.0 and len(agent.drain().steps) == 3


def test_a_subclass_may_take_arguments(agent, monkeypatch):
    monkeypatch.setitem(sys.modules, "keras", a_keras())

    class Mine(stepscope.keras.Callback):
        def __init__(self, every, *, name):
            super().__init__()
            self.every, self.name = every, name

    callback = Mine(3, name="mine")
    fit(callback, epochs=1)
    assert (callback.every, callback.name) == (3, "mine") and isinstance(callback, KerasCallback) and len(agent.drain().steps) == 3


def test_without_an_agent_nothing_happens(session_at, tmp_path):
    session_at("")
    assert _marks._session.off
    fit(stepscope.keras.Callback(), validation=0.001)


def test_what_does_not_exist_is_not_there():
    callback = stepscope.keras.Callback()
    assert callback.on_something_new(1, logs={}) is None
    for wrong in (callback, stepscope):
        with pytest.raises(AttributeError):
            wrong.nothing_of_this_name

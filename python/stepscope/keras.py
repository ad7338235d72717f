"""Steps of a Keras training: `model.fit(..., callbacks=[..., stepscope.keras.Callback()])`.

It follows the callback interface that Keras 2 and 3 and tf.keras document, and imports none of them.
"""

from __future__ import annotations

import sys
from time import monotonic_ns

from . import _marks
from ._calm import let_through

_PIECE_NS = 10_000_000_000  # an evaluation is told when it has gone on for so long

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Callback:
    """Marks what Keras tells a callback: each batch that is trained on is a step.

    The time before a batch is phase data, that between the last batch of an epoch and the next epoch is phase
    callback, and validation and prediction are the annotation "evaluation", which no step contains. What happens
    in a batch Keras does not tell, so forward, backward and optimizer have no phases. TensorFlow fetches a batch
    within it, in its own graph, so with it there is no phase data either, rather than a wait that is too short. With `steps_per_execution`
    so many batches are one step. Put it last: what other callbacks do after a batch is then part of the step,
    else it looks like waiting for data.

    It keeps no model and reads no losses. Where a Keras is loaded it is one of its callbacks.
    """

    _supports_tf_logs = True  # so tf.keras need not fetch the losses of each batch for it

    def __new__(cls, *_: Any, **__: Any) -> "Callback":
        base = _keras_callback()
        if base is None or issubclass(cls, base):
            return object.__new__(cls)
        return object.__new__(type(cls.__name__, (cls, base), {}))

    def __init__(self) -> None:
        base = _keras_callback()
        if base is not None and isinstance(self, base):
            base.__init__(self)
        self._told = 0  # up to here it is known what the time was, ns
        self._left = 0  # when the training ended
        self._evaluating = 0  # since when
        self._waits_show = not _tensorflow_trains()

    def set_model(self, model: Any) -> None:
        """The callback needs no model, and must not keep one alive."""

    def set_params(self, params: Any) -> None:
        """The callback needs no parameters."""

    def on_train_begin(self, logs: Any = None) -> None:
        self._told = monotonic_ns()
        if self._left:
            _marks.skip(self._told - self._left, by_hand=True)
            self._left = 0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if epoch:
            self._record("callback")

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        if self._waits_show:
            self._record("data")

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        _marks.step()
        self._told = monotonic_ns()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._record("callback")

    def on_train_end(self, logs: Any = None) -> None:
        self._left = self._told = monotonic_ns()

    def on_test_begin(self, logs: Any = None) -> None:
        self._evaluating = monotonic_ns()
        if self._told and not self._left:
            _marks.record(self._told, self._evaluating, "callback")

    def on_test_end(self, logs: Any = None) -> None:
        if self._evaluating:
            self._tell_evaluation(monotonic_ns())
        self._evaluating = 0

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        now = monotonic_ns()
        if self._evaluating and now - self._evaluating >= _PIECE_NS:
            self._tell_evaluation(now)

    def on_predict_begin(self, logs: Any = None) -> None:
        self.on_test_begin()

    def on_predict_end(self, logs: Any = None) -> None:
        self.on_test_end()

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        self.on_test_batch_end(batch)

    def __getattr__(self, name: str) -> Any:
        """Keras asks for all that a callback may have; without its base class the rest does nothing."""
        if name.startswith("on_"):
            return _nothing
        raise AttributeError(name)

    def _tell_evaluation(self, now: int) -> None:
        """A long one is told piece by piece, so that it does not look like a training that hangs."""
        _marks.span(self._evaluating, now, "evaluation")
        if self._told and not self._left:
            _marks.skip(now - self._evaluating, by_hand=True)
            self._told = now
        self._evaluating = now

    def _record(self, phase: str) -> None:
        now = monotonic_ns()
        if self._told:
            _marks.record(self._told, now, phase)
        self._told = now


def _nothing(*_: Any, **__: Any) -> None:
    pass


def _loaded_keras() -> Any:
    """The Keras that the script has loaded; None without one."""
    for name in ("keras", "tensorflow"):
        try:
            module: Any = sys.modules[name]
            keras = module if name == "keras" else module.keras
            keras.callbacks.Callback
            return keras
        except (KeyError, AttributeError, ImportError) as problem:
            let_through(problem)
    return None


def _keras_callback() -> Any:
    """The base class of its callbacks."""
    keras = _loaded_keras()
    return None if keras is None else keras.callbacks.Callback


def _tensorflow_trains() -> bool:
    """Keras 3 says which backend it has; Keras 2 and tf.keras have no other."""
    keras = _loaded_keras()
    if keras is None:
        return False
    try:
        return bool(keras.backend.backend() == "tensorflow")
    except Exception as problem:
        let_through(problem)
        return "tensorflow" in sys.modules

"""Marks of a training process for Stepscope.

The training runs the same with and without an agent: nothing here raises, waits or prints.

    import stepscope

    for batch in stepscope.loader(batches):      # the wait for the next batch is phase data
        with stepscope.phase("forward"):
            loss = model(batch)
        with stepscope.annotate("augment"):      # any name; count, sum, least and most are kept
            ...
        stepscope.step()                         # the end of a step
        stepscope.metric("loss", float(loss))    # a custom metric of this rank
"""

from __future__ import annotations

from ._marks import annotate, annotation_begin, annotation_end, info, loader, metric, phase, step
from ._session import VERSION as __version__
from ._window import start_profiling, stop_profiling, window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import keras as keras


def __getattr__(name: str) -> Any:
    """`stepscope.keras` is there without an import of its own, and costs nothing where nobody names it."""
    if name != "keras":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module(".keras", __name__)


__all__ = [
    "annotate",
    "annotation_begin",
    "annotation_end",
    "info",
    "loader",
    "metric",
    "phase",
    "start_profiling",
    "step",
    "stop_profiling",
    "window",
    "__version__",
]

"""Marks of a training process for Stepscope.

The training runs the same with and without an agent: nothing here raises, waits or prints.

    import stepscope

    for batch in stepscope.loader(batches):      # the wait for the next batch is phase data
        with stepscope.phase("forward"):
            loss = model(batch)
        with stepscope.annotate("augment"):      # any name; count, sum, least and most are kept
            ...
        stepscope.step()                         # the end of a step
"""

from ._marks import annotate, annotation_begin, annotation_end, info, loader, phase, step
from ._session import VERSION as __version__

__all__ = [
    "annotate",
    "annotation_begin",
    "annotation_end",
    "info",
    "loader",
    "phase",
    "step",
    "__version__",
]

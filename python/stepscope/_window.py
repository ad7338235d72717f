"""Windows: the steps for which operators and kernels are to be recorded. This version records none of them. Who
asks is told so: in `stepscope.info()["window"]`, and by the facts of the rank in describe-job."""

from __future__ import annotations

from . import _marks


NO_WINDOWS = "windows are not in this version"


def window(
    start_step: int = 0, num_steps: int = 1, shapes: bool = False, stacks: bool = False, memory: bool = False
) -> bool:
    """Asks that operators and kernels of `num_steps` steps from `start_step` on be recorded, and whether they
    will be: this version refuses, with the reason in ``stepscope.info()["window"]``."""
    return _refuse("window", num_steps, "steps from step", start_step)


def start_profiling() -> bool:
    """Asks that operators and kernels be recorded from now on, and whether they will be: this version refuses."""
    return _refuse("start_profiling")


def stop_profiling() -> None:
    """Ends what `start_profiling` began, which in this version is nothing."""


def _refuse(*asked: object) -> bool:
    """The agent hears of the first one only: a script may ask in each step."""
    try:
        text = f"refused: {NO_WINDOWS} ({' '.join(map(str, asked))})"
        first = "window" not in _marks.notes
        _marks.notes["window"] = text
        if first:
            _marks.add_facts({"window": text})
    except Exception:
        pass
    return False

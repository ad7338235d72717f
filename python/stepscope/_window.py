"""Windows that a script asks for: steps of which PyTorch's profiler records operators and kernels.

The hooks of PyTorch record them (_hooks/_capture.py). What is asked for before PyTorch is imported waits for them.
"""

from __future__ import annotations

import sys

from . import _marks
from ._calm import let_through

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Optional, Protocol, Tuple

    class Recorder(Protocol):
        """Each returns why it is refused, or ""."""

        def want(self, first: int, steps: int, shapes: bool) -> str: ...
        def start(self) -> str: ...
        def stop(self) -> None: ...


recorder: Optional[Recorder] = None
_early: List[Tuple[int, int, bool]] = []
_MOST_EARLY = 8
_NO_STACKS = "with stacks PyTorch's profiler ended the training by a segmentation fault when that was tried (2.6)"
_NO_MEMORY = "with memory PyTorch's profiler writes to the training's standard error"
_NO_HOOKS = "operators are recorded where the hooks of PyTorch are, and this process has none"


def window(
    start_step: Optional[int] = None, num_steps: int = 1, shapes: bool = False, stacks: bool = False, memory: bool = False
) -> bool:
    """Asks that operators and kernels of `num_steps` steps (1 to 8) from `start_step` on be recorded, with their
    shapes where these are asked for; without `start_step` from the next step that begins. Stacks and memory are
    refused, since the profiler would harm the training. Returns whether they will be, as far as is known now; ``stepscope.info()["window"]`` says why not, and
    later what became of it. All ranks that ask for the same steps within 10 minutes make one window."""
    try:
        first, steps = -1 if start_step is None else int(start_step), int(num_steps)
        if start_step is not None and not 0 <= first < 1 << 53:
            return _told(f"step {first} is none")
        reason = _why_nobody_hears() or (_NO_STACKS if stacks else _NO_MEMORY if memory else "")
        ask = _wait_for_hooks if recorder is None else recorder.want
        return _told(reason or ask(first, steps, bool(shapes)))
    except Exception as problem:
        let_through(problem)
        return _told(f"{type(problem).__name__}: the request is not understood")


def start_profiling() -> bool:
    """Records operators and kernels from now on, until `stop_profiling` or for 8 steps. Call it between two steps, on
    the thread that trains. Returns whether that has begun; ``stepscope.info()["window"]`` says why not."""
    try:
        return _told(_why_nobody_hears() or (_NO_HOOKS if recorder is None else recorder.start()))
    except Exception as problem:
        let_through(problem)
        return _told(str(problem) or repr(problem))


def stop_profiling() -> None:
    """Ends what `start_profiling` began. The whole steps in between are kept."""
    try:
        if recorder is not None:
            recorder.stop()
    except Exception as problem:
        let_through(problem)


def hooks_began(by: Recorder) -> None:
    """Hands over what was asked for before."""
    global recorder
    recorder = by
    for asked in _early:
        _told(by.want(*asked))
    _early.clear()


def _wait_for_hooks(first: int, steps: int, shapes: bool) -> str:
    if "torch" in sys.modules:
        return _NO_HOOKS
    if len(_early) >= _MOST_EARLY:
        return f"{_MOST_EARLY} windows wait, which are the most"
    _early.append((first, steps, shapes))
    return ""


def _why_nobody_hears() -> str:
    session = _marks._session
    return "" if not session.off or session.seeking else str(session.reason or "no agent listens")


def _told(reason: str) -> bool:
    """Whether a request is taken. The agent hears of the first refusal only: a script may ask in each step."""
    try:
        first = not _marks.notes.get("window", "").startswith("refused")
        _marks.notes["window"] = f"refused: {reason}" if reason else "waits for its steps"
        if reason and first:
            _marks.add_facts({"window": f"refused: {reason}"})
    except Exception as problem:
        let_through(problem)
    return not reason

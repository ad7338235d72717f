"""Checkpoints: torch.save, and the functions that write them without it, of safetensors and torch.distributed.checkpoint.

They are watched as soon as their module has been executed (_stepscope_start.py awaits it). One that calls another counts
once.
"""

from __future__ import annotations

from threading import get_ident
from time import monotonic_ns
from typing import Any, Callable, Dict, Set, Tuple

from ._calls import tell
from ._compile import never, readers
from ._flow import flow
from ._frames import unseen
from ._patch import watch


_SAVERS: Dict[str, Tuple[str, ...]] = {
    "safetensors.torch": ("save_file", "save_model"),
    "torch.distributed.checkpoint": ("save", "async_save", "save_state_dict"),
}


_under_way: Set[str] = set()  # phases that the training thread, which alone looks, is in


def install(torch: Any) -> None:
    watch(torch, "save", timed("checkpoint"))


def install_for(module: Any) -> None:
    for name in _SAVERS.get(module.__name__, ()):
        if hasattr(module, name):
            watch(module, name, timed("checkpoint"))


@unseen
def timed(phase: str, reading: Callable[[], bool] = never) -> Any:
    """Times a call that both a training and an evaluation make. A call within another one of its phase is part of that
    one: a checkpoint may save thousands of tensors one by one."""

    def make(original: Any) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            if (readers and reading()) or get_ident() != flow.owner or phase in _under_way:
                return original(*args, **named)
            start = monotonic_ns()
            _under_way.add(phase)
            try:
                return original(*args, **named)
            finally:
                _under_way.discard(phase)
                tell(flow.happened, start, monotonic_ns(), phase)

        return call

    return make

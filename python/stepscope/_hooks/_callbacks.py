"""Callbacks of Lightning, Transformers and skorch, which trainers call between and within the steps.

Each trainer has one function that calls all callbacks of one kind, with the name of the kind as second argument.
Installed at the first step: by then a trainer that is in use has been imported.
"""

from __future__ import annotations

import sys
from threading import get_ident
from time import monotonic_ns
from typing import Any, List, Tuple

from ._calls import tell
from ._flow import flow
from ._frames import unseen
from ._patch import Unavailable, watch

# Module, class in it if any, function.
_CALLERS: Tuple[Tuple[str, str, str], ...] = (
    ("lightning.pytorch.trainer.call", "", "_call_callback_hooks"),
    ("lightning.pytorch.trainer.call", "", "_call_lightning_module_hook"),
    ("pytorch_lightning.trainer.call", "", "_call_callback_hooks"),
    ("pytorch_lightning.trainer.call", "", "_call_lightning_module_hook"),
    ("transformers.trainer_callback", "CallbackHandler", "call_event"),
    ("skorch.net", "NeuralNet", "notify"),
)
_LEAST_NS = 10_000  # most callbacks have nothing to do most of the time


def install(torch: Any) -> None:
    found: List[str] = []
    for module, kind, name in _CALLERS:
        owner: Any = sys.modules.get(module)
        owner = getattr(owner, kind, None) if kind else owner
        if owner is not None and hasattr(owner, name):
            watch(owner, name, _timed)
            found.append(name)
    if not found:
        raise Unavailable("no trainer that has them is imported")


@unseen
def _timed(original: Any) -> Any:
    def call(*args: Any, **named: Any) -> Any:
        if get_ident() != flow.owner or not _is_callback(args):
            return original(*args, **named)
        looks = flow.looks
        start = monotonic_ns()
        try:
            return original(*args, **named)
        finally:
            end = monotonic_ns()
            if end - start >= _LEAST_NS and flow.looks == looks:
                tell(flow.happened, start, end, "callback")

    return call


def _is_callback(args: Any) -> bool:
    """Lightning calls more of a module than its callbacks: `optimizer_step` is the step itself."""
    return len(args) > 1 and type(args[1]) is str and args[1].startswith("on_")

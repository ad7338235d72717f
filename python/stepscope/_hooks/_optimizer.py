"""Steps of optimizers, and of GradScalers that may skip them."""

from __future__ import annotations

import sys
from time import monotonic_ns
from typing import Any

from ._calls import stepping, tell
from ._flow import flow
from ._frames import unseen
from ._patch import Unavailable, is_inherited, replace, watch


def install(torch: Any) -> None:
    """An optimizer's class is wrapped when the first of it is made, over what torch itself wraps it with. The
    hooks that torch 2 has for all optimizers are not told of a step that raises."""
    module = sys.modules["torch.optim.optimizer"]  # torch.optim has an attribute of that name in some versions only
    made = "_patch_step_function" if hasattr(module.Optimizer, "_patch_step_function") else "_hook_for_profile"
    watch(module.Optimizer, made, lambda original: _timing_class(original, torch))


@unseen
def _timing_class(original: Any, torch: Any) -> Any:
    def made(self: Any, *args: Any, **named: Any) -> Any:
        flow.optimizers += 1
        done = original(self, *args, **named)
        tell(time_class, type(self))
        return done

    def time_class(kind: type) -> None:
        if not is_inherited(kind, "step"):
            replace(kind, "step", lambda step: stepping(flow, step, torch))

    return made


def install_scaler(torch: Any) -> None:
    """Classes by where versions have them; a newer one inherits from one of the others."""
    places = (("amp", "grad_scaler"), ("cuda", "amp"))
    found = 0
    for package, name in places:
        kind = getattr(getattr(getattr(torch, package, None), name, None), "GradScaler", None)
        if kind is not None and "step" in vars(kind):
            watch(kind, "step", _seeing_skips)
            found += 1
    if not found:
        raise Unavailable("this version has none")


@unseen
def _seeing_skips(original: Any) -> Any:
    def step(self: Any, optimizer: Any, *args: Any, **named: Any) -> Any:
        start, before = monotonic_ns(), flow.steps
        done = original(self, optimizer, *args, **named)
        if flow.steps == before:
            tell(flow.stepped, start, monotonic_ns(), optimizer)
        return done

    return step

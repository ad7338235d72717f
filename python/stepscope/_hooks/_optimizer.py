"""Steps of optimizers, and of GradScalers that may skip them."""

from __future__ import annotations

import sys
from time import monotonic_ns
from typing import Any, List, Tuple

from ._flow import flow
from ._forward import compiling
from ._patch import Unavailable, at_restore, replace

_MARK = "_stepscope_timed"
_open: List[Tuple[int, int]] = []  # optimizer and start of the steps that are under way, one within the other


def install(torch: Any) -> None:
    module = sys.modules["torch.optim.optimizer"]  # torch.optim has an attribute of that name in some versions only
    made = "_patch_step_function" if hasattr(module.Optimizer, "_patch_step_function") else "_hook_for_profile"
    reading = compiling(torch)
    if hasattr(module, "register_optimizer_step_post_hook"):
        replace(module.Optimizer, made, _counting)
        _register(module, reading)
    else:
        replace(module.Optimizer, made, _timing_class)


def _register(module: Any, reading: Any) -> None:
    def before(optimizer: Any, args: Any, named: Any) -> None:
        if not reading():
            _begin(optimizer)

    def after(optimizer: Any, args: Any, named: Any) -> None:
        if not reading():
            _end(optimizer)

    handles = [module.register_optimizer_step_pre_hook(before), module.register_optimizer_step_post_hook(after)]
    at_restore(lambda: [handle.remove() for handle in handles])


def _counting(original: Any) -> Any:
    def made(self: Any, *args: Any, **named: Any) -> Any:
        flow.optimizers += 1
        return original(self, *args, **named)

    return made


def _timing_class(original: Any) -> Any:
    """For versions without hooks: an optimizer's class is wrapped when the first of it is made, over what
    torch itself wraps it with."""

    def made(self: Any, *args: Any, **named: Any) -> Any:
        flow.optimizers += 1
        done = original(self, *args, **named)
        kind = type(self)
        if not getattr(kind.step, _MARK, False):
            replace(kind, "step", _timed)
            setattr(kind.step, _MARK, True)
        return done

    return made


def _timed(original: Any) -> Any:
    def step(self: Any, *args: Any, **named: Any) -> Any:
        _begin(self)
        done = original(self, *args, **named)
        _end(self)
        return done

    return step


def _begin(optimizer: Any) -> None:
    """A step that raised has no end; it is found here when the same optimizer steps again."""
    who = id(optimizer)
    if _open and (any(row[0] == who for row in _open) or len(_open) > 8):
        _open.clear()
    _open.append((who, monotonic_ns()))


def _end(optimizer: Any) -> None:
    """Only the outermost counts: some optimizers are made of others."""
    if not _open:
        return
    _, start = _open.pop()
    if not _open:
        flow.stepped(start, monotonic_ns(), optimizer)


def install_scaler(torch: Any) -> None:
    """Classes by where versions have them; a newer one inherits from one of the others."""
    places = (("amp", "grad_scaler"), ("cuda", "amp"))
    found = 0
    for package, name in places:
        kind = getattr(getattr(getattr(torch, package, None), name, None), "GradScaler", None)
        if kind is not None and "step" in vars(kind):
            replace(kind, "step", _seeing_skips)
            found += 1
    if not found:
        raise Unavailable("this version has none")


def _seeing_skips(original: Any) -> Any:
    def step(self: Any, optimizer: Any, *args: Any, **named: Any) -> Any:
        start, before = monotonic_ns(), flow.steps
        done = original(self, optimizer, *args, **named)
        if flow.steps == before:
            flow.stepped(start, monotonic_ns(), optimizer)
        return done

    return step

"""Steps, phases and facts of a PyTorch training that marks nothing itself.

`begin` is called once torch has been imported. Each thing that is watched is a row of `_ROWS` and a file of this
folder: it replaces one or a few functions (`_patch.py`), which time the call and tell `_flow.py`, and that file
decides what becomes of it. A row that cannot be installed is left out, and `stepscope.info()` says why.
"""

from __future__ import annotations

import atexit
import os
from typing import Any, Callable, Dict, List, Optional, Tuple

from _stepscope_imports import say

from .. import _marks, _window
from .._session import Session
from . import _backward, _callbacks, _checkpoint, _collectives, _compile, _facts, _forward, _gpu_times, _loader, _optimizer
from . import _patch, _transfer, _waits
from .._calm import let_through
from ._capture import Capture
from ._cuda_graphs import graphs
from ._flow import flow
from ._late_device import await_device

# Rows: what is watched, and the function that installs it. The first ones are installed before there is an agent, at next
# to no cost a step: scripts keep what they replace by name (torch.save), or in objects that are made once (the step of an
# optimizer with a scheduler).
_Rows = Tuple[Tuple[str, Callable[[Any], None]], ...]
_FIRST: _Rows = (
    ("optimizer", _optimizer.install),
    ("settings of loaders", _loader.install_settings),
    ("checkpoint", _checkpoint.install),
    ("captures of CUDA graphs", graphs.install),
)
_WITH_AGENT: _Rows = (
    ("data", _loader.install),
    ("forward", _forward.install),
    ("backward", _backward.install),
    ("gradient scaler", _optimizer.install_scaler),
    ("communication", _collectives.install),
)

_capture: Optional[Capture] = None
_failed: Dict[str, str] = {}
_installed: List[str] = []


def begin(torch: Any) -> None:
    """Installs what can be installed; nothing when there will be no agent, and nothing the second time."""
    session = _marks._session
    if session.off and not session.seeking:
        _marks.notes["hooks"] = "none: " + session.reason
        return
    if _installed:
        return
    flow.dormant = session.off
    flow.at_waking = lambda: _begin_with_agent(torch)
    for what, install in _FIRST:
        _try(what, install, torch)
    try:
        _compile.skip_frames()
        _compile.await_reader()
    except Exception as problem:
        let_through(problem)
        _failed["place outside of torch.compile"] = repr(problem)
    flow.at_first_step = lambda: _begin_steps(torch)
    flow.renewed.append(lambda: _begin_anew(torch))
    os.register_at_fork(after_in_child=flow.forget)
    os.register_at_fork(after_in_child=_gpu_times.leave)
    atexit.register(flow.close)
    _begin_windows(torch)
    if flow.dormant:
        _note(torch)
    else:
        _begin_with_agent(torch)


def _begin_with_agent(torch: Any) -> None:
    for what, install in _WITH_AGENT:
        _try(what, install, torch)
    _note(torch)


def begin_saving(module: Any) -> None:
    """For a module that saves checkpoints in a way of its own and was imported; nothing where nothing else is seen."""
    if "checkpoint" in _installed:
        _checkpoint.install_for(module)


def end() -> None:
    """Takes everything back: for tests."""
    _patch.restore()
    _installed.clear()
    _failed.clear()
    flow.forget()
    _gpu_times.forget()
    _waits.forget()
    Session.asked = None
    _window.recorder = None
    if _capture is not None:
        _capture.forget()
    _compile.forget()
    flow.renewed.clear()
    flow.optimizers = 0
    flow.dormant = False
    for name in ("gpu_times", "hooks", "hooks_fault"):
        _marks.notes.pop(name, None)


def _begin_windows(torch: Any) -> None:
    global _capture
    if _capture is None:
        _capture = capture = Capture(torch)
        os.register_at_fork(before=capture.before_fork, after_in_child=capture.in_child)
        atexit.register(capture.close)
    Session.asked = staticmethod(_capture.ask)  # type: ignore[assignment]
    _window.hooks_began(_capture)


def _begin_steps(torch: Any) -> None:
    """Installs the rows that can be known only once the training has begun."""
    if "forward" in _installed:
        _try("forward", _forward.look_again, torch)
    _try("gradients", _backward.install_grad, torch)
    _try("callback", _callbacks.install, torch)
    _begin_on_device(torch)
    await_device(torch, lambda: _begin_on_device(torch))


def _begin_on_device(torch: Any) -> None:
    _try("transfer", _transfer.install, torch)
    _try("waits for the GPU", _waits.install, torch)
    _try("facts", _facts.tell, torch)
    _try("GPU times", _gpu_times.install, torch)
    _note(torch)


def _begin_anew(torch: Any) -> None:
    """Another optimizer leads: perhaps another training in this process has begun."""
    _gpu_times.begin_anew()
    known = "callback" in _installed
    _try("callback", _callbacks.install, torch)
    if "callback" in _installed and not known:  # else nothing is new, and torch.compile looks at what runs here
        _note(torch)


def _try(what: str, install: Callable[[Any], None], torch: Any) -> None:
    try:
        install(torch)
        _failed.pop(what, None)
        if what not in _installed:
            _installed.append(what)
    except Exception as problem:
        let_through(problem)
        _failed[what] = str(problem) or repr(problem)


def _note(torch: Any) -> None:
    text = f"torch {getattr(torch, '__version__', '')}: {', '.join(_installed)}"
    if flow.dormant:
        text += f"; the rest waits: {_marks._session.reason}"
    for what, reason in _failed.items():
        text += f"; no {what}: {reason}"
    _marks.notes["hooks"] = text
    say(text)

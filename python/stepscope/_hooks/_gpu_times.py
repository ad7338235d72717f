"""Whether the steps of this training are timed by the GPU's own clock, and what is said of that.

They are where CUDA is in use. STEPSCOPE_GPU_TIMES=0 switches it off. `stepscope.info()["gpu_times"]` and the rank's fact
`gpu_clock` say "on", "every 8th step: ..." or "off: ...", with the reason.
"""

from __future__ import annotations

import atexit
import os
from typing import Any, List, Optional

from .. import _marks
from .._calm import let_through
from ._flow import flow
from ._gpu_clock import Clock
from ._patch import Unavailable

_MOST_TOLD = 32  # changes that the agent hears of
_MOST_PARAMETERS = 2_000  # so many of an optimizer are looked at, to see where it trains

_clock: Optional[Clock] = None
_told: List[str] = []
_left: List[Any] = []  # clocks of the parent of this process: what CUDA made there is not touched here


def wanted() -> bool:
    return os.environ.get("STEPSCOPE_GPU_TIMES", "") != "0"


def install(torch: Any) -> None:
    try:
        _install(torch)
    except Exception as problem:
        let_through(problem)
        _say(f"off: {str(problem) or repr(problem)}")
        raise


def _install(torch: Any) -> None:
    global _clock
    if not wanted():
        raise Unavailable("STEPSCOPE_GPU_TIMES=0")
    if not torch.cuda.is_initialized():
        raise Unavailable("no device is in use")
    _clock = Clock(torch, lambda: device_of(torch), _say_clock)
    _marks._session.untimed = 0
    _marks._session.at_step = _clock.step_ended
    atexit.register(close)
    _say_clock()


def device_of(torch: Any) -> int:
    """The number of the device on which the training computes: where its optimizer's parameters are."""
    leader: Any = flow.leader and flow.leader()
    if leader is None:
        if not torch.cuda.memory_allocated():
            raise Unavailable("no device is in use")
        return int(torch.cuda.current_device())
    with torch._C.DisableTorchFunction():  # subclasses and modes hear nothing of this
        parameters = [each for group in leader.param_groups for each in group["params"]][:_MOST_PARAMETERS]
        devices = {each.device.index for each in parameters if each.is_cuda}
    if len(devices) != 1:
        raise Unavailable("the training uses several devices" if devices else "the optimizer's parameters are not on a GPU")
    return int(devices.pop())


def begin_anew() -> None:
    """Another optimizer leads, which may train elsewhere."""
    if _clock is not None:
        _clock.is_anew = True


def _say_clock() -> None:
    if _clock is not None:
        _say(_clock.text(), _clock.state())


def _say(text: str, state: str = "") -> None:
    """`state` is what the agent hears; it changes seldom."""
    state = state or text
    _marks.notes["gpu_times"] = text
    if len(_told) < _MOST_TOLD and (not _told or _told[-1] != state):
        _told.append(state)
        _marks.add_facts({"gpu_clock": state})


def close() -> None:
    if _clock is not None:
        _clock.close()


def leave() -> None:
    """In a forked child, which has no part in its parent's device."""
    global _clock
    if _clock is not None:
        _left.append(_clock)
    _clock = None
    _told.clear()


def forget() -> None:
    """For tests."""
    global _clock
    _clock = None
    _told.clear()
    _marks._session.at_step, _marks._session.untimed = None, 0

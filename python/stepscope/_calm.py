"""Exceptions that end here, and those that are the script's own.

A fault of ours is none of the training's. But the handler of a signal may raise while code of ours runs, as the timeouts of
scripts do: what it raises is meant for the script, and goes on to it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_MORE_ARGUMENTS = 0x04  # a bit of a code object's co_flags


def let_through(problem: BaseException) -> None:
    """Raises the exception again where it is the script's own. Stands first wherever one is caught."""
    if is_of_script(problem):
        raise problem


def is_of_script(problem: BaseException) -> bool:
    """Whether a handler of a signal, or a trace function, raised it. Its traceback begins there from now on."""
    trace = problem.__traceback__
    while trace is not None:
        if _interrupted(trace.tb_frame):
            BaseException.with_traceback(problem, trace)
            return True
        trace = trace.tb_next
    return False


def _interrupted(frame: FrameType) -> bool:
    """Whether nobody called this frame: the interpreter ran it between two instructions of the one behind it, and gave
    it that one. Frames of ours are not read: what is read of a frame that still runs stays with it, and here that is the
    exception itself."""
    behind, code = frame.f_back, frame.f_code
    if behind is None or code.co_filename.startswith(_FOLDER):
        return False
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & _MORE_ARGUMENTS)
    for name in code.co_varnames[:count]:
        value = frame.f_locals.get(name)
        if value is behind or type(value) is tuple and any(each is behind for each in value):
            return True
    return False

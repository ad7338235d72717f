"""Frames of ours are not to be seen: neither in a traceback that the script prints, nor by what counts frames, nor by
torch.compile behind a break of a graph, where frames run one by one."""

from __future__ import annotations

import os
import sys
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

_F = TypeVar("_F")

# `warnings` and `logging` look for the caller's line, or the one `stacklevel` callers above it. They pass over the frames of
# the import system, which they know by these two words in the name of a file.
_PASSED_OVER = " (importlib _bootstrap)"
_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def unseen(make: _F) -> _F:
    """The function, and those that it makes, as frames that nobody counts. Not for what has no frames, being C."""
    function = cast(FunctionType, make)
    function.__code__ = _renamed(function.__code__)
    return make


def _renamed(code: CodeType) -> CodeType:
    constants = tuple(_renamed(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=code.co_filename + _PASSED_OVER, co_consts=constants)


def skip(code: CodeType) -> None:
    """Lets torch.compile take no look at frames with this code; those that they call are looked at."""
    compiler: Any = getattr(getattr(sys.modules.get("torch"), "_C", None), "_dynamo", None)
    skip_code = getattr(getattr(compiler, "eval_frame", None), "skip_code", None)
    if skip_code is not None:
        skip_code(code)


def leave(problem: BaseException) -> None:
    """Takes the frame that caught an exception, and raises it again, out of its traceback, and what is ours behind it.
    Since Python 3.11 a bare `raise` leaves it out; before, it puts back what was there. An exception of the script may
    refuse attributes, but not this."""
    here = problem.__traceback__ and problem.__traceback__.tb_next
    while here is not None and _is_ours(here.tb_frame.f_code.co_filename):
        here = here.tb_next
    BaseException.with_traceback(problem, here)


def _is_ours(file: str) -> bool:
    return file.endswith(_PASSED_OVER) or file.startswith(_FOLDER)

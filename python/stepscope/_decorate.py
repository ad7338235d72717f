"""What annotations and phases do as decorators, for both forms."""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar, cast

from ._form import marks

_F = TypeVar("_F", bound=Callable[..., Any])

_COROUTINE, _GENERATOR, _ASYNC_GENERATOR = 0x80, 0x20, 0x200  # of a code object's flags


def timed(kind: str, name: str, function: _F) -> _F:
    """The function, each call of it timed; generator functions as they are, since the time of one is
    also its consumer's."""
    code_flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    if code_flags & (_GENERATOR | _ASYNC_GENERATOR):
        return function
    span = marks.phase if kind == "phase" else marks.annotate
    if code_flags & _COROUTINE:

        async def wait(*args: Any, **named: Any) -> Any:
            with span(name):
                return await function(*args, **named)

        return cast(_F, functools.wraps(function)(wait))

    def call(*args: Any, **named: Any) -> Any:
        with span(name):
            return function(*args, **named)

    return cast(_F, functools.wraps(function)(call))

"""Annotations and phases as decorators, for both forms, which hand in what makes a span.

PyTorch reads decorated functions to compile them, and is to find what it would without us: what it compiles is not
timed. torch.jit.script looks up the names that a function uses among the globals of what stands in its place.
"""

from __future__ import annotations

import functools
import sys
from types import FunctionType
from typing import Any, Callable, Optional, TypeVar, cast

_F = TypeVar("_F", bound=Callable[..., Any])

_COROUTINE, _GENERATOR, _ASYNC_GENERATOR = 0x80, 0x20, 0x200  # bits of a code object's co_flags


def _never() -> bool:
    return False


def _compiling() -> bool:
    """Whether torch.compile reads the caller. PyTorch may be imported at any time, but not by us."""
    compiler = sys.modules.get("torch.compiler")
    return compiler is not None and getattr(compiler, "is_dynamo_compiling", _never)()


def _compiling_or(is_quiet: Callable[[], bool]) -> Callable[[], bool]:
    return lambda: _compiling() or is_quiet()


def timed(make_span: Callable[[str], Any], name: str, function: _F, is_quiet: Optional[Callable[[], bool]] = None) -> _F:
    """The function, each call of it timed; generator functions as they are, since the time of one is
    also its consumer's. `is_quiet` is given where it takes longer to make a span than to ask whether anybody records."""
    if not callable(make_span):  # a form that was loaded before an upgrade gives a word instead
        return function
    code_flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    if code_flags & (_GENERATOR | _ASYNC_GENERATOR):
        return function
    if code_flags & _COROUTINE:

        async def wait(*args: Any, **named: Any) -> Any:
            with make_span(name):
                return await function(*args, **named)

        return cast(_F, functools.wraps(function)(wait))

    bare = _compiling if is_quiet is None else _compiling_or(is_quiet)

    def call(*args: Any, **named: Any) -> Any:
        if bare():
            return function(*args, **named)
        with make_span(name):
            return function(*args, **named)

    return cast(_F, _in_place_of(function, call))


def _in_place_of(function: Callable[..., Any], call: Any) -> Any:
    """The call, which uses no globals of its own, with those of the function, and to be scripted as that."""
    if not isinstance(function, FunctionType):
        return functools.wraps(function)(call)
    code = call.__code__.replace(co_name=function.__name__)  # torch.compile counts how often it compiles each one
    stands = FunctionType(code, function.__globals__, closure=call.__closure__)
    functools.update_wrapper(stands, function)
    vars(stands).setdefault("__original_fn", function)
    setattr(stands, "__script_if_tracing_wrapper", True)
    return stands

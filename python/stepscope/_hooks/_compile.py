"""torch.compile shall find nothing of ours: neither in its graphs nor among the frames that it looks at."""

from __future__ import annotations

import sys
from types import CodeType, FunctionType
from typing import Any, Callable, Iterator, cast


def never() -> bool:
    return False


def compiling(torch: Any) -> Callable[[], bool]:
    """Whether torch.compile reads the caller: it is to see the call that is watched and nothing else.

    The first versions say so in other places. The compiler is not imported for that: where nobody has, nobody compiles.
    """
    places = getattr(torch, "compiler", None), getattr(torch, "_utils", None), sys.modules.get("torch._dynamo")
    for place in places:
        asked: Any = getattr(place, "is_compiling", None)
        if asked is not None:
            return cast(Callable[[], bool], asked)
    return never


def skip_frames(torch: Any) -> None:
    """Behind a break of a graph, frames run one by one: ours are not worth a look."""
    skip = getattr(getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None), "skip_code", None)
    if skip is not None:
        for code in _own_code():
            skip(code)


def _own_code() -> Iterator[CodeType]:
    for name, module in list(sys.modules.items()):
        if module is not None and name.split(".")[0] == "stepscope":
            for value in list(vars(module).values()):
                functions = list(vars(value).values()) if isinstance(value, type) else [value]
                for function in functions:
                    if isinstance(function, FunctionType) and function.__module__ == name:
                        yield from _with_inner(function.__code__)


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)

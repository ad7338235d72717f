"""torch.compile shall find nothing of ours: neither in its graphs nor among the frames that it looks at."""

from __future__ import annotations

import sys
from types import CodeType, FunctionType
from typing import Any, Callable, Iterator, List, cast

from _stepscope_imports import await_import, await_no_longer

from ._frames import skip
from ._patch import Unavailable, replace

_READER = "torch._dynamo.symbolic_convert"
_TRACER = "torch.export._trace"

# Why torch.compile may read what runs here. Empty once it is known that it has read nothing in this process: to ask torch
# at each call costs more than all else of a call that is watched. Dynamo guards on what stands here, so once it has read
# something this stays as it is.
readers: List[str] = ["nobody has looked"]


def await_reader() -> None:
    """Waits for the reader of torch.compile. One that has been imported already may have read something."""
    if _READER not in sys.modules:
        await_import(_READER, _watch_reader)
        await_import(_TRACER, _may_read)


def _watch_reader(module: Any) -> None:
    """All versions make an InstructionTranslator for each frame that they read. torch.export(strict=False) makes none, runs
    the module as it is and only says that it compiles; it has a module of its own, which imports the reader."""
    kind = getattr(module, "InstructionTranslator", None)
    if kind is None:
        raise Unavailable(f"this version has no {module.__name__}.InstructionTranslator")
    replace(kind, "__init__", _noting)
    if _TRACER not in sys.modules:
        readers.clear()


def _may_read(_: Any = None) -> None:
    if not readers:
        readers.append("it may read frames")


def _noting(original: Any) -> Any:
    def __init__(self: Any, *args: Any, **named: Any) -> None:
        _may_read()
        original(self, *args, **named)

    return __init__


def forget() -> None:
    """For tests: nothing is known any more, and nothing awaited."""
    readers[:] = ["nobody has looked"]
    await_no_longer(_READER, _TRACER)


def never() -> bool:
    return False


def compiling(torch: Any) -> Callable[[], bool]:
    """Whether torch.compile reads the caller: it is to see the call that is watched and nothing else. Asked where there are
    `readers`.

    The first versions say so in other places. The compiler is not imported for that: where nobody has, nobody compiles.
    """
    places = getattr(torch, "compiler", None), getattr(torch, "_utils", None), sys.modules.get("torch._dynamo")
    for place in places:
        asked: Any = getattr(place, "is_compiling", None)
        if asked is not None:
            return cast(Callable[[], bool], asked)
    return never


def skip_frames() -> None:
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

"""Calls a function once a module has been imported: the hooks wait for PyTorch and its parts with it.

Every Python process below `stepscope-agent run` imports this file, so it imports nothing but os and sys: a
process that never imports torch pays for one more finder.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Optional

# Module -> what is called, with it, once it has been executed.
_awaited: "Dict[str, Callable[[Any], None]]" = {}


class _Finder:
    """Asks the other finders for a module that is awaited, and hears when it has been executed."""

    @staticmethod
    def find_spec(name: str, path: "Any" = None, target: "Any" = None) -> "Optional[Any]":
        if name not in _awaited:
            return None
        for finder in sys.meta_path:
            find = None if finder is _Finder else getattr(finder, "find_spec", None)  # type: ignore[comparison-overlap]
            spec = find and find(name, path, target)
            if spec is not None:
                _announce(name, spec.loader)
                return spec
        return None


def _announce(name: str, loader: "Any") -> None:
    """Puts ourselves behind the loader's exec_module for this one execution. The loader stays the same
    object, since others read resources and source text through it."""
    try:
        execute = loader.exec_module

        def execute_and_tell(module: "Any") -> None:
            try:
                del loader.exec_module
            except Exception:
                pass
            execute(module)
            _tell(name, module)

        loader.exec_module = execute_and_tell
    except Exception as problem:  # a loader that takes no attributes, or has no exec_module
        say(f"{name}: cannot be watched: {problem}")


def _tell(name: str, module: "Any") -> None:
    heard = _awaited.pop(name, None)
    _leave_when_idle()
    try:
        if heard is not None:
            heard(module)
    except Exception as problem:
        _let_through(problem)
        say(f"{name}: no hooks: {problem!r}")


def _let_through(problem: Exception) -> None:
    """Raises again what is the script's own (stepscope/_calm.py)."""
    try:
        from stepscope._calm import is_of_script
    except Exception:
        return
    if is_of_script(problem):
        raise problem


def say(text: object) -> None:
    """Prints a text where STEPSCOPE_DEBUG=1 asks for it."""
    if os.environ.get("STEPSCOPE_DEBUG") == "1":
        try:
            print("stepscope:", text, file=sys.stderr)
        except Exception:
            pass


def await_import(name: str, heard: "Callable[[Any], None]") -> None:
    """Calls `heard` with the module once it has been executed; at once if it has been already."""
    _awaited[name] = heard
    if name in sys.modules:
        _tell(name, sys.modules[name])
    elif _Finder not in sys.meta_path:  # type: ignore[comparison-overlap]
        sys.meta_path.insert(0, _Finder)


def _leave_when_idle() -> None:
    if not _awaited and _Finder in sys.meta_path:  # type: ignore[comparison-overlap]
        sys.meta_path.remove(_Finder)


def await_no_longer(*names: str) -> None:
    for name in names:
        _awaited.pop(name, None)
    _leave_when_idle()

"""Profilers that the training begins itself: a window of operators gives way to them, since a process has one Kineto.

PyTorch does not say that a profiler warms up, nor of one on another thread before it records, so its functions that
begin one are looked at.
"""

from __future__ import annotations

from threading import get_ident
from typing import Any, Callable

_BEGINS = ("_prepare_profiler", "_enable_profiler")  # the first warms up; the second records


class OtherProfilers:
    """`give_way` is called on the thread that begins a profiler of the training, before PyTorch hears of it."""

    def __init__(self, torch: Any, give_way: Callable[[], None]) -> None:
        self._autograd = getattr(torch, "autograd", None)
        self._module = getattr(self._autograd, "profiler", None)
        self._give_way = give_way
        self._warms = False  # one has been prepared, and records later
        self._own = 0  # the thread that begins a window of ours
        for name in _BEGINS:
            if hasattr(self._module, name):  # a version without it has no profiler that windows know
                setattr(self._module, name, self._looked_at(getattr(self._module, name), name == _BEGINS[0]))

    def any(self) -> bool:
        """Whether one of them warms up or records."""
        autograd: Any = self._autograd
        return bool(self._warms or autograd.profiler._is_profiler_enabled or autograd._profiler_enabled())

    def start(self, profiler: Any) -> None:
        """Begins a window's own profiler."""
        self._own = get_ident()
        try:
            profiler.start()
        finally:
            self._own = 0

    def in_child(self) -> None:
        """A process that was forked has none yet."""
        self._warms = False
        self._own = 0

    def _looked_at(self, original: Any, warms: bool) -> Any:
        def begin(*args: Any, **named: Any) -> Any:
            if get_ident() == self._own:
                return original(*args, **named)
            self._warms = True  # before a window ends, so that no other one begins behind it
            begun = False
            try:
                self._give_way()
                result = original(*args, **named)
                begun = True
            finally:
                self._warms = warms and begun
            return result

        return begin

"""A window that was asked for."""

from __future__ import annotations

from threading import Event
from typing import Any


class Window:
    """`window` is the service's number for it; 0 where the service did not ask. `by` says who did then. A negative first
    step is the next one that begins. `number` is that of the command which asks, on this connection; 0: none did."""

    def __init__(self, window: int, by: str, first: int, steps: int, shapes: bool = False) -> None:
        self.window, self.by, self.first, self.steps, self.shapes = window, by, first, steps, shapes
        self.number = 0
        self.profiler: Any = None
        self.step: Any = None  # the annotation of the step that is under way
        self.thread = self.began = self.grown = self.start_ns = 0
        self.done = 0  # steps that are recorded
        self.note = ""  # why it is less than was asked for, where another thread said so
        self.ended = Event()  # its profiler has stopped, and its file is written

    def __str__(self) -> str:
        name = f"window {self.window}" if self.window else f"a window of the {self.by}" if self.by else "a window"
        return name if self.first < 0 else f"{name} of {self.steps} steps from step {self.first}"

    def key(self) -> str:
        """Two requests for the same window have the same key."""
        return f"window {self.window}" if self.window else f"{self.by} {self.first}"

    def overlaps(self, other: Window) -> bool:
        if self.first < 0 or other.first < 0:
            return self.first < 0 and other.first < 0
        return self.first < other.first + other.steps and other.first < self.first + self.steps

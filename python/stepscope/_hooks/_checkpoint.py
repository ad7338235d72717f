"""Checkpoints: torch.save."""

from __future__ import annotations

from threading import get_ident
from time import monotonic_ns
from typing import Any

from ._flow import flow
from ._patch import replace


def install(torch: Any) -> None:
    replace(torch, "save", timed("checkpoint"))


def timed(phase: str) -> Any:
    """Times what both a training and an evaluation do."""

    def make(original: Any) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            if get_ident() != flow.owner:
                return original(*args, **named)
            start = monotonic_ns()
            try:
                return original(*args, **named)
            finally:
                flow.happened(start, monotonic_ns(), phase)

        return call

    return make

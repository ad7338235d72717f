"""torch.autograd.backward: Tensor.backward looks it up at each call, and so do Lightning and Accelerate."""

from __future__ import annotations

from time import monotonic_ns
from typing import Any

from ._flow import flow
from ._patch import replace


def install(torch: Any) -> None:
    replace(torch.autograd, "backward", _timed)


def _timed(original: Any) -> Any:
    def backward(*args: Any, **named: Any) -> Any:
        if flow.inside:
            return original(*args, **named)
        flow.inside = True
        start = monotonic_ns()
        try:
            return original(*args, **named)
        finally:
            end = monotonic_ns()
            flow.inside = False
            flow.went_back(start, end)

    return backward

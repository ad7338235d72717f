"""torch.autograd.backward, which Tensor.backward calls, and so do Lightning and Accelerate."""

from __future__ import annotations

from typing import Any

from ._calls import going_back
from ._flow import flow
from ._patch import watch


def install(torch: Any) -> None:
    watch(torch.autograd, "backward", lambda original: going_back(flow, original))

"""torch.autograd.backward, which Tensor.backward calls, and so do Lightning and Accelerate; and torch.autograd.grad, which
is the backward pass of some trainings (meta-learning, residuals of equations)."""

from __future__ import annotations

from typing import Any

from ._calls import going_back
from ._flow import flow
from ._patch import watch


def install(torch: Any) -> None:
    watch(torch.autograd, "backward", lambda original: going_back(flow, original))


def install_grad(torch: Any) -> None:
    """From the first step on: what asks for gradients and has no optimizer explains a model, and trains none."""
    watch(torch.autograd, "grad", lambda original: going_back(flow, original))

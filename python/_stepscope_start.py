"""Lets the hooks of `stepscope` in once PyTorch has been imported.

Every Python process below `stepscope-agent run` imports this file, so it imports only os, sys and what waits for an
import: a process that never imports torch is not known to any agent.
"""

import os
import sys

from _stepscope_imports import await_import, await_no_longer, say

__all__ = ["await_import", "await_no_longer", "say", "watch"]  # hooks of an older version import the first three here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SAVING = ("safetensors.torch", "torch.distributed.checkpoint")  # they save without torch.save


def _begin_hooks(torch: "Any") -> None:
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # the folder is the package manager's
    try:
        from stepscope import _hooks
    finally:
        sys.dont_write_bytecode = writes
    _hooks.begin(torch)


def _begin_saving(module: "Any") -> None:
    hooks: "Any" = sys.modules.get("stepscope._hooks")  # torch is there, or the module would not be
    if hooks is not None:
        hooks.begin_saving(module)


def watch() -> None:
    """Called by stepscope/_start/sitecustomize.py or by stepscope-hooks.pth, at each start of a Python."""
    if "STEPSCOPE_JOB" in os.environ and os.environ.get("STEPSCOPE_HOOKS") != "no":
        await_import("torch", _begin_hooks)
        for name in _SAVING:
            await_import(name, _begin_saving)

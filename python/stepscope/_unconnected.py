"""Why a session that nothing keeps from its agent is not connected: for `info`."""

from __future__ import annotations

import os
import sys

_FIRST_MARK = "not connected yet: the first mark connects"
_NO_WAY_IN = (
    "start the command with stepscope-agent run, put the folder stepscope/_start in front of PYTHONPATH, "
    "or install the package by pip"
)


def why() -> str:
    if "torch" not in sys.modules or "stepscope._hooks" in sys.modules:
        return _FIRST_MARK
    return f"{_FIRST_MARK}. PyTorch is not watched here: {_why_not_watched()}"


def _why_not_watched() -> str:
    if os.environ.get("STEPSCOPE_HOOKS") == "no":
        return "STEPSCOPE_HOOKS=no switches that off"
    if "STEPSCOPE_JOB" not in os.environ:
        return "STEPSCOPE_JOB is not set"
    return _NO_WAY_IN

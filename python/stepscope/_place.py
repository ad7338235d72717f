"""Who this process is: its rank among the processes of the job, and what it runs."""

from __future__ import annotations

import os
import sys
from typing import Tuple

from . import _wire

_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
_LOCAL_RANK = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
_WORLD_SIZE = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")
_FRAMEWORKS = ("torch", "tensorflow", "jax", "mxnet", "numpy")


def _first(variables: Tuple[str, ...], least: int, fallback: int) -> int:
    for variable in variables:
        text = os.environ.get(variable, "")
        if text.isdigit() and least <= int(text) <= _wire.MAX_RANK:
            return int(text)
    return fallback


def rank() -> int:
    """This process among all of the job: from torchrun, Open MPI, PMI or Slurm, else 0."""
    return _first(_RANK, 0, 0)


def local_rank() -> int:
    return _first(_LOCAL_RANK, 0, 0)


def world_size() -> int:
    return _first(_WORLD_SIZE, 1, 1)


def framework() -> str:
    """The first known framework that is loaded already, with its version; nothing is imported."""
    for name in _FRAMEWORKS:
        module = sys.modules.get(name)
        if module is not None:
            return f"{name} {getattr(module, '__version__', '')}".strip()
    return ""


def python() -> str:
    return "%d.%d.%d" % sys.version_info[:3]

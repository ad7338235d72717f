"""Who this process is: its rank among the processes of the job, and what it runs."""

from __future__ import annotations

import os
import sys

from . import _wire
from ._calm import let_through

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Tuple

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


def _group(question: str, fallback: int) -> int:
    """The answer of torch.distributed, if it is loaded and knows: a script may number its ranks itself."""
    try:
        group = sys.modules.get("torch.distributed")
        if group is not None and group.is_available() and group.is_initialized():
            return int(getattr(group, question)())
    except Exception as problem:
        let_through(problem)
    return fallback


def rank() -> int:
    """The rank of this process in its job: from torchrun, Open MPI, PMI, Slurm or torch.distributed, else 0."""
    found = _first(_RANK, 0, -1)
    return _group("get_rank", 0) if found < 0 else found


def local_rank() -> int:
    return _first(_LOCAL_RANK, 0, 0)


def world_size() -> int:
    found = _first(_WORLD_SIZE, 1, 0)
    return found or _group("get_world_size", 1)


def devices() -> str:
    """The GPUs that CUDA, or PyTorch's HIP, may use here: empty when nothing restricts them, -1 when there are none."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if getattr(getattr(sys.modules.get("torch"), "version", None), "hip", None):
        visible = os.environ.get("HIP_VISIBLE_DEVICES", visible)
    return "" if visible is None else visible.strip() or "-1"


def socket_path() -> str:
    """Where the agent listens: STEPSCOPE_SOCKET, else the node's own agent; empty without one."""
    if "STEPSCOPE_SOCKET" in os.environ:
        return os.environ["STEPSCOPE_SOCKET"]
    try:
        return next(filter(_is_socket_of_an_agent, _usual_paths()), "")
    except Exception as problem:
        let_through(problem)
        return ""


def _usual_paths() -> List[str]:
    folders = ["/run", os.environ.get("XDG_RUNTIME_DIR", "")]
    paths = [f"{folder}/stepscope/agent.sock" for folder in folders if folder.startswith("/")]
    return [*paths, f"/tmp/stepscope-{os.geteuid()}/agent.sock"]


def _is_socket_of_an_agent(path: str) -> bool:
    """Whether there is a socket that nobody but root and this user can have put there."""
    if not os.path.exists(path):
        return False
    folder = os.lstat(os.path.dirname(path))
    return folder.st_uid in (0, os.geteuid()) and not folder.st_mode & 0o022


def framework() -> str:
    """The first known framework that is loaded already, with its version; nothing is imported."""
    for name in _FRAMEWORKS:
        module = sys.modules.get(name)
        if module is not None:
            return f"{name} {getattr(module, '__version__', '')}".strip()
    return ""


def python() -> str:
    return "%d.%d.%d" % sys.version_info[:3]

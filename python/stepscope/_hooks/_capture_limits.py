"""When no window of operators is recorded, and when one ends early: each with its reason."""

from __future__ import annotations

import os
from time import monotonic_ns
from typing import Any, Optional, Tuple

from .._calm import let_through
from ._cuda_graphs import graphs

MOST_STEPS = 8
_MIB = 1 << 20
LEAST_MEMORY = 1024 * _MIB  # bytes that have to be free
_MOST_GROWTH = 512 * _MIB  # of this process while a window is recorded
_MOST_SECONDS = 60.0
_MOST_COST_US = 10_000_000
MOST_WAIT_SECONDS = 10.0  # of another thread of the training, for a window to end

# Versions from the first up to the second, and why none is recorded there.
_BAD: Tuple[Tuple[Tuple[int, int], Tuple[int, int], str], ...] = (
    ((0, 0), (2, 5), "its profiler makes an object of Python for each event when it ends (pytorch#132713)"),
)
# Set where another tool takes the GPU's records, or may at any time: one process can have them once.
_HOLDERS = (
    ("CUDA_INJECTION64_PATH", "Nsight or another tool of CUDA"),
    ("NSYS_PROFILING_SESSION_ID", "Nsight Systems"),
    ("KINETO_USE_DAEMON", "dynolog"),
    ("HSA_TOOLS_LIB", "a tool of ROCm"),
    ("ROCP_TOOL_LIBRARIES", "a tool of ROCm"),
)


def why_never(torch: Any, steps: int) -> str:
    """Why this process records no window of so many steps, or ""."""
    if not 1 <= steps <= MOST_STEPS:
        return f"{steps} steps are no window of operators: 1 to {MOST_STEPS} are"
    for name, tool in _HOLDERS:
        if os.environ.get(name):
            return f"{tool} may record in this process, which has the profiler for one only: {name} is set"
    version = str(getattr(torch, "__version__", ""))
    available = getattr(getattr(torch, "profiler", None), "kineto_available", None)
    if available is None or not available():
        return f"PyTorch {version} is built without Kineto, which records operators"
    at = _two(version)
    for first, end, reason in _BAD:
        if at is None or first <= at < end:
            return f"PyTorch {version}: {reason}" if at else f"the version of PyTorch, {version}, is not understood"
    return ""


def _two(version: str) -> Optional[Tuple[int, int]]:
    try:
        major, minor = version.split(".")[:2]
        return int(major), int(minor)
    except ValueError as problem:
        let_through(problem)
        return None


def why_not_now(torch: Any, other_profiler: bool) -> str:
    """Why no window begins now, or "". The training may have a profiler of its own that records or warms up."""
    if other_profiler:
        return "another profiler is active in the training"
    if reason := graphs.why_no_window(torch):
        return reason
    if torch.cuda.is_available() and torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
        return "a CUDA graph is being captured (pytorch#134308)"
    left = memory_left()
    if left is not None and left < LEAST_MEMORY:
        return f"memory is short: {left // _MIB} MiB are left, and {LEAST_MEMORY // _MIB} MiB are wanted"
    return ""


def why_no_longer(began_ns: int, before: int) -> str:
    """Why a window that began then, in a process of so much memory, ends before its last step, or ""."""
    seconds = (monotonic_ns() - began_ns) / 1e9
    if seconds > _MOST_SECONDS:
        return f"it had taken {seconds:.0f} s, and {_MOST_SECONDS:.0f} s are the most"
    grown = memory_bytes() - before if before else 0
    if grown > _MOST_GROWTH:
        return f"the process had grown by {grown // _MIB} MiB, and {_MOST_GROWTH // _MIB} MiB are the most"
    return ""


def why_too_dear(cost_us: int) -> str:
    """Why no further window is recorded after one that cost the training this much, or ""."""
    if cost_us <= _MOST_COST_US:
        return ""
    return f"the last window cost the training {cost_us / 1e6:.1f} s, and {_MOST_COST_US / 1e6:.0f} s are the most"


def memory_bytes() -> int:
    """Resident memory of this process; 0 where it is not known."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError) as problem:
        let_through(problem)
        return 0


def memory_left() -> Optional[int]:
    """Bytes that the node, and a container with a limit, have left; None where that is not known."""
    known = [each for each in (_available(), _left_in_cgroup()) if each is not None]
    return min(known) if known else None


def _available() -> Optional[int]:
    try:
        with open("/proc/meminfo", "rb") as file:
            for line in file:
                if line.startswith(b"MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError) as problem:
        let_through(problem)
    return None


def _left_in_cgroup(folder: str = "/sys/fs/cgroup") -> Optional[int]:
    """The page cache counts as used there, so what can be freed of it counts as left."""
    try:
        with open(f"{folder}/memory.max", "rb") as file:
            most = int(file.read())
        with open(f"{folder}/memory.current", "rb") as file:
            used = int(file.read())
        with open(f"{folder}/memory.stat", "rb") as file:
            freeable = sum(int(line.split()[1]) for line in file if line.startswith(b"inactive_file "))
        return most - used + freeable
    except (OSError, ValueError, IndexError) as problem:
        let_through(problem)
        return None

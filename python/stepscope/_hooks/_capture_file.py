"""The file of a window: the profiler's own writer makes it, and it has no name any more when this returns.

The writer gives the file another name while it writes, so it needs a folder: one of ours, which is gone as soon as it
has written. Only a process that is killed in between leaves it behind.
"""

from __future__ import annotations

import os
import tempfile
from time import monotonic_ns
from typing import Any, List

from .._calm import let_through

_MIB = 1 << 20
LEAST_DISK = 1024 * _MIB  # bytes that have to be free
MOST_BYTES = 256 * _MIB  # a larger file is not sent


def why_no_room() -> str:
    """Why no file can be written now, or ""."""
    try:
        _place()
    except OSError as problem:
        let_through(problem)
        return str(problem)
    return ""


def written(profiler: Any) -> int:
    """The descriptor of the file. OSError names the reason why there is none."""
    folder = os.path.join(_place(), f"stepscope-{os.getpid()}-{monotonic_ns()}")
    path = os.path.join(folder, "trace.json")
    os.mkdir(folder, 0o700)
    try:
        profiler.export_chrome_trace(path)
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    finally:
        _remove(folder)
    size = os.fstat(fd).st_size
    if 0 < size <= MOST_BYTES:
        return fd
    os.close(fd)
    raise OSError(f"the file of the profiler has {size // _MIB} MiB, and {MOST_BYTES // _MIB} MiB are the most" if size else "the profiler wrote nothing")


def _remove(folder: str) -> None:
    try:
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    except OSError as problem:
        let_through(problem)


def places() -> List[str]:
    """Folders that may hold the file, the best one first: local, and none that another node shares."""
    return [tempfile.gettempdir(), "/dev/shm"]


def _place() -> str:
    said = []
    for place in places():
        try:
            free = os.statvfs(place)
        except OSError as problem:
            let_through(problem)
            said.append(f"{place}: {problem.strerror}")
            continue
        if free.f_bavail * free.f_frsize >= LEAST_DISK and os.access(place, os.W_OK | os.X_OK):
            return place
        said.append(f"{place} has {free.f_bavail * free.f_frsize // _MIB} MiB")
    raise OSError(f"there is no room for its file: {LEAST_DISK // _MIB} MiB are wanted, {', '.join(said)}")

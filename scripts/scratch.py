"""A place in memory for what tests write for a while: hundreds of databases, which take a disk several times the processor time."""

import fcntl
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

MEMORY, PREFIX = Path("/dev/shm"), "st-"  # short: sockets of databases lie deep below it, and their paths have 107 bytes
LEAST_FREE = 6 << 30  # bytes
MARK = ".of-stepscope-tests"  # the name of a file in each of our folders: others may begin with the same letters


def has_room(folder):
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize >= LEAST_FREE and not found.f_flag & os.ST_NOEXEC and os.access(folder, os.W_OK)


def lock(folder):
    """The descriptor that holds the folder for its run; None when another run does."""
    held = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        return None
    return held


def remove_left(within):
    """Removes what runs left that were killed."""
    for left in (mark.parent for mark in within.glob(f"{PREFIX}*/{MARK}")):
        try:
            held = lock(left)
        except OSError:  # of another user, or gone
            continue
        if held is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(held)


@contextmanager
def in_memory(within=MEMORY):
    """Gives the variables that have a test's temporary files in memory, in a folder that goes afterwards; none where there is no
    room, where TMPDIR says another place, or where STEPSCOPE_TORCH_PYTHON names a Python that may see /tmp alone."""
    if "TMPDIR" in os.environ or "STEPSCOPE_TORCH_PYTHON" in os.environ or not has_room(within):
        yield {}
        return
    remove_left(within)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=within))
    held = lock(folder)
    (folder / MARK).touch()
    folder.chmod(0o1777)  # as /tmp: started by root, PostgreSQL is another user
    try:
        yield {"TMPDIR": str(folder)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if held is not None:
            os.close(held)

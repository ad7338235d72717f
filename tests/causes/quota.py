"""A group of processes that may use a part of one core, as a container with a limit has it. Needs root and a cgroup to write to."""

import os
from contextlib import contextmanager
from pathlib import Path

PERIOD_US = 100_000
SECOND, FIRST = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/cpu")  # the two versions of cgroups


def limited(folder, percent):
    """Makes the group; the fault as text."""
    allowed = PERIOD_US * percent // 100
    try:
        folder.mkdir()
        if (folder / "cpu.cfs_quota_us").exists():
            (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (folder / "cpu.cfs_quota_us").write_text(str(allowed))
        else:
            (folder / "cpu.max").write_text(f"{allowed} {PERIOD_US}")
    except OSError as fault:
        return f"no right to make a quota here: {fault.strerror}"
    return ""


def remove(folder):
    try:
        folder.rmdir()
    except OSError:
        pass  # it was not made, or somebody still runs in it


@contextmanager
def group(percent):
    """(group, "") or (None, reason why there is none); the group is gone afterwards."""
    root = SECOND if (SECOND / "cgroup.controllers").exists() else FIRST
    folder = root / f"stepscope-verdicts-{os.getpid()}"
    fault = limited(folder, percent)
    try:
        yield (None, fault) if fault else (folder, "")
    finally:
        remove(folder)


def inside(folder, command):
    """The command, started within the group."""
    return ["bash", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', folder, *command]

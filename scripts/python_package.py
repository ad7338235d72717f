"""The Python package with its C extension, as it would be installed, in a folder of build/: the source tree stays
without compiled files. Tests and benchmarks put that folder on PYTHONPATH."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "python"


def staged():
    """The folder, made or brought up to date: links to the source, beside them the extension. With
    STEPSCOPE_EXTENSION_FLAGS it is another folder, and the compiler gets these flags too."""
    flags = os.environ.get("STEPSCOPE_EXTENSION_FLAGS", "")
    place = ROOT / "build" / ("python-checked" if flags else "python")
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test runs may start at once
        _link([*(SOURCE / "stepscope").iterdir()], place / "lib/stepscope")
        _link([*SOURCE.glob("_*.py")], place / "lib")
        _compile(place, flags)
    return place / "lib"


def _link(files, target):
    target.mkdir(parents=True, exist_ok=True)
    for old in target.iterdir():
        if old.is_symlink() and not old.exists():
            old.unlink()
    for file in files:
        if file.name != "__pycache__" and not (target / file.name).is_symlink():
            (target / file.name).symlink_to(file)


def _compile(place, flags):
    command = [sys.executable, "setup.py", "-q", "build_ext", f"--build-lib={place}/lib", f"--build-temp={place}/objects"]
    environment = {**os.environ, "CFLAGS": f"{os.environ.get('CFLAGS', '')} {flags}".strip()}
    done = subprocess.run(command, cwd=SOURCE, env=environment, capture_output=True, text=True)
    if done.returncode != 0 or not list((place / "lib/stepscope").glob("_native*.so")):
        raise RuntimeError(f"the C extension of the Python package cannot be built:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    print(staged())

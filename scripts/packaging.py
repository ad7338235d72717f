"""Builds the packages: see scripts/package, which starts this."""

import shutil
import sys
import tempfile
import time
from pathlib import Path

from building import ROOT, Failed, build
from processes import Children, Stopped, ignore_signals, stop_on_signals


def say(line=""):
    print(line, flush=True)


def sizes(folder):
    """A line for each package: its size, and where it lies."""
    for path in sorted(folder.iterdir()):
        if path.is_file():
            yield f"{path.stat().st_size / 1e6:6.1f} MB  {path.relative_to(ROOT)}"


def main():
    stop_on_signals()
    began = time.monotonic()
    children = Children()
    folder = Path(tempfile.mkdtemp(prefix="stepscope-package-"))
    try:
        built = build(children, "release", ["packages"], folder, say)
    except Stopped as stopped:
        say(f"package: stopped by {stopped}")
        return stopped.exit_code
    except Failed as fault:
        say(f"package: {fault}")
        return 1
    finally:
        ignore_signals()
        children.end_all()
        shutil.rmtree(folder, ignore_errors=True)
    say(f"package: {time.monotonic() - began:.0f} s")
    for line in sizes(built / "packages"):
        say(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())

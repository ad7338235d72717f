"""The build that scripts/demo and scripts/test share, with a sign of life every few seconds."""

import os
import signal
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Failed(Exception):
    """A failure, with the text that the person should read; the script then ends with code 1."""


def last_line(path):
    """The newest line of a log that says something."""
    with open(path, "rb") as log:
        log.seek(max(0, os.fstat(log.fileno()).st_size - 4096))
        lines = log.read().decode(errors="replace").replace("\r", "\n").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def tail(path, lines=40, without=()):
    """The end of a log, but for lines that begin with one of `without`."""
    said = Path(path).read_text(errors="replace").splitlines()
    return "\n".join([line for line in said if not line.startswith(tuple(without))][-lines:])


def run(children, command, log_path, what, say, every=4.0):
    """Runs a command to its end; says the newest line of its log every few seconds."""
    began = said = time.monotonic()
    with open(log_path, "wb") as log:
        process = children.start(command, log, cwd=ROOT)
    try:
        while process.poll() is None:
            time.sleep(0.1)
            if time.monotonic() - said >= every:
                said = time.monotonic()
                say(f"{what}, {said - began:.0f} s: {last_line(log_path)[:110]}")
    except BaseException:
        # Stops the whole group, as Ctrl-C does: cmake alone would wait for the compilers that ninja goes on starting.
        os.killpg(process.pid, signal.SIGINT)
        raise
    if process.returncode != 0:
        raise Failed(f"{what} failed:\n{tail(log_path)}")


def build(children, preset, targets, folder, say):
    """Configures and builds a preset; `folder` takes the logs. Returns where the programs are."""
    run(children, ["cmake", "--preset", preset], folder / "configure.log", "configures", say)
    command = ["cmake", "--build", "--preset", preset]
    if targets:
        command += ["--target", *targets]
    run(children, command, folder / "build.log", "builds", say)
    return ROOT / "build" / preset


def npm_packages(children, folder, log_path, say):
    """Installs the packages of a folder when its lock file is newer than what is installed."""
    locked = ROOT / folder / "package-lock.json"
    installed = ROOT / folder / "node_modules/.package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < locked.stat().st_mtime:
        command = ["npm", "--prefix", folder, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        run(children, command, log_path, f"npm ci {folder}", say)
        installed.touch()

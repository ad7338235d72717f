"""The processes that a script starts, and their end: none of them outlives the script."""

import ctypes
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
STOPPING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def parents():
    """{process: its parent} of the whole machine, from /proc."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            # The name of the program stands in brackets and may hold anything.
            after_name = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        found[int(folder.name)] = int(after_name[1])
    return found


def descendants(of=None):
    """The living processes that `of` (this process) started, and theirs, the eldest first."""
    of = of or os.getpid()
    children = {}
    for process, parent in parents().items():
        children.setdefault(parent, []).append(process)
    found, waiting = [], [of]
    while waiting:
        waiting = [child for parent in waiting for child in sorted(children.get(parent, []))]
        found += waiting
    return found


class Children:
    """The processes that this one started. Each is a session of its own, so that Ctrl-C of the terminal reaches only
    this process, which then ends them in order. Orphans of a child are adopted, so that none is lost."""

    def __init__(self):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.started = []

    def start(self, command, log, **options):
        """Starts `command`; both its outputs go to the open file `log`."""
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            start_new_session=True, **options,
        )
        self.started.append(process)
        return process

    def stop(self, process, seconds=40):
        """Asks a child to end, and waits for it; kills it when the time is over."""
        if process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def end_all(self, seconds=10):
        """Ends the children, the last one first, so that each can end its own; then whoever is left."""
        for process in reversed(self.started):
            self.stop(process)
        asked = set()
        deadline = time.monotonic() + seconds
        while living := self._living():
            late = time.monotonic() > deadline
            for process in living:
                if late or process not in asked:
                    self._signal(process, signal.SIGKILL if late else signal.SIGTERM)
                    asked.add(process)
            time.sleep(0.05)

    @staticmethod
    def _signal(process, number):
        try:
            os.kill(process, number)
        except ProcessLookupError:
            pass

    @staticmethod
    def _living():
        """The descendants that still run; those that ended are waited for."""
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        return descendants()


class Stopped(BaseException):
    """Somebody asked this script to stop: Ctrl-C, kill, or the terminal went away."""

    def __init__(self, number):
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


def stop_on_signals():
    """From now on a stopping signal raises Stopped where the program stands."""

    def stop(number, _frame):
        ignore_signals()  # one signal is enough: the clean end follows, which is bounded
        raise Stopped(number)

    for number in STOPPING_SIGNALS:
        signal.signal(number, stop)


def ignore_signals():
    for number in STOPPING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def end(children, folder):
    """Ends what runs and removes the folder."""
    ignore_signals()
    children.end_all()
    shutil.rmtree(folder, ignore_errors=True)

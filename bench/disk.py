"""The speed of the disk by itself, beside what a benchmark measures: a disk may be slow for minutes after much was
written to it, or because others use it."""

import os
import statistics
import sys
import time

from harness import Repeated

PROBES_PER_SECOND = 20
CALM_MS, CALM_SECONDS, MOST_SECONDS = 20, 30, 300


class DiskProbe(Repeated):
    """Writes 8 KB to a file of its own, synced, twenty times a second while it is inside a `with`."""

    def __init__(self, folder):
        super().__init__(1 / PROBES_PER_SECOND)
        self.file = open(folder / "probe", "wb", buffering=0)

    def once(self):
        os.pwrite(self.file.fileno(), os.urandom(8192), 0)
        os.fdatasync(self.file.fileno())

    def p99(self):
        return statistics.quantiles(self.took_ms, n=100, method="inclusive")[98]

    def __exit__(self, *_):
        super().__exit__()
        self.file.close()


def wait_until_calm(folder):
    """Waits until no write of half a minute took 20 ms, or five minutes went by. Returns how long that took, in s."""
    began = time.monotonic()
    while time.monotonic() - began < MOST_SECONDS:
        with DiskProbe(folder) as probe:
            time.sleep(CALM_SECONDS)
        if max(probe.took_ms) < CALM_MS:
            break
        print(f"the disk is not calm: a write of 8 KB took up to {max(probe.took_ms):.0f} ms", file=sys.stderr, flush=True)
    return time.monotonic() - began

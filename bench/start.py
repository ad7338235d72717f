#!/usr/bin/env python3
"""How long the service takes from its start to the first answered question about its jobs, with its own PostgreSQL.

A fresh folder is made into a database first. The second start finds it as an orderly stop left it, with the job that was
made meanwhile; the third as `kill -9` of the service left it (its PostgreSQL is told by the kernel and ends by itself,
which the start may have to wait for).

    bench/start.py [--rounds 5]
"""

import argparse
import http.client
import os
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from harness import ROOT, Contender, Figure, clean_end, compare, fresh_folder  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from tests.support.service import Service  # noqa: E402

FIGURES = [
    Figure("first", "s to the first answer, database made"),
    Figure("second", "s to the first answer, second start", 1.0),
    Figure("killed", "s to the first answer, after kill -9"),
]
AT_MOST = 60


def answers(service):
    try:
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=5)
        connection.request("GET", "/api/v1/jobs")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def started(service):
    """Seconds to the first answer; asked each millisecond."""
    began = time.monotonic()
    service.spawn()
    while not answers(service):
        assert service.process.poll() is None and time.monotonic() - began < AT_MOST, service.log.read_text()[-2000:]
        time.sleep(0.001)
    return time.monotonic() - began


def starts():
    with fresh_folder() as folder:
        service = Service(folder)
        try:
            first = started(service)
            assert service.request("POST", "/api/v1/jobs", {"name": "stays"})[0] == 201
            service.stop()
            second = started(service)
            service.kill()
            killed = started(service)
            assert service.get("/api/v1/jobs/stays")[0] == 200
        finally:
            service.stop()
    return {"first": first, "second": second, "killed": killed}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with clean_end():
        compare("start", FIGURES, [Contender("stepscope", starts)], options.rounds, {})


if __name__ == "__main__":
    main()

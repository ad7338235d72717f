#!/usr/bin/env python3
"""How long each call about a window takes, at the HTTP client over a kept connection: a trace of millions of spans is
imported into a real service, and every call is asked again and again, views and searches at random places.

    python3 bench/trace/rest.py [FILE.json.gz] [--megabytes 1000] [--requests 60]

A Kineto file is repeated until it has so many megabytes of JSON; without a file one is made. Prints the table, and writes
bench/results/trace_rest.json.
"""

import argparse
import http.client
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
import harness  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(harness.ROOT / "build" / "release"))
from bench.trace import convert  # noqa: E402
from tests.support.service import Service, program  # noqa: E402

JOB = "traced"
ANSWERS = (
    "breakdown", "kernels", "kernels?by=calls&q=elementwise", "operators", "operators?shapes=true", "launches", "copies", "communication",
    "memory", "precision", "calls", "what-if", "compare?with=1", "ranks", "timeline",
)
GOAL_MS = 50


def view(number, timeline):
    """A random part of the window: from a thousandth to the whole."""
    from_ns, to_ns = timeline["steps"][0]["start_ns"], timeline["steps"][-1]["end_ns"]
    length = int((to_ns - from_ns) * 10 ** number.uniform(-3, 0))
    at = from_ns + number.randrange(max(1, to_ns - from_ns - length))
    return f"from_ns={at}&to_ns={at + length}"


def paths(timeline):
    """Path of the next request, by call."""
    number = random.Random(1)
    tracks = [track["track"] for track in sorted(timeline["tracks"], key=lambda track: -track["spans"])][:20]
    some = ",".join(map(str, tracks))
    made = {answer: (lambda answer=answer: answer) for answer in ANSWERS}
    made["timeline/pixels, 20 tracks"] = lambda: f"timeline/pixels?tracks={some}&width=1500&{view(number, timeline)}"
    made["search"] = lambda: f"search?q=elementwise&{view(number, timeline)}"
    return made


def ask(connection, path):
    """(milliseconds, bytes)"""
    began = time.monotonic()
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    took = 1000 * (time.monotonic() - began)
    assert answer.status == 200, (path, answer.status, body[:300])
    return took, len(body)


def measure(service, requests):
    at = f"/api/v1/jobs/{JOB}/windows/1"
    timeline = service.get(f"{at}/timeline")[1]
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    rows = []
    for call, path in paths(timeline).items():
        times, sizes = zip(*(ask(connection, f"{at}/{path()}") for _ in range(requests)))
        ranked = sorted(times)
        rows.append({
            "call": call, "p50_ms": round(ranked[len(ranked) // 2], 2), "p95_ms": round(ranked[int(len(ranked) * 0.95)], 2),
            "most_ms": round(ranked[-1], 2), "first_ms": round(times[0], 2), "bytes": max(sizes),
        })
        print("{call:32} p50 {p50_ms:8.2f} ms  p95 {p95_ms:8.2f}  most {most_ms:8.2f}  first {first_ms:8.2f}  {bytes} bytes".format(**rows[-1]), flush=True)
    return rows, sum(track["spans"] for track in timeline["tracks"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", help="a Kineto trace, packed by gzip")
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=60, help="of each call")
    options = parser.parse_args()
    convert.MEGABYTES = options.megabytes
    with harness.fresh_folder() as folder:
        path = convert.long_file(folder, options.file)
        service = Service(folder / "service")
        service.start()
        try:
            began = time.monotonic()
            subprocess.run([program("stepscope-agent"), "import", path, "--job", JOB, "--server", service.url], check=True)
            print(f"imported {path.stat().st_size / 1e6:.0f} MB in {time.monotonic() - began:.0f} s", flush=True)
            path.unlink()
            rows, spans = measure(service, options.requests)
        finally:
            service.stop()
    slow = [row["call"] for row in rows if row["p95_ms"] > GOAL_MS]
    print(f"{spans:,} spans; above {GOAL_MS} ms at p95: {', '.join(slow) or 'none'}")
    (harness.RESULTS / "trace_rest.json").write_text("".join(json.dumps({"spans": spans, "requests": options.requests, **row}) + "\n" for row in rows))


if __name__ == "__main__":
    main()

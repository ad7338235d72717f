#!/usr/bin/env python3
"""What it costs to keep samples: pushes to the service against COPY of the same samples, one row each.

Both go to the same PostgreSQL with the same settings, durable with each answer or commit. Counted is the CPU time
of the service with its PostgreSQL; the clients are not counted. The rows go into a table (time, series, value)
with an index on (series, time), in transactions of --batch rows; a push is one node's samples of 2 s, as agents
send them by default, or of 10 s.

    bench/ingest_cost.py [--rounds 3] [--seconds 120]
"""

import argparse
import functools
import http.client
import json
import os
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from harness import ROOT, Contender, Figure, clean_end, compare, fresh_folder, tree_cpu_seconds  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from tests.support.service import Service, program  # noqa: E402

PATH = "/api/v1/ingest/frames"
HEADERS = {"Content-Type": "application/vnd.stepscope.frames"}
FIGURES = [
    Figure("cpu", "CPU-seconds per million samples", 0.15),
    Figure("disk", "bytes per sample, indexes included", 1.5, 2),
    Figure("wall", "wall seconds per million samples", digits=2),
]
MAKE_TABLE = """
drop table if exists bench_rows;
create table bench_rows (at timestamptz not null, series integer not null, value double precision not null);
create index bench_rows_series_at on bench_rows (series, at);
"""


def make_samples(options, folder, job, push_seconds=2, job_each=False):
    """Writes the pushes and the rows; returns how many of what. Each node may be a job of its own, JOB-0 and so on."""
    command = [program("bench/make_frames"), "--frames", folder / "frames", "--rows", folder / "rows", "--job", job]
    command += ["--nodes", options.nodes, "--seconds", options.seconds, "--push-seconds", push_seconds]
    command += ["--job-each"] * job_each
    command += ["--begin-us", (time.time_ns() // 10**9 - options.seconds) * 10**6]
    return json.loads(subprocess.run([str(word) for word in command], check=True, capture_output=True).stdout)


def read_pushes(path):
    """{node: its pushes in order}"""
    pushes, content, at = {}, memoryview(path.read_bytes()), 0
    while at < len(content):
        node, length = struct.unpack_from("<II", content, at)
        pushes.setdefault(node, []).append(content[at + 8 : at + 8 + length])
        at += 8 + length
    return pushes


class Sender(threading.Thread):
    """Sends the pushes of some nodes in order over one connection, as their agents would."""

    def __init__(self, port, pushes, path=PATH, headers=HEADERS):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        named = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{named}Content-Length: "
        self.pushes, self.fault = pushes, None

    def post(self, body):
        """Head and body at once, as agents send them: http.client sends one after the other."""
        self.connection.send(b"".join([f"{self.head}{len(body)}\r\n\r\n".encode(), body]))
        reply = http.client.HTTPResponse(self.connection.sock, method="POST")
        reply.begin()
        answer = reply.read()
        if reply.will_close:
            self.connection.close()
        return reply, answer

    def send(self, body):
        reply, answer = self.post(body)
        if reply.status == 503:  # busy: the agent would come again
            time.sleep(0.05)
            return self.send(body)
        if reply.status != 204 and (reply.status != 200 or json.loads(answer)["rejected"]):
            self.fault = f"{reply.status} {answer[:300]}"
        return None

    def run(self):
        try:
            for body in self.pushes:
                self.send(body)
                if self.fault:
                    return
        except OSError as fault:
            self.fault = str(fault)


def send_all(senders):
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    faults = [sender.fault for sender in senders if sender.fault]
    assert not faults, faults[0]


def interleaved(queues):
    """The first of each queue, then the second of each."""
    return [queue[index] for index in range(max(map(len, queues), default=0)) for queue in queues if index < len(queue)]


def queues_of(path, connections):
    """The pushes that each connection sends: those of some nodes, in turn."""
    pushes = read_pushes(path)
    queues = [[pushes[node] for node in pushes if node % connections == each] for each in range(connections)]
    return [interleaved(queue) for queue in queues if queue]


def counted(side, samples, work):
    """The figures of `work`, CPU of the whole tree: the service's PostgreSQL too."""
    cpu, began = tree_cpu_seconds(side.process.pid), time.monotonic()
    work()
    wall = time.monotonic() - began
    used = tree_cpu_seconds(side.process.pid) - cpu
    return {"cpu": used * 1e6 / samples, "wall": wall * 1e6 / samples}


def table_bytes(service, *names):
    tables = ", ".join(f"'{name}'" for name in names)
    rows = service.sql(f"select sum(pg_total_relation_size(name::regclass)) from unnest(array[{tables}]) as name")
    return int(rows[0][0])


def push_frames(options, folder, service, push_seconds):
    job = f"ingest-{time.time_ns()}"
    made = make_samples(options, folder, job, push_seconds)
    # A job without rules: what judging costs is another question.
    status, answer = service.request("POST", "/api/v1/jobs", {"name": job, "configuration": {"rules": []}})
    assert status in (200, 201), answer
    senders = [Sender(service.port, queue) for queue in queues_of(folder / "frames", options.connections)]
    before = table_bytes(service, "frames")
    figures = counted(service, made["samples"], lambda: send_all(senders))
    return {**figures, "disk": (table_bytes(service, "frames") - before) / made["samples"]}


def copy_rows(options, folder, service):
    made = make_samples(options, folder, "rows")
    service.sql(MAKE_TABLE)
    script = folder / "copy.sql"
    with open(folder / "rows") as rows, open(script, "w") as out:
        for number, row in enumerate(rows):
            if number % options.batch == 0:
                out.write("\\.\n" * (number > 0) + "copy bench_rows from stdin;\n")
            out.write(row)
        out.write("\\.\n")
    command = ["psql", f"host={service.data_dir}/socket user=stepscope dbname=stepscope", "-qX", "-v", "ON_ERROR_STOP=1", "-f", script]
    figures = counted(service, made["samples"], lambda: subprocess.run(command, check=True))
    assert int(service.sql("select count(*) from bench_rows")[0][0]) == made["samples"]
    figures["disk"] = table_bytes(service, "bench_rows") / made["samples"]
    service.sql("drop table bench_rows")
    return figures


def measure(options, folder):
    service = Service(folder).start()
    try:
        compare("ingest_cost", FIGURES, [
            Contender("stepscope, pushes of 2 s", functools.partial(push_frames, options, folder, service, 2)),
            Contender("stepscope, pushes of 10 s", functools.partial(push_frames, options, folder, service, 10)),
            Contender("PostgreSQL, COPY of rows", functools.partial(copy_rows, options, folder, service)),
        ], options.rounds, {key: getattr(options, key) for key in ("nodes", "seconds", "connections", "batch")})
    finally:
        service.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=120, help="of samples, at 2 Hz")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--batch", type=int, default=10_000, help="rows of one COPY")
    options = parser.parse_args()
    with fresh_folder() as folder, clean_end():
        measure(options, folder)


if __name__ == "__main__":
    main()

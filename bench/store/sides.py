"""The common part of the stores that are compared, and the service with its PostgreSQL as one of them."""

import json
import os
import queue
import struct
import subprocess

from ingest_cost import Sender, queues_of, send_all, table_bytes
from tests.support.service import Service, program, wait_for

NEVER_US = 1 << 60
TABLES = ("frames", "blocks", "rollups", "job_rollups", "schemas")
AHEAD = 8  # pushes of a connection that are made before they are sent


def sampler(job, body, path, options):
    """The command that writes a job's samples to a file; the options are make_frames's."""
    command = [program("bench/make_frames"), f"--{body}", path, "--job", job]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", value]
    return [str(word) for word in command]


def make_samples(folder, job, body, **options):
    """Writes folder/BODY; returns how many of what."""
    return json.loads(subprocess.run(sampler(job, body, folder / body, options), check=True, capture_output=True).stdout)


def send(side, folder, connections=8):
    """Sends all pushes of the folder, and waits until they are durable."""
    send_all(side.senders(queues_of(folder / side.body, min(connections, side.most_connections))))
    side.make_durable()


def offer(waiting, item, sender):
    """Puts it into the sender's queue, unless the sender failed."""
    while True:
        assert not sender.fault, sender.fault
        try:
            return waiting.put(item, timeout=1)
        except queue.Full:
            pass


def hand_out(pipe, queues, senders):
    """The pushes of the pipe, each to its node's connection; then the end."""
    while head := pipe.read(8):
        node, length = struct.unpack("<II", head)
        which = node % len(queues)
        offer(queues[which], pipe.read(length), senders[which])
    for waiting, sender in zip(queues, senders):
        offer(waiting, None, sender)


def stream(side, job, connections=8, **options):
    """Makes samples and sends them meanwhile: nothing is kept. Returns how many of what."""
    reading, writing = os.pipe()
    command = sampler(job, side.body, f"/dev/fd/{writing}", options)
    maker = subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[writing])
    os.close(writing)
    queues = [queue.Queue(AHEAD) for _ in range(min(connections, side.most_connections))]
    senders = side.senders([iter(each.get, None) for each in queues])
    for sender in senders:
        sender.start()
    try:
        with os.fdopen(reading, "rb", buffering=1 << 20) as pipe:
            hand_out(pipe, queues, senders)
        for sender in senders:
            sender.join()
            assert not sender.fault, sender.fault
    finally:
        made = maker.communicate()[0]
    side.make_durable()
    return json.loads(made)


class Stepscope(Service):
    """Unless told otherwise the compactor waits until it is told to begin, so that what it costs stands apart."""

    body = "frames"
    most_connections = 64

    def __init__(self, folder, *options):
        super().__init__(folder, *options)
        self.start()
        self.empty = {name: table_bytes(self, name) for name in TABLES}

    def add_job(self, name, interval_ms=500, waits=True):
        configuration = {"rules": [], "interval_ms": interval_ms}  # the cost of judging is another question
        status, answer = self.request("POST", "/api/v1/jobs", {"name": name, "configuration": configuration})
        assert status in (200, 201), answer
        if waits:
            self.set_due(NEVER_US)

    def set_due(self, due_us):
        self.sql(
            f"insert into compact_tasks (job_id, due_us) select job_id, {due_us} from jobs"
            f" on conflict (job_id) do update set due_us = {due_us}"
        )

    def senders(self, queues):
        return [Sender(self.port, queue) for queue in queues]

    def make_durable(self):
        """Nothing to do: the service has made durable what it answers."""

    def stored(self):
        """Nothing to ask: each answer tells which samples were not stored."""

    def compacted_frames(self):
        lines = self.get("/metrics")[1].splitlines()
        return next(int(float(line.split()[1])) for line in lines if line.startswith("stepscope_compact_frames_total"))

    def compact(self, seconds=900):
        waiting = int(self.sql("select count(*) from frames where kind = 1")[0][0])
        done = self.compacted_frames() + waiting
        self.set_due(0)
        wait_for(lambda: self.compacted_frames() >= done, "frames become blocks", seconds, 0.5)
        self.set_due(NEVER_US)

    def bytes(self):
        """{what: bytes}, above those of empty tables."""
        self.sql("vacuum")
        tables = {name: table_bytes(self, name) - self.empty[name] for name in TABLES}
        return {"all": sum(tables.values()), "blocks": tables["blocks"], "rollups": tables["rollups"]}

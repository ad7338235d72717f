"""The two stores that are compared, each empty at its start: the service with its PostgreSQL, and VictoriaMetrics."""

import http.client
import json
import subprocess
import time

from harness import peer_program
from ingest_cost import Sender, queues_of, send_all, table_bytes
from tests.support.service import Service, free_port, program, wait_for

NEVER_US = 1 << 60
TABLES = ("frames", "blocks", "rollups", "schemas")


def make_samples(folder, job, **options):
    """Writes folder/frames and folder/lines, the same samples; returns how many of what. The options are make_frames's."""
    command = [program("bench/make_frames"), "--frames", folder / "frames", "--import", folder / "lines", "--job", job]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", value]
    return json.loads(subprocess.run([str(word) for word in command], check=True, capture_output=True).stdout)


class Stepscope(Service):
    """The compactor waits until it is told to begin, so that what it costs stands apart."""

    file = "frames"

    def __init__(self, folder):
        super().__init__(folder)
        self.start()
        self.empty = {name: table_bytes(self, name) for name in TABLES}

    def add_job(self, name, interval_ms=500):
        configuration = {"rules": [], "interval_ms": interval_ms}  # what judging costs is another question
        status, answer = self.request("POST", "/api/v1/jobs", {"name": name, "configuration": configuration})
        assert status in (200, 201), answer
        self.set_due(NEVER_US)

    def set_due(self, due_us):
        self.sql(
            f"insert into compact_tasks (job_id, due_us) select job_id, {due_us} from jobs"
            f" on conflict (job_id) do update set due_us = {due_us}"
        )

    def senders(self, queues):
        return [Sender(self.port, queue) for queue in queues]

    def make_durable(self):
        """It is, with each answer."""

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


class Victoria:
    """Its import in lines of JSON, many samples each. It answers before anything is on the disk: that comes within
    seconds."""

    file = "lines"

    def __init__(self, folder, children):
        folder.mkdir(exist_ok=True)
        self.data, self.port, self.children = folder / "victoria", free_port(), children
        command = [peer_program("victoria-metrics"), f"-storageDataPath={self.data}", f"-httpListenAddr=127.0.0.1:{self.port}", "-retentionPeriod=12"]
        with open(folder / "victoria.log", "wb") as log:
            self.process = children.start(command, log)
        wait_for(self.ready, "VictoriaMetrics answers", 30)

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.request("GET", path)
        reply = connection.getresponse()
        return reply.status, reply.read()

    def ready(self):
        try:
            return self.get("/health")[0] == 200
        except OSError:
            return False

    def add_job(self, name, interval_ms=500):
        """It knows none."""

    def senders(self, queues):
        return [Sender(self.port, queue, "/api/v1/import", {}) for queue in queues]

    def make_durable(self):
        self.get("/internal/force_flush")
        time.sleep(6)  # it goes to the disk in the background

    def compact(self):
        self.get("/internal/force_merge")
        time.sleep(2)
        wait_for(lambda: self.merging() == 0, "parts are merged", 300, 0.5)
        time.sleep(2)  # the old parts go

    def merging(self):
        lines = self.get("/metrics")[1].decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("vm_active_merges"))

    def bytes(self):
        used = subprocess.run(["du", "-s", "--block-size=1", self.data], check=True, capture_output=True, text=True).stdout
        return {"all": int(used.split()[0])}

    def stop(self):
        self.children.stop(self.process)


def send(side, folder, connections=8):
    """All pushes of folder, up to where they are durable."""
    send_all(side.senders(queues_of(folder / side.file, connections)))
    side.make_durable()

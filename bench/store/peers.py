"""VictoriaMetrics, Prometheus and InfluxDB of the distribution, each empty at its start, on a loopback port."""

import http.client
import json
import subprocess
import time
from urllib.parse import urlencode

from harness import peer_program
from ingest_cost import Sender
from tests.support.service import free_port, wait_for


def folder_bytes(path):
    return int(subprocess.run(["du", "-s", "--block-size=1", path], check=True, capture_output=True, text=True).stdout.split()[0])


def settle(path, seconds):
    """Waits until the folder has stayed as large as it is for so long."""
    before, since = -1, time.monotonic()
    while time.monotonic() - since < seconds:
        if (now := folder_bytes(path)) != before:
            before, since = now, time.monotonic()
        time.sleep(0.5)


class Peer:
    """A process with a folder that has all its data."""

    path, headers = "", {}  # for requests that write samples
    body = ""  # make_frames's option
    most_connections = 64

    def __init__(self, folder, children):
        folder.mkdir(exist_ok=True)
        self.data, self.port, self.children = folder / f"{type(self).__name__.lower()}-data", free_port(), children
        self.data.mkdir()
        with open(folder / f"{self.data.name}.log", "wb") as log:
            self.process = children.start(self.command(), log)
        wait_for(self.ready, f"{type(self).__name__} answers", 60)

    def ask(self, path, method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.request(method, path)
        reply = connection.getresponse()
        return reply.status, reply.read()

    def ready(self):
        try:
            return self.ask(self.health)[0] in (200, 204)
        except OSError:
            return False

    def metric(self, name):
        """The sum of what its page of metrics has under that name."""
        lines = self.ask("/metrics")[1].decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(name))

    def add_job(self, name, interval_ms=500):
        """The peers know no jobs."""

    def senders(self, queues):
        return [Sender(self.port, queue, self.path, self.headers) for queue in queues]

    def make_durable(self):
        """Nothing to do: the peers are measured without waiting for their disks."""

    def bytes(self):
        return {"all": folder_bytes(self.data)}

    def stop(self):
        self.children.stop(self.process)


class Victoria(Peer):
    """VictoriaMetrics, by its import in lines of JSON, many samples each. It answers before anything is on the disk, which
    follows within seconds."""

    body, path, health = "import", "/api/v1/import", "/health"

    def command(self):
        program = peer_program("victoria-metrics")
        return [program, f"-storageDataPath={self.data}", f"-httpListenAddr=127.0.0.1:{self.port}", "-retentionPeriod=12"]

    def make_durable(self):
        self.ask("/internal/force_flush")
        settle(self.data, 15)  # the data goes to the disk in the background, 10 s later

    def stored(self):
        return self.metric('vm_rows_inserted_total{type="vmimport"')

    def compact(self):
        self.ask("/internal/force_merge")
        time.sleep(2)
        wait_for(lambda: self.metric("vm_active_merges") == 0, "parts are merged", 300, 0.5)
        time.sleep(2)  # the old parts go


class Prometheus(Peer):
    """Remote write. It writes a log before it answers and does not wait for the disk. The last hours stay in memory
    and log; a snapshot has everything in blocks, and its size is what counts afterwards. Samples older than
    its latest by an hour are refused, so one connection keeps the nodes in step."""

    body, path, health = "remote-write", "/api/v1/write", "/-/ready"
    headers = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "0.1.0"}
    most_connections = 1

    def command(self):
        configuration = self.data / "prometheus.yml"
        configuration.write_text("{}\n")
        return [
            peer_program("prometheus"), f"--config.file={configuration}", f"--storage.tsdb.path={self.data / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{self.port}", "--web.enable-remote-write-receiver", "--web.enable-admin-api",
            "--storage.tsdb.retention.time=400d", "--query.max-samples=1000000000", "--query.timeout=5m",
        ]

    def stored(self):
        return self.metric("prometheus_tsdb_head_samples_appended_total")

    def compact(self):
        status, answer = self.ask("/api/v1/admin/tsdb/snapshot", "POST")
        assert status == 200, answer

    def bytes(self):
        snapshots = self.data / "tsdb" / "snapshots"
        return {"all": folder_bytes(snapshots if snapshots.exists() else self.data)}


INFLUX_CONFIGURATION = """
reporting-disabled = true
bind-address = "127.0.0.1:{other}"
[meta]
  dir = "{data}/meta"
[data]
  dir = "{data}/data"
  wal-dir = "{data}/wal"
  cache-snapshot-write-cold-duration = "20s"
  compact-full-write-cold-duration = "20s"
[http]
  bind-address = "127.0.0.1:{port}"
  log-enabled = false
[monitor]
  store-enabled = false
"""


class Influx(Peer):
    """Line protocol, durable with each answer. It compacts a shard to the end once nothing was written to it for
    20 s; its own default is hours."""

    body, path, health = "influx", "/write?db=bench&precision=ms", "/ping"

    def __init__(self, folder, children):
        super().__init__(folder, children)
        self.query("create database bench", "POST")

    def command(self):
        configuration = self.data / "influxdb.conf"
        configuration.write_text(INFLUX_CONFIGURATION.format(data=self.data, port=self.port, other=free_port()))
        return [peer_program("influxdb", "influxd"), "-config", str(configuration)]

    def query(self, statement, method="GET"):
        status, answer = self.ask(f"/query?{urlencode({'db': 'bench', 'q': statement})}", method)
        assert status == 200, answer
        return json.loads(answer)["results"]

    def stored(self):
        series = self.query("select count(*) from samples")[0].get("series", [])
        return sum(sum(each["values"][0][1:]) for each in series)

    def compact(self):
        wait_for(self.log_is_empty, "the log becomes files", 300, 1)
        settle(self.data / "data", 40)

    def log_is_empty(self):
        return sum(path.stat().st_size for path in (self.data / "wal").rglob("*.wal")) == 0


PEERS = {"VictoriaMetrics": Victoria, "Prometheus": Prometheus, "InfluxDB": Influx}

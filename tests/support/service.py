"""The real programs, started and ended by tests: always on loopback, each in a folder of its own."""

import atexit
import functools
import json
import os
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.citus import cluster as citus

ROOT = Path(__file__).resolve().parents[2]
# Without a spool no test delivers what another one left.
os.environ.setdefault("STEPSCOPE_SPOOL", "none")

# The private PostgreSQL's own: initdb made it.
SUPERUSER = "stepscope_superuser"
SANITIZED = any(name in os.environ.get("STEPSCOPE_BUILD", "") for name in ("asan", "tsan"))  # programs that take memory of their own


def program(name: str) -> str:
    """The built program: from STEPSCOPE_BUILD, else the newest of the usual build folders."""
    if given := os.environ.get("STEPSCOPE_BUILD"):
        return str(Path(given).resolve() / name)
    built = [path for path in ROOT.glob(f"build/*/{name}") if path.is_file()]
    if not built:
        raise FileNotFoundError(f"{name} is not built: run scripts/test, or cmake --build --preset release")
    return str(max(built, key=lambda path: path.stat().st_mtime))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def use_all_descriptors():
    """Raises this process's limit of open files, and that of what it starts, as far as it may."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def wait_for(condition, what: str, seconds: float = 60, pause: float = 0.05):
    """Polls until `condition()` is true and returns it; fails with `what` when the time is over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(pause)
    raise AssertionError(f"{what}: not within {seconds} s")


@functools.cache
def started_once() -> Path:
    """The data folder of a service that was started for the first time and has ended. Copies of it spare each test that
    takes one to make a database. First starts are tested by test_server_postgres, and by the tests of the demo."""
    folder = Path(tempfile.mkdtemp(prefix="stepscope-data-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o711)  # started by root, PostgreSQL runs as another user
    service = Service(folder, database="private")
    service.fresh = True
    service.start()
    service.stop()
    (service.data_dir / "ballast").unlink(missing_ok=True)  # large, and made in no time
    return service.data_dir


class Service:
    """A stepscope-server with its embedded PostgreSQL, or on the cluster of STEPSCOPE_CITUS_URL; over TLS when there is an authority to
    trust."""

    def __init__(self, folder: Path, *options: str, ca_file=None, database=None):
        """`database="private"`: its own also where there is a cluster, for what is about that one."""
        self.data_dir = folder / "data"
        self.port = free_port()
        self.url = f"{'https' if ca_file else 'http'}://127.0.0.1:{self.port}"
        self.trust = ssl.create_default_context(cafile=ca_file) if ca_file else None
        self.token = None
        self.options = options
        self.at = ("--data-dir", str(self.data_dir))  # options of commands about its database
        names = [f"host={self.data_dir}/socket user={role} dbname=stepscope" for role in ("stepscope", SUPERUSER)]
        if citus.address() and database != "private" and "--database-url" not in options:
            names = citus.own_database()
            self.options = (*options, "--database-url", names[0])
            self.at = (*self.at, "--database-url", names[0])
        self.databases = dict(zip(("stepscope", SUPERUSER), names))  # as psql knows them, by role
        self.log = folder / "server.log"
        self.process = None
        self.fresh = "--database-url" in self.options  # its first start is one

    def spawn(self):
        command = [program("stepscope-server"), "--listen", f"127.0.0.1:{self.port}", "--data-dir", str(self.data_dir)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command + list(self.options), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start(self, seconds: float = 90):
        if not self.fresh and not self.data_dir.exists():
            self.data_dir.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-a", started_once(), self.data_dir], check=True)
        self.spawn()
        wait_for(lambda: self.process.poll() is not None or self.ready(), "service ready", seconds)
        assert self.process.poll() is None, f"the service ended: {self.log.read_text()[-2000:]}"
        return self

    def ready(self) -> bool:
        try:
            return self.get("/readyz")[0] == 200
        except OSError:
            return False

    def request(self, method: str, path: str, body=None, content_type="application/json", timeout=15):
        """(status, parsed JSON or text). Connection faults are OSError."""
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        request = urllib.request.Request(self.url + path, data, {"Content-Type": content_type}, method=method)
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=timeout, context=self.trust) as answer:
                status, text = answer.status, answer.read().decode()
        except urllib.error.HTTPError as problem:
            status, text = problem.code, problem.read().decode()
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text

    def get(self, path: str):
        return self.request("GET", path)

    def postmaster(self) -> int:
        """The process of its PostgreSQL; 0 while there is none."""
        try:
            pid = int((self.data_dir / "postgres" / "postmaster.pid").read_text().split("\n")[0])
            os.kill(pid, 0)
            return pid
        except (OSError, ValueError):
            return 0

    def sql(self, statement: str, role: str = "stepscope"):
        """Rows of text, straight from the database; as SUPERUSER what the service itself may not do."""
        command = ["psql", self.databases[role], "-XAtc", statement]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return [line.split("|") for line in out.splitlines()]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("the service did not end within 30 s of SIGTERM") from None

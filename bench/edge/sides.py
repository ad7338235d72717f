"""The two servers that the traps are thrown at: a stock cpp-httplib one, and the service."""

import re
import resource
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from tests.support.raw_http import RawClient, request
from tests.support.service import Service, free_port, program, wait_for

MEMORY_LIMIT = 3 << 30  # bytes of addresses; above it memory is refused, so that the machine survives


@contextmanager
def stack_limit(size):
    """The shell's `ulimit -s` for whatever is started meanwhile; None leaves it."""
    before = resource.getrlimit(resource.RLIMIT_STACK)
    if size is not None:
        resource.setrlimit(resource.RLIMIT_STACK, (size, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_STACK, before)


class Side:
    """A server that runs. Its paths are the nearest that each has to the thing a trap needs."""

    name = ""
    small = "/healthz"

    def limit_memory(self):
        resource.prlimit(self.process.pid, resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))

    def peak_megabytes(self):
        """The most memory it ever held; None when it is gone."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return None
        found = re.search(r"VmHWM:\s+(\d+)", status)
        return int(found[1]) // 1024 if found else None

    def end_word(self):
        """"" while it lives, else how it ended."""
        if self.peak_megabytes() is None:  # it has no memory any more, but may not be quite at its end
            self.process.wait(20)
        code = self.process.poll()
        return "" if code is None else f"died of signal {-code}" if code < 0 else f"ended with {code}"

    def get(self, path=None, seconds=10.0, headers=(), source="127.0.0.1"):
        with RawClient(self.port, source, seconds) as client:
            client.send(request("GET", path or self.small, [("Connection", "close"), *headers]))
            return client.read_answer(seconds)

    def seconds_to_answer(self, patience):
        """How long somebody else waits for a small answer; None when there is none within `patience`."""
        began = time.monotonic()
        answer = self.get(seconds=patience, source="127.0.9.9")
        return time.monotonic() - began if answer and answer.status == 200 else None

    def post(self, body, headers=()):
        """The bytes of a POST to the route that takes bodies."""
        return request("POST", self.body, [("Content-Type", self.body_type), *headers], body)


class Stock(Side):
    name = "stock"
    named, large, body, body_type, json = "/jobs/", "/large", "/size", "application/octet-stream", "/json"

    def __init__(self, folder: Path):
        self.folder, self.port, self.process = folder, free_port(), None

    def command(self):
        (self.folder / "static").mkdir(exist_ok=True)
        return [program("bench/stock_server"), str(self.port), str(self.folder / "static")]

    def start(self, stack=None):
        with stack_limit(stack), (self.folder / "stock.log").open("ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(lambda: self.get(seconds=1), "the stock server answers", 20)
        self.limit_memory()
        return self

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Ours(Side):
    name = "ours"
    named, json = "/api/v1/jobs/", "/api/v1/jobs"
    body, body_type = "/api/v1/ingest/frames", "application/vnd.stepscope.frames"

    def __init__(self, folder: Path):
        self.folder, self.service = folder, Service(folder)
        self.port, self.large = self.service.port, "/"

    @property
    def process(self):
        return self.service.process

    def command(self):
        return [program("stepscope-server"), "--listen", f"127.0.0.1:{self.port}", "--data-dir", str(self.service.data_dir) + "2"]

    def start(self, stack=None):
        with stack_limit(stack):
            self.service.start()
        self.limit_memory()
        page = self.get("/").body.decode()
        self.large = next(iter(re.findall(r'src="(/[^"]+\.js)"', page)), "/")
        return self

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.service.kill()

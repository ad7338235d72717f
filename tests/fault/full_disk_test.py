"""A disk that fills up under the service and its PostgreSQL: frames wait, charts stay readable, the ballast brings PostgreSQL back."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from tests.fault.faulty import ask, await_pushes, check_refusals, pushing, readiness, reasons
from tests.fault.law import check_law
from tests.support.service import Service, wait_for

SIZE = 400 << 20
JOBS = ("one", "two")
JSON = (("Content-Type", "application/json"),)
PAGE = (("Sec-Fetch-Site", "same-origin"),)  # a browser sends it


class SmallDisk:
    """A file system of its own in a folder, which another program fills."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="stepscope-disk-"))
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0711", "tmpfs", self.folder], capture_output=True)
        self.mounted = done.returncode == 0
        self.filler = self.folder / "filler"

    def free(self):
        now = os.statvfs(self.folder)
        return now.f_bavail * now.f_frsize

    def fill(self, left=0):
        """Fills the disk up to so many bytes, while others write too."""
        with self.filler.open("ab") as file:
            while (more := self.free() - left) > 0:
                try:
                    os.posix_fallocate(file.fileno(), self.filler.stat().st_size, more)
                except OSError:
                    continue  # somebody was quicker

    def clear(self):
        self.filler.unlink()

    def remove(self):
        if self.mounted:
            subprocess.run(["umount", self.folder], check=True)
        self.folder.rmdir()


@pytest.fixture
def disk():
    made = SmallDisk()
    if made.mounted:
        yield made
    made.remove()
    if not made.mounted:
        pytest.skip("only root may mount a small file system")


class Living(Service):
    """A service whose start is awaited only until it lives: on a full disk it is not ready."""

    def ready(self):
        try:
            return self.get("/healthz")[0] == 200
        except OSError:
            return False


@pytest.fixture
def service(disk):
    started = Living(disk.folder).start()
    wait_for(lambda: readiness(started).status == 200, "ready")
    yield started
    started.stop()


def ballast(disk):
    """The length of the ballast; None: there is no file."""
    try:
        return (disk.folder / "data" / "ballast").stat().st_size
    except FileNotFoundError:
        return None


def charts(service):
    return ask(service.port, "GET", "/api/v1/jobs/one/metrics?metric=memory_used_bytes&points=10", PAGE).status


def write_until_it_ends(service):
    """PostgreSQL's log of changes grows until there is no room for it."""
    for _ in range(500):
        try:
            service.sql("select pg_logical_emit_message(false, 'filling', repeat('x', 1000000))")
        except subprocess.CalledProcessError:
            return
    raise AssertionError("PostgreSQL found room for all of it")


def check_closed(service, pushers):
    """Checks for two seconds that frames are refused by name, and that people can read."""
    begun = time.monotonic()
    while (now := time.monotonic()) < begun + 2:
        assert "disk" in reasons(readiness(service)) and charts(service) == 200
    check_refusals(pushers, begun, now, "storage-low")


def check_only_what_makes_room_is_done(service):
    """People, too, can only remove."""
    made = ask(service.port, "POST", "/api/v1/jobs", JSON, b'{"name": "three"}')
    assert (made.status, made.body["code"], made.retry_after) == (503, "storage-low", "2")
    assert service.request("DELETE", "/api/v1/jobs/spare")[0] == 204


def test_writing_stops_before_the_disk_is_full(service, disk):
    assert ask(service.port, "POST", "/api/v1/jobs", JSON, b'{"name": "spare"}').status == 201
    with pushing(service, *JOBS) as pushers:
        wait_for(lambda: ballast(disk), "the ballast is made")
        assert ballast(disk) == 64_000_000
        disk.fill(left=SIZE // 20)
        wait_for(lambda: readiness(service).status == 503, "it is noticed")
        time.sleep(1)  # two looks later
        check_closed(service, pushers)
        check_only_what_makes_room_is_done(service)
        assert ballast(disk), "it is not needed yet"
        disk.clear()
        wait_for(lambda: readiness(service).status == 200, "ready again", 10)
        await_pushes(pushers, 20, 10)
    check_law(service, pushers)


def test_the_ballast_brings_postgresql_back_when_the_disk_is_full(service, disk):
    with pushing(service, *JOBS) as pushers:
        wait_for(lambda: ballast(disk), "the ballast is made")
        disk.fill()
        write_until_it_ends(service)
        wait_for(lambda: ballast(disk) == 0, "the ballast is given up")
        wait_for(lambda: "database" not in reasons(readiness(service)), "PostgreSQL is back")
        assert "ballast" in reasons(readiness(service))["disk"]
        assert "stepscope_ballast_bytes 0" in service.get("/metrics")[1]
        check_closed(service, pushers)
        disk.clear()
        wait_for(lambda: ballast(disk), "the ballast is back", 10)
        wait_for(lambda: readiness(service).status == 200, "ready again", 10)
        await_pushes(pushers, 20, 10)
    assert "the ballast of" in service.log.read_text()
    check_law(service, pushers)


def test_a_service_that_was_killed_comes_up_on_a_full_disk(service, disk):
    with pushing(service, *JOBS) as pushers:
        wait_for(lambda: ballast(disk), "the ballast is made")
        disk.fill()
        service.kill()
        service.start()
        assert ballast(disk) == 0
        check_closed(service, pushers)
        disk.clear()
        wait_for(lambda: readiness(service).status == 200, "ready again", 10)
        await_pushes(pushers, 20, 10)
        assert ballast(disk), "it is back"
    check_law(service, pushers)

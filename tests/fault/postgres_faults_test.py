"""PostgreSQL that stops, is cut off, writes nothing or has no room: agents are told so in time, and all goes on by itself."""

import os
import random
import subprocess
import time

import pytest

from tests.fault.cutting_proxy import COMMIT, INSERT, CuttingProxy
from tests.fault.faulty import await_pushes, check_refusals, pushing, readiness, reasons, stopped, tree
from tests.fault.law import check_law
from tests.fault.replicas import Replica
from tests.support.postgres import Postgres
from tests.support.service import SUPERUSER, Service, wait_for

SEED = int(os.environ.get("STEPSCOPE_SEED", "20261121"))
CUTS = int(os.environ.get("STEPSCOPE_CUTS", "40"))
JOBS = ("one", "two", "three")
STOPPED_SECONDS = 10
RECOVERED_WITHIN = 10


def check_recovers(service, pushers):
    """The service recovers by itself, soon."""
    begun = time.monotonic()
    wait_for(lambda: readiness(service).status == 200, "ready again", RECOVERED_WITHIN)
    await_pushes(pushers, 20, RECOVERED_WITHIN - (time.monotonic() - begun))


def test_stopped_for_ten_seconds(private_service):
    with pushing(private_service, *JOBS) as pushers:
        with stopped(tree(private_service.postmaster())):
            begun = time.monotonic()
            while (now := time.monotonic()) < begun + STOPPED_SECONDS:
                seen = readiness(private_service)
                assert seen.status == 503 and seen.seconds < 5, seen
                assert "does not answer" in reasons(seen)["database"], seen
            # Requests sent at the very beginning may have been answered before the fault.
            check_refusals(pushers, begun + 1, now)
        check_recovers(private_service, pushers)
    check_law(private_service, pushers)


@pytest.fixture
def behind_a_proxy(folder):
    """(service, proxy): a PostgreSQL of our own, and what cuts the service off from it."""
    for name in ("postgres", "proxy", "service"):
        (folder / name).mkdir()
    postgres = Postgres(folder / "postgres").start()
    proxy = CuttingProxy(folder / "proxy", folder / "postgres", random.Random(SEED))
    service = Service(folder / "service", "--database-url", f"postgresql:///stepscope?host={folder / 'proxy'}&user=stepscope")
    service.sql = postgres.sql
    yield service.start(), proxy
    service.stop()
    proxy.close()
    postgres.stop()


def test_cut_off_in_the_middle_of_a_group(behind_a_proxy):
    service, proxy = behind_a_proxy
    dice = random.Random(SEED)
    with pushing(service, *JOBS, most=97) as pushers:
        for number in range(CUTS):
            proxy.wanted = dice.choice((INSERT, COMMIT))
            wait_for(lambda: len(proxy.cuts) > number, f"cut {number}", pause=0.001)
            await_pushes(pushers[:1], 1 + dice.randrange(50))
        await_pushes(pushers, 20)
    refused = sum(seen.status == 503 for each in pushers for seen in each.answers)
    assert refused >= CUTS, "each cut was felt by somebody"
    assert {word for word, _, _ in proxy.cuts} == {INSERT.decode(), COMMIT.decode()}
    assert any(at == length for _, at, length in proxy.cuts) and any(at < length for _, at, length in proxy.cuts)
    check_law(service, pushers)


def test_read_only(service):
    with pushing(service, *JOBS) as pushers:
        service.sql("alter system set default_transaction_read_only = on", SUPERUSER)
        service.sql("select pg_reload_conf()", SUPERUSER)
        wait_for(lambda: readiness(service).status == 503, "it is noticed")
        begun = time.monotonic()
        while (now := time.monotonic()) < begun + 2:
            assert "read-only" in reasons(readiness(service))["database"]
        check_refusals(pushers, begun + 0.5, now)
        service.sql("alter system reset default_transaction_read_only", SUPERUSER)
        service.sql("select pg_reload_conf()", SUPERUSER)
        check_recovers(service, pushers)
    check_law(service, pushers)


def test_restarted_by_whoever_looks_after_it(folder):
    (folder / "postgres").mkdir()
    postgres = Postgres(folder / "postgres").start()
    service = Replica(folder / "service", postgres).start()
    try:
        with pushing(service, *JOBS) as pushers:
            for _ in range(3):
                await_pushes(pushers, 20)
                postgres.stop()  # "fast", as systemd does it
                wait_for(lambda: readiness(service).status == 503, "it is noticed")
                postgres.run()
                check_recovers(service, pushers)
        check_law(service, pushers)
    finally:
        service.stop()
        postgres.stop()


class Crowd:
    """Sessions of others, that take every place there is."""

    def __init__(self, service):
        self.words = ["psql", f"host={service.data_dir}/socket user=stepscope dbname=stepscope", "-XAtq"]
        self.own = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.others = []

    def ask(self, statement):
        self.own.stdin.write(statement + ";\n")
        self.own.stdin.flush()
        return self.own.stdout.readline().strip()

    def take_all(self):
        """Ends the sessions of the service until others sit on all places."""
        self.ask("select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'stepscope'")
        self.others = [each for each in self.others if each.poll() is None]
        self.others += [subprocess.Popen([*self.words, "-c", "select pg_sleep(600)"], stderr=subprocess.DEVNULL) for _ in range(8)]
        return self.ask("select count(*) filter (where application_name = 'psql') = current_setting('max_connections')::int"
                        " from pg_stat_activity where backend_type = 'client backend'") == "t"

    def leave(self):
        self.ask("select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'psql' and pid <> pg_backend_pid()")
        for each in (self.own, *self.others):
            each.kill()
            each.wait()


def test_no_connection_left(private_service):
    with pushing(private_service, *JOBS) as pushers:
        crowd = Crowd(private_service)
        try:
            wait_for(crowd.take_all, "others hold all connections")
            begun = time.monotonic()
            while (now := time.monotonic()) < begun + 2:
                assert "too many clients" in reasons(readiness(private_service))["database"]
            check_refusals(pushers, begun + 0.5, now)
        finally:
            crowd.leave()
        check_recovers(private_service, pushers)
    check_law(private_service, pushers)

"""A worker that is away takes its own jobs with it and no others; when it is back nothing is lost, and nothing is there twice."""

import os
import re
import shlex
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.citus.cluster import SKIPPED, Cluster, address, ask
from tests.fault.faulty import tree
from tests.fault.law import check_law
from tests.fault.pusher import INTERVAL_US, Healthy
from tests.support import wire
from tests.support.service import Service, wait_for

pytestmark = pytest.mark.skipif(not address(), reason=SKIPPED)

JOBS = [f"away-{number}" for number in range(8)]
AWAY_SECONDS = float(os.environ.get("STEPSCOPE_AWAY_SECONDS", "8"))
HANGS_SECONDS = 20.0
WHERE = """
    select j.name, n.nodename || ':' || n.nodeport, n.nodeid
    from jobs j, pg_dist_placement p join pg_dist_node n using (groupid)
    where p.shardid = get_shard_id_for_distribution_column('frames', j.job_id)"""


class Worker:
    """A machine of the cluster, on this one: its PostgreSQL is ended at once and started again as it was."""

    def __init__(self, cluster, node):
        self.node, self.cluster = node, cluster
        at = cluster.at(node)
        self.folder = Path(ask(at, "show data_directory")[0][0])
        self.pid = cluster.postmasters()[node]
        self.command = shlex.split((self.folder / "postmaster.opts").read_text())

    def crash(self):
        os.kill(self.pid, signal.SIGQUIT)
        wait_for(lambda: not Path(f"/proc/{self.pid}").exists() or "Z" in Path(f"/proc/{self.pid}/stat").read_text().split()[2], "the worker ends")

    def start(self):
        owner = self.folder.stat()
        with (self.folder / "again.log").open("ab") as log:
            subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True,
                             user=owner.st_uid, group=owner.st_gid, extra_groups=())
        wait_for(self.answers, "the worker is back")

    def hang(self):
        """Its connections stay, and nobody answers on them."""
        self.stopped = tree(self.pid)
        for process in self.stopped:
            send(process, signal.SIGSTOP)

    def go_on(self):
        for process in self.stopped:
            send(process, signal.SIGCONT)

    def answers(self):
        try:
            return bool(ask(self.cluster.at(self.node), "select 1"))
        except RuntimeError:
            return False


def send(process, which):
    try:
        os.kill(process, which)
    except ProcessLookupError:
        pass


@pytest.fixture
def cluster():
    found = Cluster(address())
    if len(found.workers) < 2:
        pytest.skip("the cluster has no two workers")
    return found


def workers_of(service):
    return next(each for each in service.get("/readyz")[1]["checks"] if each["name"] == "workers")


def pushed(pushers):
    return {each.job: each.acknowledged for each in pushers}


def own_sessions(cluster, node, own):
    """Sessions of the service with the worker itself; those of the coordinator have another name."""
    name = own.rpartition("/")[2].partition("?")[0]
    return int(ask(cluster.at(node), f"select count(*) from pg_stat_activity where application_name = 'stepscope' and datname = '{name}'")[0][0])


@contextmanager
def pushed_to(own, superuser, folder):
    """A service on the database of a cluster, and whoever pushes to each job. At the end what was acknowledged is there, once."""
    service = Service(folder, "--database-url", own, "--evaluators", "2").start()
    service.databases = {"stepscope": superuser}
    pushers = [Healthy(service, job) for job in JOBS]
    try:
        for each in pushers:
            each.start()
        wait_for(lambda: min(pushed(pushers).values()) > 30, "all jobs are pushed")
        yield service, pushers
        before = pushed(pushers)
        wait_for(lambda: all(now > before[job] for job, now in pushed(pushers).items()), "all jobs go on")
    finally:
        for each in pushers:
            each.ended.set()
        for each in pushers:
            each.join(60)
    check_law(service, pushers)
    service.stop()


def test_a_worker_is_away_under_load(cluster, folder):
    with cluster.database() as (own, superuser):
        with pushed_to(own, superuser, folder) as (service, pushers):
            places = {job: (node, number) for job, node, number in ask(superuser, WHERE)}
            node, number = places[JOBS[0]]
            away = {job for job in JOBS if places[job][0] == node}
            there = set(JOBS) - away
            assert there, "all jobs lie on one worker"
            assert workers_of(service)["ok"]
            for machine in cluster.workers:
                assert own_sessions(cluster, machine, own) > 0, "pushes go to the machine of their job, past the coordinator"
            crash(Worker(cluster, node), service, pushers, away, there, number)
            wait_for(lambda: workers_of(service)["ok"], "/readyz sees the worker")
        say_no_address(service, cluster)


class Ending(Healthy):
    """A job that ends while others run: that changes `jobs`, which has a copy on each machine."""

    def begin(self):
        status, answer = self.push(1, 3)
        assert status == 200 and answer["acknowledged"] == 3, answer

    def run(self):
        ended = b'{"event":"ended","at_us":%d,"exit_code":0}' % (self.begin_us + 4 * INTERVAL_US)
        frame = wire.push([wire.frame(wire.LIFECYCLE, self.session, 4, self.begin_us, self.job, "node-1", ended)])
        while not self.ended.is_set() and self.send(frame)[0] != 200:
            self.ended.wait(0.2)
        self.acknowledged = 4


def go_on(service, pushers, jobs, seconds):
    """All the time these jobs are pushed, and shown."""
    begun = time.monotonic()
    while time.monotonic() < begun + seconds:
        before = pushed(pushers)
        time.sleep(1.5)
        now = pushed(pushers)
        assert [job for job in jobs if now[job] == before[job]] == [], "pushes of jobs elsewhere are stored"
        for job in jobs:
            assert service.get(f"/api/v1/jobs/{job}/metrics?metric={Healthy.metric}")[0] == 200, job
            assert service.get(f"/api/v1/jobs/{job}")[0] == 200, job


def test_a_worker_hangs_under_load(cluster, folder):
    """Nobody answers on its connections, and nothing can be cancelled: jobs of the other one are pushed and shown all the time, beside
    one that ends there."""
    worker = Worker(cluster, cluster.workers[0])
    with cluster.database() as (own, superuser), pushed_to(own, superuser, folder) as (service, pushers):
        ending = [Ending(service, f"ending-{number}") for number in range(8)]
        for each in ending:
            each.begin()
        places = {job: (node, number) for job, node, number in ask(superuser, WHERE)}
        there = {job for job in JOBS if places[job][0] != worker.node}
        assert 0 < len(there) < len(JOBS), "all jobs lie on one worker"
        last = next(each for each in ending if places[each.job][0] != worker.node)
        number = next(number for node, number in places.values() if node == worker.node)
        worker.hang()
        try:
            last.start()
            go_on(service, pushers, there, HANGS_SECONDS)
            wait_for(lambda: str(number) in re.findall(r"\d+", workers_of(service)["detail"]), "/readyz names the worker")
            for job in set(JOBS) - there:
                status, problem = service.get(f"/api/v1/jobs/{job}/metrics?metric={Healthy.metric}")
                assert status == 503 and "127.0.0.1" not in problem["detail"], problem
        finally:
            worker.go_on()
        wait_for(lambda: service.get(f"/api/v1/jobs/{last.job}")[1].get("status") == "Completed", "the job ends when the worker is back", 60)
        last.ended.set()


def test_a_row_that_is_held_makes_no_worker_hang(cluster, folder):
    """Another session holds a stream of one job: the other jobs of its worker are pushed and shown."""
    with cluster.database() as (own, superuser), pushed_to(own, superuser, folder) as (service, pushers):
        held = JOBS[0]
        job_id = ask(superuser, f"select job_id from jobs where name = '{held}'")[0][0]
        hold = ["begin", f"select 1 from streams where job_id = {job_id} for update", "select pg_sleep(12)", "commit"]
        session = subprocess.Popen(["psql", superuser, "-qXAt", *(word for each in hold for word in ("-c", each))], stdout=subprocess.DEVNULL)
        try:
            time.sleep(1)
            go_on(service, pushers, set(JOBS) - {held}, 9)
        finally:
            session.wait(60)
        assert "does not answer" not in service.log.read_text()


def crash(worker, service, pushers, away, there, number):
    worker.crash()
    begun, told = time.monotonic(), False
    try:
        time.sleep(1.5)  # what was asked before is over
        before = pushed(pushers)
        while time.monotonic() < begun + AWAY_SECONDS:
            time.sleep(0.5)
            for job in there:
                assert service.get(f"/api/v1/jobs/{job}")[0] == 200, job
                assert service.get(f"/api/v1/jobs/{job}/metrics?metric={Healthy.metric}")[0] == 200, job
            for job in away:
                status, problem = service.get(f"/api/v1/jobs/{job}/metrics?metric={Healthy.metric}")
                assert status == 503 and "\n" not in problem["detail"] and "127.0.0.1" not in problem["detail"], problem
            status, ready = service.get("/readyz")
            assert status == 200 and ready["status"] == "ready"
            told = told or str(number) in re.findall(r"\d+", workers_of(service)["detail"].partition(":")[2])
        now = pushed(pushers)
        assert all(now[job] > before[job] for job in there), "pushes of jobs elsewhere are stored"
        assert all(now[job] == before[job] for job in away)
        assert told, "/readyz names the worker"
    finally:
        worker.start()


def say_no_address(service, cluster):
    lines = service.log.read_text().splitlines()
    assert [line for line in lines if not re.match(r"\d{4}-\d\d-\d\dT|Stepscope is at", line)] == [], "a line of the log is a line"
    assert [line for line in lines for node in cluster.nodes if node in line] == []
    assert len(lines) < 2000, "the log is not flooded"

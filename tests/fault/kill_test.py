"""kill -9 of service, agent or PostgreSQL in the middle of a run: no acknowledged sample is lost, doubled or changed."""

import os
import random
import signal
import subprocess

import pytest

from tests.fault.compacting import AT_ONCE, Compacting
from tests.fault.faulty import tree
from tests.fault.law import check_law
from tests.fault.pusher import Pusher
from tests.fault.replicas import Either, Replica
from tests.support.postgres import Postgres
from tests.support.service import Service, program, wait_for

KILLS = os.environ.get("STEPSCOPE_KILLS")  # so many in each test
SEED = int(os.environ.get("STEPSCOPE_SEED", "20261120"))
AGENT, AGENT_INTERVAL_US = "killed-agent", 100_000
AGENT_STORED = f"select coalesce(sum(stored), 0) from streams join jobs using (job_id) where name = '{AGENT}'"
AGENT_SESSIONS = f"""
    select encode(session, 'hex'), stored, lost, rejected, count(f.sequence), max(f.sequence), sum(rows), min(from_us), max(to_us)
    from streams s join jobs j using (job_id) left join frames f using (job_id, session) where j.name = '{AGENT}' group by job_id, session, stored, lost, rejected
    order by max(s.created_us)"""


class OneService:
    """A service with its embedded PostgreSQL, which it looks after itself; a second and a half for each kill."""

    kills = 50

    def __init__(self, folder):
        self.services = [Service(folder, *AT_ONCE).start()]
        self.sender = self.services[0]  # who takes pushes

    def postmaster(self):
        return self.services[0].postmaster()

    def run_postgres(self):
        pass

    def stop(self):
        self.services[0].stop()


class TwoReplicas:
    """Two services on a PostgreSQL that the test looks after; pushes go to either. Four kills a second."""

    kills = 50

    def __init__(self, folder):
        (folder / "postgres").mkdir()
        self.postgres = Postgres(folder / "postgres").start()
        self.services = [Replica(folder / name, self.postgres, "--evaluators", "2", *AT_ONCE).start() for name in ("a", "b")]
        self.sender = Either(self.services, random.Random(SEED))

    def postmaster(self):
        return self.postgres.process.pid

    def run_postgres(self):
        self.postgres.process.wait()
        wait_for(self.postgres.is_back, "PostgreSQL is there again")

    def stop(self):
        for each in self.services:
            each.stop()
        self.postgres.stop()


@pytest.fixture(params=[OneService, TwoReplicas], ids=["one service", "two replicas"])
def world(request, folder):
    made = request.param(folder)
    yield made
    made.stop()


class Agent:
    """`stepscope-agent run` around a command that outlives it."""

    def __init__(self, service, job):
        self.service, self.job = service, job
        self.commands = []
        self.start()

    def start(self):
        # With a budget that no machine is too busy for: else the node's facts are told again, as sources are then read seldom.
        options = ["run", "--server", self.service.url, "--job", self.job, "--node", "node-1", "--interval", "100ms", "--push", "1s", "--budget", "100"]
        self.process = subprocess.Popen(
            [program("stepscope-agent"), *options, "--", "sleep", "600"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.commands.append(wait_for(self.find_command, "the agent's command"))

    def find_command(self):
        children = subprocess.run(["pgrep", "-P", str(self.process.pid), "-x", "sleep"], capture_output=True, text=True).stdout
        return int(children.split()[0]) if children else None

    def kill(self):
        self.process.kill()
        self.process.wait()
        os.kill(self.commands[-1], 0)  # the training was not touched: this raises when it is gone

    def end(self):
        self.process.terminate()
        self.process.wait(30)
        for command in self.commands:
            try:
                os.kill(command, signal.SIGKILL)
            except ProcessLookupError:
                pass


def kill_service(world, agent, dice):
    victim = dice.choice(world.services)
    victim.kill()
    victim.start()


def kill_backend(world, agent, dice):
    """Kills a backend, which makes the postmaster restart all."""
    if children := tree(world.postmaster())[1:]:
        kill_if_there(dice.choice(children))


def kill_postgres(world, agent, dice):
    """The postmaster; who looks after it must get rid of backends that are busy and notice late."""
    for postmaster in tree(world.postmaster())[:1]:
        kill_if_there(postmaster)
    world.run_postgres()


def kill_if_there(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def kill_agent(world, agent, dice):
    agent.kill()
    agent.start()


def test_killed_at_random_nothing_is_lost_or_doubled(world):
    dice = random.Random(SEED)
    service = world.services[0]
    pusher = Pusher(world.sender, "killed")
    assert service.request("POST", "/api/v1/jobs", {"name": AGENT})[0] == 201
    compacting = Compacting(service, but_not=AGENT)  # whose sessions are looked at one by one
    agent = Agent(service, AGENT)
    pusher.start()
    try:
        for number in range(int(KILLS or world.kills)):
            goal = pusher.acknowledged + dice.randrange(3, 40)
            wait_for(lambda: pusher.acknowledged > goal or pusher.ended.is_set(), f"pushes before kill {number}", pause=0.01)
            compacting.make_due()
            dice.choice((kill_service, kill_backend, kill_postgres, kill_agent))(world, agent, dice)
        goal = pusher.acknowledged + 20
        wait_for(lambda: pusher.acknowledged > goal or pusher.ended.is_set(), "pushes after the last kill")
        # The agent's frames go on arriving too. PostgreSQL may still recover from the last kill: a push was answered before it.
        wait_for(lambda: service.get("/readyz")[0] == 200, "the service is ready after the last kill")
        stored = lambda: int(service.sql(AGENT_STORED)[0][0])
        after = stored()
        wait_for(lambda: stored() > after, "frames of the agent after the last kill")
    finally:
        pusher.ended.set()
        pusher.join(30)
        agent.end()
    compacting.check()
    check_law(service, [pusher])
    check_agent(service, len(agent.commands))
    assert service.get("/api/v1/jobs/killed")[1]["status"] == "InProgress"


def check_agent(service, lives):
    """All that was acknowledged to each session of the agent is there, tick by tick, once."""
    sessions = service.sql(AGENT_SESSIONS)
    assert 1 < len(sessions) <= lives
    for session, stored, lost, rejected, frames, newest, ticks, first_us, last_us in sessions:
        assert (lost, rejected) == ("0", "0"), session
        # The other frames say that the node began and, in the last session, which was ended, that it ended.
        assert int(stored) - int(frames) in ((1, 2) if session == sessions[-1][0] else (1,)), f"session {session}: {frames} frames of {stored}, the newest {newest}"
        if frames != "0":
            # An agent that was not given the processor sleeps through a tick, and makes none up.
            assert int(frames) <= int(ticks) <= (int(last_us) - int(first_us)) // AGENT_INTERVAL_US + 1, f"session {session}: {ticks} ticks from {first_us} to {last_us}"

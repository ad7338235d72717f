"""kill -9 of service, agent or PostgreSQL in the middle of a run: no acknowledged sample is lost, doubled or changed."""

import os
import random
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.fault.law import check_law
from tests.fault.pusher import Pusher
from tests.support.service import Service, program, wait_for

ROUNDS = int(os.environ.get("STEPSCOPE_KILLS", "21"))


@pytest.fixture
def service():
    # Not pytest's own folder: PostgreSQL may run as another user, who must be able to enter it.
    with tempfile.TemporaryDirectory(prefix="stepscope-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        running = Service(folder).start()
        yield running
        running.stop()


class Agent:
    """`stepscope-agent run` around a command that outlives it."""

    def __init__(self, service, job):
        self.service, self.job = service, job
        self.commands = []
        self.start()

    def start(self):
        options = ["run", "--server", self.service.url, "--job", self.job, "--node", "node-1", "--interval", "100ms", "--push", "1s"]
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


def kill_service(service, agent, dice):
    service.kill()
    service.start()


def kill_postgres(service, agent, dice):
    """The postmaster, or one of its backends (which makes it restart all)."""
    if postmaster := service.postmaster():
        children = subprocess.run(["pgrep", "-P", str(postmaster)], capture_output=True, text=True).stdout.split()
        os.kill(int(dice.choice(children)) if children and dice.random() < 0.3 else postmaster, signal.SIGKILL)


def kill_agent(service, agent, dice):
    agent.kill()
    agent.start()


def test_killed_at_random_nothing_is_lost_or_doubled(service):
    dice = random.Random(20261120)
    pusher = Pusher(service, "killed")
    agent = Agent(service, "killed-agent")
    pusher.start()
    try:
        for number in range(ROUNDS):
            before = pusher.acknowledged
            wait_for(lambda: pusher.acknowledged > before + dice.randrange(3, 40) or pusher.ended.is_set(), f"pushes before kill {number}")
            [kill_service, kill_postgres, kill_agent][number % 3](service, agent, dice)
        before = pusher.acknowledged
        wait_for(lambda: pusher.acknowledged > before + 20 or pusher.ended.is_set(), "pushes after the last kill")
        # What the agent measured goes on arriving too.
        stored = lambda: int(service.sql(AGENT_STORED)[0][0])
        after = stored()
        wait_for(lambda: stored() > after, "frames of the agent after the last kill")
    finally:
        pusher.ended.set()
        pusher.join(30)
        agent.end()
    check_law(service, [pusher])
    assert service.get("/api/v1/jobs/killed")[1]["status"] == "InProgress"


AGENT_STORED = "select coalesce(sum(stored), 0) from streams join jobs using (job_id) where name = 'killed-agent'"

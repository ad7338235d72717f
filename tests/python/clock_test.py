"""The wall clock is set while no agent is there to see it."""

import os
import threading
import time

import stepscope
from stepscope import _wire
from tests.python.alone import place, session_alone  # noqa: F401
from tests.python.intake import Intake
from tests.support.service import wait_for

HOUR_NS = 3600 * 10**9


def set_clock_back(ring):
    """Makes the ring look as if the clock had been set an hour on since the ring was made."""
    at = 8 * _wire.CLOCK_WORD
    before = int.from_bytes(os.pread(ring.fd, 8, at), "little")
    os.pwrite(ring.fd, (before - HOUR_NS).to_bytes(8, "little"), at)


def meet(session):
    def connected():
        session.due = 0
        for _ in range(100):
            stepscope.step()
        return stepscope.info()["connected"]

    wait_for(connected, "connection")


def test_the_next_agent_hears_of_it(place, monkeypatch):  # noqa: F811
    with session_alone(place, monkeypatch) as session:
        with Intake(place):
            meet(session)
            thread = threading.Thread(target=stepscope.step)
            thread.start()
            thread.join()
            assert len(session.rings) == 2
        for ring in session.rings:
            set_clock_back(ring)
        session.due = 0
        for _ in range(100):  # hears that the agent is gone
            stepscope.step()
        with Intake(place) as agent:
            meet(session)
            agent.drain_until(lambda i: i.steps, "steps")
            for step in agent.steps:
                assert abs(step["start_us"] - time.time_ns() // 1000) < 600 * 10**6
            for ring in session.rings:
                base = int.from_bytes(os.pread(ring.fd, 8, 8 * _wire.CLOCK_WORD), "little")
                assert abs(base - (time.time_ns() - time.monotonic_ns())) < HOUR_NS // 60

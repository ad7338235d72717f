"""One token floods the service with frames of lifecycle: it is refused, and the pushes of another token are not."""

import subprocess
import threading
import types

import pytest

from tests.fault.bounds_test import Honest, Sender
from tests.support.service import Service, program, wait_for

CONNECTIONS, PUSHES, FRAMES = 12, 12, 256


def token(service, name):
    words = ["token", "create", "--role", "agent", "--name", name, *service.at]
    return subprocess.run([program("stepscope-server"), *words], check=True, capture_output=True, text=True, timeout=60).stdout.strip()


def as_sender(service, name):
    """The service as someone with a token of this name meets it."""
    shown = types.SimpleNamespace(url=service.url, trust=service.trust, token=token(service, name))
    shown.request = types.MethodType(Service.request, shown)
    return shown


def lives(sender):
    """Frames that begin and end a session, over and over."""
    for _ in range(FRAMES // 2):
        yield sender.told("started", facts={"cores": 2})
        yield sender.told("ended", exit_code=0, output=["last"])


@pytest.fixture
def guarded(folder):
    service = Service(folder, "--require-tokens").start()
    yield service
    service.stop()


def test_who_floods_is_late_and_nobody_else(guarded):
    honest = Honest(as_sender(guarded, "speech"))
    flood = as_sender(guarded, "vision")
    running = Sender(flood, "vision-0", "node-r")  # so that the job goes on
    assert running.push(running.told("started", facts={"cores": 2})) == 200
    statuses = []

    def push_all(number):
        sender = Sender(flood, "vision-0", f"node-{number}")
        for _ in range(PUSHES):
            first = sender.sequence
            statuses.append(sender.push(*lives(sender)))
            if statuses[-1] != 200:
                sender.sequence = first

    threads = [threading.Thread(target=push_all, args=(number,), daemon=True) for number in range(CONNECTIONS)]
    honest.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    honest.over.set()
    honest.join(60)
    assert set(honest.statuses) == {200}, (honest.statuses, statuses)
    assert len(statuses) == CONNECTIONS * PUSHES and set(statuses) <= {200, 429, 503}
    wait_for(lambda: guarded.get("/readyz")[0] == 200, "the service is ready")

#!/usr/bin/env python3
"""What a daemon takes while strangers' processes send all that they can: CPU time and memory of stepscope-agent.

Two users, neither of them the daemon's own, hold rings that are always full, and connections that say nothing. The
service is a real one on this machine, which is not counted. Needs root, since the processes are of other users.

    bench/agent_flood.py [--rounds 3] [--seconds 20]       about 3 minutes a round
"""

import argparse
import functools
import itertools
import os
import random
import select
import socket as sockets
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from harness import ROOT, Contender, Figure, clean_end, compare, fresh_folder, tree_cpu_seconds, tree_memory_bytes  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from tests.support.service import Service, program, wait_for  # noqa: E402

STRANGERS = (65533, 65534)
SLOTS, NAMES = 4096, 64
WARM_SECONDS = 4
FIGURES = [
    Figure("cpu", "% of a core", 1),
    Figure("memory", "MB resident, shared pages once", 24, 1),
    Figure("heard", "ms until the daemon's own user is heard, worst", digits=1),
    Figure("jobs", "jobs of strangers", digits=0),
]


def flood(socket, jobs, ranks, kinds):
    """A stranger's process: rings of marks of these kinds, full again whenever the agent has read them. Ends with its parent."""
    sys.path.insert(0, str(ROOT / "python"))
    from stepscope import _memory, _wire
    from stepscope._connection import Connection
    from stepscope._ring import Ring

    number, rings, held = random.Random(1), [], []
    kinds = [int(kind) for kind in kinds.split(",")]
    for job in range(jobs):
        for rank in range(ranks):
            memory = _memory.sealed_memory(SLOTS)
            ring, now = Ring(memory), time.monotonic_ns()
            for at in range(SLOTS):
                kind = kinds[at % len(kinds)]
                duration = 0 if kind == 4 else 1 << number.randrange(1, 31)
                ring.put(now + at * 1000, now + at * 1000 + duration, kind << 32 | number.randrange(1, NAMES) << 48)
            connection = Connection(str(socket))
            connection.send_ring(_wire.hello(os.getpid(), rank, rank, ranks, (f"flood-{os.getpid()}-{job}", "t", "3", "1")), memory)
            for message in _wire.names([(name, f"name-{name}") for name in range(1, NAMES)]):
                connection.send(message)
            rings.append(ring)
            held.append(connection)
    print("floods", flush=True)
    parent = os.getppid()
    while os.getppid() == parent:
        for ring in rings:
            ring.words[_wire.WRITE_WORD] = ring.words[_wire.READ_WORD] + SLOTS
        time.sleep(0.05)


def silent(socket, count):
    """A stranger's process that connects and says nothing, again whenever it is put out. Ends with its parent."""
    held = []
    print("connects", flush=True)
    parent = os.getppid()
    while os.getppid() == parent:
        for one in select.select(held, [], [], 0)[0]:
            held.remove(one)
            one.close()
        while len(held) < count:
            one = sockets.socket(sockets.AF_UNIX, sockets.SOCK_SEQPACKET)
            one.setblocking(False)
            try:
                one.connect(str(socket))
            except OSError:
                one.close()
                break
            held.append(one)
        time.sleep(0.5)


def heard_after(socket):
    """Milliseconds until the daemon has answered a process of its own user."""
    sys.path.insert(0, str(ROOT / "python"))
    from stepscope import _memory, _wire

    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_SEQPACKET) as one:
        one.settimeout(30)
        began = time.monotonic()
        wait_for(lambda: one.connect_ex(str(socket)) == 0, "a process of the daemon's own user connects", 30, 0.001)
        sockets.send_fds(one, [_wire.hello(os.getpid(), 0, 0, 1, ("honest", "t", "3", "1"))], [_memory.sealed_memory(SLOTS)])
        one.recv(8192)
        return 1000 * (time.monotonic() - began)


def start_stranger(children, folder, user, call):
    """Starts a process of this user, and waits until it floods."""
    code = f"import sys; sys.path[:0] = [{str(Path(__file__).parent)!r}]; import agent_flood; agent_flood.{call}"
    path = folder / f"stranger-{time.time_ns()}.log"
    with open(path, "wb") as log:
        process = children.start([sys.executable, "-c", code], log, user=user, group=user, extra_groups=[])
    wait_for(lambda: path.read_text().strip() or process.poll() is not None, "a stranger connects", 120)
    assert process.poll() is None, path.read_text()
    return process


def measure(children, options, folder, service, jobs, ranks, kinds):
    socket, spool = folder / f"{time.time_ns()}.sock", folder / "spool"
    command = [program("stepscope-agent"), "daemon", "--server", service.url, "--socket", str(socket), "--allow-users", "all", "--spool", str(spool)]
    with open(folder / "agent.log", "ab") as log:
        agent = children.start(command, log)
    wait_for(lambda: socket.exists() or agent.poll() is not None, "the daemon listens", 20)
    assert agent.poll() is None, (folder / "agent.log").read_text()
    calls = [f"flood({str(socket)!r}, {jobs}, {ranks}, {kinds!r})", f"silent({str(socket)!r}, 300)"]
    strangers = []
    try:
        for user, call in itertools.product(STRANGERS, calls):
            strangers.append(start_stranger(children, folder, user, call))
        time.sleep(WARM_SECONDS)
        cpu, began = tree_cpu_seconds(agent.pid), time.monotonic()
        heard, memory = [], 0.0
        while time.monotonic() < began + options.seconds:
            time.sleep(1)
            heard.append(heard_after(socket))
            memory = max(memory, tree_memory_bytes(agent.pid) / 1e6)
        used, took = tree_cpu_seconds(agent.pid) - cpu, time.monotonic() - began
        listed = service.get("/api/v1/jobs?limit=100&name_contains=flood-")[1]
    finally:
        for one in (*strangers, agent):
            children.stop(one)
    return {"cpu": 100 * used / took, "memory": memory, "heard": max(heard), "jobs": sum(f"-{one.pid}-" in job["name"] for one in strangers for job in listed["items"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=20, help="of each window")
    options = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("agent_flood: only root can start processes of other users")
    with fresh_folder() as folder, clean_end() as children:
        folder.chmod(0o755)
        service = Service(folder / "service")
        service.data_dir.parent.mkdir(mode=0o711)
        service.start()
        try:
            flooded = functools.partial(measure, children, options, folder, service)
            compare("agent_flood", FIGURES, [
                Contender("a step a mark, 31 rings of a user", functools.partial(flooded, 1, 31, "1")),
                Contender("annotations of random lengths", functools.partial(flooded, 1, 31, "3")),
                Contender("steps, phases, annotations, metrics, GPU times", functools.partial(flooded, 1, 31, "1,2,3,4,5")),
                Contender("the same of all jobs that are heard", functools.partial(flooded, 20, 10, "1,2,3,4,5")),
            ], options.rounds, {"seconds": options.seconds})
        finally:
            service.stop()


if __name__ == "__main__":
    main()

"""The whole abuse at once, while agents push and a person looks: what came of it, as figures."""

import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from tests.fault.abuse_bombs import KINDS
from tests.support.service import ROOT, program, use_all_descriptors, wait_for

IDLE, DRIPPING, DEAF = 4_000, 1_000, 50
AGENTS = 200
HEAD_START = 3  # seconds for the connections to come up before the person looks


def descriptors(process):
    """How many descriptors a process holds, without its connections to the database, of which there are as many as were
    needed at once."""
    unix = {line.split()[6] for line in Path("/proc/net/unix").read_text().splitlines()[1:]}
    held = [target(each) for each in Path(f"/proc/{process}/fd").iterdir()]
    return sum(name[len("socket:[") : -1] not in unix for name in held if name)


def target(descriptor):
    """The file or socket behind a descriptor of another process; "" once that has closed it, which may be at any moment."""
    try:
        return os.readlink(descriptor)
    except FileNotFoundError:
        return ""


def peak_memory_bytes(process):
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def quantile(values, share):
    return sorted(values)[int(share * (len(values) - 1))] if values else None


def python(module, *words, harm=False):
    """Runs a module. An abuser would sit on another machine: on this one it gets only the CPU that the others leave."""
    command = [*(["nice", "-n", "19"] if harm else []), sys.executable, "-m", f"tests.fault.{module}", *map(str, words)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)


def agents(service, frames, seconds):
    words = ["--port", service.port, "--frames", frames, "--agents-per-address", 25, "--seconds", seconds]
    return subprocess.Popen([program("bench/agents"), *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)


def make_frames(path, job, seconds):
    """Pushes of one second each, for every agent."""
    words = ["--frames", path, "--job", job, "--nodes", AGENTS, "--cores", 8, "--seconds", seconds, "--push-seconds", 1]
    words += ["--begin-us", (int(time.time()) - seconds) * 10**6]
    subprocess.run([program("bench/make_frames"), *map(str, words)], check=True, capture_output=True)


@contextmanager
def ended(processes):
    """Ends the processes, whatever happens."""
    try:
        yield
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.wait()


def result(process, seconds):
    return json.loads(process.communicate(timeout=seconds)[0])


def large_path(service):
    """The largest thing that anybody may ask for."""
    page = service.get("/")[1]
    return next((word.split('"')[0] for word in page.split('src="')[1:] if word.split('"')[0].endswith(".js")), "/")


def throw_all(service, job, large, seconds, frames):
    """Everything at once; (what held connections say, what the bombs say, agents, person)."""
    holders = [
        python("abuse_connections", service.port, large, seconds, IDLE, 0, 0, harm=True),
        python("abuse_connections", service.port, large, seconds, 0, DRIPPING, DEAF, harm=True),
    ]
    bombs = {kind: python("abuse_bombs", service.port, large, seconds, kind, harm=True) for kind in KINDS}
    busy = agents(service, frames, seconds + 40)
    others = [*holders, *bombs.values(), busy]
    with ended(others):
        time.sleep(HEAD_START)
        person = python("abuse_person", service.port, job, large, seconds - HEAD_START)
        with ended([person]):
            looked = result(person, seconds + 60)
            pushed = result(busy, seconds + 60)
            held = [result(holder, seconds + 60) for holder in holders]
            thrown = {kind: result(bomb, seconds + 60) for kind, bomb in bombs.items()}
    return held, thrown, pushed, looked


def stored_frames(service, job):
    rows = service.sql(f"select coalesce(sum(stored), 0), coalesce(sum(lost), 0), coalesce(sum(rejected), 0) from streams join jobs using (job_id) where name = '{job}'")
    return [int(value) for value in rows[0]]


def given_back(process, before):
    """How many descriptors are held once no more are given back."""
    try:
        return wait_for(lambda: (now := descriptors(process)) <= before and now, "descriptors are given back", 60, 0.2)
    except AssertionError:
        return descriptors(process)


def run(service, folder, seconds):
    """The figures of one abuse of a service that runs. `folder` takes the frames of the agents."""
    use_all_descriptors()
    job = f"abused-{time.time_ns()}"
    make_frames(folder / "frames", job, seconds)
    process = service.process.pid
    large = large_path(service)
    status, answer = service.request("POST", "/api/v1/jobs", {"name": job})
    assert status == 201, answer
    before = descriptors(process)
    held, thrown, pushed, looked = throw_all(service, job, large, seconds, folder / "frames")
    after = given_back(process, before)
    stored, lost, rejected = stored_frames(service, job)
    return {
        "seconds": seconds, "peak_memory_bytes": peak_memory_bytes(process), "descriptors_before": before, "descriptors_after": after,
        "person_answered": looked["answered"], "person_faults": looked["faults"], "person_busy": looked["busy"], "person_p50_ms": statistics.median(looked["milliseconds"]),
        "chart_p50_ms": statistics.median(looked["chart_milliseconds"]), "chart_max_ms": max(looked["chart_milliseconds"]),
        "person_p99_ms": quantile(looked["milliseconds"], 0.99), "person_max_ms": max(looked["milliseconds"]),
        "pushes": pushed, "stored": stored, "lost": lost, "rejected": rejected, "connections": held, "bombs": thrown,
    }

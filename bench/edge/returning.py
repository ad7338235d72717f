#!/usr/bin/env python3
"""1,000 agents whose service comes back: how long until the service has what they sample now, and what a person feels.

Each agent is the real one's stream and sender, with what it sampled while the service was away, and samples on. They
back off until the service starts, and share the machine with it. A job is looked at ten times a second meanwhile.

    bench/edge/returning.py [--rounds 2] [--agents 1000] [--series 100] [--minutes 60]
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, clean_end, compare, fresh_folder, tree_cpu_seconds  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from tests.support.service import Service, program, use_all_descriptors  # noqa: E402

FIGURES = [
    Figure("live", "s until what all agents sample is stored within 10 s", 60, 0),
    Figure("half", "s until that holds for half of them", digits=0),
    Figure("samples", "million samples in the backlog", digits=0),
    Figure("lost", "frames lost", 0, 0),
    Figure("p50", "ms for a person's request meanwhile, p50", digits=1),
    Figure("p99", "ms for a person's request meanwhile, p99", digits=0),
    Figure("memory", "MB of the service at its peak", 512, 0),
    Figure("cpu", "CPU-s of service and PostgreSQL per million samples", digits=2),
    Figure("not_taken", "% of pushes put off (429, 503)", digits=1),
]
PROBE_SECONDS = 0.1


class Person(threading.Thread):
    """Looks at the jobs all the time."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self.service, self.ended, self.latencies = service, threading.Event(), []

    def run(self):
        while not self.ended.wait(PROBE_SECONDS):
            began = time.monotonic()
            status, _ = self.service.request("GET", "/api/v1/jobs", timeout=60)
            assert status == 200, status
            self.latencies.append(1e3 * (time.monotonic() - began))

    def end(self):
        self.ended.set()
        self.join()
        return sorted(self.latencies)


def start_agents(options, service, job):
    words = ["--server", service.url, "--job", job, "--agents", options.agents, "--series", options.series]
    words += ["--minutes", options.minutes, "--seconds", options.seconds]
    return subprocess.Popen([program("bench/returning"), *map(str, words)], stdout=subprocess.PIPE, text=True)


def peak_megabytes(process):
    status = Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1e3


def wait_until_live(options, agents, returned):
    """(seconds until half of them were live, until all were, the last line)."""
    half = None
    for line in agents.stdout:
        said = json.loads(line)
        if half is None and 2 * said["live"] >= options.agents:
            half = time.monotonic() - returned
        if said["live"] == options.agents:
            return half, time.monotonic() - returned, said
    raise AssertionError(f"not all agents came back: {said}")


def run(options, folder):
    service = Service(folder).start()
    service.stop()
    agents = start_agents(options, service, f"back-{time.time_ns()}")
    try:
        assert json.loads(agents.stdout.readline())["live"] == 0
        time.sleep(options.away)  # until they back off as far as they do
        service.start()
        return came_back(options, service, agents)
    finally:
        agents.kill()
        agents.wait()
        service.stop()


def came_back(options, service, agents):
    returned, person = time.monotonic(), Person(service)
    person.start()
    half, live, said = wait_until_live(options, agents, returned)
    latencies = person.end()
    process = service.process.pid
    samples = options.agents * options.series * (options.minutes * 60 + options.away) * 2 / 1e6
    return {
        "live": live,
        "half": half,
        "samples": samples,
        "lost": said["frames_lost"],
        "p50": latencies[len(latencies) // 2],
        "p99": latencies[int(0.99 * (len(latencies) - 1))],
        "memory": peak_megabytes(process),
        "cpu": tree_cpu_seconds(process) / samples,
        "not_taken": 100 * said["put_off"] / said["pushes"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--series", type=int, default=100, help="of each agent")
    parser.add_argument("--minutes", type=int, default=60, help="that the service was away, in what they hold")
    parser.add_argument("--away", type=int, default=40, help="seconds that they really wait for it")
    parser.add_argument("--seconds", type=int, default=900, help="when to give up")
    options = parser.parse_args()
    use_all_descriptors()
    with clean_end():
        def once():
            with fresh_folder() as folder:
                return run(options, folder)

        about = {"agents": options.agents, "series": options.series, "minutes": options.minutes, "measured": time.strftime("%F")}
        compare("edge_returning", FIGURES, [Contender("stepscope", once)], options.rounds, about)


if __name__ == "__main__":
    main()

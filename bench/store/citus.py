#!/usr/bin/env python3
"""What Citus costs: the same pushes and the same reads on one PostgreSQL and on a cluster, on the same cores.

STEPSCOPE_CITUS_URL names the coordinator of a cluster on this machine. Counted is the CPU time of the service and of all processes of
PostgreSQL; the clients are not counted. Reads are timed one after the other: the list of 40 jobs, a job described, a chart of all nodes and
of one node.

    STEPSCOPE_CITUS_URL=postgresql://postgres@127.0.0.1:5432/postgres bench/store/citus.py [--rounds 3] [--seconds 120]
"""

import argparse
import functools
import statistics
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import Contender, Figure, clean_end, compare, fresh_folder, tree_cpu_seconds  # noqa: E402
from ingest_cost import Sender, make_samples, queues_of, send_all  # noqa: E402

from tests.citus.cluster import Cluster, address  # noqa: E402
from tests.support.service import Service  # noqa: E402

METRIC = "node_cpu_percent"
LISTED = 40  # jobs
READS = 15  # of each kind
FIGURES = [
    Figure("cpu_10s", "CPU-seconds per million samples, pushes of 10 s", digits=3),
    Figure("cpu_2s", "CPU-seconds per million samples, pushes of 2 s", digits=3),
    Figure("cpu_jobs", "CPU-seconds per million samples, pushes of 2 s, each node a job", digits=3),
    Figure("wall_jobs", "wall seconds per million samples, the same", digits=2),
    Figure("service", "of cpu_2s: the service, with its own PostgreSQL where it has one", digits=3),
    Figure("coordinator", "of cpu_2s: the coordinator", digits=3),
    Figure("workers", "of cpu_2s: the workers together", digits=3),
    Figure("list", f"ms for a list of {LISTED} jobs", 30, 1),
    Figure("describe", "ms for a job described", digits=1),
    Figure("chart", "ms for a chart of all nodes", digits=1),
    Figure("chart_node", "ms for a chart of one node", digits=1),
]


class Side:
    """A service and the processes of PostgreSQL behind it: of the coordinator, then of the workers."""

    def __init__(self, service, postmasters):
        self.service, self.postmasters = service, postmasters

    def cpu(self):
        """Seconds of the service, of the coordinator, and of all workers."""
        behind = [tree_cpu_seconds(pid) for pid in self.postmasters]
        return [tree_cpu_seconds(self.service.process.pid), sum(behind[:1]), sum(behind[1:])]

    def pushed(self, options, folder, push_seconds, job_each=False):
        """The job, and CPU seconds of each part and wall seconds per million samples."""
        job = f"cost-{time.time_ns()}"
        made = make_samples(options, folder, job, push_seconds, job_each)
        names = [f"{job}-{node}" for node in range(options.nodes)] if job_each else [job]
        for name in names:  # without rules: what judging costs is another question
            status, answer = self.service.request("POST", "/api/v1/jobs", {"name": name, "configuration": {"rules": []}})
            assert status in (200, 201), answer
        senders = [Sender(self.service.port, queue) for queue in queues_of(folder / "frames", options.connections)]
        before, began = self.cpu(), time.monotonic()
        send_all(senders)
        wall = time.monotonic() - began
        return job, [(now - then) * 1e6 / made["samples"] for now, then in zip(self.cpu(), before)], wall * 1e6 / made["samples"]

    def milliseconds(self, path):
        took = []
        for _ in range(READS):
            began = time.monotonic()
            status, answer = self.service.get(path)
            took.append((time.monotonic() - began) * 1000)
            assert status == 200, answer
        return statistics.median(took)


def measure(options, folder, side):
    job, cpu_10s, _ = side.pushed(options, folder, 10)
    _, cpu_2s, _ = side.pushed(options, folder, 2)
    _, cpu_jobs, wall_jobs = side.pushed(options, folder, 2, job_each=True)
    while len(side.service.get(f"/api/v1/jobs?limit={LISTED}")[1]["items"]) < LISTED:
        side.service.request("POST", "/api/v1/jobs", {"name": f"listed-{time.time_ns()}"})
    chart = f"/api/v1/jobs/{job}/metrics?metric={METRIC}"
    return {
        "cpu_10s": sum(cpu_10s), "cpu_2s": sum(cpu_2s), "cpu_jobs": sum(cpu_jobs), "wall_jobs": wall_jobs,
        "service": cpu_2s[0], "coordinator": cpu_2s[1], "workers": cpu_2s[2],
        "list": side.milliseconds(f"/api/v1/jobs?limit={LISTED}"), "describe": side.milliseconds(f"/api/v1/jobs/{job}"),
        "chart": side.milliseconds(chart), "chart_node": side.milliseconds(f"{chart}&node=node-0"),
    }


def run(options, folder):
    cluster = Cluster(address())
    (folder / "plain").mkdir()
    (folder / "citus").mkdir()
    plain = Service(folder / "plain", "--evaluators", "1", database="private").start()
    workers = len(cluster.workers) if options.workers is None else options.workers
    with cluster.database(workers) as (own, _):
        citus = Service(folder / "citus", "--evaluators", "1", "--database-url", own).start()
        try:
            compare("citus", FIGURES, [
                Contender("PostgreSQL", functools.partial(measure, options, folder, Side(plain, []))),
                Contender(f"Citus {cluster.version()}, {workers} workers", functools.partial(measure, options, folder, Side(citus, list(cluster.postmasters().values())))),
            ], options.rounds, {key: getattr(options, key) for key in ("nodes", "seconds", "connections")})
        finally:
            citus.stop()
            plain.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=120, help="of samples, at 2 Hz")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--workers", type=int, help="of the cluster; all of them by default")
    options = parser.parse_args()
    if not address():
        raise SystemExit("STEPSCOPE_CITUS_URL names no coordinator")
    with fresh_folder() as folder, clean_end():
        run(options, folder)


if __name__ == "__main__":
    main()

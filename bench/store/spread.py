#!/usr/bin/env python3
"""What another worker of Citus brings: pushes of many jobs a second with one worker and with two, each of which has a share of a core.

All run on this machine, whose cores are too few to give each worker some of its own. So a worker's PostgreSQL is held to a share of a core
by a control group (cpu), small enough that the service, the coordinator and the senders have the rest to themselves: the workers are what
limits, as on machines of their own. Each node is a job of its own. Needs root.

    STEPSCOPE_CITUS_URL=postgresql://postgres@127.0.0.1:5432/postgres bench/store/spread.py [--share 0.08] [--rounds 3]
"""

import argparse
import functools
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from citus import Side  # noqa: E402
from harness import Contender, Figure, clean_end, compare, descendants, fresh_folder  # noqa: E402

from tests.citus.cluster import Cluster, address  # noqa: E402
from tests.support.service import Service  # noqa: E402

GROUPS = Path("/sys/fs/cgroup")
PERIOD_US = 20_000
FIGURES = [
    Figure("rate", "million samples a second, pushes of 2 s, each node a job", digits=3),
    Figure("held", "cores that the workers used, together", digits=2),
]


def quota_of(group, share):
    """The file that holds a group to a share of a core, and its line: of version 1 or 2 of control groups."""
    if (GROUPS / "cpu").is_dir():
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        return group / "cpu.cfs_quota_us", str(round(share * PERIOD_US))
    return group / "cpu.max", f"{round(share * PERIOD_US)} {PERIOD_US}"


def put(pid, group):
    with suppress(ProcessLookupError):  # it has ended
        (group / "cgroup.procs").write_text(str(pid))


@contextmanager
def held_to(share, postmaster):
    """What the postmaster starts is in its group, too."""
    root = GROUPS / "cpu" if (GROUPS / "cpu").is_dir() else GROUPS
    group = root / f"stepscope-spread-{postmaster}"
    group.mkdir()
    try:
        file, line = quota_of(group, share)
        file.write_text(line)
        for pid in [postmaster, *descendants(postmaster)]:
            put(pid, group)
        yield
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            put(pid, root)
        group.rmdir()


def measure(options, cluster, folder, count):
    here = folder / f"workers-{count}"
    here.mkdir(exist_ok=True)
    postmasters = cluster.postmasters()
    with cluster.database(count) as (own, _):
        service = Service(here, "--evaluators", "1", "--compaction-interval", "5m", "--database-url", own).start()
        try:
            side = Side(service, list(postmasters.values()))
            with held_to(options.share, postmasters[cluster.workers[0]]), held_to(options.share, postmasters[cluster.workers[1]]):
                _, cpu, wall = side.pushed(options, here, 2, job_each=True)
        finally:
            service.stop()
    return {"rate": 1 / wall, "held": cpu[2] / wall}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=96, help="jobs of one node each")
    parser.add_argument("--seconds", type=int, default=20, help="of samples, at 2 Hz")
    parser.add_argument("--connections", type=int, default=48)
    parser.add_argument("--share", type=float, default=0.08, help="of a core, for each worker")
    options = parser.parse_args()
    if not address():
        raise SystemExit("STEPSCOPE_CITUS_URL names no coordinator")
    cluster = Cluster(address())
    with fresh_folder() as folder, clean_end():
        compare("spread", FIGURES, [
            Contender(f"{count} worker{'s'[: count - 1]}", functools.partial(measure, options, cluster, folder, count)) for count in (1, 2)
        ], options.rounds, {key: getattr(options, key) for key in ("nodes", "seconds", "connections", "share")})


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Whether deleting a large job stalls anything: 200 agents push once a second and a person looks at charts, before a
job of some GB is deleted, while its rows are removed, and afterwards.

The job is real samples of a few nodes, compacted, and copied to as many nodes as its size wants, its rows in the order
in which the compactor writes them: windows of time, and in each of them nodes. A round is ten seconds of pushes, so
each phase has several; "while" lasts until nothing of the job is left. Time of a push counts from when it was due. The
compactor has nothing to do meanwhile. It begins when the disk is calm again after what was written to make the job.

    bench/store/delete.py [--gigabytes 1] [--rounds 3]       about 5 minutes with a gigabyte
    bench/store/delete.py --folder /dev/shm/stepscope        where there is no disk to wait for: memory
"""

import argparse
import functools
import itertools
import os
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, Repeated, clean_end, fresh_folder, print_table, summaries, take_turns, write_results  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from bench.disk import DiskProbe, wait_until_calm  # noqa: E402
from bench.edge.push import make_frames, push, served  # noqa: E402
from bench.store.asks import HOUR, Chart, OfStepscope  # noqa: E402
from bench.store.queries import Client  # noqa: E402
from bench.store.sides import Stepscope, stream  # noqa: E402
from tests.support.service import SUPERUSER, use_all_descriptors, wait_for  # noqa: E402

FIGURES = [
    Figure("starved", "agents of which a push was never answered", 0, 0),
    Figure("p50", "ms from due to answered, a push, p50", digits=2),
    Figure("p99", "ms from due to answered, a push, p99", 50, 2),
    Figure("chart_p50", "ms of a chart, 8 series, 1 h, 900 points of 1,000, p50", digits=2),
    Figure("chart_p99", "ms of a chart, p99", digits=2),
    Figure("chart_refused", "charts that were not answered", 0, 0),
    Figure("disk_p99", "ms of a write of 8 KB by itself on the same disk, synced, p99", digits=2),
    Figure("removal", "s from the request until no row is left, without the pauses", digits=1),
    Figure("request", "ms of the request that deletes", digits=1),
    Figure("megabytes", "MB of payloads removed", digits=0),
    Figure("rows", "rows removed", digits=0),
]
REMOVED, HELD_UP = "while it is removed", "meanwhile, held up"
# The columns that each table of a job has besides its numbers of job and node.
COPIED = {
    "blocks": "window_us, metric, schema_hash, from_us, to_us, rows, clock_suspect, payload",
    "rollups": "chunk_us, metric, bin_us, schema_hash, payload, marked",
}


class Person(Repeated):
    """Asks for a chart every tenth of a second while it is inside a `with`."""

    def __init__(self, port, chart):
        super().__init__(0.1)
        self.client, self.chart, self.refused = Client(port), chart, 0

    def once(self):
        status, _ = self.client.ask(OfStepscope().path(self.chart, self.chart.at_random()))
        self.refused += status != 200


def make_watched(side):
    """A job of ordinary size, and the chart that is asked of it."""
    begin = int(time.time()) // HOUR * HOUR - 2 * HOUR
    made = {"nodes": 8, "seconds": 2 * HOUR, "push_seconds": 10}
    side.add_job("watched")
    stream(side, "watched", begin_us=begin * 10**6, **made)
    side.compact()
    return Chart("watched", "", 0, "watched", "gpu_power_watts", made, begin, "node-2", "", HOUR, 1000, 4)


def make_large(side, gigabytes):
    """The job to delete: the rows of the other, as often as it takes."""
    side.add_job("large")
    [[large, watched]] = side.sql("select max(job_id), min(job_id) from jobs where name in ('large', 'watched')")
    sizes = " + ".join(f"(select sum(octet_length(payload)) from {table} where job_id = {watched})" for table in COPIED)
    times = round(gigabytes * 1e9 / int(side.sql(f"select {sizes}")[0][0]))
    for table, columns in COPIED.items():
        side.sql(
            f"insert into {table} (job_id, node_id, {columns}) select {large}, node_id + 1000000 * n, {columns}"
            f" from {table}, generate_series(1, {times}) n where job_id = {watched}"
            f" order by {columns.split(',')[0]}, n, node_id, metric"
        )
        side.sql(f"vacuum analyze {table}")
    side.sql("checkpoint", SUPERUSER)
    return large


def ten_seconds(options, folder, side, chart):
    """A round of ten seconds in any phase."""
    make_frames(options, folder, "live", 10)
    with Person(side.port, chart) as person, DiskProbe(folder) as disk:
        out = push(options, folder, side.port)
    figures = served(out)
    cuts = statistics.quantiles(person.took_ms, n=100)
    print(f"p99 of a push {figures['p99']:.0f} ms, of the disk by itself {disk.p99():.0f} ms", file=sys.stderr, flush=True)
    return {key: figures[key] for key in ("starved", "p50", "p99")} | {
        "chart_p50": cuts[49], "chart_p99": cuts[98], "chart_refused": person.refused, "disk_p99": disk.p99()}


@contextmanager
def held_up(side, job_id):
    """Nothing of the job is removed meanwhile."""
    command = ["psql", f"host={side.data_dir}/socket user=stepscope dbname=stepscope", "-XAtq"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        holder.stdin.write(f"select pg_advisory_lock(7382, {job_id});\n")
        holder.stdin.flush()
        holder.stdout.readline()
        yield
        holder.stdin.close()


def while_removed(options, folder, side, chart, job_id):
    """{phase: {figure: values}}: rounds until nothing is left."""
    began = time.perf_counter()
    status, answer = side.request("DELETE", "/api/v1/jobs/large")
    took_ms, values = 1e3 * (time.perf_counter() - began), {REMOVED: {}, HELD_UP: {}}
    assert status == 204, answer

    def removal():
        return side.sql(f"select rows, bytes, (quiet_us - asked_us) / 1e6 from removals where job_id = {job_id}")[0]

    wait_for(lambda: int(removal()[0]) > 0, "rows go", 30, 0.01)
    names, paused = itertools.cycle([REMOVED, REMOVED, REMOVED, HELD_UP]), 0
    while not removal()[2]:
        name, round_began = next(names), time.perf_counter()
        with held_up(side, job_id) if name == HELD_UP else nullcontext():
            found = ten_seconds(options, folder, side, chart)
            gone = removal()
        for figure, value in found.items():
            values[name].setdefault(figure, []).append(value)
        print(f"{int(gone[1]) / 1e6:,.0f} MB gone", file=sys.stderr, flush=True)
        if name == HELD_UP and not gone[2]:
            wait_for(lambda: removal() != gone, "rows go again", 30, 0.1)
            paused += time.perf_counter() - round_began
    rows, size, seconds = (float(word) for word in removal())
    values[REMOVED] |= {"removal": [seconds - paused], "request": [took_ms], "megabytes": [size / 1e6], "rows": [rows]}
    return values


def in_memory(folder):
    return subprocess.run(["stat", "-fc", "%T", folder], check=True, capture_output=True, text=True).stdout.strip() == "tmpfs"


def measure(options, folder):
    side = Stepscope(folder)
    try:
        chart = make_watched(side)
        job_id = make_large(side, options.gigabytes)
        side.add_job("live")
        phase = functools.partial(ten_seconds, options, folder, side, chart)
        phase()  # a first time
        calm = wait_until_calm(folder)
        print(f"the disk was calm after {calm:.0f} s", file=sys.stderr, flush=True)
        values = take_turns([Contender("before", phase)], options.rounds)
        values |= while_removed(options, folder, side, chart, job_id)
        values |= take_turns([Contender("afterwards", phase)], options.rounds)
    finally:
        side.stop()
    rows = summaries(FIGURES, values)
    print_table(FIGURES, rows)
    write_results(f"store_delete{'_memory' * in_memory(folder)}", rows, {"gigabytes": options.gigabytes, "agents": options.agents, "measured": time.strftime("%F")})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3, help="of ten seconds, before and afterwards")
    parser.add_argument("--agents", type=int, default=200)
    parser.add_argument("--cores", type=int, default=64, help="of each of their nodes: two series each")
    parser.add_argument("--folder", type=Path, help="where the database is; one below the temporary folder when left out")
    options = parser.parse_args()
    options.seconds = 10  # for a round
    use_all_descriptors()
    with fresh_folder(options.folder) as folder, clean_end():
        measure(options, folder)


if __name__ == "__main__":
    main()

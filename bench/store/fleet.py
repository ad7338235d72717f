#!/usr/bin/env python3
"""How long the page of the fleet takes over 100,000 jobs: GET /api/v1/fleet, in each of its forms.

The rows that the service keeps of each job are written into its database as if all these jobs had run and been judged in the last
twelve weeks, for 300 users in 40 groups. The first answer, for which the service reads all rows, stands apart. While the calls are
measured one job in a thousand changes each second, as running ones do.

    bench/store/fleet.py [--jobs 100000] [--requests 100] [--tabs 1]
"""

import argparse
import os
import statistics
import sys
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, clean_end, fresh_folder, print_table, summaries, take_turns, write_results  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from bench.store.asks import Client  # noqa: E402
from bench.store.sides import Stepscope  # noqa: E402

GOAL_MS = 50
CALLS = {
    "user": ("?by=user&from={from}", "by user, 12 weeks"), "group": ("?by=group&from={from}", "by group, 12 weeks"),
    "job": ("?by=job&from={from}&limit=500", "500 jobs, 12 weeks"), "week": ("?by=user", "by user, a week"),
    "node": ("?by=node&from={from}", "by node, 12 weeks"), "cause": ("?by=cause&from={from}", "by cause, 12 weeks"),
    "one_user": ("?by=job&user=user7&from={from}", "jobs of one user, 12 weeks"),
    "csv": ("?by=user&format=csv&from={from}", "by user, as CSV"),
}
FILL = """
insert into jobs (name, job_group, status, created_us, started_us, ended_us, closed_us)
select 'run-' || n, 'group' || n % 40, 'Completed', began, began, began + lasted, began + lasted
from (select n, {now} - 60000000 - ((n * 7919) % 7257600)::bigint * 1000000 as began, (60 + n % 7200)::bigint * 1000000 as lasted
    from generate_series(1, {jobs}) as n) as made
"""
ROWS = """
insert into job_hours (job_id, name, job_group, user_name, account, gpu, nodes, gpus, from_us, to_us, ended, judged_seconds,
    busy_seconds, lost_seconds, verdict, issues, price, sentence, settled, written_us)
select job_id, name, job_group, 'user' || job_id % 300, 'account' || job_id % 12, case job_id % 3 when 0 then 'NVIDIA H100'
    else 'NVIDIA A100' end, 1, 8, started_us, ended_us, true, held * 0.95, held * 0.5,
    jsonb_build_object('preprocessing', held * 0.2, 'raw_data_input', held * 0.1, 'communication', held * 0.1, 'unknown', held * 0.05),
    'issues', 2, 2, 'The GPUs were busy 52.6 % of their time; most was lost to preprocessing, 21.1 %.', true, {now}
from (select *, 8 * (ended_us - started_us) / 1e6 as held from jobs) as made
"""
NODES = """
insert into nodes (job_id, name, facts, first_seen_us, last_seen_us)
select job_id, 'node-' || job_id % 500, '{{"gpus": [{{}}, {{}}, {{}}, {{}}, {{}}, {{}}, {{}}, {{}}]}}', started_us, ended_us from jobs
"""
FIGURES = [Figure("first", "ms, first answer after the start", digits=0)] + [
    figure for name, (_, words) in CALLS.items()
    for figure in (Figure(f"{name}_p50", f"ms, {words}, p50", digits=1), Figure(f"{name}_p95", f"ms, {words}, p95", GOAL_MS, 1))
]


def now_us():
    return int(time.time() * 1e6)


def took_ms(client, path):
    began = time.perf_counter()
    client.get(path)
    return 1e3 * (time.perf_counter() - began)


def change(side, stop):
    while not stop.wait(1):
        side.sql(f"update job_hours set written_us = {now_us()} where job_id % 1000 = {int(time.time()) % 1000}")


def ask(side, path, options):
    """All tabs ask at once, each as often as told."""
    took = []

    def tab():
        client = Client(side.port)
        took.extend(took_ms(client, path) for _ in range(options.requests))

    tabs = [threading.Thread(target=tab) for _ in range(options.tabs)]
    for each in tabs:
        each.start()
    for each in tabs:
        each.join()
    return took


def one_round(side, options):
    begin = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 12 * 7 * 86_400))
    values = {}
    for name, (query, _) in CALLS.items():
        took = ask(side, "/api/v1/fleet" + query.replace("{from}", begin), options)
        values |= {f"{name}_p50": statistics.median(took), f"{name}_p95": statistics.quantiles(took, n=20)[-1]}
    return values


def measure(options, folder):
    side = Stepscope(folder)
    stop = threading.Event()
    try:
        for statement in (FILL, ROWS, NODES, "analyze jobs", "analyze job_hours"):
            side.sql(statement.format(now=now_us(), jobs=options.jobs))
        first = took_ms(Client(side.port), "/api/v1/fleet")
        changing = threading.Thread(target=change, args=(side, stop), daemon=True)
        changing.start()
        values = take_turns([Contender("stepscope", lambda: one_round(side, options))], options.rounds)
        values["stepscope"]["first"] = [first]
        rows = summaries(FIGURES, values)
        print_table(FIGURES, rows)
        write_results("store_fleet", rows, {"jobs": options.jobs, "requests": options.requests, "tabs": options.tabs})
    finally:
        stop.set()
        side.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--requests", type=int, default=100, help="of each call and tab in a round")
    parser.add_argument("--tabs", type=int, default=1, help="that ask at once, without a pause")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the database is; a temporary one when left out")
    options = parser.parse_args()
    with fresh_folder(options.folder, False) as folder, clean_end():
        measure(options, folder)


if __name__ == "__main__":
    main()

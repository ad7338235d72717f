#!/usr/bin/env python3
"""Requests a second and CPU per request: the service against stock cpp-httplib and nginx, on this machine.

GET asks for the same small JSON over kept connections, POST brings 16 KiB; wrk asks with one thread. nginx answers from its
configuration (`return 200`) and is the floor: it has no routes, no checks, and a third of our headers. The stock server runs as any
tutorial has it, and tuned: TCP_NODELAY, and no limit of requests for a connection. To POST those two say 200 to any bytes; the service
looks at them as at a push of an agent, and refuses them with 400. CPU is that of the server alone.

    bench/edge/requests.py [--rounds 3] [--seconds 5]
"""

import argparse
import functools
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
from harness import ROOT, Contender, Figure, clean_end, compare, fresh_folder, own_cpu_seconds, tree  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from tests.support.raw_http import RawClient  # noqa: E402
from tests.support.service import Service, free_port, program, wait_for  # noqa: E402

WINDOWS = (("get", 8), ("get", 50), ("post", 50))  # how many connections
WORDS = {"get": "GET", "post": "POST of 16 KiB"}
FIGURES = [figure for kind, count in WINDOWS for figure in (
    Figure(f"{kind}_{count}_rate", f"{WORDS[kind]}, {count} connections: answers a second", digits=0),
    Figure(f"{kind}_{count}_cpu", f"{WORDS[kind]}, {count} connections: us of the server's CPU for each", digits=1),
    Figure(f"{kind}_{count}_p99", f"{WORDS[kind]}, {count} connections: ms until the answer, p99", digits=2),
)]
POST = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/vnd.stepscope.frames"
wrk.body = string.rep("x", 16384)
"""
NGINX = """
daemon off; worker_processes auto; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off; keepalive_requests 1000000000; server_tokens off;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    server {{ listen 127.0.0.1:{port}; location / {{ default_type application/json; return 200 '{{"status":"ok"}}'; }} }}
}}
"""


def milliseconds(text):
    found = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text)
    assert found, f"wrk says {text}"
    number, unit = found.groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000}[unit]


def ask(folder, url, kind, connections, seconds):
    """(answers a second, all answers, p99 in ms) of wrk; a GET that is not answered with 200 is a fault."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "20s", url]
    if kind == "post":
        (folder / "post.lua").write_text(POST)
        command[1:1] = ["-s", str(folder / "post.lua")]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert kind == "post" or "Non-2xx" not in out, out
    all_of_them = int(re.search(r"(\d+) requests in", out)[1])
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), all_of_them, milliseconds(re.search(r"99%\s+(\S+)", out)[1])


def measure(folder, process, port, post_path, seconds, alone=True):
    figures, paths = {}, {"get": "/healthz", "post": post_path}
    ask(folder, f"http://127.0.0.1:{port}/healthz", "get", 8, 1)
    for kind, count in WINDOWS:
        ours = [process.pid] if alone else tree(process.pid)
        before = sum(map(own_cpu_seconds, ours))
        rate, answers, p99 = ask(folder, f"http://127.0.0.1:{port}{paths[kind]}", kind, count, seconds)
        used = sum(map(own_cpu_seconds, ours)) - before
        figures |= {f"{kind}_{count}_rate": rate, f"{kind}_{count}_cpu": 1e6 * used / answers, f"{kind}_{count}_p99": p99}
    return figures


@contextmanager
def running(children, command, port, log):
    with open(log, "wb") as file:
        process = children.start(command, file)
    try:
        wait_for(lambda: RawClient(port).connected, f"{command[0]} listens", 20)
        yield process
    finally:
        children.stop(process, 5)


def run_other(children, options, folder, make_command, alone):
    port = free_port()
    with running(children, make_command(port), port, folder / "other.log") as process:
        return measure(folder, process, port, "/size", options.seconds, alone)


def nginx(folder, port):
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
    return [shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), "-c", folder / "nginx.conf"]


def run(options, children, folder):
    service = Service(folder).start()
    stock = program("bench/stock_server")
    other = functools.partial(run_other, children, options, folder)
    try:
        compare("edge_requests", FIGURES, [
            Contender("stepscope", lambda: measure(folder, service.process, service.port, "/api/v1/ingest/frames", options.seconds)),
            Contender("cpp-httplib, stock", lambda: other(lambda port: [stock, port], True)),
            Contender("cpp-httplib, tuned", lambda: other(lambda port: [stock, port, folder, "tuned"], True)),
            Contender("nginx, return 200", lambda: other(functools.partial(nginx, folder), False)),
        ], options.rounds, {"seconds": options.seconds, "measured": time.strftime("%F")})
    finally:
        service.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5, help="of each window")
    options = parser.parse_args()
    if missing := [name for name in ("wrk", "nginx") if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")]:
        parser.error(f"install {', '.join(missing)}: apt-get install wrk nginx-light")
    with fresh_folder() as folder, clean_end() as children:
        run(options, children, folder)


if __name__ == "__main__":
    main()

"""Pictures of a job's page: see scripts/screenshot, which starts this."""

import argparse
import os
import socket
import sys
import tempfile
import time
from pathlib import Path

from building import ROOT, Failed, build, npm_packages, run, tail
from description import is_over
from processes import Children, Stopped, end, stop_on_signals
from service_client import Client, Refused

START_SECONDS = 60
JUDGE_SECONDS = 120
PAUSE = 0.25
PROGRAMS = ["stepscope-server", "stepscope-scenario"]
SCENARIO = "preprocessing-and-checkpoints"
# With all rules the charts of the scenario's page begin far below the top.
FEW_RULES = ["DataloaderBottleneck", "PeriodicStall", "LowGPUUtilization", "CPUBottleneck", "ProfilerReport"]


def say(line=""):
    print(line, flush=True)


def free_address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def wait_for(condition, seconds, fault):
    """Waits until condition() is true; when the time is over, the message is what fault() gives."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Failed(fault())
        time.sleep(PAUSE)


def start_service(children, programs, folder, *options):
    """A service on a free port of loopback, whose data lies in `folder`."""
    address, log_path = free_address(), folder / "server.log"
    with open(log_path, "wb") as log:
        service = children.start([programs / "stepscope-server", "--listen", address, "--data-dir", folder / "data", *options], log)
    client = Client(f"http://{address}")
    wait_for(
        lambda: client.ready() or service.poll() is not None,
        START_SECONDS, lambda: f"the service did not start:\n{tail(log_path)}",
    )
    if service.poll() is not None:
        raise Failed(f"the service ended:\n{tail(log_path)}")
    return client


def play(children, programs, client, scenario, rules, folder):
    """Sends a scenario at once, and waits until all its rules have come to their end. Without `rules` all judge it."""
    if rules:
        configuration = {"rules": [{"rule": rule} for rule in rules]}
        client.call("POST", "/api/v1/jobs", {"name": scenario, "group": "scenarios", "configuration": configuration})
    command = [programs / "stepscope-scenario", scenario, "--server", client.url, "--speed", "0"]
    run(children, command, folder / "scenario.log", f"scenario {scenario}", say)
    wait_for(
        lambda: (job := client.job(scenario)) is not None and is_over(job),
        JUDGE_SECONDS, lambda: f"the rules of {scenario} did not come to an end within {JUDGE_SECONDS} s",
    )


def photograph(children, url, job, options, folder):
    npm_packages(children, "tests/browser", folder / "npm.log", say)
    log_path = folder / "pictures.log"
    command = ["node", ROOT / "tests/browser/support/screenshot.mjs", url, job, options.out.resolve(), options.height, *(["all"] if options.pages == "all" else [])]
    if options.token_file:  # not among the words of the command, which every user of the machine can read
        os.environ["STEPSCOPE_TOKEN"] = options.token_file.read_text().strip()
    run(children, command, log_path, "pictures", say)
    say(log_path.read_text().strip())


def take_pictures(options, children, folder):
    if options.server:
        return photograph(children, options.server.rstrip("/"), options.job, options, folder)
    given = os.environ.get("STEPSCOPE_BUILD")
    programs = Path(given).resolve() if given else build(children, "release", PROGRAMS, folder, say)
    client = start_service(children, programs, folder)
    scenario = options.scenario or SCENARIO
    rules = options.rules.split(",") if options.rules else [] if options.scenario else FEW_RULES
    play(children, programs, client, scenario, rules, folder)
    return photograph(children, client.url, scenario, options, folder)


def parse():
    parser = argparse.ArgumentParser(prog="scripts/screenshot", add_help=False)
    parser.add_argument("--server")
    parser.add_argument("--job")
    parser.add_argument("--scenario")
    parser.add_argument("--rules", default="")
    parser.add_argument("--token-file", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "docs/pictures")
    parser.add_argument("--height", type=int, default=1700)
    parser.add_argument("--pages", choices=["job", "all"], default="job")
    return parser.parse_args()


def main():
    stop_on_signals()
    options = parse()
    children = Children()
    folder = Path(tempfile.mkdtemp(prefix="stepscope-screenshot-"))
    try:
        folder.chmod(0o711)  # started by root, PostgreSQL runs as another user, who must get through
        take_pictures(options, children, folder)
        return 0
    except Stopped as stopped:
        say(f"screenshot: stopped by {stopped}")
        return stopped.exit_code
    except (Failed, Refused, OSError) as fault:
        print(f"screenshot: {fault}", file=sys.stderr)
        return 1
    finally:
        end(children, folder)


if __name__ == "__main__":
    sys.exit(main())

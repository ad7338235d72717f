"""The demo: see scripts/demo, which starts this."""

import argparse
import os
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path

import demo_window
from building import ROOT, Failed, build, tail
from demo_security import Security
from description import FINAL_JOB, describe, is_over, rule_status
from processes import Children, Stopped, ignore_signals, stop_on_signals
from service_client import Client, Refused
from webhook_receiver import Receiver

RULE = "DataloaderBottleneck"
EVENT = "rule.issues_found"
START_SECONDS = 60
AFTER_TRAINING_SECONDS = 45
WINDOW_SECONDS = 60
PAUSE = 0.5
SAY_EVERY = 4


def say(line=""):
    print(line, flush=True)


def free_port(wanted):
    """The wanted port of loopback; when none is named, 8080 or the first free one after it."""
    for port in [wanted] if wanted else range(8080, 8180):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except (OSError, OverflowError):
                continue
    raise Failed(f"port {wanted or '8080 to 8179'} of 127.0.0.1 is not free")


class Demo:
    """A run of the demo. All that it starts are `children`, all that it writes lies in `folder`."""

    def __init__(self, options, children, folder):
        self.options, self.children, self.folder = options, children, folder
        self.job = time.strftime("demo-%Y%m%d-%H%M%S")
        self.parts = [("set up", options.setup_seconds)]
        self.receiver = Receiver(say=lambda line: say(f"  {line}"))

    def part(self, name, work):
        say(f"demo: {name}")
        began = time.monotonic()
        result = work()
        self.parts.append((name, time.monotonic() - began))
        return result

    def build(self):
        if given := os.environ.get("STEPSCOPE_BUILD"):
            return Path(given).resolve()
        return build(self.children, "release", ["stepscope-server", "stepscope-agent"], self.folder, say)

    def start(self, command, name, **options):
        with open(self.folder / f"{name}.log", "wb") as log:
            return self.children.start(command, log, **options)

    def start_service(self):
        address = f"127.0.0.1:{free_port(self.options.port)}"
        self.security = Security(self.programs, self.folder, say) if self.options.secure else None
        self.client = self.make_client(address)
        command = [self.programs / "stepscope-server", "--listen", address, "--data-dir", self.folder / "data"]
        # The receiver of this demo is on loopback, which no webhook may call unless it is named.
        command += ["--webhook-allow", "127.0.0.1/32"]
        command += self.security.server_options() if self.security else []
        self.service = self.start(command, "server")
        deadline = time.monotonic() + START_SECONDS
        while not self.client.ready():
            if self.service.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"the service did not start:\n{tail(self.folder / 'server.log')}")
            time.sleep(0.1)
        say(f"  serves {self.client.url}")
        if self.security:
            self.client.token = self.security.token("admin", "demo")

    def make_client(self, address):
        if not self.security:
            return Client(f"http://{address}")
        self.security.make_certificate()
        return Client(f"https://{address}", self.security.ca)

    def register_webhook(self):
        body = {"url": self.receiver.url, "events": [EVENT, "job.completed"]}
        created = self.client.call("POST", "/api/v1/webhooks", body)
        self.receiver.secret = created["secret"]
        say(f"  webhook {created['id']} calls {self.receiver.url}")

    def train(self):
        say(f"  page: {self.client.url}/jobs/{self.job}")
        command = [self.programs / "stepscope-agent", "run", "--server", self.client.url, "--job", self.job]
        command += self.security.agent_options() if self.security else []
        command += ["--", ROOT / ".venv/bin/python", ROOT / "examples/slow_loader.py", "--seconds", self.options.seconds]
        self.agent = self.start(command, "training", cwd=self.folder)
        deadline = time.monotonic() + 2 * self.options.seconds + 120
        self.watch(lambda job: self.agent.poll() is not None, deadline)
        if self.agent.poll() is None:
            raise Failed("the training did not end")
        if self.agent.returncode != 0:
            raise Failed(f"the training ended with {self.agent.returncode}:\n{tail(self.folder / 'training.log')}")

    def judge(self):
        deadline = time.monotonic() + AFTER_TRAINING_SECONDS
        self.watch(lambda job: job and is_over(job) and self.is_told_of(job), deadline)

    def watch(self, done, deadline):
        """Waits until done(describe-job) or the deadline; says now and then how far the job is."""
        said = 0
        while time.monotonic() < deadline:
            if self.service.poll() is not None:
                raise Failed(f"the service ended:\n{tail(self.folder / 'server.log')}")
            job = self.client.job(self.job)
            if done(job):
                return
            if time.monotonic() - said >= SAY_EVERY:
                said = time.monotonic()
                self.say_progress(job)
            time.sleep(PAUSE)

    def say_progress(self, job):
        now = time.strftime("%H:%M:%S")
        if job is None:
            say(f"  {now}  the job is not known yet")
            return
        steps = sum(rank["steps"] for rank in self.client.steps(self.job))
        say(f"  {now}  {job['status']}, {job['secondary_status']}, step {steps}, {RULE} {rule_status(job, RULE)}")

    def is_told_of(self, job):
        """Whether no webhook is to be waited for any more."""
        return rule_status(job, RULE) != "IssuesFound" or self.was_told()

    def was_told(self):
        return any(
            message.get("type") == EVENT and message["data"]["rule"] == RULE and message["data"]["job"] == self.job
            for message in self.receiver.messages
        )

    def show(self):
        say()
        for line in describe(self.client.job(self.job), self.client.steps(self.job)):
            say(line)
        say()
        say("took " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in self.parts))
        say(f"page: {self.client.url}/jobs/{self.job}")
        if self.security and not self.options.once:
            say(f"sign in with: {self.security.token('reader', 'demo-page')}")

    def show_window(self):
        """Inside the step, where a PyTorch is there that records it."""
        if reason := demo_window.why_none():
            say(f"  {reason}")
            return
        job = f"{self.job}-window"
        command = [self.programs / "stepscope-agent", "run", "--server", self.client.url, "--job", job]
        command += self.security.agent_options() if self.security else []
        agent = self.start(command + demo_window.command(), "window", cwd=self.folder)
        deadline = time.monotonic() + demo_window.SECONDS + WINDOW_SECONDS
        while time.monotonic() < deadline:
            ended = agent.poll() is not None
            shown = demo_window.lines(self.client, job) if self.client.job(job) else []
            if shown or (ended and agent.returncode != 0):
                break
            time.sleep(PAUSE)
        for line in shown or [f"the window did not come:\n{tail(self.folder / 'window.log')}"]:
            say(f"  {line}")

    def missing(self):
        """The things that the run should have shown and did not."""
        job = self.client.job(self.job)
        status, rule = (job["status"], rule_status(job, RULE)) if job else ("unknown", "unknown")
        found = []
        if status != "Completed":
            found.append(f"the job is {status}, not Completed")
        if rule != "IssuesFound":
            found.append(f"{RULE} is {rule}, not IssuesFound")
        if not self.was_told():
            found.append(f"no webhook {EVENT} of {RULE} with a valid signature came")
        return found

    def run(self):
        """The exit code."""
        self.programs = self.part("build", self.build)
        self.part("start the service", self.start_service)
        self.register_webhook()
        self.part("train", self.train)
        self.part("judge", self.judge)
        self.part("record a window", self.show_window)
        self.show()
        missing = self.missing()
        for each in missing:
            say(f"missing: {each}")
        if not self.options.once:
            say("serving; Ctrl-C ends it")
            self.service.wait()
            raise Failed(f"the service ended:\n{tail(self.folder / 'server.log')}")
        return 1 if missing else 0


def parse():
    parser = argparse.ArgumentParser(prog="scripts/demo", add_help=False)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--secure", action="store_true")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=75)
    parser.add_argument("--setup-seconds", type=float, default=0)
    return parser.parse_args()


def end(children, folder):
    """Ends what runs, the agent before the service, and removes the folder."""
    ignore_signals()
    children.end_all()
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        say(f"demo: could not remove {folder}")


def main():
    stop_on_signals()
    options = parse()
    children = Children()
    folder = Path(tempfile.mkdtemp(prefix="stepscope-demo-"))
    try:
        folder.chmod(0o711)  # started by root, PostgreSQL runs as another user, who must get through
        return Demo(options, children, folder).run()
    except Stopped as stopped:
        say(f"demo: stopped by {stopped}")
        return stopped.exit_code
    except (Failed, Refused, OSError) as fault:
        say(f"demo: {fault}")
        return 1
    finally:
        end(children, folder)


if __name__ == "__main__":
    sys.exit(main())

"""Services, agents and a person that hold secrets, and everything that others can see of them."""

import base64
import os
import ssl
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from tests.support.raw_http import RawClient, request
from tests.support.service import ROOT, SUPERUSER, Service, program, wait_for

sys.path.append(str(ROOT / "scripts"))
from processes import descendants  # noqa: E402

PASSWORD = "canaryPasswordOfTheDatabase42"
JSON = ("Content-Type", "application/json")
FRAMES = ("Content-Type", "application/vnd.stepscope.frames")


def forms(secret):
    """The spellings in which a secret may be written somewhere."""
    data = secret.encode()
    shapes = {data, data.hex().encode(), base64.b64encode(data).rstrip(b"="), quote(secret, safe="").encode()}
    if secret.startswith("whsec_"):
        key = base64.b64decode(secret[6:])
        shapes |= {secret[6:].encode(), key, key.hex().encode()}
    return shapes


class TlsService(Service):
    def ready(self):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with RawClient(self.port) as client:
            try:
                client.socket = context.wrap_socket(client.socket)
            except OSError:
                return False
            client.send(request("GET", "/readyz"))
            answer = client.read_answer()
            return bool(answer) and answer.status == 200


class World:
    """A service on a database with a password, its replica that speaks TLS, and what each has shown: place -> bytes."""

    def __init__(self, folder: Path):
        self.folder, self.seen, self.secrets, self.number = folder, {}, {}, 0
        for name in ("first", "second", "third"):
            (folder / name).mkdir(mode=0o755)
        self.database = Service(folder / "first").start()
        self.database.sql("create database canary owner stepscope", SUPERUSER)
        self.url = f"postgresql://stepscope:{PASSWORD}@/canary?host={self.database.data_dir}/socket"
        self.secrets["password of the database"] = PASSWORD
        options = ("--require-tokens", "--log-level", "debug", "--webhook-allow", "127.0.0.0/8")
        made = self.run("make certificates", "tls", "self-signed", "--out", folder / "tls")
        assert made.returncode == 0, made.stderr
        tls = ("--tls-cert", str(folder / "tls/server.crt"), "--tls-key", str(folder / "tls/server.key"))
        self.service = Service(folder / "second", *options)
        self.replica = TlsService(folder / "third", *options, *tls)
        self.started = [self.database]

    def start(self):
        os.environ["STEPSCOPE_DATABASE_URL"] = self.url
        try:
            for each in (self.service, self.replica):
                self.started.append(each)
                each.start()
        finally:
            del os.environ["STEPSCOPE_DATABASE_URL"]

    def stop(self):
        for each in reversed(self.started):
            each.stop()

    def keep(self, place, data):
        self.number += 1
        self.seen[f"{self.number} {place}"] = data if isinstance(data, bytes) else data.encode()

    def run(self, place, *words, url=""):
        """The program to its end. What it says on standard error is seen; standard output is for the caller."""
        environment = {**os.environ, "STEPSCOPE_DATABASE_URL": url or self.url}
        done = subprocess.run([program("stepscope-server"), *map(str, words)], capture_output=True, text=True, timeout=60, env=environment)
        self.keep(f"standard error: {place}", done.stderr)
        return done

    def token(self, role, name):
        made = self.run(f"token for {name}", "token", "create", "--role", role, "--name", name, "--expires", 30)
        assert made.returncode == 0, made.stderr
        text = made.stdout.strip()
        self.secrets[f"token of {name}"] = text.split("_")[3][:32]
        return text

    def ask(self, place, data, secret=False, port=0):
        """The answers to bytes; seen, unless they are the one place where a secret is shown."""
        with RawClient(port or self.service.port) as client:
            client.send(data)
            client.end_sending()
            answers = client.read_to_end()[0]
            if not secret:
                self.keep(f"answer: {place}", b"".join(repr(answer.headers).encode() + answer.body for answer in answers) or client.received)
        return answers[0] if answers else None

    def as_admin(self, method, path, body=b"", secret=False):
        headers = [("Authorization", f"Bearer {self.admin}"), JSON]
        answer = self.ask(f"{method} {path}", request(method, path, headers, body), secret)
        assert answer.status < 300, answer
        return answer

    def look_at_processes(self, *ours):
        """The process list, and the environments of what our programs started."""
        for place in Path("/proc").glob("[0-9]*"):
            try:
                self.keep(f"command line of {place.name}", (place / "cmdline").read_bytes())
            except OSError:
                pass  # ended
        for process in ours:
            for child in descendants(process.pid):
                self.look_at_child(process.pid, child)

    def look_at_child(self, parent, child):
        try:
            if os.readlink(f"/proc/{child}/exe") != os.readlink(f"/proc/{parent}/exe"):  # else a part of ourselves
                self.keep(f"environment of {child}, started by {parent}", Path(f"/proc/{child}/environ").read_bytes())
        except OSError:
            pass  # ended

    def sql(self, statement):
        """Rows of text."""
        command = ["psql", f"host={self.database.data_dir}/socket user=stepscope dbname=canary", "-XAtc", statement]
        return [line.split("|") for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()]

    def dump(self):
        command = ["pg_dump", "--inserts", f"host={self.database.data_dir}/socket user=stepscope dbname=canary"]
        return subprocess.run(command, check=True, capture_output=True).stdout

    def read_logs(self):
        for each in self.started:
            self.keep(f"log of {each.log.parent.name}", each.log.read_bytes())

    def found(self):
        """(place, name of the secret) for each that shows."""
        return [
            (place, name) for place, data in self.seen.items() for name, secret in self.secrets.items() if any(form in data for form in forms(secret))
        ]


def agent(world, folder, job, *options, **environment):
    """An agent that runs a long command; (process, log)."""
    words = ["run", "--server", world.service.url, "--job", job, "--push", "1s", "--log-level", "debug", *options, "--", "sleep", "600"]
    log = folder / f"{job}.log"
    with log.open("wb") as file:
        process = subprocess.Popen([program("stepscope-agent"), *map(str, words)], stdin=subprocess.DEVNULL, stdout=file, stderr=file, env={**os.environ, **environment})
    wait_for(lambda: descendants(process.pid), "the agent's command runs")
    return process, log

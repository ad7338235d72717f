"""Secrets as canaries: whatever goes wrong, none of them shows in logs, answers, metrics, the process list or the database."""

import json
import re
import subprocess

import pytest

from tests.fault.canary import FRAMES, JSON, PASSWORD, World, agent
from tests.fault.law import check_law
from tests.support.raw_http import request
from tests.support.service import wait_for


@pytest.fixture
def world(folder):
    made = World(folder)
    try:
        yield made
    finally:
        made.stop()


def sign_in(world):
    answer = world.ask("sign in", request("POST", "/api/v1/session", [JSON], json.dumps({"token": world.admin}).encode()), secret=True)
    assert answer.status == 200, answer
    world.cookie = re.match(r"\w+=([^;]+)", answer.headers["set-cookie"])[1]
    world.secrets["cookie"] = world.cookie


def make_webhook(world):
    """Makes a webhook whose target does not answer."""
    body = json.dumps({"url": "http://127.0.0.1:8443/hook", "events": ["job.failed"]}).encode()
    made = json.loads(world.as_admin("POST", "/api/v1/webhooks", body, secret=True).body)
    world.secrets["secret of the webhook"] = made["secret"]
    world.as_admin("POST", f"/api/v1/webhooks/{made['id']}/test", b"{}")
    wait_for(lambda: b"attempt" in world.as_admin("GET", "/api/v1/deliveries").body, "the webhook was tried")


def show_wrong_credentials(world):
    token = world.admin
    for shown in (f"Basic {token}", f"Bearer {token[:-1]}x", f"Bearer {token} {token}", f"Token {token}", token, f"Bearer {world.revoked}", f"Bearer {token}\x01"):
        world.ask("wrong Authorization", request("GET", "/api/v1/jobs", [("Authorization", shown)]))
    for cookie in (f"st={world.cookie}x", f"st={world.cookie}; st={world.cookie}", f"{world.cookie}", f"__Host-st={world.cookie}"):
        world.ask("wrong Cookie", request("GET", "/api/v1/jobs", [("Cookie", cookie)]))


def ask_wrongly(world):
    """Requests that fail for another reason, with good credentials."""
    good = ("Authorization", f"Bearer {world.admin}")
    for headers in ([good], [("Cookie", f"st={world.cookie}")]):
        world.ask("foreign host", request("GET", "/api/v1/jobs", headers, host="evil.example.com"))
        world.ask("foreign origin", request("POST", "/api/v1/jobs", [*headers, JSON, ("Origin", "http://evil.example.com")], b"{}"))
        world.ask("nothing there", request("GET", "/api/v1/nothing", headers))
        world.ask("bad parameter", request("GET", "/api/v1/jobs?limit=x&nobody=1", headers))
        world.ask("bad head", request("GET", "/api/v1/jobs", [*headers, ("Bad Name", "x")]))
        world.ask("too large", request("POST", "/api/v1/jobs", [*headers, JSON, ("Content-Length", "100000000")]))
    for body in (f'{{"token": "{world.admin}",}}', f'{{"token": "{world.admin}', f'{{"token": ["{world.admin}"]}}', world.admin, f'"{world.admin}"', f'{{"token": "{world.admin} "}}'):
        world.ask("bad JSON", request("POST", "/api/v1/session", [JSON], body.encode()))


def speak_tls_wrongly(world):
    head = request("GET", "/api/v1/jobs", [("Authorization", f"Bearer {world.admin}")])
    world.ask("HTTP to TLS", head, port=world.replica.port)
    world.ask("half a greeting", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + head, port=world.replica.port)
    world.ask("a greeting to HTTP", b"\x16\x03\x01\x02\x00" + head)
    verify = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{world.replica.port}", "-verify_return_error"], input=head, capture_output=True, timeout=60)
    assert verify.returncode != 0, "a certificate of nobody was believed"
    world.keep("openssl", verify.stdout + verify.stderr)


def run_agents(world, folder):
    """Runs agents with the token in a file and in the environment, and with one that is revoked."""
    paths = {name: folder / name for name in ("agent.token", "revoked.token")}
    for path, text in zip(paths.values(), (world.agent, world.revoked)):
        path.write_text(text + "\n")
        path.chmod(0o600)
    started = [
        agent(world, folder, "by-file", "--token-file", paths["agent.token"]),
        agent(world, folder, "by-environment", STEPSCOPE_TOKEN=world.agent),
        agent(world, folder, "refused", "--token-file", paths["revoked.token"]),
    ]
    jobs = ("by-file", "by-environment")
    wait_for(lambda: all(f'"{job}"' in world.as_admin("GET", "/api/v1/jobs").body.decode() for job in jobs), "the agents push")
    return started


def read_everything(world):
    for path in ("/metrics", "/readyz", "/api/v1/tokens", "/api/v1/audit", "/api/v1/webhooks", "/api/v1/deliveries", "/api/v1/jobs/by-file", "/api/v1/session"):
        world.as_admin("GET", path)


def start_with_addresses_that_cannot_be_read(world):
    """Starts the service with addresses that have the password in its place, or elsewhere by mistake."""
    for url in (f"postgresql://stepscope:{PASSWORD}@127.0.0.1:x/canary", f"postgresql://stepscope:{PASSWORD}%zz@127.0.0.1/canary", f"stepscope:{PASSWORD}@127.0.0.1/canary",
                f"password={PASSWORD} host", f"postgresql://stepscope:{PASSWORD}@127.0.0.1:1/canary", f"postgresql://stepscope:{PASSWORD}@[::1/canary"):
        done = world.run("a bad address", "--listen", "127.0.0.1:0", "--data-dir", world.folder / "bad", "--database-wait", "1s", url=url)
        assert done.returncode != 0
        world.keep("standard output: a bad address", done.stdout)


def lose_the_database(world):
    world.database.stop()
    wait_for(lambda: world.service.get("/readyz")[0] == 503, "the service misses its database")
    for headers in ([("Authorization", f"Bearer {world.admin}")], [("Cookie", f"st={world.cookie}")]):
        answer = world.ask("no database", request("GET", "/api/v1/jobs", headers))
        assert answer.status == 503, answer
    world.ask("no database", request("POST", "/api/v1/ingest/frames", [("Authorization", f"Bearer {world.agent}"), FRAMES], b"x"))


def test_no_secret_shows(world, folder):
    world.admin, world.agent, world.revoked = world.token("admin", "canary-admin"), world.token("agent", "canary-agent"), world.token("reader", "canary-revoked")
    world.start()
    assert world.run("revoke by mistake", "token", "revoke", world.revoked).returncode != 0
    assert world.run("revoke", "token", "revoke", world.revoked.split("_")[2]).returncode == 0
    sign_in(world)
    make_webhook(world)
    agents = run_agents(world, folder)
    try:
        ask_wrongly(world)
        speak_tls_wrongly(world)
        show_wrong_credentials(world)
        world.look_at_processes(world.database.process, world.service.process, world.replica.process, *(process for process, _ in agents))
        read_everything(world)
        world.keep("dump of the database", world.dump())
        start_with_addresses_that_cannot_be_read(world)
        check_law(world)
        lose_the_database(world)
    finally:
        for process, log in agents:
            process.terminate()
            process.wait(60)
            world.keep("log of an agent", log.read_bytes())
    world.read_logs()
    shown = [(place, name, world.seen[place][:300]) for place, name in world.found()]
    assert not shown, "\n".join(map(str, shown))
    # Words that are meant to be seen are found, so the search above would have found a secret.
    everything = b"".join(world.seen.values())
    for word in ("canary-admin", world.admin.split("_")[2], "by-environment", "/api/v1/nothing", "stepscope-server", "unauthorized", "create table public.tokens"):
        assert word.lower().encode() in everything.lower(), f"{word} was seen nowhere"
    assert b"sleep\x00600" in everything and b"PATH=" in everything

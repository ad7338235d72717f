"""Services that share a database, and a receiver of what they tell."""

import base64
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.support.service import ROOT, Service

sys.path.insert(0, str(ROOT / "scripts"))
from webhook_receiver import Receiver  # noqa: E402


class Replica(Service):
    """A service on a database that is not its own."""

    def __init__(self, folder, postgres, *options):
        folder.mkdir()
        super().__init__(folder, "--database-url", postgres.url, "--webhook-allow", "127.0.0.1/32", *(options or ("--evaluators", "2")))
        self.sql = postgres.sql


def start_together(replicas):
    """Starts the replicas at once, with the same key: each seals and opens the secrets of webhooks."""
    key = base64.b64encode(os.urandom(32)) + b"\n"
    for each in replicas:
        each.data_dir.mkdir(mode=0o700)
        file = each.data_dir / "webhook.key"
        file.write_bytes(key)
        file.chmod(0o600)
    with ThreadPoolExecutor(len(replicas)) as pool:
        list(pool.map(lambda each: each.start(), replicas))


class Listener(Receiver):
    """Remembers under which number each message came: one that is sent again has the same."""

    def __init__(self):
        super().__init__(say=lambda line: None)
        self.events = {}  # webhook-id -> (type, job, rule)

    def take(self, headers, body):
        status = super().take(headers, body)
        if status == 204:
            message = json.loads(body)
            data = message["data"]
            self.events[headers["webhook-id"]] = (message["type"], data.get("job"), data.get("rule", ""))
        return status


class Either:
    """A load balancer: asks one of the services, and the other one when the first is away."""

    def __init__(self, services, dice):
        self.services, self.dice = list(services), dice
        self.served = dict.fromkeys(services, 0)

    def request(self, *words):
        service = self.dice.choice(self.services)
        answer = service.request(*words)  # an OSError makes the pusher try again
        self.served[service] += 1
        return answer

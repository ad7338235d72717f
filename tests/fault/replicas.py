"""Services that share a database."""

from tests.support.service import Service


class Replica(Service):
    """A service on a database that is not its own."""

    def __init__(self, folder, postgres):
        folder.mkdir()
        super().__init__(folder, "--database-url", postgres.url, "--webhook-allow", "127.0.0.1/32", "--evaluators", "2")
        self.sql = postgres.sql


class Either:
    """What a load balancer does: one of the services, and the other when that one is away."""

    def __init__(self, services, dice):
        self.services, self.dice = list(services), dice
        self.served = dict.fromkeys(services, 0)

    def request(self, *words):
        service = self.dice.choice(self.services)
        answer = service.request(*words)  # an OSError makes the pusher try again
        self.served[service] += 1
        return answer

"""The service's REST calls as the scripts need them. Faults are OSError; problems are Refused."""

import json
import urllib.error
import urllib.request

# Loopback must not go through a proxy of the environment.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Refused(Exception):
    """The service answered with a problem."""


class Client:
    def __init__(self, url):
        self.url = url

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Connection": "close"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with OPENER.open(request, timeout=10) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as problem:
            text = problem.read().decode(errors="replace")
            raise Refused(f"{method} {path}: {problem.code} {text}") from None
        except ValueError:
            raise Refused(f"{method} {path}: the answer is not JSON") from None

    def ready(self):
        try:
            with OPENER.open(self.url + "/readyz", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def job(self, name):
        """What describe-job says; None while there is no such job."""
        try:
            return self.call("GET", f"/api/v1/jobs/{name}")
        except Refused as refused:
            if " 404 " in str(refused):
                return None
            raise

    def steps(self, name):
        return self.call("GET", f"/api/v1/jobs/{name}/steps")["ranks"]

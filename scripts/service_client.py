"""The service's REST calls as the scripts need them. Faults are OSError; problems are Refused."""

import json
import ssl
import urllib.error
import urllib.request


class Refused(Exception):
    """The service answered with a problem."""


class Client:
    def __init__(self, url, ca_file=None):
        """Over TLS only the certificates of `ca_file` are believed."""
        self.url = url
        self.token = None
        # Loopback must not go through a proxy of the environment.
        handlers = [urllib.request.ProxyHandler({})]
        if ca_file:
            handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=ca_file)))
        self.opener = urllib.request.build_opener(*handlers)

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Connection": "close"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with self.opener.open(request, timeout=10) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as problem:
            text = problem.read().decode(errors="replace")
            raise Refused(f"{method} {path}: {problem.code} {text}") from None
        except ValueError:
            raise Refused(f"{method} {path}: the answer is not JSON") from None

    def ready(self):
        try:
            with self.opener.open(self.url + "/readyz", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def job(self, name):
        """The answer of describe-job; None while there is no such job."""
        try:
            return self.call("GET", f"/api/v1/jobs/{name}")
        except Refused as refused:
            if " 404 " in str(refused):
                return None
            raise

    def steps(self, name):
        return self.call("GET", f"/api/v1/jobs/{name}/steps")["ranks"]

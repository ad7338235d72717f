#!/usr/bin/env python3
"""A receiver of webhooks that verifies their signatures (Standard Webhooks) and says what came.

    scripts/webhook_receiver.py --port 9000 --secret whsec_...
"""

import argparse
import base64
import hashlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
MAX_BODY_BYTES = 1 << 20


def fault(secret, headers, body, now=None):
    """Why a message must not be trusted; empty when its signature is valid."""
    try:
        message_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
        signatures = headers["webhook-signature"].split()
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        age = abs((time.time() if now is None else now) - int(timestamp))
    except (AttributeError, KeyError, TypeError, ValueError):
        return "has no proper webhook-id, webhook-timestamp and webhook-signature"
    if age > TOLERANCE_SECONDS:
        return f"was signed {age:.0f} s away from now"
    signed = b".".join([message_id.encode(), timestamp.encode(), body])
    right = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    if not any(hmac.compare_digest(right.encode(), given.encode()) for given in signatures):
        return "has a wrong signature"
    return ""


class Receiver:
    """Listens on loopback in a thread of its own until close(). Keeps the messages with a valid signature."""

    def __init__(self, port=0, say=print):
        self.secret = ""
        self.say = say
        self.messages = []
        self.server = ThreadingHTTPServer(("127.0.0.1", port), self._request_class())
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.1,), daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def take(self, headers, body):
        """The status to answer with."""
        if wrong := fault(self.secret, headers, body):
            self.say(f"webhook refused: it {wrong}")
            return 401
        try:
            message = json.loads(body)
            event, about = message["type"], json.dumps(message["data"])
        except (ValueError, TypeError, KeyError):
            self.say("webhook refused: it is not a message of JSON with type and data")
            return 400
        self.messages.append(message)
        self.say(f"webhook {headers['webhook-id']}: {event} {about[:300]} (signature valid)")
        return 204

    def _request_class(self):
        receiver = self

        class Request(BaseHTTPRequestHandler):
            timeout = 10

            def do_POST(self):
                length = self.headers.get("content-length", "")
                if not length.isdigit() or int(length) > MAX_BODY_BYTES:
                    status = 413
                    self.close_connection = True
                else:
                    status = receiver.take(self.headers, self.rfile.read(int(length)))
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass  # take() says what matters

        return Request


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--secret", required=True, help="whsec_..., as shown when the webhook was created")
    options = parser.parse_args()
    receiver = Receiver(options.port, lambda line: print(line, flush=True))
    receiver.secret = options.secret
    print(f"listens on {receiver.url}", flush=True)
    try:
        receiver.thread.join()
    except KeyboardInterrupt:
        receiver.close()


if __name__ == "__main__":
    main()

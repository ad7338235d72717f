"""The additions of scripts/demo --secure: a certificate of its own, and tokens, made as a user makes them."""

import subprocess

from building import Failed

COMMAND_SECONDS = 60


class Security:
    """Files in `folder`: the certificate, and the agent's token, for this user's eyes only."""

    def __init__(self, programs, folder, say):
        self.server = programs / "stepscope-server"
        self.folder, self.say = folder, say
        self.data = folder / "data"
        self.certificate, self.key = folder / "tls/server.crt", folder / "tls/server.key"
        self.ca = folder / "tls/ca.crt"
        self.agent_token = folder / "agent.token"

    def run(self, *words):
        """Standard output of `stepscope-server words`."""
        self.say("  $ stepscope-server " + " ".join(str(word) for word in words))
        done = subprocess.run(
            [self.server, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=COMMAND_SECONDS
        )
        if done.returncode != 0:
            raise Failed(f"stepscope-server {words[0]}: {done.stderr.strip()}")
        return done.stdout.strip()

    def make_certificate(self):
        self.run("tls", "self-signed", "--out", self.folder / "tls", "--host", "127.0.0.1,localhost")

    def server_options(self):
        return ["--require-tokens", "--tls-cert", self.certificate, "--tls-key", self.key]

    def token(self, role, name):
        return self.run("token", "create", "--role", role, "--name", name, "--data-dir", self.data)

    def agent_options(self):
        self.agent_token.touch(mode=0o600)
        self.agent_token.write_text(self.token("agent", "demo-node") + "\n")
        return ["--ca-file", self.ca, "--token-file", self.agent_token]

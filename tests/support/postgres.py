"""A PostgreSQL of a test's own, that no service starts or ends: on a unix socket in a folder."""

import os
import pwd
import re
import shutil
import signal
import subprocess
from pathlib import Path

from tests.support.service import wait_for

FAST = ("listen_addresses=", "fsync=off", "shared_buffers=64MB", "jit=off", "max_connections=100")


def programs() -> Path:
    """The folder of the newest PostgreSQL that is installed."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if found:
        return max(found, key=lambda path: int(re.sub(r"\D", "", path.parent.name) or 0))
    return Path(shutil.which("initdb")).resolve().parent


class Postgres:
    def __init__(self, folder: Path):
        self.cluster, self.log = folder / "cluster", folder / "postgres.log"
        self.url = f"postgresql:///stepscope?host={folder}&user=stepscope"
        self.folder, self.process = folder, None
        # PostgreSQL refuses to be root.
        self.user = {"user": "postgres" if self._knows("postgres") else "nobody"} if os.geteuid() == 0 else {}
        if self.user:
            os.chown(folder, pwd.getpwnam(self.user["user"]).pw_uid, -1)

    @staticmethod
    def _knows(name):
        return any(each.pw_name == name for each in pwd.getpwall())

    def start(self):
        with self.log.open("ab") as log:
            command = [programs() / "initdb", "-D", self.cluster, "-U", "stepscope", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
            subprocess.run(command, check=True, stdout=log, stderr=log, cwd="/", **self.user)
        self.run()
        self.psql("postgres", "create database stepscope").check_returncode()
        return self

    def run(self):
        """Runs the server; again, after it was killed."""
        words = [word for setting in (*FAST, f"unix_socket_directories={self.folder}") for word in ("-c", setting)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([programs() / "postgres", "-D", self.cluster, *words], stdout=log, stderr=log, cwd="/", **self.user)
        wait_for(lambda: self.process.poll() is not None or self.psql("postgres", "select 1").returncode == 0, "PostgreSQL answers")
        assert self.process.poll() is None, f"PostgreSQL does not start: {self.log.read_text()[-1000:]}"

    def is_back(self):
        """Whether it answers after a crash. It recovers by itself, unless a kill met the recovery: then it is run again."""
        if self.process.poll() is not None:
            try:
                self.run()
            except AssertionError:  # backends of the one before are there still
                return False
        return self.psql("postgres", "select 1").returncode == 0

    def psql(self, database, statement):
        command = ["psql", f"host={self.folder} user=stepscope dbname={database}", "-XAtqc", statement]
        return subprocess.run(command, capture_output=True, text=True)

    def sql(self, statement):
        """Rows of text."""
        done = self.psql("stepscope", statement)
        assert done.returncode == 0, done.stderr
        return [line.split("|") for line in done.stdout.splitlines()]

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(30)

"""A Citus cluster that somebody else runs, and databases of ours on it.

STEPSCOPE_CITUS_URL is the address of its coordinator, of a role that may make databases and extensions. Citus is not among what the
project builds on: without the address whatever needs a cluster is skipped.
"""

import atexit
import json
import os
import secrets
import subprocess
import time
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

VARIABLE = "STEPSCOPE_CITUS_URL"
SKIPPED = f"{VARIABLE} names no coordinator of Citus"
ROLE = "stepscope"  # the service owns its database by it, and nothing else
TRIES = 20  # the maintenance daemon of Citus holds a database for a moment


def address():
    return os.environ.get(VARIABLE, "")


def ask(url, *statements):
    """Rows of text, of the last statement."""
    words = [word for statement in statements for word in ("-c", statement)]
    done = subprocess.run(["psql", url, "-qXAt", "-v", "ON_ERROR_STOP=1", *words], capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return [line.split("|") for line in done.stdout.splitlines()]


def ask_again(url, *statements):
    """For what the maintenance daemon may refuse for a moment."""
    for tried in range(TRIES):
        try:
            return ask(url, *statements)
        except RuntimeError as fault:
            if tried == TRIES - 1 or "being accessed" not in str(fault):
                raise
            time.sleep(0.2)


def with_database(url, name, role=None, node=None):
    """The address with another database, and perhaps another role without a password, or another machine."""
    parts = urlsplit(url)
    user = role or parts.netloc.rpartition("@")[0]
    host = node or parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{user}@{host}" if user else host, path=f"/{name}"))


class Cluster:
    """The coordinator and its workers. `nodes` are "host:port", the coordinator first."""

    def __init__(self, url):
        self.url = url
        if not ask(url, f"select 1 from pg_roles where rolname = '{ROLE}'"):
            ask(url, f"create role {ROLE} login")
        workers = ask(url, "select nodename || ':' || nodeport from pg_dist_node where groupid > 0 and isactive order by nodeid")
        self.workers = [row[0] for row in workers]
        self.nodes = [urlsplit(url).netloc.rpartition("@")[2], *self.workers]

    def at(self, node, database="postgres"):
        return with_database(self.url, database, node=node)

    def version(self):
        return ask(self.url, "select extversion from pg_extension where extname = 'citus'")[0][0]

    def postmasters(self):
        """The first process of PostgreSQL on each machine, by "host:port"; they run on this one."""
        return {node: int(ask(self.at(node), "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)")[0][0]) for node in self.nodes}

    def make(self, name, workers=None):
        """A database of the service's role on the coordinator and the workers, joined; all workers unless told how many."""
        used = self.workers if workers is None else self.workers[:workers]
        for node in (self.nodes[0], *used):
            ask_again(self.at(node), f'create database "{name}" owner {ROLE}')
            ask(self.at(node, name), "create extension citus")
        host, _, port = self.nodes[0].rpartition(":")
        here = self.at(self.nodes[0], name)
        ask(here, f"select citus_set_coordinator_host('{host}', {port})")
        for node in used:
            host, _, port = node.rpartition(":")
            ask(here, f"select citus_add_node('{host}', {port})")
        if not used:
            ask(here, f"select citus_set_node_property('{host}', {port}, 'shouldhaveshards', true)")

    def drop(self, name):
        for node in self.nodes:
            ask_again(self.at(node), f'drop database if exists "{name}" with (force)')

    @contextmanager
    def database(self, workers=None):
        """(address for the service, address for its owner's superuser) of a new database."""
        name = f"stepscope_{secrets.token_hex(6)}"
        try:
            self.make(name, workers)
            yield with_database(self.url, name, ROLE), with_database(self.url, name)
        finally:
            self.drop(name)


def own_database():
    """The addresses of a new database that goes when this program ends: of the service's role, and of the superuser."""
    cluster = Cluster(address())
    name = f"stepscope_{secrets.token_hex(6)}"
    atexit.register(cluster.drop, name)
    cluster.make(name)
    return with_database(cluster.url, name, ROLE), with_database(cluster.url, name)


def tasks(url, statement, *before):
    """How many shards the parts of a statement ask; it is planned, not run, after the statements that come before."""
    rows = ask(url, *before, f"explain (format json, costs off) {statement}")
    plan = json.loads("\n".join("|".join(row) for row in rows))[0]["Plan"]
    return list(_tasks_in(plan))


def _tasks_in(part):
    if isinstance(part, dict):
        if "Task Count" in part:
            yield part["Task Count"]
        for value in part.values():
            yield from _tasks_in(value)
    elif isinstance(part, list):
        for each in part:
            yield from _tasks_in(each)

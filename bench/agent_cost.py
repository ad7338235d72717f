#!/usr/bin/env python3
"""What watching a host costs it: stepscope-agent, pushes included, against prometheus-node-exporter and collectd.

All sample at 2 Hz. The agent profiles `sleep` and pushes to a service on this machine, whose own cost is not
counted; the exporter is scraped over one kept connection on 127.0.0.1, and collectd sends to a UDP port there. Counted are the CPU time of the process
tree over the window, and its resident memory at the end of it.

    bench/agent_cost.py [--rounds 3] [--seconds 30]       about 3 minutes a round at 30 s

The agent is also measured on a node with --cores cores, which makes about 200 series: all of it is this machine's but
/proc/stat, which is a file that goes on twice a second (without what the kernel does to write such a text).
And on one with --gpus GPUs of the fake driver of the tests, of which each call takes the CPU time that it took on an H200
(docs/agent.md has the table). bench/agent_ticks.py says what each collector costs.
"""

import argparse
import functools
import http.client
import os
import random
import select
import socket
import struct
import sys
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from harness import ROOT, Contender, Figure, clean_end, compare, fresh_folder, peer_folder, peer_program, tree_cpu_seconds, tree_memory_bytes  # noqa: E402
from processes import descendants  # noqa: E402

os.environ.setdefault("STEPSCOPE_BUILD", str(ROOT / "build" / "release"))
from tests.support.service import Service, free_port, program, wait_for  # noqa: E402

# Kinds of parts in collectd's binary protocol: those that name a series, and the one with values.
COLLECTD_NAMES, COLLECTD_VALUES = (2, 3, 4, 5), 6
PACKAGE = "prometheus-node-exporter"
INTERVAL = 0.5
WARM_SECONDS = 4
# The collectors of the exporter for what the agent samples too.
MINIMAL = ["--collector.disable-defaults", "--web.disable-exporter-metrics"] + [
    f"--collector.{name}" for name in ("cpu", "meminfo", "diskstats", "netdev", "loadavg", "pressure")
]
# The plugins of collectd for what the agent samples too. Nobody reads what collectd sends, which costs it nothing.
PLUGINS = ("cpu", "memory", "disk", "interface", "load", "vmem", "contextswitch", "cpufreq", "network")
FIGURES = [
    Figure("cpu", "% of a core", 0.06),
    Figure("memory", "MB resident, shared pages once", 10, 1),
    Figure("series", "series or samples a tick", digits=0),
]


@contextmanager
def running(children, command, log, **options):
    with open(log, "wb") as file:
        process = children.start(command, file, **options)
    try:
        yield process
    finally:
        children.stop(process)


def window(process, seconds, tick, without=()):
    """CPU and memory of a tree while `tick` is called at the interval."""
    cpu, began = tree_cpu_seconds(process.pid, without), time.monotonic()
    due = began
    while due < began + seconds:
        due += INTERVAL
        tick()
        time.sleep(max(0.0, due - time.monotonic()))
    assert process.poll() is None, "the program ended too early"
    used, took = tree_cpu_seconds(process.pid, without) - cpu, time.monotonic() - began
    return {"cpu": 100 * used / took, "memory": tree_memory_bytes(process.pid, without) / 1e6}


class Scraper:
    """Prometheus, as far as the exporter can tell."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        self.samples = 0

    def scrape(self):
        self.connection.request("GET", "/metrics", headers={"Accept-Encoding": "identity"})
        lines = self.connection.getresponse().read().splitlines()
        self.samples = sum(not line.startswith(b"#") for line in lines)

    def answers(self):
        try:
            self.scrape()
            return True
        except OSError:
            self.connection.close()
            return False


def run_exporter(children, options, folder, flags):
    port = free_port()
    command = [peer_program(PACKAGE), f"--web.listen-address=127.0.0.1:{port}", *flags]
    with running(children, command, folder / "exporter.log") as process:
        scraper = Scraper(port)
        wait_for(scraper.answers, "the exporter answers", 20)
        window(process, WARM_SECONDS, scraper.scrape)
        return {**window(process, options.seconds, scraper.scrape), "series": scraper.samples}


def collectd_configuration(folder, port):
    files = peer_folder("collectd-core")
    lines = [f'BaseDir "{folder}"', f'PIDFile "{folder}/collectd.pid"', f'PluginDir "{files}/lib/collectd"', f'TypesDB "{files}/share/collectd/types.db"',
             f"Interval {INTERVAL}", 'Hostname "node-1"', "FQDNLookup false", *(f"LoadPlugin {name}" for name in PLUGINS),
             "<Plugin network>", f'Server "127.0.0.1" "{port}"', "</Plugin>"]
    path = folder / "collectd.conf"
    path.write_text("\n".join(lines) + "\n")
    return path


def run_collectd(children, options, folder):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink:
        sink.bind(("127.0.0.1", 0))
        sink.setblocking(False)
        command = [peer_program("collectd-core", "collectd"), "-f", "-C", str(collectd_configuration(folder, sink.getsockname()[1]))]
        with running(children, command, folder / "collectd.log") as process:
            wait_for(lambda: select.select([sink], [], [], 0)[0], "collectd sends", 20)
            window(process, WARM_SECONDS, int)
            received = series_of(sink)
            return {**window(process, options.seconds, int), "series": received}


def series_of(sink):
    """How many series the waiting packets name: an identifying part holds until the next one of its kind."""
    names, now = set(), {}
    while select.select([sink], [], [], 0)[0]:
        packet, at = sink.recv(65536), 0
        while at + 4 <= len(packet):
            kind, length = struct.unpack_from("!HH", packet, at)
            if kind in COLLECTD_NAMES:
                now[kind] = packet[at + 4 : at + length - 1]
            if kind == COLLECTD_VALUES:
                count = struct.unpack_from("!H", packet, at + 4)[0]
                names |= {(*(now.get(each, b"") for each in COLLECTD_NAMES), index) for index in range(count)}
            at += max(length, 4)
    return len(names)


class ManyCores:
    """Makes /proc/stat a file of so many cores for a command. Their times go on with each call, in place: the
    agent keeps the file open."""

    def __init__(self, path, cores):
        self.cores = cores
        self.rest = [line for line in Path("/proc/stat").read_text().splitlines() if not line.startswith("cpu")]
        self.busy, self.idle = [10**8] * cores, [10**8] * cores
        self.file = open(path, "wb", buffering=0)
        self.command = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /proc/stat && exec "$@"', str(path)]
        self.go_on()

    def go_on(self):
        jiffies = round(INTERVAL * os.sysconf("SC_CLK_TCK"))
        for core in range(self.cores):
            busy = random.randint(0, jiffies)
            self.busy[core] += busy
            self.idle[core] += jiffies - busy
        lines = [f"cpu  {sum(self.busy)} 0 0 {sum(self.idle)} 0 0 0 0 0 0"]
        lines += [f"cpu{core} {self.busy[core]} 0 0 {self.idle[core]} 0 0 0 0 0 0" for core in range(self.cores)]
        os.pwrite(self.file.fileno(), ("\n".join(lines + self.rest) + "\n").encode(), 0)


def sleeping_child(agent):
    """The command that the agent runs: its own cost is not the agent's."""
    for process in descendants(agent.pid):
        try:
            if Path(f"/proc/{process}/comm").read_text() == "sleep\n":
                return process
        except OSError:
            pass
    return 0


def run_agent(children, options, folder, service, gpus=0, cores=0):
    job = f"cost-{time.time_ns()}"
    duration = str(options.seconds + 4 * WARM_SECONDS)
    command = [program("stepscope-agent"), "run", "--server", service.url, "--job", job, "--interval", "500ms"]
    fake = Path(command[0]).parent / "tests/fake_nvml"
    if gpus and not (fake / "libnvidia-ml.so.1").exists():
        raise SystemExit(f"agent_cost: no fake driver in {fake}: build the target fake_nvml, or give --gpus 0")
    driver = {"LD_LIBRARY_PATH": str(fake), "FAKE_NVML_GPUS": str(gpus), "FAKE_NVML_CHARGES": "1"}
    if cores and os.geteuid() != 0:
        raise SystemExit("agent_cost: only root can give the agent another /proc/stat; give --cores 0")
    machine = ManyCores(folder / f"stat-{job}", cores) if cores else None
    tick = machine.go_on if machine else int
    with running(children, [*(machine.command if machine else []), *command, "--", "sleep", duration], folder / "agent.log", env=os.environ | (driver if gpus else {})) as process:
        sleep = wait_for(lambda: sleeping_child(process), "the agent starts the command", 20)
        wait_for(lambda: service.get(f"/api/v1/jobs/{job}")[0] == 200, "the service knows the job", 20)
        window(process, WARM_SECONDS, tick, [sleep])
        figures = window(process, options.seconds, tick, [sleep])
        series = service.get(f"/api/v1/jobs/{job}/metrics?points=10")[1]["series"]
        return {**figures, "series": len(series)}


def measure(options, children, folder):
    service = Service(folder).start()
    try:
        agent = functools.partial(run_agent, children, options, folder, service)
        with_cores = [Contender(f"stepscope-agent, {options.cores} cores", functools.partial(agent, cores=options.cores))]
        with_gpus = [Contender(f"stepscope-agent, {options.gpus} GPUs", functools.partial(agent, gpus=options.gpus))]
        compare("agent_cost", FIGURES, [
            Contender("stepscope-agent", agent),
            *(with_cores if options.cores else []),
            *(with_gpus if options.gpus else []),
            Contender("collectd, same sources", functools.partial(run_collectd, children, options, folder)),
            Contender("node_exporter, same sources", functools.partial(run_exporter, children, options, folder, MINIMAL)),
            Contender("node_exporter, default", functools.partial(run_exporter, children, options, folder, [])),
        ], options.rounds, {"seconds": options.seconds, "interval_seconds": INTERVAL})
    finally:
        service.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=30, help="of each window")
    parser.add_argument("--cores", type=int, default=72, help="of a node with many of them; 0 leaves it out")
    parser.add_argument("--gpus", type=int, default=8, help="of the fake driver, up to 16; 0 leaves them out")
    options = parser.parse_args()
    with fresh_folder() as folder, clean_end() as children:
        measure(options, children, folder)


if __name__ == "__main__":
    main()

"""SIGTERM at full load: whatever was asked is answered, what was acknowledged is stored, and the end comes soon."""

import json
import os
import signal
import subprocess
import threading
import time

from tests.fault.abuse import ended, python
from tests.support.raw_http import RawClient, request
from tests.support.service import program, use_all_descriptors, wait_for

ROUNDS = int(os.environ.get("STEPSCOPE_SHUTDOWNS", "20"))
MOST_SECONDS = 10
AGENTS, ASKERS = 50, 16
PATHS = ("/api/v1/jobs?limit=50", "/", "/api/v1/rules", "/metrics", "/api/v1/jobs/ending/metrics?points=100", "/healthz")


class Asker(threading.Thread):
    """Asks over a kept connection until the service is gone."""

    def __init__(self, port, number):
        super().__init__(daemon=True)
        self.port, self.number = port, number
        self.answered, self.cut_at, self.faults = 0, [], []
        self.over = threading.Event()

    def run(self):
        client = RawClient(self.port, f"127.8.0.{1 + self.number}")
        while not self.over.is_set() and client.connected:
            if not client.send(request("GET", PATHS[(self.answered + self.number) % len(PATHS)])):
                break
            sent = time.monotonic()
            answer = client.read_answer(15)
            if not answer:
                self.cut_at.append(sent)
                break
            self.answered += 1
            if answer.status != 200:
                self.faults.append((answer.status, answer.body[:200]))
            if answer.headers.get("connection") == "close":
                client.socket.close()
                client = RawClient(self.port, f"127.8.0.{1 + self.number}")
        client.socket.close()


def push(service, folder, number):
    """Agents that push often, of a job of their own."""
    frames, job = folder / "frames", f"ending-{number}"
    words = ["--frames", frames, "--job", job, "--nodes", AGENTS, "--cores", 2, "--seconds", 60, "--push-seconds", 1]
    subprocess.run([program("bench/make_frames"), *map(str, words)], check=True, capture_output=True)
    words = ["--port", service.port, "--frames", frames, "--every-ms", 100, "--seconds", 60]
    return job, subprocess.Popen([program("bench/agents"), *map(str, words)], stdout=subprocess.PIPE)


def stop_at_full_load(service, folder, number):
    """(seconds, requests that were sent before the signal and never answered, odd answers, job, acknowledged)"""
    job, agents = push(service, folder, number)
    slow = python("abuse_connections", service.port, "/", 60, 40, 20, 10)
    askers = [Asker(service.port, each) for each in range(ASKERS)]
    with ended([agents, slow]):
        for asker in askers:
            asker.start()
        wait_for(lambda: all(asker.answered > 5 for asker in askers), "requests are answered")
        wait_for(lambda: service.get(f"/api/v1/jobs/{job}")[0] == 200, "pushes are answered")
        signalled = time.monotonic()
        service.process.send_signal(signal.SIGTERM)
        code = service.process.wait(60)
        took = time.monotonic() - signalled
        for asker in askers:
            asker.over.set()
            asker.join(20)
        agents.terminate()
        pushed = json.loads(agents.communicate(timeout=20)[0])
    cut = [at for asker in askers for at in asker.cut_at if at < signalled]
    cut += [at / 1e6 for at in pushed["cut_at_us"] if at / 1e6 < signalled]
    odd = [fault for asker in askers for fault in asker.faults if fault[0] not in (429, 503)]  # a service that is short may say so
    assert code == 0, service.log.read_text()[-2000:]
    return took, [round(signalled - at, 6) for at in cut], odd + [each for each in [pushed["first_other"]] if each], job, pushed["acknowledged_frames"]


def test_sigterm_at_full_load_answers_what_was_asked_and_keeps_what_was_acknowledged(service, folder, capsys):
    use_all_descriptors()
    assert service.request("POST", "/api/v1/jobs", {"name": "ending"})[0] == 201
    times, jobs = [], {}
    for number in range(ROUNDS):
        took, cut, odd, job, acknowledged = stop_at_full_load(service, folder, number)
        assert cut == [], f"round {number}: sent so many seconds before the signal, and never answered"
        assert odd == [], f"round {number}"
        times.append(took)
        jobs[job] = acknowledged
        service.start()
    with capsys.disabled():
        print(f"\nshutdown: {ROUNDS} times, slowest {max(times):.1f} s, median {sorted(times)[len(times) // 2]:.1f} s")
    assert max(times) <= MOST_SECONDS, times
    stored = dict(service.sql("select name, sum(stored) from streams join jobs using (job_id) group by name"))
    assert {job: count for job, count in jobs.items() if int(stored[job]) < count} == {}, "acknowledged, and not there"


def test_a_second_sigterm_does_not_wait_for_a_request_that_hangs(service):
    lock = "begin; lock table jobs in access exclusive mode; select pg_sleep(60)"
    locker = subprocess.Popen(["psql", service.databases["stepscope"], "-XAtc", lock], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with ended([locker]), RawClient(service.port) as client:
        wait_for(lambda: service.sql("select 1 from pg_locks where mode = 'AccessExclusiveLock' and relation = 'jobs'::regclass"), "the table is locked")
        client.send(request("GET", "/api/v1/jobs"))
        wait_for(lambda: service.sql("select 1 from pg_locks where not granted and relation = 'jobs'::regclass"), "the request waits")
        service.process.send_signal(signal.SIGTERM)
        wait_for(lambda: not RawClient(service.port).connected, "nobody new is let in")
        assert service.process.poll() is None, "it did not wait for the request"
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(5) == 0

"""Traps of the program as a whole: its own faults, those of the system, a second one, and plain nonsense."""

import shutil
import subprocess
from pathlib import Path

from bench.edge.traps_bodies import alive, told
from tests.fault.malformed_requests import mutants
from tests.support.raw_http import throw_all
from tests.support.service import wait_for


def own_faults(side):
    if side.name == "ours":
        return "no route of the service can be made to; see the test", None
    answer = side.get("/fault")
    leaks = [value for name, value in answer.headers.items() if "what" in name] if answer else []
    said = f"a handler that throws: {told(answer)}" + (f" with `{leaks[0][:40]}` in a header" if leaks else "")
    side.get("/provider-fault")
    ended = side.end_word()
    if not ended:
        alive(side)
        ended = side.end_word()
    return f"{said}; a content provider that throws: {'the server ' + ended if ended else 'survived'}", not leaks and not ended


ACCEPT_FAULTS = ("ECONNABORTED", "ENFILE", "ENOMEM", "EPROTO", "EMFILE")


def accept_faults(side):
    """strace makes the next accept() of each thread fail once."""
    said, held = [], True
    for fault in ACCEPT_FAULTS:
        if side.end_word():
            side.start()
        command = ["strace", "-f", "-o", "/dev/null", "-e", "trace=accept,accept4", "-e", f"inject=accept,accept4:error={fault}:when=1..2", "-p", str(side.process.pid)]
        tracer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: side.end_word() or traced(side.process.pid), "strace holds the server", 10)
        for _ in range(4):
            side.get(seconds=2)
        tracer.terminate()
        tracer.wait(10)
        well = alive(side)
        said.append(f"{fault}: {'goes on' if well else side.end_word() or 'hangs'}")
        held = held and well
    return "; ".join(said), held


def traced(process):
    return "TracerPid:\t0\n" not in Path(f"/proc/{process}/status").read_text()


def second_server(side):
    second = subprocess.Popen(side.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        code = second.wait(3)
        words = second.stderr.read().decode(errors="replace").strip().split("\n")[-1]
        said = f"the second ends with {code}: `{words}`" if words else f"the second ends with {code}"
        return said.replace(str(side.port), "PORT"), code != 0
    except subprocess.TimeoutExpired:
        return "the second starts too and takes half of the connections", False
    finally:
        second.terminate()
        second.wait(20)


def nonsense(side):
    throws = mutants(500, seed=1)
    throw_all(side.port, throws, parallel=16)
    answers = [answer for thrown in throws for answer in thrown.answers if thrown.data[:5] != b"HEAD "]
    bare = sum(answer.status >= 400 and not answer.body for answer in answers)
    held_long = sum(thrown.seconds > 4 for thrown in throws)
    late = sum(thrown.ended == "late" and not thrown.answers for thrown in throws)  # a connection that was answered may be kept
    said = f"{held_long} held a connection for more than 4 s, {late} to the end of the test; {bare} of {sum(a.status >= 400 for a in answers)} refusals without a word why"
    return said, not late and not bare and alive(side)


TRAPS = (
    ("T13", "the program's own code throws", own_faults),
    ("T14", "accept() fails once: " + ", ".join(ACCEPT_FAULTS), accept_faults),
    ("T21", "a second server on the same port", second_server),
    ("T25", "500 malformed requests, 16 at a time", nonsense),
)


def missing_programs():
    return [name for name in ("strace",) if not shutil.which(name)]

"""Faults of the agent or the training, which may happen at any time; the other one must not notice."""

import os
import signal
import socket

import pytest

import stepscope
from tests.python.intake import MARKS, Intake, finish, training


def mark(steps):
    for _ in stepscope.loader(range(steps)):
        with stepscope.annotate("work"):
            pass
        stepscope.step()


def test_without_an_agent_nothing_is_opened_and_nothing_said(tmp_path):
    code = MARKS + "import os; before = len(os.listdir('/proc/self/fd')); mark(100)\n"
    code += "print(len(os.listdir('/proc/self/fd')) - before, stepscope.info()['connected'])"
    assert finish(training(code, tmp_path / "nobody")) == "0 False\n"
    assert finish(training(code, "")) == "0 False\n"


def test_a_socket_that_is_something_else_is_left_alone(tmp_path, session_at):
    (tmp_path / "file").write_text("precious")
    for path in (tmp_path / "file", tmp_path, "relative", "/" + "x" * 300):
        session_at(path)
        mark(3)
        assert not stepscope.info()["connected"] and stepscope.info()["reason"]
    assert (tmp_path / "file").read_text() == "precious"


def test_a_listener_that_is_no_agent_does_no_harm(tmp_path, session_at):
    for said in (b"", b"x", b"SSMK" * 3, b"SSMK\x01\x00\x05\x00", b"SSMK\x09\x00\x05\x00\xff", b"x" * 9000):
        path = tmp_path / f"listener{len(said)}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(str(path))
            listener.listen()
            session = session_at(path)
            mark(1)
            connection, _ = listener.accept()
            if said:
                connection.send(said)
            for _ in range(3):
                session.due = 0
                mark(1)
            connection.close()
            session.due = 0
            mark(1)


@pytest.mark.parametrize("command, reason", [(b"x", b"no commands but window"), (b"window", b"the hooks of PyTorch")])
def test_a_command_is_answered(tmp_path, session_at, command, reason):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(tmp_path / "a"))
        listener.listen()
        session = session_at(tmp_path / "a")
        mark(1)
        connection, _ = listener.accept()
        connection.send(b"SSMK\x01\x00\x04\x00" + b"\x07\x00\x00\x00" + bytes([len(command), 0]) + command + b"\x00\x00")
        session.due = 0
        mark(1)
        said = [connection.recv(9000) for _ in range(3)]
        assert any(message[6] == 5 and message[8] == 7 and message[12] == 1 and reason in message for message in said)


def test_a_killed_agent_is_found_again_and_the_marks_are_there(tmp_path, session_at):
    first = Intake(tmp_path / "a").start()
    session = session_at(first.path)
    mark(10)
    assert len(first.drain().steps) == 10
    first.kill()
    for _ in range(3):
        session.due = 0
        mark(10)
    assert not stepscope.info()["connected"]
    with Intake(first.path) as second:
        session.due = 0
        mark(10)
        second.drain()
        # The step that was open when the first agent read last is not whole.
        assert [step["step"] for step in second.steps] == list(range(11, 50))
        assert second.annotations == {"work": 40}
    assert stepscope.info()["dropped"] == 0


def test_an_agent_that_starts_late_hears_whole_steps_only(tmp_path, session_at):
    session = session_at(tmp_path / "a")
    mark(10)
    with Intake(tmp_path / "a") as intake:
        session.due = 0
        mark(10)
        steps = intake.drain().steps
        assert 8 <= len(steps) <= 10
        assert all("data" in step["phases"] for step in steps)


def test_a_stopped_agent_costs_marks_and_nothing_else(intake, session_at):
    session = session_at(intake.path)
    mark(1)
    intake.drain()
    os.kill(intake.process.pid, signal.SIGSTOP)
    try:
        for i in range(3000):
            session.due = 0
            with stepscope.annotate(f"name {i % 400} of a stopped agent"):
                pass
            mark(3)
        assert stepscope.info()["dropped"] > 0
    finally:
        os.kill(intake.process.pid, signal.SIGCONT)
    session.due = 0
    mark(5)
    assert intake.drain_until(lambda i: i.facts()["dropped"] > 0, "dropped").facts()["pid"] == os.getpid()
    mark(5)
    intake.drain()
    numbers = [step["step"] for step in intake.steps]
    assert numbers == sorted(set(numbers))


def test_a_connection_that_nobody_accepts_is_not_waited_for(tmp_path, session_at):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(tmp_path / "a"))
        listener.listen(0)
        for _ in range(5):
            session = session_at(tmp_path / "a")
            mark(5)
            session.due = 0
            mark(5)


def test_ends_of_a_training(intake):
    for end, code in (("pass", 0), ("os._exit(3)", 3), ("os.kill(os.getpid(), 9)", -9), ("os.abort()", -6)):
        intake.steps.clear()
        intake.ended.clear()
        code_text = MARKS + f"import os\nmark(20)\n{end}"
        finish(training(code_text, intake.path, RANK="7"), code)
        intake.drain_until(lambda i: i.ended, end)
        assert intake.ended == [7] and len(intake.steps) == 20, end


def test_a_ring_that_is_given_back_after_the_modules_are_empty(intake):
    """The interpreter empties modules at its end, in an order that it does not promise."""
    code = MARKS + """
mark(3)
from stepscope import _lease, _marks
assert _marks._session.local.lease is not None
vars(_lease).update(dict.fromkeys(vars(_lease)))
_marks._session.local.lease = None
print(len(_marks._session._free))
"""
    assert finish(training(code, intake.path)) == "1\n"


def test_a_forked_child_is_a_process_of_its_own(intake):
    code = MARKS + """
import os
mark(10)
child = os.fork()
if child == 0:
    mark(5)
    with stepscope.annotate("of the child"):
        pass
    sys.exit(0)
os.waitpid(child, 0)
mark(10)
with stepscope.annotate("of the parent"):
    pass
print(stepscope.info()["connected"])
"""
    assert finish(training(code, intake.path)) == "True\n"
    intake.drain_until(lambda i: i.ended, "end")
    assert intake.annotations == {"work": 25, "of the child": 1, "of the parent": 1}
    assert [step["step"] for step in intake.steps] == list(range(20))


def test_a_child_that_marks_nothing_is_not_seen_and_holds_nothing(intake):
    code = MARKS + """
import os, time
mark(3)
if os.fork() == 0:
    print(sum("stepscope" in os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")[:-1]),
          sum("memfd:stepscope" in line for line in open("/proc/self/maps")), flush=True)
    os.close(1)
    os.close(2)
    sys.stdin.read()
    os._exit(0)
os._exit(0)
"""
    process = training(code, intake.path)
    assert process.stdout.read() == "0 0\n"
    # The parent has ended, its child still lives.
    assert intake.drain_until(lambda i: i.ended, "end").ended == [0]
    process.stdin.close()
    assert process.wait() == 0


def test_multiprocessing_works_as_without(intake):
    code = MARKS + """
import multiprocessing
def work(x):
    with stepscope.annotate("in the pool"):
        return x * x
if __name__ == "__main__":
    mark(3)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(sum(pool.map(work, range(100))))
"""
    assert finish(training(code, intake.path)) == "328350\n"
    intake.drain_until(lambda i: i.ended, "end")
    assert intake.annotations["in the pool"] == 100


def test_a_ctrl_c_is_the_scripts_own(intake):
    code = MARKS + """
import os, signal
mark(3)
try:
    print("ready", flush=True)
    while True:
        mark(100)
except KeyboardInterrupt:
    print("interrupted")
"""
    process = training(code, intake.path)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert finish(process) == "interrupted\n"


def test_marks_in_a_signal_handler_do_no_harm(intake):
    code = MARKS + """
import signal
signal.signal(signal.SIGALRM, lambda *_: mark(2))
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
mark(30000)
signal.setitimer(signal.ITIMER_REAL, 0)
print("done")
"""
    assert finish(training(code, intake.path)) == "done\n"
    intake.drain()


def test_a_second_process_of_a_rank_does_not_mix_its_steps_in(intake):
    first = training(MARKS + "mark(5); print('ready', flush=True); sys.stdin.read()", intake.path)
    assert first.stdout.readline() == "ready\n"
    intake.drain()
    finish(training(MARKS + "mark(50)", intake.path))
    intake.drain()
    assert len(intake.steps) == 5
    finish(first)
    assert intake.drain_until(lambda i: i.ended, "end").annotations == {"work": 55}


def test_ranks_come_from_the_launcher(intake):
    for variables, rank in (({"RANK": "3"}, 3), ({"SLURM_PROCID": "4"}, 4), ({"OMPI_COMM_WORLD_RANK": "5"}, 5),
                            ({"RANK": "-1"}, 0), ({"RANK": "x" * 1000}, 0), ({"RANK": "99999999999"}, 0), ({}, 0)):
        intake.started.clear()
        finish(training(MARKS + "mark(1)", intake.path, **{"WORLD_SIZE": "8", **variables}))
        intake.drain_until(lambda i: i.started, "start")
        assert intake.started[0]["rank"] == rank
        assert intake.facts()["world_size"] == 8


def test_a_training_gives_bit_identical_losses(intake):
    code = """
import contextlib, os, sys
import numpy as np
if os.environ.get("BARE"):
    phase = annotate = lambda name: contextlib.nullcontext()
    loader, step = iter, lambda: None
else:
    from stepscope import annotate, loader, phase, step
rng = np.random.default_rng(1)
w, v = rng.normal(size=(20, 32)), rng.normal(size=(32, 1))
batches = [(rng.normal(size=(64, 20)), rng.normal(size=(64, 1))) for _ in range(300)]
for x, y in loader(batches):
    with phase("forward"), annotate("layers"):
        h = np.tanh(x @ w)
        d = (h @ v - y) / len(x)
    with phase("backward"):
        gv, gw = h.T @ d, x.T @ (d @ v.T * (1 - h * h))
    v, w = v - 0.1 * gv, w - 0.1 * gw
    step()
    print(float((d * d).sum()).hex())
print(w.tobytes().hex())
"""
    with_marks = finish(training(code, intake.path))
    bare = finish(training(code, intake.path, BARE="1"))
    assert with_marks == bare
    assert len(intake.drain_until(lambda i: i.ended, "end").steps) == 300

"""A training is the same with the hooks and without, whatever happens to the agent."""

import json
import os
import signal
import subprocess
import time

import pytest
import torch

from stepscope._form import FORM
from tests.python.intake import Intake
from tests.support.sanitized import counts_memory
from tests.torch.training import CNN, outcome, script, start


@pytest.fixture(scope="module")
def bare():
    """The losses of the training without us."""
    code, out, err = outcome(start("-c", CNN, hooks=False))
    assert (code, err) == (0, "") and len(out.splitlines()) == 63
    return out


def proceed(process, steps):
    """The losses of so many steps; the training goes on meanwhile."""
    lines = [process.stdout.readline() for _ in range(steps)]
    process.stdin.write("\n")
    process.stdin.flush()
    return "".join(lines)


@pytest.mark.parametrize("socket", ["", "/nobody", "/" + "x" * 300])
def test_losses_are_bit_identical_without_an_agent(bare, socket):
    assert outcome(start("-c", CNN, socket=socket)) == (0, bare, "")


def test_losses_are_bit_identical_with_an_agent(bare, intake):
    assert outcome(start("-c", CNN, socket=intake.path)) == (0, bare, "")
    intake.drain_until(lambda i: i.ended, "end")
    assert len(intake.steps) == 60 and intake.annotations == {"evaluation": 3}
    facts = intake.facts()
    assert (facts["loader_num_workers"], facts["loader_batch_size"], facts["loader_pin_memory"]) == ("1", "8", "False")
    assert facts["loader_prefetch_factor"] == "2"  # the default of a loader with workers
    assert facts["framework"].startswith("torch ") and len(intake.started) == 1


def test_an_agent_that_is_killed_and_starts_again(bare, tmp_path):
    first = Intake(tmp_path / "a").start()
    process = start("-c", CNN, socket=first.path)
    losses = proceed(process, 20)
    first.drain().kill()
    losses += "".join(process.stdout.readline() for _ in range(21))
    with Intake(first.path) as second:
        time.sleep(2.2)  # for so long a process does not look for an agent that it has lost
        losses += proceed(process, 0)
        losses += proceed(process, 1)
        code, out, err = outcome(process)
        second.drain_until(lambda i: i.ended, "end")
    assert (code, losses + out, err) == (0, bare, "")
    assert len(first.steps) >= 19 and len(second.steps) >= 19


def test_an_agent_that_is_stopped(bare, intake):
    process = start("-c", CNN, socket=intake.path)
    losses = proceed(process, 20)
    os.kill(intake.process.pid, signal.SIGSTOP)
    try:
        losses += proceed(process, 21)
        code, out, err = outcome(process)
    finally:
        os.kill(intake.process.pid, signal.SIGCONT)
    assert (code, losses + out, err) == (0, bare, "")


def test_an_agent_that_is_stopped_and_goes_on_in_the_middle(bare, intake):
    process = start("-c", CNN, socket=intake.path)
    losses = proceed(process, 20)
    os.kill(intake.process.pid, signal.SIGSTOP)
    try:
        losses += proceed(process, 21)
        losses += process.stdout.readline()  # it trains on
    finally:
        os.kill(intake.process.pid, signal.SIGCONT)
    intake.drain_until(lambda i: len(i.steps) > 20, "steps, while the training goes on")
    assert process.poll() is None
    losses += proceed(process, 20)
    code, out, err = outcome(process)
    assert (code, losses + out, err) == (0, bare, "")
    intake.drain_until(lambda i: i.ended, "end")
    assert [row["step"] for row in intake.steps] == list(range(60)) and len(intake.started) == 1


SMALL = CNN.replace("workers=1", "workers=0").replace("steps=60", "steps=20")
FULL = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=64k none /dev/shm && cat /dev/zero >/dev/shm/full 2>&-; exec "$@"', "sh")


@pytest.mark.skipif(subprocess.run([*FULL[:2], "true"], capture_output=True).returncode != 0, reason="only root, outside of a chroot, may have a /dev/shm of its own")
def test_a_full_dev_shm_is_no_hindrance(intake):
    """Rings are not in it; the training's own memory is unchanged too, without workers."""
    code = SMALL + "print(os.statvfs('/dev/shm').f_bavail)"
    bare, with_us = (outcome(start("-c", code, socket=intake.path, hooks=hooks, before=FULL)) for hooks in (False, True))
    assert bare[1].endswith("\n0\n") and with_us == bare == (0, bare[1], "")
    assert len(intake.drain_until(lambda i: i.ended, "end").steps) == 20


def test_without_memory_for_a_ring_nothing_is_marked(intake):
    """No file may be as large as one."""
    code = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n{SMALL}"
    code += "if 'stepscope' in sys.modules: print(sys.modules['stepscope'].info()['reason'], file=sys.stderr)"
    bare, with_us = (outcome(start("-c", code, socket=intake.path, hooks=hooks)) for hooks in (False, True))
    assert bare == (0, bare[1], "") and with_us[:2] == bare[:2] and "File too large" in with_us[2]
    assert intake.drain().steps == []


ENDS = {
    "raise KeyError('of the script')": 1,
    "sys.exit(3)": 3,
    "os._exit(4)": 4,
    "os.kill(os.getpid(), 15)": -15,
    "del optimizer, net; raise SystemExit": 0,
}


@pytest.mark.parametrize("end", ENDS)
def test_ends_in_the_middle(intake, tmp_path, end):
    path = script(tmp_path, CNN.replace("workers=1", "workers=0").replace("if done % 20 == 0 and not sys.stdin.closed: sys.stdin.readline()", f"if done == 10: {end}"))
    code, out, err = outcome(start(path, socket=intake.path))
    assert code == ENDS[end] and len(out.splitlines()) == 10
    assert err == "" if code != 1 else err.endswith("KeyError: 'of the script'\n") and "stepscope" not in err
    assert len(intake.drain_until(lambda i: i.ended, "end").steps) in (9, 10)


WORKERS = """
import sys, torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

class Stream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        layer = nn.Linear(4, 4)
        for i in range(info.id, 40, info.num_workers):
            yield layer(torch.full((4,), float(i))).detach() * 0 + i

def main():
    net = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), 1e-6)
    for way in ("fork", "spawn", "forkserver"):
        seen = 0
        for x in DataLoader(Stream(), 4, num_workers=2, multiprocessing_context=way):
            optimizer.zero_grad()
            net(x).sum().backward()
            optimizer.step()
            seen += 1
        print(way, seen)

if __name__ == "__main__": main()
"""


def test_workers_of_every_kind_load_and_are_not_taken_for_trainings(intake, tmp_path):
    process = start(script(tmp_path, WORKERS), socket=intake.path)
    code, out, err = outcome(process)
    assert (code, out) == (0, "fork 10\nspawn 10\nforkserver 10\n")
    # On a busy machine one run in a hundred ends with a warning of multiprocessing's own, without our hooks
    # too: of a semaphore that it had removed, and not yet said so, when the interpreter ended.
    gone = "There appear to be 1 leaked semaphore" in err and "[Errno 2] No such file" in err
    assert err == "" or gone and len(err.splitlines()) == 4, err
    intake.drain_until(lambda i: i.ended, "end")
    assert len(intake.steps) == 30 and [each["facts"]["pid"] for each in intake.started].count(process.pid) == len(intake.started)
    assert intake.facts()["loader_num_workers"] == "2"


LONG = """
import gc, hashlib, struct, sys, torch
from torch import nn
torch.manual_seed(2)
def resident(): return int(open("/proc/self/statm").read().split()[1]) * 4096
torch.set_num_threads(1)
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.01)
data = torch.utils.data.DataLoader(torch.ones(64, 4), 4)
losses, ours = hashlib.sha256(), sys.modules.get("stepscope")
def train(steps):
    done = 0
    while done < steps:
        for x in data:
            optimizer.zero_grad()
            loss = (net(x) ** 2).sum()
            loss.backward()
            optimizer.step()
            losses.update(struct.pack("d", loss.item()))
            done += 1
            if ours:
                with ours.annotate("counts"): ours.metric("loss", loss)
            if done % 500 == 0:
                print("trains", flush=True)
                sys.stdin.readline()
        with torch.no_grad():
            for x in data: net(x)
train(2000)
gc.collect(); objects, before = len(gc.get_objects()), resident()
train(10000)
gc.collect()
print(losses.hexdigest())
print(len(gc.get_objects()) - objects < 50, resident() - before < 2_000_000, resident() - before, len(gc.get_objects()) - objects)
if ours: print(ours.info()["dropped"])
"""


def undrained(process, intake):
    """The ring's 8,192 marks are seven of each of 1,170 steps."""
    os.kill(intake.process.pid, signal.SIGSTOP)
    try:
        return outcome(process)
    finally:
        os.kill(intake.process.pid, signal.SIGCONT)


def drained(process, intake):
    """Drains the ring each time before it is full."""
    for _ in range(12000 // 500):
        assert process.stdout.readline() == "trains\n"
        intake.drain()
        process.stdin.write("\n")
        process.stdin.flush()
    return outcome(process)


@pytest.fixture(scope="module")
def bare_long():
    return outcome(start("-c", LONG, hooks=False))[1].splitlines()


@counts_memory
@pytest.mark.parametrize("agent", [undrained, drained])
def test_memory_does_not_grow(bare_long, intake, agent):
    """Nor is a full ring a hindrance."""
    code, out, err = agent(start("-c", LONG, socket=intake.path), intake)
    losses, grown, dropped = (line for line in out.splitlines() if line != "trains")
    assert (code, err) == (0, "") and grown.startswith("True True"), out
    assert losses in bare_long
    steps = len(intake.drain_until(lambda i: i.ended, "end").steps)
    if agent is undrained:
        assert 900 < steps < 2000 and int(dropped) > 50_000
        return
    assert (steps, dropped, intake.annotations["counts"]) == (12000, "0", 12000)
    assert {(rank, name) for rank, name, _ in intake.metrics} == {(0, "user.loss")} and len(intake.metrics) >= 20


DEEP = """
import sys, threading, torch
from torch import nn
sys.setrecursionlimit(300)

class Deep(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.weight, self.within = nn.Parameter(torch.ones(1)), Deep(depth - 1) if depth else None
    def forward(self, x):
        return self.weight * (x if self.within is None else self.within(x))

class Again(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
    def forward(self, x, depth):
        return self.weight * (again(x, depth - 1) if depth else x)

def deepest(call):
    for depth in range(20, 200):
        try: call(depth)
        except RecursionError: return depth

def all_depths():
    in_thread = []
    thread = threading.Thread(target=lambda: in_thread.append(deepest(lambda depth: Deep(depth)(torch.ones(1)))))
    thread.start()
    thread.join()
    return [deepest(lambda depth: Deep(depth)(torch.ones(1))), deepest(lambda depth: again(torch.ones(1), depth)), *in_thread]

again, deep = Again(), Deep(3)
print(all_depths())
for net, x in ((again, (torch.ones(1), 3)), (deep, (torch.ones(1),))):
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for i in range(20):
        optimizer.zero_grad()
        net(*x).backward()
        optimizer.step()
    print(all_depths())
"""


def test_calls_within_calls_go_as_deep(intake):
    """The form in Python takes one frame for the outermost call."""
    bare, with_us = (outcome(start("-c", DEEP, socket=intake.path, hooks=hooks)) for hooks in (False, True))
    assert (bare[0], bare[2]) == (0, "") and with_us[0::2] == (0, "")
    depths = [[depth for line in said.splitlines() for depth in json.loads(line)] for _, said, _ in (bare, with_us)]
    lost = int(FORM != "C extension" or torch.__version__ >= "2")
    assert len(depths[0]) == 9 and all(before - lost <= after <= before for before, after in zip(*depths)), depths
    assert len(intake.drain_until(lambda i: i.ended, "end").steps) == 40


def test_a_script_from_standard_input_and_an_interactive_one(intake):
    for words in (["-"], ["-i", "-q"]):
        intake.steps.clear()
        process = start(*words, socket=intake.path)
        code = CNN.split("if __name__")[0].replace("sys.stdin.readline()", "pass")
        out, _ = process.communicate(f"exec({code!r})\nmain(20, 0)\n", timeout=120)
        assert out.count("0x") >= 20, words
        intake.drain_until(lambda i: len(i.steps) >= 19, "steps")

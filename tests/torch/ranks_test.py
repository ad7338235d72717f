"""Several processes, and compiled models."""

import json
import tempfile

import pytest
import torch

from tests.support.service import ROOT
from tests.torch.training import outcome, script, start

RANKS = """
import sys, time, torch, torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader

def work(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1)))
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x in DataLoader(torch.ones(80, 4), 4):
        optimizer.zero_grad()
        loss = net(x).sum()
        loss.backward()
        optimizer.step()
        dist.all_reduce(loss.detach())
    dist.barrier()
    time.sleep(0.5)  # gloo's threads let go of the tensors before the interpreter ends (examples/ranks.py)

if __name__ == "__main__":
    torch.multiprocessing.spawn(work, (sys.argv[1],), nprocs=2)
"""


def test_ranks_that_no_launcher_numbered_are_told_apart(intake, tmp_path):
    code, out, err = outcome(start(script(tmp_path, RANKS), tmp_path, socket=intake.path))
    assert (code, out) == (0, ""), err
    intake.drain_until(lambda i: sorted(i.ended) == [0, 1], "ends")
    assert len(intake.steps) == 40
    assert sum("communication" in row["phases"] for row in intake.steps) >= 36
    assert all("forward" in row["phases"] for row in intake.steps)
    facts = {each["rank"]: each["facts"] for each in intake.started}
    assert {rank: (each["world_size"], each["backend"]) for rank, each in facts.items()} == {0: (2, "gloo"), 1: (2, "gloo")}


LAUNCHED = RANKS.split("if __name__")[0].replace(
    'dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)', 'dist.init_process_group("gloo")'
) + """
import os
work(int(os.environ["RANK"]), None)
os.write(1, b"rank %s of %s\\n" % (os.environb[b"RANK"], os.environb[b"WORLD_SIZE"]))  # at once: both write into one pipe
"""
# Ranks meet in a file: not every PyTorch is built with libuv, which torchrun's own store wants.
LAUNCHER = ("-m", "torch.distributed.run", "--nnodes=1", "--nproc_per_node=2", "--rdzv_backend=c10d", "--rdzv_conf=store_type=file")


def launched(path, **named):
    with tempfile.NamedTemporaryFile() as meet:
        return outcome(start(*LAUNCHER, f"--rdzv_endpoint={meet.name}", path, **named))


def test_ranks_of_torchrun_are_those_that_it_numbers(intake, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "1")
    monkeypatch.setenv("USE_LIBUV", "0")
    path = script(tmp_path, LAUNCHED)
    bare = launched(path, hooks=False)
    if bare[0] != 0:
        pytest.skip(f"torchrun does not run here: {bare[2].strip().splitlines()[-1][:200]}")
    with_us = launched(path, socket=intake.path)
    assert with_us[0] == 0 and sorted(with_us[1].splitlines()) == sorted(bare[1].splitlines()) == ["rank 0 of 2", "rank 1 of 2"], with_us[2]
    intake.drain_until(lambda i: sorted(i.ended) == [0, 1], "ends")
    assert len(intake.steps) == 40 and all("forward" in row["phases"] for row in intake.steps)
    assert {each["rank"]: each["facts"]["world_size"] for each in intake.started} == {0: 2, 1: 2}  # the launcher itself is none


COMPILED = """
import json, sys, torch
from torch import nn
import torch._dynamo
torch.set_num_threads(1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 1)
    def forward(self, x): return self.two(torch.relu(self.one(x)))

def count(train):
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    graphs = []
    def backend(graph, inputs):
        graphs.append(len(graph.graph.nodes))
        return graph.forward
    losses = train(backend)
    breaks = sum(torch._dynamo.utils.counters["graph_break"].values())
    return {"graphs": graphs, "breaks": breaks, "frames": torch._dynamo.utils.counters["frames"]["ok"], "losses": losses}

def steps(net, call, optimizer, many=12):
    losses = []
    for x in torch.utils.data.DataLoader(torch.arange(4.0 * 4 * many).reshape(-1, 4) / 100, 4):
        optimizer.zero_grad()
        loss = call(x).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
    return losses

def compiled_model(backend):
    torch.manual_seed(1)
    net = Net()
    return steps(net, torch.compile(net, backend=backend), torch.optim.SGD(net.parameters(), 0.001))

def compiled_late(backend):
    torch.manual_seed(1)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.001)
    return steps(net, net, optimizer) + steps(net, torch.compile(net, backend=backend), optimizer)

def compiled_function(backend):
    torch.manual_seed(1)
    net, loss = Net(), nn.MSELoss()
    @torch.compile(backend=backend)
    def compute(x): return loss(net(x), x[:, :1])
    return steps(net, compute, torch.optim.SGD(net.parameters(), 0.001))

def compiled_step(backend):
    torch.manual_seed(1)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), torch.tensor(0.001))
    @torch.compile(backend=backend)
    def update(): optimizer.step()
    losses = []
    for x in torch.utils.data.DataLoader(torch.ones(48, 4), 4):
        optimizer.zero_grad()
        net(x).sum().backward()
        update()
        losses.append(net(x).sum().item().hex())
    return losses

print(json.dumps({f.__name__: count(f) for f in (compiled_model, compiled_late, compiled_function, compiled_step)}))
"""


@pytest.mark.skipif(not hasattr(torch, "compile"), reason="this version does not compile")
def test_compiled_models_have_the_same_graphs(intake):
    with_us, bare = (outcome(start("-W", "ignore", "-c", COMPILED, socket=intake.path, hooks=hooks)) for hooks in (True, False))
    assert with_us[0] == bare[0] == 0, with_us[2] + bare[2]
    assert json.loads(with_us[1]) == json.loads(bare[1])
    intake.drain_until(lambda i: i.ended, "end")
    assert all("forward" in row["phases"] for row in intake.steps[:12])


READ = """
import json, torch
from torch import nn
from stepscope._hooks import _compile

net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.001)

def steps(call, count):
    for x in torch.utils.data.DataLoader(torch.ones(4 * count, 4), 4):
        optimizer.zero_grad()
        call(x).sum().backward()
        optimizer.step()
    return list(_compile.readers)

print(json.dumps([steps(net, 12), steps(torch.compile(net, backend="eager"), 12)]))
"""


@pytest.mark.skipif(not hasattr(torch, "compile"), reason="this version does not compile")
def test_whether_torch_compiles_is_asked_only_where_it_has(intake):
    code, out, err = outcome(start("-W", "ignore", "-c", READ, socket=intake.path))
    assert (code, json.loads(out)) == (0, [[], ["it may read frames"]]), err
    intake.drain_until(lambda i: i.ended, "end")
    assert len(intake.steps) == 24 and all("forward" in row["phases"] for row in intake.steps[:12])


EXPORTED = """
import json, torch
from time import monotonic_ns
from torch import nn
from stepscope._hooks import _compile

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(30))
    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x

net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.001)
for number, x in enumerate(torch.utils.data.DataLoader(torch.ones(64, 4), 4)):
    if number == 12:
        before, began = list(_compile.readers), monotonic_ns()
        torch.export.export(net, (torch.ones(2, 4),), strict=False)
        print(json.dumps([before, list(_compile.readers), monotonic_ns() - began]))
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
"""


@pytest.mark.skipif(not hasattr(torch, "export"), reason="this version does not export")
def test_a_model_that_is_exported_without_being_read_is_no_forward_pass(intake):
    code, out, err = outcome(start("-W", "ignore", "-c", EXPORTED, socket=intake.path))
    assert code == 0, err
    before, after, export_ns = json.loads(out)
    assert (before, after) == ([], ["it may read frames"])
    intake.drain_until(lambda i: i.ended, "end")
    assert len(intake.steps) == 16 and all(row["phases"]["forward"] < export_ns / 4 for row in intake.steps)


def test_a_child_that_trains_is_a_process_of_its_own(intake):
    code = """
import os, sys, stepscope
sys.path.insert(0, os.environ["TESTS"])
from tests.torch.nets import train
from tests.torch.nets import loader
next(iter(loader()))  # the rows that are held back are not the child's
if os.fork() == 0:
    train(20)
    print("child", stepscope.info()["connected"], flush=True)
    os._exit(0)
os.wait()
train(5)
print("parent", stepscope.info()["connected"])
"""
    process = start("-W", "ignore", "-c", f"import os; os.environ['TESTS'] = {str(ROOT)!r}\n{code}", socket=intake.path)
    assert outcome(process) == (0, "child True\nparent True\n", "")
    intake.drain_until(lambda i: len(i.steps) >= 24, "steps of both, the second one as the successor of the first")

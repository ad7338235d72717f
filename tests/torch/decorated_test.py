"""Decorated functions that PyTorch compiles: it finds what it would find without us."""

import json

import pytest

from tests.torch.conftest import PACKAGE
from tests.torch.training import outcome, script, start

DECORATED = """
import json, sys
if "bare" in sys.argv:
    annotate = phase = lambda name: lambda function: function
else:
    from stepscope import annotate, info, phase

@annotate("early")
def early(x):
    return x.relu() * 2

import torch
from torch import nn
torch.manual_seed(1)

def double(x):
    return x * 2

@annotate("free")
def free(x, by: int = 3):
    return double(torch.relu(x)) + by

@annotate("outer")
@phase("other")
def twice(x):
    return free(x, by=5)

def enclosed():
    def triple(x):
        return x * 3

    @annotate("enclosed")
    def use(x):
        return triple(x) + 1

    return use

class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.part(x) + free(x)

    @annotate("part")
    def part(self, x):
        return free(self.linear(x))

class Whole(Parts):
    @phase("forward")
    def forward(self, x):
        return twice(self.part(x)) + early(x)

many = []  # more than a function may be compiled anew
for i in range(12):
    exec(f"def one(x): return x + {i}")
    many.append(annotate("one")(one))

x = torch.ones(2, 4) - 2
made = {"early": early, "free": free, "twice": twice, "enclosed": enclosed(), "Parts": Parts(), "Whole": Whole()}
results, graphs = {}, {}
for name, each in made.items():
    results[name] = [each(x), torch.jit.script(each)(x), torch.jit.trace(each, x)(x)]
if hasattr(torch, "compile"):
    def backend(graph, inputs):
        graphs[name] = graphs.get(name, 0) + 1
        return graph.forward
    for name, each in made.items():
        for full in (True, False):
            torch._dynamo.reset()
            results[f"{name} {full}"] = [torch.compile(each, fullgraph=full, backend=backend)(x)]
    name = "many"
    torch._dynamo.reset()
    results[name] = [torch.compile(one, fullgraph=True, backend=backend)(x) for one in many]
    assert not torch._dynamo.utils.counters["graph_break"]
results = {name: [value.tolist() for value in values] for name, values in results.items()}
print(json.dumps({"results": results, "graphs": graphs}))
if "bare" not in sys.argv:
    print(info()["enabled"])
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    code, out, err = outcome(start(script(tmp_path_factory.mktemp("bare"), DECORATED), "bare", hooks=False))
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize("hooks", [True, False], ids=["hooks", "by hand"])
@pytest.mark.parametrize("agent", ["agent", "no agent yet", "no agent"])
def test_what_is_decorated_is_compiled_as_if_it_were_not(bare, intake, tmp_path, agent, hooks):
    variables = {"PYTHONPATH": str(PACKAGE)} if not hooks else {}
    variables["XDG_RUNTIME_DIR"] = str(tmp_path)
    if agent != "no agent yet":
        variables["STEPSCOPE_SOCKET"] = str(intake.path) if agent == "agent" else ""
    code, out, err = outcome(start(script(tmp_path, DECORATED), socket=None, hooks=hooks, variables=variables))
    assert code == 0, err
    said, enabled = out.splitlines()
    assert json.loads(said) == bare and enabled == str(agent == "agent")
    if agent == "agent":
        counts = intake.drain_until(lambda i: i.ended, "end").annotations
        assert all(counts[name] >= 2 for name in ("early", "free", "outer", "enclosed", "part")), counts

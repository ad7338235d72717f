"""Trains a few steps and prints, as JSON, all that can be told of the public names of PyTorch and of what trains with it:
run by names_test.py, with the hooks and without."""

import hashlib
import importlib
import inspect
import json
import pickle
import re
import sys
import warnings
import weakref

import torch
from torch import nn

MODULES = (
    "torch torch.amp torch.autograd torch.autograd.profiler torch.cuda torch.cuda.amp torch.cuda.amp.grad_scaler "
    "torch.distributed torch.distributed.checkpoint torch.distributed.checkpoint.state_dict_saver torch.distributed.distributed_c10d "
    "torch.nn torch.nn.functional torch.nn.modules.loss torch.nn.modules.module torch.nn.parallel torch.optim torch.optim.lr_scheduler "
    "torch.optim.optimizer torch.optim.sgd torch.overrides torch.serialization torch.utils.data torch.utils.data.dataloader "
    "skorch skorch.net safetensors.torch"
).split()
# Their members are compared one by one: some of them are watched.
CLASSES = "Module Linear Sequential MSELoss Optimizer SGD Adam LBFGS DataLoader _BaseDataLoaderIter _SingleProcessDataLoaderIter GradScaler Tensor NeuralNet"
SAID = ("__name__", "__qualname__", "__module__", "__defaults__", "__kwdefaults__", "__wrapped__", "__dict__")


def train():
    net, loss = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1)), nn.MSELoss()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x in torch.utils.data.DataLoader(torch.ones(80, 4), 4):
        optimizer.zero_grad()
        loss(net(x), x[:, :1]).backward()
        optimizer.step()
    return {"net.__call__": net.__call__, "loss.__call__": loss.__call__, "optimizer.step": optimizer.step}


def text(value):
    return re.sub(r"0x[0-9a-f]+", "", repr(value))[:200]


def attempt(what, value):
    try:
        return what(value)
    except BaseException as problem:
        return f"{type(problem).__name__}: {text(problem)}"


def digest(content):
    return hashlib.sha256(content if isinstance(content, bytes) else str(content).encode()).hexdigest()[:12]


def described(value):
    """What can be told of an object, without calling it."""
    found = {"type": type(value).__qualname__}
    if not callable(value):
        return found
    found["pickle"] = attempt(lambda each: digest(pickle.dumps(each)), value)
    found["again"] = attempt(lambda each: pickle.loads(pickle.dumps(each)) is each, value)
    found["signature"] = attempt(lambda each: text(inspect.signature(each)), value)
    found["doc"] = digest(re.sub(r"0x[0-9a-f]+", "", str(getattr(value, "__doc__", None))))
    found["weak"] = attempt(lambda each: weakref.ref(each)() is each, value)
    found["kinds"] = [inspect.isfunction(value), inspect.isroutine(value), inspect.isclass(value), inspect.ismethoddescriptor(value)]
    found.update({name: text(getattr(value, name, None)) for name in SAID if not inspect.isclass(value)})
    if inspect.isfunction(value):
        found["source"] = attempt(lambda each: digest(inspect.getsource(each)), value)
        found["file"] = attempt(inspect.getfile, value)
        found["cells"] = [text(cell.cell_contents) for cell in value.__closure__ or () if cell != type(cell)()]
    if inspect.isclass(value):
        found["names"] = sorted(vars(value))
        found["bases"] = [each.__qualname__ for each in value.__mro__]
        found["subclass"] = attempt(lambda each: type("Heir", (each,), {}).__mro__[1] is each, value)
    return found


def everything():
    """(name, object) of each public name, and of each member of some classes."""
    for name in MODULES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            print("not here:", name, file=sys.stderr)
            continue
        for each in sorted(vars(module)):
            value = vars(module)[each]
            if not each.startswith("_") or each in CLASSES.split():
                yield f"{name}.{each}", value
                if inspect.isclass(value) and each in CLASSES.split():
                    for member in sorted(set(dir(value)) - {"__dict__", "__weakref__"}):
                        yield f"{name}.{each}.{member}", attempt(lambda kind: getattr(kind, member), value)


METHODS = {
    "again": lambda bound: pickle.loads(pickle.dumps(bound.__func__)) == bound.__func__,
    "kinds": lambda bound: [inspect.ismethod(bound), inspect.isfunction(bound.__func__), type(bound).__name__],
    "arguments": inspect.getfullargspec,
    "signature": inspect.signature,
    "code": lambda bound: bound.__code__.co_name,
    "module": lambda bound: bound.__func__.__globals__["__name__"],
    "names": lambda bound: [bound.__name__, bound.__qualname__, bound.__defaults__, bound.__kwdefaults__],
    "attributes": lambda bound: sorted(vars(bound.__func__)),
    "source": lambda bound: digest(inspect.getsource(bound)),
    "equal": lambda bound: bound.__func__ == getattr(type(bound.__self__), bound.__name__),
    "weak": lambda bound: weakref.WeakMethod(bound)() == bound,
}
FUNCTIONS = {
    "kind": inspect.isfunction,
    "arguments": inspect.getfullargspec,
    "code": lambda function: function.__code__.co_name,
    "wrapped": lambda function: hasattr(function, "__wrapped__"),
    "again": lambda function: pickle.loads(pickle.dumps(function)),
}


def of_objects(methods):
    """What can be told of methods of objects, and of what vars() of a class has."""
    for name, bound in methods.items():
        yield name, {what: text(attempt(ask, bound)) for what, ask in METHODS.items()}
    yield "vars(SGD)", {what: text(attempt(ask, vars(torch.optim.SGD)["step"])) for what, ask in FUNCTIONS.items()}


warnings.simplefilter("ignore")
for part in MODULES:
    attempt(importlib.import_module, part)
methods = train()
rows = dict(everything())
first = {}  # the first name of each object
for each, value in rows.items():
    first.setdefault(id(value), each)
result = {each: {"same": first[id(value)], **described(value)} for each, value in rows.items()}
json.dump({"names": result, "objects": dict(of_objects(methods)), "watched": "stepscope._hooks" in sys.modules}, sys.stdout)

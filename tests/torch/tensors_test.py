"""What looks at functions and classes of PyTorch finds, in a training that is watched, what it knows."""

import pickle
import sys

import pytest
import torch
from torch import nn

import stepscope
from tests.torch.gpus import take_meta_for_a_device
from tests.torch.nets import Net, train


@pytest.fixture
def copies(monkeypatch, request):
    """Copies to a device are watched, as if there were one."""
    take_meta_for_a_device(monkeypatch)
    request.getfixturevalue("agent")
    train(4)
    assert "transfer" in stepscope.info()["hooks"]


def test_the_class_of_tensors_shows_its_own_methods(copies):
    for name in ("to", "cuda"):
        theirs = getattr(torch._C._TensorBase, name)
        assert getattr(torch.Tensor, name) is getattr(nn.Parameter, name) is theirs
        assert pickle.dumps(getattr(torch.Tensor, name)) == pickle.dumps(theirs)
    x = torch.ones(2)
    assert x.to(torch.float64).dtype == torch.Tensor.to(x, torch.float64).dtype == torch.float64
    assert x.to.__name__ == "to" and x.to.__self__ is x


KNOWN = {torch.Tensor.to: "to"}


class Labelled(torch.Tensor):
    """Keeps its class in those functions only that it knows, as torchvision's tensors do."""

    asked = []

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        cls.asked.append(function)
        with torch._C.DisableTorchFunction():
            done = function(*args, **kwargs or {})
        return done.as_subclass(cls) if function in KNOWN else done


def test_a_subclass_is_told_of_the_functions_that_it_knows(copies):
    Labelled.asked.clear()
    x = torch.ones(2).as_subclass(Labelled)
    assert type(x.to(torch.float64)) is Labelled and type(x + 1) is torch.Tensor
    assert Labelled.asked[0] is torch.Tensor.to and len(Labelled.asked) == 2


def test_a_mode_hears_what_it_would_hear(copies):
    modes = pytest.importorskip("torch.overrides")
    if sys.modules["torch"].__version__.startswith("1."):
        pytest.skip("this version has no modes that everybody may use")
    heard = []

    class Listens(modes.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            heard.append(function)
            return function(*args, **kwargs or {})

    with Listens():
        torch.ones(2).to(torch.float64)
    assert heard == [torch.ones, torch.Tensor.to]


def test_what_reads_a_model_finds_the_same(agent):
    read = [lambda net: torch.fx.symbolic_trace(net).code, lambda net: torch.jit.script(net).code, lambda net: sorted(dir(net)), repr]
    net = Net()
    before = [each(net) for each in read]
    train(12, net)
    assert "__call__" in vars(Net) and [each(net) for each in read] == before

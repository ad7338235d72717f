"""A fault of ours is none of the training's: whatever of the hooks raises, the training goes on with the same results."""

import io
import signal
import sys
import types

import pytest
import torch
from torch import nn


from stepscope._form import marks
from stepscope._hooks import _forward, _loader, _optimizer, _transfer, _waits
from stepscope._hooks._flow import flow
from tests.torch.gpus import take_meta_for_a_device
from tests.torch.nets import Net, loader

TRAINER = "lightning.pytorch.trainer.call"


def _call_callback_hooks(trainer, name, *args):
    return sum(range(20000))  # longer than a callback that is not worth a mark


def results():
    """The losses of a training in which every watched function is called, and the size of its checkpoint."""
    torch.manual_seed(2)
    net, losses, file = Net(), [], io.BytesIO()
    optimizer, scaler, trainer = torch.optim.Adam(net.parameters(), 0.01), torch.cuda.amp.GradScaler(enabled=False), sys.modules[TRAINER]
    for x, y in loader(12):
        optimizer.zero_grad()
        loss = nn.MSELoss()(net(x.to(torch.float64).to(torch.float32)), y)
        loss.backward()
        torch.autograd.backward(net(x).sum())
        scaler.step(optimizer)
        torch.distributed.is_initialized() and torch.distributed.all_reduce(loss.detach())
        trainer._call_callback_hooks(None, "on_train_batch_end")
        losses.append(loss.item().hex())
    with torch.no_grad():
        losses += [float(net(x).sum()).hex() for x, _ in loader(3)]
    torch.save(net.state_dict(), file)
    return losses, len(file.getvalue()), optimizer.state_dict()["state"][0]["step"]


@pytest.fixture
def trainer(monkeypatch):
    monkeypatch.setitem(sys.modules, TRAINER, types.SimpleNamespace(_call_callback_hooks=types.FunctionType(_call_callback_hooks.__code__, {"sum": sum, "range": range})))


@pytest.fixture
def bare(trainer, tmp_path):
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/meet", rank=0, world_size=1)
    yield results()
    torch.distributed.destroy_process_group()


def failing(reached):
    def fail(*_, **__):
        reached.append(1)
        raise ValueError("a fault of ours")

    return fail


TOLD = ("began", "waited", "computed", "went_back", "happened", "stepped", "quick", "trained", "_end_step", "_settle", "_hold", "_is_training_thread")
OTHERS = (
    (_forward._Roots, "_count"),
    (_forward._Roots, "_watch"),
    (_forward._Roots, "search"),
    (_loader, "settings"),
    (_optimizer, "replace"),
    (_optimizer, "stepping"),
    (_transfer, "install"),
    (_waits, "on_gpu") if marks.await_gpu else (_transfer, "_is_away"),
)


@pytest.mark.parametrize("name", TOLD)
def test_what_is_told_may_raise(bare, agent, monkeypatch, name):
    reached = []
    monkeypatch.setattr(type(flow), name, failing(reached))
    assert results() == bare and reached


class Timeout(Exception):
    pass


@pytest.fixture
def timeout():
    """A script's handler of a signal, which raises."""

    def handler(number, frame):
        raise Timeout

    before = signal.signal(signal.SIGALRM, handler)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", [name for name in TOLD if name not in ("began", "_is_training_thread")])
def test_what_a_signal_raises_meanwhile_is_the_scripts(bare, agent, timeout, monkeypatch, name):
    monkeypatch.setattr(type(flow), name, lambda *_, **__: signal.raise_signal(signal.SIGALRM))
    with pytest.raises(Timeout) as raised:
        results()
    assert marks.watch is None or [each.path.name for each in raised.traceback if "stepscope" in str(each.path)] == []


@pytest.mark.parametrize("owner, name", OTHERS, ids=[name for _, name in OTHERS])
def test_what_installs_may_raise(bare, intake, request, monkeypatch, owner, name):
    reached = []
    take_meta_for_a_device(monkeypatch)  # so that copies are watched
    monkeypatch.setattr(owner, name, failing(reached))
    request.getfixturevalue("agent")
    assert results() == bare and reached


class Closed(type):
    """Classes that take no attributes once they are made."""

    def __setattr__(cls, name, value):
        raise TypeError("closed")


def test_classes_that_take_no_attributes_are_left_as_they_are(agent):
    class Model(Net, metaclass=Closed):
        pass

    net = Model()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x, y in loader(12):
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
    assert "__call__" not in vars(Model) and len(agent.drain().steps) == 12


def test_an_exception_that_takes_no_attributes_comes_through(agent):
    class Frozen(Exception):
        def __setattr__(self, name, value):
            raise TypeError("frozen")

    class Raises(Net):
        raises = False

        def forward(self, x):
            if self.raises:
                raise Frozen("of the script")
            return super().forward(x)

    net = Raises()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x, y in loader(8):
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
    net.raises = True
    with pytest.raises(Frozen, match="of the script"):
        net(torch.ones(1, 8))
    with pytest.raises(Frozen):
        optimizer.step(lambda: net(torch.ones(1, 8)))



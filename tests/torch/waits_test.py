"""Waits for the GPU. A tensor "on the GPU" is one in a set here."""

import copy
import pickle
import threading
import time

import pytest
import torch
from torch.overrides import TorchFunctionMode

import stepscope
from stepscope import _marks, _wire
from stepscope._form import marks
from stepscope._hooks import _waits
from stepscope._hooks._flow import flow
from tests.torch.gpus import take_meta_for_a_device
from tests.torch.nets import loader, step, train
from tests.torch.rings import marks as marks_of

needs_c = pytest.mark.skipif(marks.await_gpu is None, reason="the form in Python does not see them")
LARGE = 1 << 20  # values: more than the 5 us that a wait takes at least


@pytest.fixture
def gpu(monkeypatch):
    """The tensors that are pretended to lie on a GPU, by identity."""
    there = []
    monkeypatch.setattr(_waits, "uses_device", lambda torch: True)
    monkeypatch.setattr(_waits, "on_gpu", lambda tensor: any(tensor is each for each in there))
    return there


def phases(kinds=("sync", "device_to_host")):
    return [name for _, _, kind, name in marks_of(_marks._session) if kind == _wire.PHASE_MARK and name in kinds]


def train_with(each, steps=8):
    """Trains; after each step but the first three, `each` is called."""
    net = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for number, (x, y) in enumerate(loader(steps)):
        step(net, optimizer, x, y)
        if number >= 3:
            each()
    return net, optimizer


@needs_c
def test_a_list_of_values_on_the_gpu_is_a_copy_to_the_host(gpu, agent):
    here, there = torch.zeros(LARGE // 64), torch.zeros(LARGE // 64)
    gpu.append(there)
    kept = train_with(lambda: (here.tolist(), there.tolist()))
    train(3, *kept)
    assert phases() == ["device_to_host"] * 5


@needs_c
def test_a_copy_counts_where_it_goes_to_the_host(gpu, agent):
    there = torch.zeros(LARGE)
    gpu.append(there)
    kept = train_with(lambda: (there.to(torch.float64), there.cpu(), torch.zeros(LARGE).to(torch.float64)))
    train(3, *kept)
    assert phases() == ["device_to_host"] * 5, "a copy within the host, and one that copies nothing, are none"


@needs_c
def test_a_copy_into_a_tensor_of_the_host_counts(gpu, agent):
    there, here, other = torch.zeros(LARGE), torch.zeros(LARGE), torch.zeros(LARGE)
    gpu.append(there)
    kept = train_with(lambda: (here.copy_(there), there.copy_(here), here.copy_(other)))
    train(3, *kept)
    assert phases() == ["device_to_host"] * 5


@needs_c
def test_a_copy_to_the_gpu_is_a_transfer(agent, monkeypatch):
    """However it is asked for, and not one that stays where it is."""
    take_meta_for_a_device(monkeypatch)
    here, there = torch.zeros(LARGE), torch.zeros(LARGE, device="meta")
    kept = train_with(lambda: (here.to(torch.float64), there.to(torch.float64), here.to("cpu"), here.copy_(torch.ones(LARGE))))
    train(3, *kept)
    assert phases(["transfer", "device_to_host"]) == []
    kept = train_with(lambda: (here.to("meta"), time.sleep(0.001), there.copy_(here)))
    train(3, *kept)
    assert phases(["transfer", "device_to_host"]) == ["transfer"] * 10


@needs_c
def test_a_result_on_the_gpu_is_no_copy_to_the_host(gpu, agent, monkeypatch):
    monkeypatch.setattr(_waits, "on_gpu", lambda tensor: True)
    kept = train_with(lambda: torch.zeros(LARGE).to(torch.float64))
    train(3, *kept)
    assert phases(["device_to_host"]) == []


@needs_c
def test_very_many_short_waits_are_few_marks(gpu, agent):
    there = torch.zeros(1 << 10)
    gpu.append(there)
    kept = train_with(lambda: [there.tolist() for _ in range(5000)], steps=6)
    train(3, *kept)
    rows = [(end - start) for start, end, kind, name in marks_of(_marks._session) if name == "device_to_host"]
    assert rows and len(rows) < 5000 and stepscope.info()["dropped"] == 0


@needs_c
def test_a_wait_within_a_phase_is_taken_out_of_it(gpu, agent):
    there = torch.zeros(LARGE // 16)
    gpu.append(there)

    class Net(torch.nn.Linear):
        def forward(self, x):
            there.tolist()
            return super().forward(x)

    net = Net(8, 1)
    train(12, net, torch.optim.SGD(net.parameters(), 0.01))
    names = [name for _, _, kind, name in marks_of(_marks._session) if kind == _wire.PHASE_MARK]
    assert all(names[at + 1] == "forward" for at, name in enumerate(names) if name == "device_to_host") and "device_to_host" in names


@needs_c
def test_nothing_can_be_told_from_outside(gpu, agent):
    names = ("item", "tolist", "cpu", "to", "cuda", "copy_", "__bool__", "__float__", "__int__", "__index__")
    before = {name: getattr(torch._C._TensorBase, name) for name in names}
    train_with(lambda: None)
    assert "waits for the GPU" in stepscope.info()["hooks"]
    for name, method in before.items():
        now = getattr(torch._C._TensorBase, name)
        assert now is method and type(now).__name__ == "method_descriptor"
        assert pickle.loads(pickle.dumps(now)) is method and copy.copy(now) is method
    assert not [name for name in names if name in vars(torch.Tensor)]


@needs_c
def test_results_and_exceptions_are_those_of_the_call(gpu, agent):
    one, two = torch.tensor([2.5]), torch.zeros(2)
    gpu += [one, two]
    seen = []

    def each():
        seen.append((one.item(), float(one), int(one), bool(one), one.tolist(), one.cpu() is one, one.to(torch.int8).dtype))
        with pytest.raises((ValueError, RuntimeError), match="[Oo]nly one element|converted to Scalar"):
            two.item()
        with pytest.raises(TypeError):
            one.cpu(1, 2, 3)
        with pytest.raises(RuntimeError, match="ambiguous"):
            bool(two)

    train_with(each)
    assert seen == [(2.5, 2.5, 2, True, [2.5], True, torch.int8)] * 5


@needs_c
def test_subclasses_and_modes_are_not_asked(gpu, agent):
    heard = []

    class Mine(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            heard.append(getattr(func, "__name__", str(func)))
            return super().__torch_function__(func, types, args, kwargs or {})

    mine = torch.zeros(LARGE // 64).as_subclass(Mine)
    train_with(lambda: mine.tolist())
    assert set(heard) == {"tolist"} and phases() == []


@needs_c
def test_a_mode_hears_only_what_the_script_calls(gpu, agent):
    heard = []

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            heard.append(getattr(func, "__name__", str(func)))
            return func(*args, **(kwargs or {}))

    there = torch.zeros(LARGE // 64)
    gpu.append(there)

    def each():
        begin = time.monotonic_ns()
        with Mode():
            there.tolist()
        took.append(time.monotonic_ns() - begin)

    took = []
    kept = train_with(each)
    train(3, *kept)
    assert set(heard) == {"tolist"} and phases() == ["device_to_host"] * 5
    told = [end - start for start, end, _, name in marks_of(_marks._session) if name == "device_to_host"]
    assert all(one <= other for one, other in zip(told, took)), "the mode makes the call once more, within it"


@needs_c
def test_other_threads_are_left_alone(gpu, agent):
    there = torch.zeros(LARGE // 64)
    gpu.append(there)

    def each():
        thread = threading.Thread(target=there.tolist)
        thread.start()
        thread.join()

    kept = train_with(each)
    train(3, *kept)
    assert phases() == []


@needs_c
@pytest.mark.parametrize("wrong", [time.sleep, len, "text", torch.nn.Linear, torch.Tensor.is_cuda, None, lambda: None])
def test_what_cannot_be_watched_is_refused(wrong):
    ways = (flow, wrong, "sync", "always", (torch.Tensor,), len, len)
    if wrong in (time.sleep, len):
        assert marks.await_gpu(*ways) is None
        with pytest.raises(ValueError):
            marks.await_gpu(*ways)  # once only
        marks.await_gpu_no_longer()
        assert len([1]) == 1
    else:
        with pytest.raises(ValueError):
            marks.await_gpu(*ways)
    with pytest.raises((ValueError, TypeError)):
        marks.await_gpu(flow, time.sleep, "sync", "sometimes", (torch.Tensor,), len, len)


@needs_c
def test_a_call_that_always_waits_is_told(gpu, agent, monkeypatch):
    """A stand-in of torch.cuda.synchronize, which this build of torch may not have."""
    monkeypatch.setattr(torch._C, "_cuda_synchronize", time.sleep, raising=False)
    kept = train_with(lambda: time.sleep(0.001))
    train(3, *kept)
    assert phases() == ["sync"] * 5


@needs_c
def test_when_it_ends_all_is_as_before(gpu, agent):
    there = torch.zeros(LARGE // 64)
    gpu.append(there)
    kept = train_with(lambda: None)
    _waits.forget()
    there.tolist()
    train(3, *kept)
    assert phases() == []


def test_without_a_device_nothing_is_watched(agent):
    train_with(lambda: torch.zeros(LARGE // 64).tolist())
    assert "no waits for the GPU: no device is in use" in stepscope.info()["hooks"] and phases() == []

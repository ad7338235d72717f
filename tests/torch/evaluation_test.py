"""Computations without gradients: an evaluation, which is apart from the steps, or a part of a step."""

import time

import pytest
import torch
from torch import nn

from stepscope import _marks, _wire
from stepscope._hooks._flow import flow
from tests.torch.nets import Net, loader, step, train
from tests.torch.rings import marks


class Told:
    """(start, end, name) of what is recorded: phases and evaluations."""

    def __init__(self):
        self.began = time.monotonic_ns()

    @property
    def phases(self):
        return self._of(_wire.PHASE_MARK)

    @property
    def evaluations(self):
        return self._of(_wire.ANNOTATION_MARK)

    def _of(self, wanted):
        return [(start, end, name) for start, end, kind, name in marks(_marks._session) if kind == wanted]


@pytest.fixture
def told(agent):
    return Told()


def check_apart(agent, told, evaluations):
    """Nothing of an evaluation is in a step, and each step is as long as without evaluations."""
    steps = agent.drain().steps
    assert [row["step"] for row in steps] == list(range(len(steps)))
    assert agent.annotations == {"evaluation": evaluations}
    for began, ended, _ in told.evaluations:
        assert all(end <= began or start >= ended for start, end, _ in told.phases)
    took = sum(row["wall_ns"] for row in steps) + sum(end - start for start, end, _ in told.evaluations)
    assert took <= time.monotonic_ns() - told.began
    assert all(sum(row["phases"].values()) <= row["wall_ns"] for row in steps)
    return steps


def within(net, batches=6, modes=(torch.no_grad,)):
    net.eval()
    with modes[0]():
        for x, _ in loader(batches):
            net(x)
    net.train()


def around(net, batches=6):
    for x, _ in loader(batches):
        with torch.no_grad():
            net(x)


def without_a_loader(net, batches=12):
    with torch.no_grad():
        for _ in range(batches):
            net(torch.ones(4, 8))


def by_a_function(net, batches=6):
    @torch.no_grad()
    def evaluate():
        return [nn.functional.mse_loss(net(x), y) for x, y in loader(batches)]

    evaluate()


def in_inference_mode(net):
    within(net, modes=(torch.inference_mode,))


WAYS = (within, around, without_a_loader, by_a_function, in_inference_mode)


@pytest.mark.parametrize("evaluate", WAYS)
def test_an_evaluation_is_apart_from_the_steps(agent, told, evaluate):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for _ in range(3):
        train(8, net, optimizer)
        evaluate(net)
    train(8, net, optimizer)
    assert len(check_apart(agent, told, 3)) == 32
    assert [name for *_, name in told.phases].count("forward") == 32


def test_an_evaluation_before_the_training_is_not_in_it(agent, told):
    net = Net()
    within(net)
    between = time.monotonic_ns()
    train(6, net)
    assert len(agent.drain().steps) == 6 and agent.annotations == {}
    assert min(start for start, *_ in told.phases) >= between


def test_the_annotation_is_as_long_as_the_evaluation(agent, told):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    train(8, net, optimizer)
    began = time.monotonic_ns()
    within(net, 10)
    ended = time.monotonic_ns()
    train(8, net, optimizer)
    ((start, end, _),) = told.evaluations
    assert began <= start < end <= ended
    check_apart(agent, told, 1)


def test_an_evaluation_at_the_end_is_told_when_the_process_ends(agent):
    from stepscope._hooks._flow import flow

    net, _ = train(8)
    within(net)
    flow.close()
    assert agent.drain().annotations == {"evaluation": 1}


@pytest.mark.parametrize("looks", [1, 4])
def test_a_teacher_is_a_part_of_the_step(agent, looks):
    net, teacher = Net(), Net(layers=1)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x, _ in loader(12):
        with torch.no_grad():
            for _ in range(looks):
                y = teacher(x)
        step(net, optimizer, x, y)
    assert [row["step"] for row in agent.drain().steps] == list(range(12))
    assert agent.annotations == {}


def test_a_checkpoint_beside_an_evaluation_stays_in_its_step(agent, told, tmp_path):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for _ in range(2):
        train(8, net, optimizer)
        torch.save(net.state_dict(), tmp_path / "weights")
        within(net)
        torch.save(net.state_dict(), tmp_path / "best")
    train(8, net, optimizer)
    steps = check_apart(agent, told, 2)
    assert [row["step"] for row in steps if "checkpoint" in row["phases"]] == [8, 16]
    assert [name for *_, name in told.phases].count("checkpoint") == 4


@pytest.fixture
def pieces(monkeypatch):
    """Each iteration of an evaluation is long enough to be told."""
    from stepscope._hooks import _evaluation

    monkeypatch.setattr(_evaluation, "_PIECE_NS", 1)


@pytest.mark.parametrize("evaluate", WAYS)
def test_an_evaluation_is_told_while_it_goes_on(agent, told, pieces, evaluate):
    net, _ = train(8)
    evaluate(net)
    early = len(told.evaluations)
    assert early >= 2
    train(8, net)
    rows = told.evaluations
    assert [one[1] for one in rows[:-1]] == [other[0] for other in rows[1:]], "the pieces have holes or overlap"
    check_apart(agent, told, len(rows))


def test_a_short_evaluation_is_one_piece(agent, told):
    net, _ = train(8)
    within(net)
    train(8, net)
    assert len(told.evaluations) == 1


@pytest.mark.parametrize("evaluate", WAYS)
def test_the_pieces_are_as_long_as_the_whole(agent, told, monkeypatch, evaluate):
    """The clock of the hooks is the test's: each look at it takes a millisecond."""
    from stepscope._hooks import _calls, _evaluation, _flow, _loader

    monkeypatch.setattr(_calls, "_watch", None)
    lengths = []
    for piece in (10**12, 1, 4_000_000):
        monkeypatch.setattr(_evaluation, "_PIECE_NS", piece)
        lengths.append(lengths_of(evaluate, agent, monkeypatch, (_calls, _flow, _loader)))
    assert lengths[0] == lengths[1] == lengths[2] and lengths[0][1] > 0


def lengths_of(evaluate, agent, monkeypatch, modules):
    """The wall times of the steps, and the length of the evaluation between them."""
    from stepscope import _hooks
    from stepscope._hooks._flow import flow
    from stepscope._session import Session

    _hooks.end()
    before, session = _marks._session, Session()
    _marks.adopt(session)
    _hooks.begin(torch)
    now = [time.monotonic_ns()]

    def clock():
        now[0] += 1_000_000
        return now[0]

    with monkeypatch.context() as patched:
        for module in modules:
            patched.setattr(module, "monotonic_ns", clock)
        net, optimizer = train(8)
        evaluate(net)
        train(8, net, optimizer)
        flow.close()
    rows = marks(session)
    _marks.adopt(before)
    session.abandon()
    steps = [end - start for start, end, kind, _ in rows if kind == _wire.STEP_MARK]
    return steps, sum(end - start for start, end, kind, _ in rows if kind == _wire.ANNOTATION_MARK)


def test_the_pieces_come_before_the_end_of_the_step(agent, pieces):
    net, optimizer = train(8)
    within(net)
    train(1, net, optimizer)
    kinds = [kind for _, _, kind, _ in marks(_marks._session) if kind != _wire.PHASE_MARK]
    assert kinds[:8] == [_wire.STEP_MARK] * 8 and kinds[-1] == _wire.STEP_MARK
    assert set(kinds[8:-1]) == {_wire.ANNOTATION_MARK}


def test_a_process_that_never_trains_tells_no_pieces(agent, pieces):
    within(Net(), 50)
    assert marks(_marks._session) == [] and _marks._session.connection is None


def test_a_training_without_a_backward_pass_has_no_evaluation(agent):
    """Evolution strategies compute without gradients and set them by hand."""
    flow.steps = flow.all_backwards = 0
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for _ in range(12):
        with torch.no_grad():
            losses = [net(torch.ones(4, 8)).square().mean() for _ in range(8)]
        for parameter in net.parameters():
            parameter.grad = torch.full_like(parameter, float(sum(losses)))
        optimizer.step()
    steps = agent.drain().steps
    assert len(steps) >= 10 and not agent.annotations
    assert all({"forward", "optimizer"} <= set(row["phases"]) for row in steps[2:])

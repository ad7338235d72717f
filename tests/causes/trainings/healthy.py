"""Trainings that nothing holds up."""

import importlib.util
import tempfile
import time

import torch
from clocks import clock, training
from loading import train_from_a_thread
from torch import nn
from torch.utils.data import DataLoader
from work import SIZE, Model, Samples, batches_of, evaluate, one_step, rows, train


def train_net(run, net, x, classes=10):
    """A training whose batches are there, of a model that really computes."""
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    y = torch.zeros(len(x), dtype=torch.long)
    while run.going():
        with run.part("forward"):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
        with run.part("backward"):
            loss.backward()
        with run.part("optimizer"):
            optimizer.step()
        run.step_ended()


@training("healthy")
def computing_layers(run):
    """Linear layers that keep a core busy."""
    wide = [layer for _ in range(4) for layer in (nn.Linear(1024, 1024), nn.ReLU())]
    train_net(run, nn.Sequential(*wide, nn.Linear(1024, 10)), torch.rand(256, 1024))


@training("healthy")
def computing_images(run):
    """Convolutions that keep a core busy."""
    net = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10))
    train_net(run, net, torch.rand(32, 3, 48, 48))


@training("healthy")
def sequences_of_many_lengths(run):
    """A recurrent network, whose batches are 5 to 60 steps long."""
    net, head = nn.LSTM(32, 128, batch_first=True), nn.Linear(128, 2)
    optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()])
    lengths = torch.randint(5, 60, (1000,)).tolist()
    while run.going():
        with run.part("forward"):
            optimizer.zero_grad()
            seen, _ = net(torch.rand(32, lengths[run.steps % 1000], 32))
            loss = nn.functional.cross_entropy(head(seen[:, -1]), torch.zeros(32, dtype=torch.long))
        with run.part("backward"):
            loss.backward()
        with run.part("optimizer"):
            optimizer.step()
        run.step_ended()


@training("healthy")
def workers_that_keep_up(run):
    """Two workers take 40 ms a batch; the model takes 120 ms."""
    train(run, Model(0.12), DataLoader(Samples(0.01), 4, num_workers=2))


@training("healthy")
def prefetch_that_keeps_up(run):
    """A thread reads ahead in 20 ms a batch; the model takes 70 ms."""
    train_from_a_thread(run, Model(0.07), DataLoader(Samples(0.005), 4))


@training("healthy")
def evaluation_of_5_percent(run):
    """Each 80 steps of 50 ms are followed by an evaluation of 0.2 s."""
    model = Model(0.05)
    train(run, model, rows(1000), lambda step, _: evaluate(run, model, 10, 0.02) if step % 80 == 79 else None)


@training("healthy")
def checkpoints_of_2_percent(run):
    """Each 100 steps of 50 ms write a checkpoint of 8 MB."""
    state = {"weights": torch.ones(2_000_000)}

    def save(step, _):
        if step % 100 == 99:
            with run.part("checkpoint"), tempfile.NamedTemporaryFile(dir="/var/tmp") as made:
                torch.save(state, made)

    train(run, Model(0.05), rows(50), save)


@training("healthy")
def slow_first_steps(run):
    """The first 20 steps take five times as long as the others, as kernels are chosen and caches are filled."""
    model = Model(0.2)

    def warm(step, _):
        model.seconds = 0.2 if step < 20 else 0.04

    train(run, model, rows(50), warm)


@training("healthy")
def cold_first_batches(run):
    """The first batches come from a cold cache: 10 of them take 40 ms longer."""

    class Cold(Samples):
        def __getitem__(self, i):
            if i < 40:
                time.sleep(0.01)
            return super().__getitem__(i)

    train(run, Model(0.05), DataLoader(Cold(), 4))


@training("healthy")
def steps_with_a_closure(run):
    """LBFGS computes the loss several times within each step."""
    model = Model(0.02)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=1e-3, max_iter=3, tolerance_grad=0, tolerance_change=0)
    for x, y in batches_of(run, rows(50)):

        def closure(x=x, y=y):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            return loss

        with run.part("optimizer"):
            optimizer.step(closure)
        run.step_ended()


@training("healthy")
def two_optimizers(run):
    """A generator and a discriminator, which take turns."""
    models = Model(0.03), Model(0.03)
    optimizers = [torch.optim.SGD(model.parameters(), 1e-3) for model in models]
    for x, y in batches_of(run, rows(50)):
        for model, optimizer in zip(models, optimizers):
            one_step(run, model, optimizer, x, y)
        run.step_ended()


@training("healthy")
def many_small_epochs(run):
    """Epochs of five batches, without workers, so that to begin anew is cheap."""
    train(run, Model(0.05), rows(5))


def no_skorch():
    return "" if importlib.util.find_spec("skorch") else "skorch is not installed"


@training("healthy", needs=no_skorch)
def trained_by_skorch(run):
    """The loop is a library's."""
    from skorch import NeuralNet
    from skorch.callbacks import Callback

    class Watch(Callback):
        def on_batch_begin(self, net, **_):
            run.going()
            self.began = clock()

        def on_batch_end(self, net, **_):
            run.seconds_in["forward"] = run.seconds_in.get("forward", 0.0) + clock() - self.began
            run.step_ended()
            if not run.going():
                raise KeyboardInterrupt  # how a net of skorch's is asked to stop

    net = NeuralNet(Model, criterion=nn.MSELoss, module__seconds=0.05, train_split=None, max_epochs=1000, batch_size=4, verbose=0, callbacks=[Watch()])
    net.fit(torch.ones(400, SIZE).numpy(), torch.ones(400, 1).numpy())

"""Trainings whose loop does something else than training: callbacks, logs, checkpoints, evaluations."""

import importlib.util
import json
import os
import tempfile
import time

import torch
from clocks import training
from work import Model, SlowFile, compute, evaluate, rows, train


def each(steps, run, part, work):
    """A callback that works at the end of each of so many steps."""

    def after(step, loss):
        if step % steps == steps - 1:
            with run.part(part):
                work(step, loss)

    return after


@training("time outside of all phases", "callback")
def callback_each_25_steps(run):
    """Each 25th step a callback computes for 0.6 s; a step takes 40 ms."""
    train(run, Model(0.04), rows(50), each(25, run, "callback", lambda *_: compute(0.6)))


@training("time outside of all phases", "callback")
def callback_each_step(run):
    """After each step a callback computes for 40 ms; a step takes 40 ms."""
    train(run, Model(0.04), rows(50), each(1, run, "callback", lambda *_: compute(0.04)))


@training("time outside of all phases", "log")
def logging_call(run):
    """Each step ends with a call of 90 ms that asks a server and draws a picture; the model takes 10 ms."""
    train(run, Model(0.01), rows(50), each(1, run, "log", lambda step, loss: (float(loss), time.sleep(0.09))))


@training("time outside of all phases", "log")
def metrics_of_a_progress_bar(run):
    """Each step computes metrics on the predictions for 25 ms; the model takes 30 ms."""
    train(run, Model(0.03), rows(50), each(1, run, "log", lambda *_: compute(0.025)))


@training("callbacks", "callback")
def marked_callback(run):
    """The script marks its callback of 0.5 s in each tenth step with stepscope.phase."""
    import stepscope

    def call(step, loss):
        with stepscope.phase("callback"):
            compute(0.5)

    train(run, Model(0.04), rows(50), each(10, run, "callback", call))


def written(save):
    """Writes a file that is on the disk when it returns."""

    def work(*_):
        with tempfile.NamedTemporaryFile(dir="/var/tmp") as made:
            save(made)
            made.flush()
            os.fsync(made.fileno())

    return work


@training("checkpoints", "checkpoint")
def checkpoint_each_20_steps(run):
    """Each 20th step writes a checkpoint of 160 MB with torch.save; a step takes 30 ms."""
    state = {"weights": torch.ones(40_000_000)}
    train(run, Model(0.03), rows(50), each(20, run, "checkpoint", written(lambda made: torch.save(state, made))))


@training("checkpoints", "checkpoint")
def slow_storage_of_checkpoints(run):
    """Each tenth step writes a checkpoint to storage that takes 0.4 s; a step takes 40 ms."""
    state = {"weights": torch.ones(1_000_000)}
    train(run, Model(0.04), rows(50), each(10, run, "checkpoint", lambda *_: torch.save(state, SlowFile(0.4))))


def no_safetensors():
    return "" if importlib.util.find_spec("safetensors") else "safetensors is not installed"


@training("checkpoints by hand", "checkpoint", needs=no_safetensors)
def checkpoint_by_safetensors(run):
    """Each 20th step writes 200 MB with safetensors; a step takes 25 ms."""
    from safetensors.torch import save

    state = {"weights": torch.ones(50_000_000)}
    train(run, Model(0.025), rows(50), each(20, run, "checkpoint", written(lambda made: made.write(save(state)))))


@training("checkpoints by hand", "checkpoint")
def checkpoint_by_hand(run):
    """Each tenth step writes its weights as text, with neither torch.save nor a library; a step takes 30 ms."""
    weights = torch.ones(400_000)
    save = written(lambda made: made.write(json.dumps(weights.tolist()).encode()))
    train(run, Model(0.03), rows(50), each(10, run, "checkpoint", save))


@training("evaluation", "evaluation", longer=4)
def evaluation_of_80_percent(run):
    """Each 20 steps of 50 ms are followed by an evaluation of 4 s."""
    model = Model(0.05)
    train(run, model, rows(1000), lambda step, _: evaluate(run, model, 40, 0.1) if step % 20 == 19 else None)


@training("evaluation", "evaluation", longer=1.5)
def evaluation_of_30_percent(run):
    """Each 40 steps of 50 ms are followed by an evaluation of 0.9 s."""
    model = Model(0.05)
    train(run, model, rows(1000), lambda step, _: evaluate(run, model, 30, 0.03) if step % 40 == 39 else None)


@training("evaluation", "evaluation", longer=1.5)
def evaluation_after_each_epoch(run):
    """Epochs of 30 batches of 40 ms, each followed by an evaluation of 0.8 s."""
    model = Model(0.04)
    train(run, model, rows(30), lambda step, _: evaluate(run, model, 20, 0.04) if step % 30 == 29 else None)


@training("time beside the steps", "rollout", longer=2)
def rollouts(run):
    """As in reinforcement learning: ten steps of 40 ms are followed by 0.8 s in which the model acts, without gradients."""
    model = Model(0.04)

    def act(step, _):
        with run.part("rollout"), torch.no_grad():
            for _ in range(20):
                model(torch.ones(1, 8))

    train(run, model, rows(1000), lambda step, loss: act(step, loss) if step % 10 == 9 else None)

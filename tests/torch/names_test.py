"""Nothing that the hooks watch can be told from what it was: all public names of PyTorch, and of what trains with it, are
compared between a training with the hooks and one without."""

import json
from pathlib import Path

import pytest
import torch

from stepscope._form import FORM
from tests.torch.training import outcome, start

PROBE = Path(__file__).with_name("public_names.py")

# What differs, and why it may: (name, what is said of it) -> what it adds.
KNOWN = {
    # The class of a model that no other one calls gets an attribute of its own, so that a model of many modules pays for
    # one call a step. It shows what the class inherits to whoever asks for it.
    ("torch.nn.Sequential", "names"): {"__call__"},
    ("torch.nn.MSELoss", "names"): {"__call__"},
    ("torch.nn.modules.loss.MSELoss", "names"): {"__call__"},
}


def said(**named):
    code, out, err = outcome(start(PROBE, **named))
    assert code == 0, err
    return json.loads(out), err


@pytest.fixture(scope="module")
def bare():
    return said(hooks=False)


def differences(here, there):
    for name in sorted({*here, *there}):
        one, other = here.get(name, {}), there.get(name, {})
        for what in sorted({*one, *other}):
            known = KNOWN.get((name, what))
            if known is not None and set(other[what]) == set(one[what]) | known:
                continue
            if one.get(what) != other.get(what):
                yield f"{name}: {what}: {one.get(what)} -> {other.get(what)}"


def test_no_public_name_can_be_told_from_what_it_was(bare, intake):
    watched, err = said(socket=intake.path)
    assert (bare[0]["watched"], watched["watched"], err) == (False, True, bare[1])
    assert len(intake.drain_until(lambda i: i.ended, "end").steps) == 20
    assert len(watched["names"]) > 2000 and list(differences(bare[0]["names"], watched["names"])) == []


# The function of a bound method is ours: in the form in Python, and in PyTorch 2, whose compiler may read it.
OURS = {"again", "arguments", "code", "module", "attributes", "source", "equal"}


def test_no_method_of_an_object_can_be_told_from_what_it_was(bare, intake):
    watched, _ = said(socket=intake.path)
    known = OURS if FORM != "C extension" or torch.__version__ >= "2" else set()
    for name, told in bare[0]["objects"].items():
        differ = {what for what in told if told[what] != watched["objects"][name][what]}
        # What vars() shows says of itself that it is no function (calls_test.py: cloudpickle).
        assert differ <= ({"kind"} if name == "vars(SGD)" else known), name


def test_what_is_known_to_differ_does(bare, intake):
    watched, _ = said(socket=intake.path)
    for (name, what), more in KNOWN.items():
        assert name not in bare[0]["names"] or more == set(watched["names"][name][what]) - set(bare[0]["names"][name][what]), name

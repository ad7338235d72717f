"""Trainings as people write them, each with the hooks and without: the same results, files, output and exit code."""

import importlib.util
from pathlib import Path

import pytest

from tests.support.service import ROOT
from tests.torch.checkpoints_test import content
from tests.torch.training import outcome, start

EXAMPLES = sorted(path.stem for path in (Path(__file__).parent / "examples").glob("*.py"))
NEEDS = {"skorch_grid": "skorch"}
ENDS = {"resume": 3}  # its exit code
STEPS = {"adversaries": 40, "by_hand": 40, "letters": 60, "mixed_precision": 24, "quickstart": 36, "ranks": 36, "resume": 40, "rewards": 100, "skorch_grid": 20, "transfer": 40}


def both(path, folder, socket, words=()):
    """(what was said, the files by name) without us and with us; at the same time, as most of it is the import of torch."""
    folders = [folder / each for each in ("bare", "with")]
    for each in folders:
        each.mkdir()
    processes = [start(path, *(words or [each]), socket=socket, hooks=each is folders[1]) for each in folders]
    return [(outcome(process), files(each)) for process, each in zip(processes, folders)]


def files(folder):
    return {str(path.relative_to(folder)): content(path) for path in folder.rglob("*") if path.is_file() and path.name != "meet"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_training_is_the_same_with_us(intake, tmp_path, example):
    needed = NEEDS.get(example)
    if needed and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not here: apt-get install python3-{needed}")
    path = Path(__file__).parent / "examples" / f"{example}.py"
    bare, with_us = both(path, tmp_path, intake.path)
    assert bare[0][0] == ENDS.get(example, 0) and bare[0][1], bare[0][2]
    assert with_us[0] == bare[0]
    assert with_us[1] == bare[1]
    steps = intake.drain_until(lambda i: i.ended, "end").steps
    assert len(steps) >= STEPS[example], len(steps)


def test_the_examples_of_the_project_are_the_same_with_us(intake, tmp_path):
    words = ("--seconds", "0.1", "--decode-ms", "1", "--width", "2")  # one epoch
    path = ROOT / "examples" / "torch_loader.py"
    bare, with_us = both(path, tmp_path, intake.path, words)
    assert with_us == bare and bare[0][0] == 0, bare[0][2]

"""A script that closes descriptors which it did not open, as daemons do: its own files get their numbers."""

import os

from tests.python.intake import MARKS, finish, training

CLOSES = MARKS + """
import os, time
mark(20)
highest = max(map(int, os.listdir("/proc/self/fd")))
os.closerange(3, 1024)  # as daemons do
names = [f"{sys.argv[1]}/{i}" for i in range(3, highest + 1)]
files = [open(name, "w") for name in names]
assert files[-1].fileno() >= highest
"""
GOES_ON = """
from stepscope import _marks
for _ in range(5):
    _marks._session.due = 0
    stepscope.info()
    mark(20)
    for file in files: print("line", file=file, flush=True)
"""
ENDS_THERE = "for file in files: file.close()\nprint({open(name).read() for name in names}, [s.reason for s in [_marks._session]])\n"


def closing(code, intake, folder):
    return training(f"import sys\nsys.argv[1:] = [{str(folder)!r}]\n{code}", intake.path)


def test_files_of_a_script_that_closed_our_descriptors_are_left_alone(intake, tmp_path):
    assert finish(closing(CLOSES + GOES_ON + ENDS_THERE, intake, tmp_path)) == "{'line\\n" + "line\\n" * 4 + "'} ['']\n"
    numbers = [step["step"] for step in intake.drain_until(lambda i: i.ended, "end").steps]
    assert numbers == sorted(set(numbers)) and numbers[-1] == 119


def test_files_of_a_script_are_not_closed_at_its_end(intake, tmp_path):
    """Files that the script leaves open are written when the interpreter ends, behind all of ours."""
    finish(closing(CLOSES + "for file in files: file.write('kept')", intake, tmp_path))
    assert {(tmp_path / name).read_text() for name in os.listdir(tmp_path) if name.isdigit()} == {"kept"}


def test_files_of_a_forked_child_that_closed_our_descriptors_are_left_alone(intake, tmp_path):
    child = "\nif os.fork(): os._exit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
    finish(closing(CLOSES + child + GOES_ON + ENDS_THERE, intake, tmp_path))
    assert {(tmp_path / name).read_text() for name in os.listdir(tmp_path) if name.isdigit()} == {"line\n" * 5}


def test_what_waits_for_the_agent_is_forgotten_when_the_script_closed_its_file(tmp_path):
    from stepscope._waiting import Waiting

    waiting, ours = Waiting(), os.open(tmp_path, os.O_RDONLY)
    waiting.add(b"a trace", ours)
    os.close(ours)
    with open(tmp_path / "file", "w") as file:
        assert file.fileno() == ours
        waiting.send(None)
        waiting.close()
        file.write("kept")
    assert (tmp_path / "file").read_text() == "kept"

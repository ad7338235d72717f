"""Processes that are not the usual one: other interpreters, forks that nobody sees, pools, other versions of Python."""

import contextlib
import os
import shutil
import subprocess
import sys

import pytest

from tests.python.intake import PACKAGE, finish, training


def interpreters():
    for name in ("_interpreters", "_xxsubinterpreters"):
        with contextlib.suppress(ImportError):
            return __import__(name).__name__
    return pytest.skip("this Python shows no sub-interpreters")


def test_a_sub_interpreter_is_refused_politely(intake, form):
    code = f"""
import {interpreters()} as interpreters, stepscope
inner = '''
import stepscope
with stepscope.annotate("inner"):
    pass
stepscope.step()
said = stepscope.info()
print(said["enabled"], said["reason"], flush=True)
'''
with stepscope.annotate("outer"):
    interpreters.run_string(interpreters.create(), inner)
"""
    said = finish(training(code, intake.path))
    intake.drain_until(lambda i: i.ended, "end")
    assert intake.annotations["outer"] == 1
    if form == "C extension":
        assert said == "False only the main interpreter of a process makes marks\n"
        assert intake.annotations == {"outer": 1}


def test_a_fork_that_python_does_not_see_leaves_the_parents_ring_alone(intake, form):
    if form == "pure Python":
        pytest.skip("Python code cannot see it")
    code = """
import ctypes, os, stepscope
with stepscope.annotate("parent"):
    pass
libc = ctypes.PyDLL(None)
if libc.fork() == 0:
    for _ in range(100):
        with stepscope.annotate("parent"):
            pass
        stepscope.step()
    os._exit(0)
os.wait()
with stepscope.annotate("parent"):
    pass
"""
    finish(training(code, intake.path))
    intake.drain_until(lambda i: i.ended, "end")
    assert intake.annotations == {"parent": 2} and intake.steps == []


def test_a_process_that_becomes_another_program_is_seen_as_both(intake, tmp_path):
    """os.exec, as launchers and scripts that restart themselves do it."""
    script = tmp_path / "restarts.py"
    script.write_text("""
import os, stepscope, sys
first = len(sys.argv) < 2
for _ in range(4 if first else 3):
    with stepscope.annotate("first" if first else "second"):
        pass
    stepscope.step()
if first:
    os.execv(sys.executable, [sys.executable, __file__, "again"])
""")
    finish(training(f"import runpy; runpy.run_path({str(script)!r})", intake.path))
    intake.drain_until(lambda i: i.ended and "second" in i.annotations, "the end of the second program")
    assert intake.annotations == {"first": 4, "second": 3} and len(intake.steps) == 5
    assert {started["facts"]["pid"] for started in intake.started} == {intake.facts()["pid"]}


@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
def test_processes_of_a_pool_mark_for_themselves(intake, tmp_path, way):
    (tmp_path / "pooled.py").write_text("""
import stepscope
def work(x):
    with stepscope.annotate("in the pool"):
        return x * x
""")
    code = f"""
import multiprocessing, pooled, stepscope
stepscope.step()
if __name__ == "__main__":
    with multiprocessing.get_context("{way}").Pool(2) as pool:
        print(sum(pool.map(pooled.work, range(100))))
        pool.close()
        pool.join()
"""
    assert finish(training(code, intake.path, PYTHONPATH=f"{tmp_path}{os.pathsep}{PACKAGE}")) == "328350\n"
    intake.drain_until(lambda i: i.ended, "end")
    assert intake.annotations == {"in the pool": 100}


def other_pythons():
    """The Pythons of other versions that are on the PATH."""
    names = [f"python3.{minor}" for minor in range(9, 16) if minor != sys.version_info[1]]
    found = [path for path in map(shutil.which, names) if path]
    return [path for path in found if subprocess.run([path, "-c", ""], capture_output=True).returncode == 0]


def test_the_same_extension_serves_other_versions(intake, form):
    pythons = other_pythons()
    if not pythons:
        pytest.skip("there is one Python here")
    code = """
import contextlib, stepscope
assert stepscope.info()["form"] == %r, stepscope.info()
@stepscope.annotate("decorated")
def work():
    return 1
for _ in stepscope.loader(range(1000)):
    with stepscope.annotate("work"), stepscope.phase("forward"):
        work()
    stepscope.annotation_end(stepscope.annotation_begin("token"))
    stepscope.step()
with contextlib.ExitStack() as stack:
    stack.enter_context(stepscope.annotate("stacked"))
""" % form
    for python in pythons:
        intake.annotations.clear()
        intake.ended.clear()
        finish(training(code, intake.path, python=python))
        intake.drain_until(lambda i: i.ended, "end")
        assert intake.annotations == {"work": 1000, "decorated": 1000, "token": 1000, "stacked": 1}, python


# A container has its own processes, network, /proc and /dev/shm.
CONTAINER = ("unshare", "--pid", "--fork", "--mount-proc", "--ipc", "--net", "--uts", "sh", "-c", 'mount -t tmpfs none /dev/shm && exec "$@"', "sh")


@pytest.mark.skipif(subprocess.run([*CONTAINER, "true"], capture_output=True).returncode != 0, reason="only root, outside of a chroot, can make a container")
def test_a_container_that_shares_only_the_socket(intake):
    """The kernel tells the agent which process it is, whatever number it has inside."""
    code = """
import os, stepscope
for _ in range(20):
    with stepscope.annotate("inside"):
        pass
    stepscope.step()
print(os.getpid(), stepscope.info()["connected"], flush=True)
input()
"""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "STEPSCOPE_SOCKET": str(intake.path)}
    pipe = subprocess.PIPE
    process = subprocess.Popen([*CONTAINER, sys.executable, "-c", code], env=environment, stdin=pipe, stdout=pipe, text=True)
    inner, connected = process.stdout.readline().split()
    intake.drain_until(lambda i: len(i.steps) == 19, "steps from inside")
    assert int(inner) < 10 and connected == "True" and intake.annotations == {"inside": 20}
    command = open(f"/proc/{intake.facts()['pid']}/cmdline").read()
    assert "stepscope.annotate" in command and intake.facts()["pid"] != int(inner)
    process.communicate("\n")
    intake.drain_until(lambda i: i.ended, "end")

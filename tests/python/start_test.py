"""How the hooks come into a process: by PYTHONPATH, without changing anything else. No torch is needed here."""

import os
import subprocess
import sys
import zipapp

import pytest

from tests.python.conftest import PACKAGE

START = PACKAGE / "stepscope" / "_start"
OURS = "import sys; print(sorted(name for name in sys.modules if 'stepscope' in name))"


def python(*words, path=(START,), env=(), **options):
    """(exit code, standard output, standard error) of a Python below `stepscope-agent run`.

    This tree's package goes before one that the interpreter has installed."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("STEPSCOPE", "PYTHON"))}
    variables |= {"PYTHONPATH": os.pathsep.join(map(str, (*path, PACKAGE))), "STEPSCOPE_JOB": "j", "STEPSCOPE_SOCKET": "/nobody", **dict(env)}
    done = subprocess.run([sys.executable, *map(str, words)], env=variables, capture_output=True, text=True, timeout=60, **options)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path):
    """A folder of the user's own, with a module that is called torch."""
    (tmp_path / "torch.py").write_text("__version__ = '0'\nprint('torch runs')\n")
    return tmp_path


def test_a_process_without_torch_loads_nothing_of_the_package():
    assert python("-c", OURS) == (0, "['_stepscope_imports', '_stepscope_start']\n", "")


def test_without_a_job_nothing_is_awaited():
    code = "import sys; print([each for each in sys.meta_path if 'stepscope' in each.__module__])"
    assert python("-c", code, env={"STEPSCOPE_JOB": ""}.items())[1] != "[]\n"
    variables = {name: value for name, value in os.environ.items() if name != "STEPSCOPE_JOB"}
    out = subprocess.run([sys.executable, "-c", code], env={**variables, "PYTHONPATH": str(START)}, capture_output=True, text=True)
    assert (out.stdout, out.stderr) == ("[]\n", "")
    assert python("-c", code, env=[("STEPSCOPE_HOOKS", "no")]) == (0, "[]\n", "")


def test_path_and_environment_are_as_they_were(folder):
    code = "import os, sys; print(os.environ['PYTHONPATH']); print(sys.path[1:])"
    with_us = python("-c", code, path=(START, folder))[1].splitlines()
    bare = python("-c", code, path=(folder,))[1].splitlines()
    assert with_us[0] == f"{START}:{folder}:{PACKAGE}" and with_us[1] == bare[1]


@pytest.mark.parametrize("text", ["print('mine')", "import os; os.environ['MINE'] = '1'", "raise OSError('broken')", "raise ImportError('x', name='y')"])
def test_the_users_sitecustomize_runs_as_without_us(folder, text):
    (folder / "sitecustomize.py").write_text(text)
    code = "import os, sys; print(os.environ.get('MINE'), sys.modules['sitecustomize'].__file__ if 'sitecustomize' in sys.modules else None)"
    with_us, bare = (python("-c", code, path=path) for path in ((START, folder), (folder,)))
    assert with_us[:2] == bare[:2] and with_us[2].splitlines()[-1:] == bare[2].splitlines()[-1:]


@pytest.mark.parametrize("packed", [True, False], ids=["torch in the archive", "torch beside it"])
def test_an_archive_of_a_program_has_the_hooks(folder, intake, packed):
    """A zipapp: Python runs the archive's __main__, and may import torch from it, too."""
    program = folder / "program"
    program.mkdir()
    (program / "__main__.py").write_text("import torch, stepscope; print(stepscope.info()['hooks'])")
    if packed:
        (folder / "torch.py").rename(program / "torch.py")
    zipapp.create_archive(program, folder / "train.pyz")
    exit_code, out, err = python(folder / "train.pyz", path=(START, folder), env=[("STEPSCOPE_SOCKET", str(intake.path))])
    assert (exit_code, err) == (0, "") and out.startswith("torch runs\ntorch 0: ")


def test_isolated_pythons_are_left_alone():
    assert python("-I", "-c", OURS) == (0, "[]\n", "")


def test_a_torch_that_is_none_does_no_harm(folder, intake):
    code = "import torch, sys, stepscope; print(stepscope.info()['hooks']); print(vars(torch.__loader__).keys() - {'name', 'path'})"
    exit_code, out, err = python("-c", code, path=(START, folder), env=[("STEPSCOPE_SOCKET", str(intake.path))])
    assert (exit_code, err) == (0, "") and out.startswith("torch runs\ntorch 0: ") and out.endswith("\nset()\n")
    assert "no data: " in out and intake.drain().started == []


def test_reasons_are_printed_for_who_asks(folder, intake):
    variables = [("STEPSCOPE_SOCKET", str(intake.path)), ("STEPSCOPE_DEBUG", "1")]
    assert "no forward: " in python("-c", "import torch", path=(START, folder), env=variables)[2]


def test_without_an_agent_the_hooks_say_so(folder):
    code = "import torch, stepscope; print(stepscope.info().get('hooks'))"
    assert python("-c", code, path=(START, folder), env=[("STEPSCOPE_SOCKET", "")]) == (
        0, "torch runs\nnone: no agent: STEPSCOPE_SOCKET is not set, and none serves this node\n", "")


def test_an_import_that_fails_fails_as_without_us(folder):
    (folder / "torch.py").write_text("raise RuntimeError('no such library')")
    code = "\n".join(["for _ in range(2):", "    try: import torch", "    except RuntimeError as fault: print(fault)"])
    assert python("-c", code, path=(START, folder)) == (0, "no such library\n" * 2, "")


@pytest.mark.parametrize("words", [("-m", "script"), ("script.py",), ("-c", "import script")])
def test_every_way_to_start_a_script_is_seen(folder, intake, words):
    (folder / "script.py").write_text("import torch, stepscope, sys\nprint(stepscope.info()['hooks'][:7])\nsys.exit(3)")
    code, out, err = python(*words, path=(START, folder), env=[("STEPSCOPE_SOCKET", str(intake.path))], cwd=folder)
    assert (code, out, err) == (3, "torch runs\ntorch 0\n", "")


def test_children_are_watched_as_well(folder, intake):
    code = "import subprocess, sys; print(subprocess.run([sys.executable, '-c', 'import torch, stepscope; print(stepscope.info()[\"hooks\"][:7])'], stdout=subprocess.PIPE, text=True).stdout)"
    assert "torch 0" in python("-c", code, path=(START, folder), env=[("STEPSCOPE_SOCKET", str(intake.path))])[1]


def user_site(path):
    """Whether this interpreter imports usercustomize: one of a virtual environment does not."""
    return python("-c", "import site; print(site.ENABLE_USER_SITE)", path=path)[1] == "True\n"


HOOKS = "import torch, stepscope; print(stepscope.info().get('hooks', 'none')[:7])"


def test_another_sitecustomize_in_front_does_not_keep_the_hooks_out(folder, intake):
    tool = folder / "tool"
    tool.mkdir()
    (tool / "sitecustomize.py").write_text("print('tool')")
    if not user_site((START,)):
        pytest.skip("this interpreter has no user site")
    env = [("STEPSCOPE_SOCKET", str(intake.path))]
    assert python("-c", HOOKS, path=(tool, START, folder), env=env) == (0, "tool\ntorch runs\ntorch 0\n", "")
    assert python("-s", "-c", HOOKS, path=(tool, START, folder), env=env)[1] == "tool\ntorch runs\nnone\n"


@pytest.mark.parametrize("text", ["print('mine')", "raise OSError('broken')", "raise ImportError('x', name='y')"])
@pytest.mark.parametrize("hidden", [False, True])
def test_the_users_usercustomize_runs_as_without_us(folder, text, hidden):
    tool = folder / "tool"
    tool.mkdir()
    if hidden:
        (tool / "sitecustomize.py").write_text("")
    (folder / "usercustomize.py").write_text(text)
    code = "import sys; print(sys.modules['usercustomize'].__file__ if 'usercustomize' in sys.modules else None, sys.path[1:])"
    with_us, bare = (python("-c", code, path=path) for path in ((tool, START, folder), (tool, folder)))
    assert with_us[:2] == bare[:2] and with_us[2].splitlines()[-1:] == bare[2].splitlines()[-1:]


@pytest.mark.parametrize("env, reason", [
    ([], "stepscope-agent run"), ([("STEPSCOPE_HOOKS", "no")], "STEPSCOPE_HOOKS=no"), ([("STEPSCOPE_SOCKET", "")], "no agent")])
def test_a_training_that_is_not_watched_knows_why(folder, intake, env, reason):
    code = "import torch, stepscope; print(stepscope.info()['connected'], stepscope.info()['reason'])"
    variables = [("STEPSCOPE_SOCKET", str(intake.path)), *env]
    _, out, err = python("-c", code, path=(folder,), env=variables)
    assert err == "" and out.splitlines()[-1].startswith("False ") and reason in out


def test_before_its_first_mark_and_after_its_end_a_session_says_that(intake):
    code = """
import stepscope, stepscope._marks
said = lambda: print(repr(stepscope.info()["reason"]))
said()
stepscope.step()
stepscope.step()
said()
stepscope._marks._session.bye()
said()
"""
    out = python("-c", code, path=(), env=[("STEPSCOPE_SOCKET", str(intake.path))])[1]
    assert out.splitlines() == ["'not connected yet: the first mark connects'", "''", "'this process has said that it ends'"]

"""The wheel: built by the distribution's setuptools and wheel, in a copy of the source, without a network."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "python"
PYTHON = "/usr/bin/python3"
MACHINE = os.uname().machine
SAY = "import stepscope; said = stepscope.info(); print(said['form'], said['form_reason'], sep='|')"


@pytest.fixture(autouse=True)
def form():
    """Both forms are in the wheel."""


def run(*words, cwd=None, **environment):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "STEPSCOPE", "LD_PRELOAD"))}
    done = subprocess.run([str(word) for word in words], cwd=cwd, env={**env, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def copied(folder):
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist"))
    return folder


def wheel_of(source, folder, **environment):
    run(PYTHON, "setup.py", "-q", "bdist_wheel", "-d", folder, cwd=source, **environment)
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    return wheel_of(copied(folder / "source"), folder / "dist")


@pytest.fixture(scope="module")
def extension(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        return archive.extract("stepscope/_native.abi3.so", folder)


def test_one_wheel_serves_all_versions(wheel):
    assert re.fullmatch(rf"stepscope-[\d.]+-cp39-abi3-linux_{MACHINE}\.whl", wheel.name)
    names = zipfile.ZipFile(wheel).namelist()
    assert {"stepscope-hooks.pth", "_stepscope_imports.py", "_stepscope_start.py", "stepscope/_hooks/__init__.py"} <= set(names)
    assert {"stepscope/py.typed", "stepscope/__init__.py", "stepscope/_pure.py"} <= set(names)
    assert "stepscope/analysis/__init__.py" in names
    assert not [name for name in names if name.endswith((".c", ".h"))]


def test_the_extension_needs_the_c_library_only(extension):
    needed = re.findall(r"NEEDED.*\[(.+)\]", run("readelf", "-d", extension))
    assert [name for name in needed if not name.startswith(("libc.so.6", "ld-linux"))] == []


@pytest.mark.skipif(MACHINE != "x86_64", reason="other machines begin with later versions")
def test_the_extension_runs_where_manylinux2014_does(extension):
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("readelf", "--dyn-syms", "--wide", extension))
    assert max((int(major), int(minor)) for major, minor in versions) <= (2, 17)


def test_the_extension_uses_only_what_every_python_keeps(extension):
    """It uses no name with an underscore in front but those that macros of the limited API expand to."""
    symbols = set(re.findall(r"UND (_?Py\w+)", run("readelf", "--dyn-syms", "--wide", extension)))
    macros = {"_PyObject_New", "_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_Py_Dealloc"}
    assert {name for name in symbols if name.startswith("_")} <= macros


def test_it_works_installed_in_a_bare_environment(wheel, tmp_path):
    run(PYTHON, "-m", "venv", tmp_path / "venv")
    run(tmp_path / "venv/bin/pip", "install", "-q", "--no-index", "--disable-pip-version-check", wheel)
    assert run(tmp_path / "venv/bin/python", "-c", SAY, cwd=tmp_path) == "C extension|\n"
    awaits = "import sys; print('_stepscope_start' in sys.modules, len(sys.meta_path))"
    _, finders = run(tmp_path / "venv/bin/python", "-c", awaits, cwd=tmp_path).split()
    assert run(tmp_path / "venv/bin/python", "-c", awaits, cwd=tmp_path, STEPSCOPE_JOB="j") == f"True {int(finders) + 1}\n"


def test_pip_builds_it_from_the_folder(tmp_path):
    """pip builds with the setuptools of the distribution, which an environment that sees its packages has."""
    run(PYTHON, "-m", "venv", "--system-site-packages", tmp_path / "venv")
    options = ("-q", "--no-index", "--no-build-isolation", "--disable-pip-version-check")
    run(tmp_path / "venv/bin/pip", "install", *options, copied(tmp_path / "source"))
    assert run(tmp_path / "venv/bin/python", "-c", SAY, cwd=tmp_path) == "C extension|\n"


def test_the_source_archive_builds_the_same(wheel, tmp_path):
    run(PYTHON, "setup.py", "-q", "sdist", "-d", tmp_path, cwd=copied(tmp_path / "source"))
    (archive,) = tmp_path.glob("*.tar.gz")
    run("tar", "xf", archive, "-C", tmp_path)
    again = wheel_of(tmp_path / archive.name.removesuffix(".tar.gz"), tmp_path / "dist")
    assert again.name == wheel.name
    assert sorted(zipfile.ZipFile(again).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())


def test_without_a_compiler_it_is_pure_python(tmp_path):
    made = wheel_of(copied(tmp_path / "source"), tmp_path / "dist", CC="no-such-compiler")
    with zipfile.ZipFile(made) as archive:
        archive.extractall(tmp_path / "installed")
    said = run(sys.executable, "-c", SAY, PYTHONPATH=str(tmp_path / "installed"), cwd=tmp_path)
    assert said == "pure Python|the extension was not built\n"

"""An unmodified training in an environment into which the package was installed by pip: the .pth is all there is."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.support.service import ROOT
from tests.torch.training import CNN, outcome


pytest.importorskip("ensurepip", reason="an environment cannot be made: apt-get install python3-venv")


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The Python of an environment that has our package and sees the system's torch."""
    folder = tmp_path_factory.mktemp("installed")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "STEPSCOPE", "LD_PRELOAD"))}
    shutil.copytree(ROOT / "python", folder / "source", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist"))
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([base, "-m", "venv", "--system-site-packages", str(folder / "venv")], check=True, env=variables)
    options = ["-q", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run([str(folder / "venv/bin/pip"), "install", *options, str(folder / "source")], check=True, env=variables)
    return folder / "venv/bin/python"


def test_it_is_seen_where_a_job_is_named(intake, python, tmp_path):
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "STEPSCOPE"))}
    variables |= {"OMP_NUM_THREADS": "1", "STEPSCOPE_SOCKET": str(intake.path)}
    pipe = subprocess.PIPE

    def run(**more):
        words = [str(python), "-c", CNN.replace("workers=1", "workers=0").replace("steps=60", "steps=20")]
        return outcome(subprocess.Popen(words, env={**variables, **more}, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True))

    bare = run()
    assert bare[0] == 0 and bare[2] == "" and intake.drain().started == []
    assert run(STEPSCOPE_JOB="my-run") == bare
    intake.drain_until(lambda i: i.ended, "end")
    assert len(intake.steps) == 20 and intake.facts()["job"] == "my-run" and intake.facts()["loader_batch_size"] == "8"

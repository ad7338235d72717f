"""The types of the package, for those who check theirs against it."""

import shutil
import subprocess
from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parents[2] / "python"


@pytest.fixture(autouse=True)
def form():
    """The types are those of one form; the other one keeps to them at run time."""


def mypy(*words, **environment):
    assert shutil.which("mypy"), "mypy is missing: scripts/setup --tests"
    command = [shutil.which("mypy"), "--strict", "--python-version", "3.9", *words]
    done = subprocess.run(command, cwd=PYTHON, env={"PATH": "/usr/bin:/bin", "MYPYPATH": str(PYTHON), **environment}, capture_output=True, text=True)
    return done.stdout + done.stderr


def test_the_package_is_typed_strictly(tmp_path):
    package = PYTHON / "stepscope"
    files = sorted(str(path.relative_to(PYTHON)) for path in [*package.rglob("*.py"), *PYTHON.glob("_*.py")])
    assert len(files) > 30
    assert "Success" in mypy("--cache-dir", str(tmp_path), *files)


def test_a_script_sees_the_types_of_what_it_uses(tmp_path):
    (tmp_path / "script.py").write_text(
        "import stepscope\n"
        "@stepscope.annotate('work')\n"
        "def work(x: int) -> str:\n"
        "    return str(x)\n"
        "for batch in stepscope.loader([1, 2]):\n"
        "    with stepscope.phase('forward'):\n"
        "        reveal_type(batch)\n"
        "reveal_type(work)\n"
        "stepscope.step(number='one')\n"
    )
    said = mypy("--cache-dir", str(tmp_path), str(tmp_path / "script.py"))
    assert 'Revealed type is "builtins.int"' in said and 'Revealed type is "def (x: builtins.int) -> builtins.str"' in said
    assert 'has incompatible type "str"' in said and "Found 1 error" in said

"""Which test programs scripts/test runs: a build folder may be older than the tree."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
from building import Failed  # noqa: E402
from counts import Counts  # noqa: E402
from fuzzing import TARGETS  # noqa: E402
import scratch  # noqa: E402
import suites as suites_module  # noqa: E402
from scratch import in_memory  # noqa: E402
from suites import Suites, listed_programs  # noqa: E402


@pytest.fixture
def build(tmp_path):
    """A build folder whose tests have the programs that the list names, and one of an older tree."""
    tests = tmp_path / "tests"
    tests.mkdir()
    for name in ("test_rules", "test_core_base", "test_old"):
        (tests / name).write_text("#!/bin/sh\n")
        (tests / name).chmod(0o755)
    (tests / "programs.txt").write_text("test_rules\ntest_core_base\n")
    return tmp_path


def test_only_programs_that_the_tree_has_are_run(build):
    suites, ran = Suites("dev", None, build, 0), []
    suites.programs = build
    suites.gtest = lambda program: ran.append(program.name) or Counts(passed=1)
    assert suites.cpp().passed == 2
    assert sorted(ran) == ["test_core_base", "test_rules"]


def test_a_program_that_was_not_built_is_a_fault_and_not_left_out(build):
    (build / "tests/test_rules").unlink()
    with pytest.raises(Failed, match="not built: test_rules"):
        listed_programs(build / "tests")


def test_a_folder_that_was_configured_by_an_older_tree_alone_is_a_fault(build):
    (build / "tests/programs.txt").unlink()
    with pytest.raises(Failed, match="programs.txt"):
        listed_programs(build / "tests")


def test_every_target_of_fuzzing_has_a_source():
    sources = {path.stem for path in (ROOT / "tests/fuzz").glob("*.cpp")}
    assert TARGETS and set(TARGETS) <= sources


def test_the_page_is_built_once_for_all_suites_that_read_it(tmp_path, monkeypatch):
    suites, ran = Suites("dev", None, tmp_path, 0), []
    monkeypatch.setattr(suites_module, "npm_packages", lambda children, folder, log, say: None)
    monkeypatch.setattr(suites_module, "run", lambda children, command, *rest: ran.append(command[3:]))
    suites.run_program = lambda command, name: ran.append(command[2:]) or (0, tmp_path / name)
    suites.checked = lambda name, *rest: Counts(passed=1)
    assert (suites.web().passed, suites.browser().passed) == (1, 1)
    tests = [[folder, "test", "--silent", "--ignore-scripts"] for folder in ("web", "tests/browser")]
    assert ran == [["run", "build"], *tests]


@pytest.fixture
def memory(tmp_path, monkeypatch):
    """A folder in place of /dev/shm, that has room."""
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.delenv("STEPSCOPE_TORCH_PYTHON", raising=False)
    monkeypatch.setattr(scratch, "LEAST_FREE", 0)
    return tmp_path


def test_temporary_files_lie_in_memory_while_tests_run(memory):
    with in_memory(memory) as variables:
        folder = Path(variables["TMPDIR"])
        assert folder.parent == memory and folder.stat().st_mode & 0o7777 == 0o1777
        (folder / "database").mkdir()
    assert list(memory.iterdir()) == []


def test_what_a_killed_run_left_goes_and_what_another_one_uses_stays(memory):
    for name in ("st-killed", "st-of-others"):
        (memory / name / "database").mkdir(parents=True)
    (memory / "st-killed" / scratch.MARK).touch()
    with in_memory(memory) as other, in_memory(memory) as ours:
        assert sorted(memory.iterdir()) == sorted(map(Path, (other["TMPDIR"], ours["TMPDIR"], memory / "st-of-others")))


@pytest.mark.parametrize("name", ["TMPDIR", "STEPSCOPE_TORCH_PYTHON"])
def test_another_place_that_somebody_names_is_taken(memory, monkeypatch, name):
    monkeypatch.setenv(name, "/var/tmp")
    with in_memory(memory) as variables:
        assert variables == {} and list(memory.iterdir()) == []


def test_without_room_in_memory_files_lie_where_they_always_did(memory, monkeypatch):
    monkeypatch.setattr(scratch, "LEAST_FREE", 1 << 60)
    for folder in (memory, memory / "nothing"):
        with in_memory(folder) as variables:
            assert variables == {}

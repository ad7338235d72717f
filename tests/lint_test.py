"""Rules that every file of the tree must keep, and a compiler does not see."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
IGNORED = {"build", "node_modules", ".venv", ".git", ".cache", "dist", "__pycache__", "out"}


def files(*suffixes):
    """The source files of the tree, with or without git."""
    found, waiting = [], [ROOT]
    while waiting:
        for path in waiting.pop().iterdir():
            if path.is_symlink() or path.name in IGNORED:
                continue
            if path.is_dir():
                waiting.append(path)
            elif path.suffix in suffixes:
                found.append(path)
    return sorted(found)


def run(*command):
    return subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def matches(paths, pattern):
    """file:line: text of every line that the pattern is found in."""
    found = []
    for path in paths:
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if re.search(pattern, line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    return found


def programs(folder="."):
    """Executable scripts, by their first line."""
    return [path for path in sorted((ROOT / folder).iterdir()) if path.is_file() and path.read_bytes()[:19] == b"#!/usr/bin/env bash"]


def test_cpp_is_laid_out_by_clang_format():
    assert shutil.which("clang-format"), "clang-format is missing: scripts/setup --tests"
    if " 14." not in run("clang-format", "--version").stdout:
        pytest.skip("clang-format 14 decides: other versions lay some lines out differently")
    out = run("clang-format", "--dry-run", *files(".h", ".c", ".cpp"))
    changed = sorted(set(re.findall(rf"^{re.escape(str(ROOT))}/([^:\n]+):\d+", out.stderr, re.MULTILINE)))
    assert (out.returncode, changed) == (0, []), "run scripts/lint --fix"


# The one place of threads that nobody can join in time: some calls into the system cannot be interrupted.
LEFT_BEHIND = ROOT / "core/base/detached_thread.cpp"


@pytest.mark.parametrize("pattern", [r"^(?!\s*//).*\bthrow\b", r"\.detach\(\)", r"\bTODO\b(?! #\d)", r"#define\b"])
def test_cpp_does_without(pattern):
    paths = [path for path in files(".h", ".c", ".cpp") if "tests" not in path.relative_to(ROOT).parts]
    if "detach" in pattern:
        paths.remove(LEFT_BEHIND)
    assert matches(paths, pattern) == []


def test_headers_say_pragma_once():
    assert [str(path) for path in files(".h") if "#pragma once" not in path.read_text()] == []


def test_migrations_are_numbered_without_a_gap():
    numbers = [int(path.name[:4]) for path in sorted((ROOT / "migrations").glob("*.sql"))]
    assert numbers == list(range(1, len(numbers) + 1)) and numbers


def test_sql_is_lower_case_and_indented_by_spaces():
    words = r"^(?!\s*--).*\b(SELECT|INSERT|CREATE|TABLE|PRIMARY|REFERENCES|NOT NULL|INDEX|UPDATE|DELETE)\b"
    assert matches(files(".sql"), words) == []
    assert matches(files(".sql"), r"\t|\s$") == []


@pytest.mark.parametrize("path", programs("scripts") + programs(".ci"), ids=lambda path: path.name)
def test_bash_scripts_parse_and_stop_at_faults(path):
    assert run("bash", "-n", path).stderr == ""
    assert "set -euo pipefail" in path.read_text() or path.read_text().count("\n") < 5
    assert path.stat().st_mode & 0o111, f"{path.name} is not executable"


def test_python_compiles():
    paths = files(".py")
    assert len(paths) > 10
    for path in paths:
        compile(path.read_text(), str(path), "exec")


PACKAGE = ROOT / "python" / "stepscope"
ANALYSIS = PACKAGE / "analysis"


def imports(paths):
    """Each module that the files import: relative ones with their dots."""
    return {word for path in paths for word in re.findall(r"^\s*(?:import|from) ([\w.]+)", path.read_text(), re.MULTILINE)}


def test_the_marks_know_only_the_standard_library_and_not_the_analysis():
    found = imports(path for path in PACKAGE.rglob("*.py") if ANALYSIS not in path.parents)
    absolute = {word.split(".")[0] for word in found if not word.startswith(".")}
    assert absolute <= {*sys.stdlib_module_names, "stepscope", "_stepscope_imports", "_stepscope_start", "sitecustomize"}
    assert not [word for word in found if "analysis" in word]


def test_the_analysis_knows_pandas_and_nothing_of_the_marks():
    found = imports(ANALYSIS.rglob("*.py")) - {"stepscope.analysis"}
    absolute = {word.split(".")[0] for word in found if not word.startswith(".")}
    assert absolute <= {*sys.stdlib_module_names, "pandas", "numpy"}
    assert not [word for word in found if word.startswith("..")]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not here")
def test_systemd_units_are_valid(tmp_path):
    # The programs are not installed here: the copies name one that is.
    units = sorted((ROOT / "docker").rglob("*.service"))
    assert units
    for unit in units:
        text = re.sub(r"/usr/(?:local/)?bin/stepscope-\w+", "/bin/true", unit.read_text())
        (tmp_path / unit.name).write_text(text)
    out = run("systemd-analyze", "verify", "--man=no", *sorted(tmp_path.iterdir()))
    assert [line for line in out.stderr.splitlines() if str(tmp_path) in line or "stepscope" in line] == []


def test_links_of_the_pages_lead_somewhere():
    broken = []
    for page in files(".md"):
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
            if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def linked_pages(page):
    """The pages of this repository that `page` links to."""
    targets = re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", page.read_text())
    return {(page.parent / target).resolve() for target in targets}


def test_every_page_of_docs_is_reachable_from_its_map():
    seen, waiting = set(), [ROOT / "docs/README.md"]
    while waiting:
        page = waiting.pop()
        if page not in seen and page.exists():
            seen.add(page)
            waiting += linked_pages(page)
    assert [str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").rglob("*.md")) if page not in seen] == []


def test_every_page_stands_in_the_map_of_its_folder():
    missing = []
    for folder in ("docs", "docs/decisions", "docs/rules"):
        index = ROOT / folder / "README.md"
        missing += sorted(str(page.relative_to(ROOT)) for page in {*index.parent.glob("*.md")} - linked_pages(index) - {index})
    assert missing == []


def test_every_room_stands_in_the_architecture():
    page = (ROOT / "docs/architecture.md").read_text()
    rooms = {str(path.parent.relative_to(ROOT)) for path in files(".h", ".cpp") if path.relative_to(ROOT).parts[0] in ("core", "rules", "agent", "server")}
    assert [room for room in sorted(rooms) if room not in page] == []


def test_programs_that_the_pages_name_are_there():
    missing = []
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for name in re.findall(r"(?<![\w/.-])(?:bench/[\w/]+\.py|examples/\w+\.py|scripts/\w+(?:\.py)?)\b", page.read_text()):
            if not (ROOT / name).exists():
                missing.append(f"{page.relative_to(ROOT)}: {name}")
    assert missing == []

"""Rules that every file of the tree must keep, and a compiler does not see."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.comments import SUFFIXES, comments

ROOT = Path(__file__).resolve().parents[1]
IGNORED = {"build", "node_modules", ".venv", ".git", ".cache", "dist", "__pycache__", "out"}


def files(*suffixes, root=ROOT):
    """The source files of a tree, with or without git."""
    found, waiting = [], [root]
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


# An opening that hides its noun: a reader who begins there cannot know of what.
HIDES_ITS_NOUN = re.compile(r"(?:of (?:those|that|what|the|an?)|that of|those of|as (?:that|it)|the same|what stands)\b", re.IGNORECASE)
PAGE = re.compile(r"[\w./*-]*[\w*]\.md\b|\bdecisions/\d{4}\b(?!-)")


def opening_faults(root):
    for path in files(*SUFFIXES, root=root):
        for comment in comments(path):
            if HIDES_ITS_NOUN.match(comment.text):
                yield f"{path.relative_to(root)}:{comment.line}: names no noun: {comment.text.splitlines()[0][:60]}"


def page_faults(root):
    """A page may be named by its path from the root, or as it is linked within docs."""
    for path in files(*SUFFIXES, root=root):
        for comment in comments(path):
            for page in PAGE.findall(comment.text):
                name = page.lstrip("/") if page.endswith(".md") else f"{page}-*.md"
                if not any(any((root / folder).glob(name)) for folder in (".", "docs", "docs/decisions", "docs/rules", "python")):
                    yield f"{path.relative_to(root)}:{comment.line}: there is no page {page}"


@pytest.mark.parametrize("check", [opening_faults, page_faults], ids=lambda check: check.__name__)
def test_comments_tell_a_stranger(check):
    assert list(check(ROOT)) == []


# A file, and the fault that is found in it.
REFUSED_COMMENTS = [
    (opening_faults, "a.h", "\n// That of the agent, which is another one.\n", "a.h:2: names no noun: That of the agent, which is another one."),
    (opening_faults, "a.cpp", "int rest;  // the same\n", "a.cpp:1: names no noun: the same"),
    (opening_faults, "a.cpp", "int at;  // a time\nint to;  // of a subject\n", "a.cpp:2: names no noun: of a subject"),
    (opening_faults, "a.cpp", "f('\"');  // Those of the job\n", "a.cpp:1: names no noun: Those of the job"),
    (opening_faults, "a.cpp", "int most = 10'000;  // As that of a node, in a 'window'\n", "a.cpp:1: names no noun: As that of a node, in a 'window'"),
    (opening_faults, "a.c", "/**\n * Of what a ring holds.\n */\n", "a.c:1: names no noun: Of what a ring holds."),
    (opening_faults, "a.py", 'def f():\n    """Of those that run."""\n', "a.py:2: names no noun: Of those that run."),
    (opening_faults, "a.py", "x = 1  # of the job\n", "a.py:1: names no noun: of the job"),
    (opening_faults, "a.ts", "/** The same for a rank. */\n", "a.ts:1: names no noun: The same for a rank."),
    (opening_faults, "a.tsx", "const a = `//`; // What stands here\n", "a.tsx:1: names no noun: What stands here"),
    (opening_faults, "a.mjs", "f('a'); // As it was\n", "a.mjs:1: names no noun: As it was"),
    (opening_faults, "a.sh", "#!/bin/sh\ntrue # Of that folder\n", "a.sh:2: names no noun: Of that folder"),
    (page_faults, "a.h", "// A line goes as a whole\n// (trust.md 3.1).\n", "a.h:1: there is no page trust.md"),
    (page_faults, "a.py", '"""See docs/none.md."""\n', "a.py:1: there is no page docs/none.md"),
    (page_faults, "a.cpp", "int a;  // docs/decisions/0099\n", "a.cpp:1: there is no page decisions/0099"),
]


@pytest.mark.parametrize("check, name, text, sentence", REFUSED_COMMENTS, ids=[sentence for *_, sentence in REFUSED_COMMENTS])
def test_a_comment_that_tells_no_stranger_is_named(tmp_path, check, name, text, sentence):
    (tmp_path / name).write_text(text)
    assert list(check(tmp_path)) == [sentence]


def test_comments_that_name_their_noun_and_pages_that_are_there_are_good(tmp_path):
    (tmp_path / "docs/decisions").mkdir(parents=True)
    for page in ("README.md", "docs/wire.md", "docs/decisions/0041-silence.md"):
        (tmp_path / page).write_text("")
    (tmp_path / "a.h").write_text("// The agent's session, and\n// of those the newest: see docs/wire.md, wire.md, docs/decisions/0041 and README.md.\n")
    (tmp_path / "b.cpp").write_text('f("http://of the", R"(\n// The same\n)", "x // the same", "none.md");  // Often the same.\n')
    (tmp_path / "c.py").write_text('x = "# of the job"\ny = """The same"""\n# A kind\n# of a job.\n')
    (tmp_path / "d.sql").write_text("-- The same, see trust.md\n")
    assert [*opening_faults(tmp_path), *page_faults(tmp_path)] == []

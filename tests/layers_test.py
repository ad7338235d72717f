"""The law of layers: who may include whom, which file knows which library, how long a file may be.

docs/architecture.md says what each folder is for. A layer is a folder; a large one has rooms, which are folders in it and
keep an order, too. What a test finds is a sentence that
names the file and the line.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SKIPPED = {"build", "node_modules", ".venv", ".git", ".cache", "dist", "__pycache__", "out"}
PLACES = ("core", "rules", "agent", "server")
MOST_LINES = 300
MOST_FILES = 40
CODE = {".h", ".cpp", ".c", ".py", ".ts", ".tsx", ".mjs"}

CORE = ("core/base", "core/model", "core/wire")
RULES = ("rules/engine", "rules/stats", "rules/signals", "rules/ranks", "rules/diagnosis", "rules/catalog")
STORE_BASE = (*CORE, "server/store/postgres")
STORE_PARTS = (*STORE_BASE, "server/store/webhooks", "server/store/frames")
STORE_JOBS = (*STORE_PARTS, "server/store/jobs")
STORE_DATA = (*STORE_JOBS, "server/store/rules", "server/store/ticks")
STORE = (
    *STORE_DATA, "server/store/schema", "server/store/access", "server/store/rollups", "server/store/steps", "server/store/annotations",
    "server/store/traces", "server/store/retention", "server/store/fleet",
)
COLLECT = (*CORE, "agent/collect")
FRAMES = (*COLLECT, "agent/host", "agent/gpu", "agent/sample", "agent/marks", "agent/spool", "agent/frames")
APP = (*FRAMES, "core/http", "agent/send", "agent/traces", "agent/launch", "agent/top")
REPORT = ("server/report/text", "server/report/measure", "server/report/picture", "server/report/page", "server/report/fleet")
EDGE = ("server/edge/http", "server/edge")
# What answers are made of.
SERVICE = (
    *STORE, *RULES, *REPORT, "core/trace", "server/trace", "server/trace/replay", "server/trace/answers", "server/trace/compare", "server/postgres", *EDGE, "server/access", "server/front", "server/ingest/check", "server/ingest", "server/compact", "server/evaluate",
    "server/alert",
)
API = tuple(f"server/api/{room}" for room in ("http", "charts", "rules", "jobs", "steps", "windows", "webhooks", "access", "ingest", "service"))
# Layer -> the layers it may include. A folder that is not here has no place yet.
LAYERS = {
    "core/base": (),
    "core/http": ("core/base",),
    "core/model": ("core/base",),
    "core/wire": ("core/base", "core/model"),
    "core/trace": CORE,
    "rules/engine": CORE,
    "rules/stats": (*CORE, "rules/engine"),
    "rules/signals": (*CORE, "rules/engine", "rules/stats"),
    "rules/diagnosis": (*CORE, "rules/engine", "rules/stats", "rules/signals"),
    "rules/ranks": (*CORE, "rules/engine", "rules/stats", "rules/signals"),
    "rules/catalog": (*CORE, "rules/engine", "rules/stats", "rules/signals", "rules/ranks", "rules/diagnosis"),
    "agent/collect": CORE,
    "agent/host": COLLECT,
    "agent/gpu": COLLECT,
    "agent/sample": (*COLLECT, "agent/host", "agent/gpu"),
    "agent/marks": CORE,
    "agent/spool": CORE,
    "agent/frames": FRAMES,
    "agent/send": (*CORE, "core/http", "agent/spool"),
    "agent/traces": (*CORE, "core/http", "agent/marks", "agent/spool", "agent/send"),
    "agent/launch": FRAMES,
    "agent/top": (*COLLECT, "agent/marks"),
    "agent/app/options": APP,
    "agent/app/job": (*APP, "agent/app/options"),
    "agent/app/commands": (*APP, "agent/app/options", "agent/app/job"),
    "server/edge/http": ("core/base",),
    "server/edge": ("core/base", "server/edge/http"),
    "server/store/postgres": CORE,
    "server/store/schema": STORE_BASE,
    "server/store/access": STORE_BASE,
    "server/store/webhooks": STORE_BASE,
    "server/store/frames": STORE_BASE,
    "server/store/jobs": STORE_PARTS,
    "server/store/rules": STORE_JOBS,
    "server/store/ticks": STORE_JOBS,
    "server/store/rollups": STORE_DATA,
    "server/store/steps": STORE_DATA,
    "server/store/annotations": STORE_DATA,
    "server/store/traces": STORE_DATA,
    "server/store/fleet": STORE_DATA,
    "server/store/retention": STORE_DATA,
    "server/postgres": STORE,
    "server/trace": (*CORE, "core/trace"),
    "server/trace/replay": (*CORE, "core/trace", "server/trace"),
    "server/trace/answers": (*CORE, "core/trace", "server/trace", "server/trace/replay"),
    "server/trace/compare": (*CORE, "core/trace", "server/trace"),
    "server/access": STORE,
    "server/front": (*STORE, *EDGE, "server/access"),
    "server/ingest/check": STORE,
    "server/ingest": (*STORE, "server/ingest/check"),
    "server/compact": STORE,
    "server/evaluate": (*STORE, *RULES),
    "server/report/text": (*STORE, *RULES),
    "server/report/measure": (*STORE, *RULES, "server/report/text"),
    "server/report/picture": (*STORE, *RULES, "server/report/text", "server/report/measure"),
    "server/report/page": (*STORE, *RULES, "server/report/text", "server/report/measure", "server/report/picture"),
    "server/report/fleet": (*STORE, *RULES),
    "server/alert": (*STORE, "core/http"),
    "server/api/http": SERVICE,
    "server/api/charts": (*SERVICE, "server/api/http"),
    "server/api/rules": (*SERVICE, "server/api/http"),
    "server/api/jobs": (*SERVICE, "server/api/http", "server/api/charts", "server/api/rules"),
    "server/api/steps": (*SERVICE, "server/api/http"),
    "server/api/windows": (*SERVICE, "server/api/http"),
    "server/api/webhooks": (*SERVICE, "server/api/http"),
    "server/api/access": (*SERVICE, "server/api/http"),
    "server/api/ingest": (*SERVICE, "server/api/http"),
    "server/api/service": (*SERVICE, "server/api/http"),
    "server/app": (*SERVICE, *API, "core/http"),
    "server/app/commands": (*SERVICE, *API, "core/http", "server/app"),
}

# Library -> how its headers begin, and the layers in which ONE file may include it.
LIBRARIES = {
    "cpp-httplib": (r"httplib\.h", ()),  # docs/decisions/0051-cpp-httplib.md
    "nlohmann-json": (r"nlohmann/", ("core/base",)),
    "spdlog": (r"spdlog/", ("core/base",)),
    "fmt": (r"fmt/", ("core/base",)),
    "libpq": (r"(libpq-fe\.h|postgresql/)", ("server/store/postgres",)),
    "zstd": (r"zstd", ("core/wire", "core/trace")),
    "zlib": (r"zlib\.h", ("core/trace", "server/edge/http", "server/front")),
}
# OpenSSL is both a TLS library and a set of single functions (hash, signature, seal), so several files know it.
MANY_FILES = {"OpenSSL": (r"openssl/", ("core/http", "core/wire", "server/edge", "server/store/schema", "server/access", "server/alert", "server/app/commands"))}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(path):
    """The layer of a path such as core/base/text.h: the longest folder in the table, else its own folder."""
    folder = str(Path(path).parent)
    while folder not in LAYERS and "/" in folder:
        folder = str(Path(folder).parent)
    return folder if folder in LAYERS else str(Path(path).parent)


def sources(root):
    return sorted(path for place in PLACES for path in (root / place).rglob("*") if path.suffix in (".h", ".cpp"))


def includes(root):
    """(file, line, whether it is one of ours, header) of every include."""
    for path in sources(root):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if found := INCLUDE.match(line):
                yield str(path.relative_to(root)), number, found[1] == '"', found[2]


def layer_faults(root):
    for file, line, ours, header in includes(root):
        layer, other = layer_of(file), layer_of(header)
        if layer not in LAYERS:
            yield f"{file}: the folder is not in the table of layers"
        elif ours and not (root / header).is_file():
            yield f"{file}:{line}: there is no {header} (write the path from the root)"
        elif ours and other != layer and other not in LAYERS[layer]:
            yield f"{file}:{line}: {layer} must not include {other} ({header})"


def library_faults(root):
    users = {}
    for file, line, ours, header in includes(root):
        for library, (beginning, layers) in {**LIBRARIES, **MANY_FILES}.items():
            if ours or not re.match(beginning, header):
                continue
            if layer_of(file) not in layers:
                yield f"{file}:{line}: {layer_of(file)} must not include {library} ({header})"
            users.setdefault((layer_of(file), library), set()).add(file)
    for (layer, library), files in sorted(users.items()):
        if library in LIBRARIES and len(files) > 1:
            yield f"{library} is included by more than one file of {layer}: {', '.join(sorted(files))}"


def cycle(edges):
    """A way of folders that ends where it began; empty when there is none."""
    done = set()

    def walk(node, way):
        if node in way:
            return [*way[way.index(node):], node]
        if node in done:
            return []
        for following in sorted(edges.get(node, ())):
            if found := walk(following, [*way, node]):
                return found
        done.add(node)
        return []

    return next((found for node in sorted(edges) if (found := walk(node, []))), [])


def cycle_faults(root):
    edges = {}
    for file, _, ours, header in includes(root):
        one, other = str(Path(file).parent), str(Path(header).parent)
        if ours and one != other:
            edges.setdefault(one, set()).add(other)
    if way := cycle(edges):
        yield "folders include each other: " + " -> ".join(way)


# At the left edge, so at the level of the namespace: a type within a type has its own name.
TYPE = re.compile(r"^(?:struct|class|enum class|enum|union) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: : [^;]*)?\s*\{")


def type_definitions(root):
    """Type -> the files that define it."""
    found = {}
    for path in sources(root):
        for line in path.read_text().splitlines():
            if match := TYPE.match(line):
                found.setdefault(match[1], []).append(str(path.relative_to(root)))
    return found


def definition_faults(root):
    """All headers share one namespace. With two types of one name in a program the linker keeps the functions of one of
    them, whose destructor then runs on the other; and a reader has to guess. Only two sources may have the same name."""
    for name, files in sorted(type_definitions(root).items()):
        if len(files) > 1 and any(file.endswith(".h") for file in files):
            yield f"{name} is defined by {' and '.join(files)}: give one of them another name"


def length_faults(root):
    for path in [*sources(root), *sorted((root / "python").rglob("*.[ch]")), *sorted((root / "python").rglob("*.py"))]:
        lines = len(path.read_text().splitlines())
        if lines > MOST_LINES:
            yield f"{path.relative_to(root)}: {lines} lines, more than {MOST_LINES}; split it"


def folder_faults(root):
    """A reader can keep no more in mind of one folder."""
    files = Counter(path.parent for path in root.rglob("*") if path.suffix in CODE and not SKIPPED & set(path.relative_to(root).parts))
    for folder, count in sorted(files.items()):
        if count > MOST_FILES:
            yield f"{folder.relative_to(root)}: {count} files, more than {MOST_FILES}; which rooms are in it?"


CHECKS = (layer_faults, library_faults, cycle_faults, definition_faults, length_faults, folder_faults)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_tree_keeps_the_law(check):
    assert list(check(ROOT)) == []


def test_every_layer_of_the_table_allows_only_layers_of_the_table():
    assert [other for allowed in LAYERS.values() for other in allowed if other not in LAYERS] == []


# Files of a tree, and the fault that the law finds in it.
BROKEN = [
    (layer_faults, {"core/base/a.h": '#include "rules/stats/b.h"\n', "rules/stats/b.h": ""},
     "core/base/a.h:1: core/base must not include rules/stats (rules/stats/b.h)"),
    (layer_faults, {"agent/app/job/a.cpp": '\n#include "server/store/jobs/b.h"\n', "server/store/jobs/b.h": ""},
     "agent/app/job/a.cpp:2: agent/app/job must not include server/store/jobs (server/store/jobs/b.h)"),
    (layer_faults, {"server/ingest/a.cpp": '#include "server/alert/b.h"\n', "server/alert/b.h": ""},
     "server/ingest/a.cpp:1: server/ingest must not include server/alert (server/alert/b.h)"),
    (layer_faults, {"rules/stats/a.cpp": '#include "core/base/none.h"\n'},
     "rules/stats/a.cpp:1: there is no core/base/none.h (write the path from the root)"),
    (layer_faults, {"server/api/a.cpp": "#include <vector>\n"},
     "server/api/a.cpp: the folder is not in the table of layers"),
    (layer_faults, {"server/magic/a.cpp": "#include <vector>\n"},
     "server/magic/a.cpp: the folder is not in the table of layers"),
    (library_faults, {"server/api/jobs/a.cpp": "#include <httplib.h>\n"},
     "server/api/jobs/a.cpp:1: server/api/jobs must not include cpp-httplib (httplib.h)"),
    (library_faults, {"server/store/postgres/a.cpp": "#include <libpq-fe.h>\n", "server/store/postgres/b.cpp": "#include <libpq-fe.h>\n"},
     "libpq is included by more than one file of server/store/postgres: server/store/postgres/a.cpp, server/store/postgres/b.cpp"),
    (cycle_faults, {"rules/a.h": '#include "core/base/b.h"\n', "core/base/b.h": '#include "rules/a.h"\n'},
     "folders include each other: core/base -> rules -> core/base"),
    (definition_faults, {"core/base/a.h": "struct Rows {\n", "server/store/b.h": "class Rows final : public Table {\n"},
     "Rows is defined by core/base/a.h and server/store/b.h: give one of them another name"),
    (definition_faults, {"rules/a.h": "enum class Cause { kNone };\n", "server/api/b.cpp": "namespace {\nstruct Cause {\n"},
     "Cause is defined by rules/a.h and server/api/b.cpp: give one of them another name"),
    (folder_faults, {f"web/src/{number}.ts": "" for number in range(41)}, "web/src: 41 files, more than 40; which rooms are in it?"),
    (length_faults, {"agent/a.cpp": "\n" * 301}, "agent/a.cpp: 301 lines, more than 300; split it"),
    (length_faults, {"python/native/a.c": "\n" * 301}, "python/native/a.c: 301 lines, more than 300; split it"),
]


@pytest.mark.parametrize("check, tree, sentence", BROKEN, ids=[sentence for _, _, sentence in BROKEN])
def test_a_broken_tree_is_named(tmp_path, check, tree, sentence):
    for name, text in tree.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert sentence in list(check(tmp_path))


def test_types_within_types_and_of_two_sources_may_share_a_name(tmp_path):
    for name, text in {"a.h": "struct A {\n  struct Row {\n", "b.h": "struct B {\n  struct Row {\n", "c.cpp": "struct Gpu {\n", "d.cpp": "struct Gpu {\n"}.items():
        (tmp_path / "rules").mkdir(exist_ok=True)
        (tmp_path / "rules" / name).write_text(text)
    assert list(definition_faults(tmp_path)) == []


def test_the_walk_sees_the_whole_tree():
    files = {file for file, *_ in includes(ROOT)}
    assert {"core/base/text.h", "rules/catalog/catalog.cpp", "agent/marks/intake.cpp", "server/store/postgres/database.cpp"} <= files

"""The modules of python/ import one another without a circle, and what ships them names each that is beside the package."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / "python"
NATIVE = "stepscope._native"
BESIDE = ("_stepscope_imports.py", "_stepscope_start.py")


def modules(root):
    """Name of each module below a folder -> its path."""
    paths = [*root.glob("_*.py"), *(root / "stepscope").rglob("*.py")]
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def absolute(node, name, is_package):
    """The module that a `from` names, seen from the module of this name."""
    if not node.level:
        return node.module
    parts = name.split(".")
    above = parts[: len(parts) - node.level + is_package]
    return ".".join([*above, *([node.module] if node.module else [])])


def imported(name, path, known):
    """Names of the known modules that this one imports, wherever in its text; a package only where something of its own is meant."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = absolute(node, name, path.name == "__init__.py")
            found |= {inner if (inner := f"{module}.{each.name}") in known else module for each in node.names}
    return found & known


def imports_of(root):
    """Module -> modules that it imports, the C extension among them."""
    paths = modules(root)
    known = {*paths, NATIVE}
    native = "".join(path.read_text() for path in sorted((root / "native").glob("*.c")))
    found = {name: imported(name, path, known) for name, path in paths.items()}
    return {**found, NATIVE: set(re.findall(r'PyImport_ImportModule\("([\w.]+)"\)', native)) & known}


def circle(imports):
    """The modules of one circle in their order, the first one again at the end; empty where there is none."""
    done = set()

    def walk(path):
        if path[-1] in path[:-1]:
            return path[path.index(path[-1]) :]
        if path[-1] in done:
            return []
        for name in sorted(imports[path[-1]]):
            if found := walk([*path, name]):
                return found
        done.add(path[-1])
        return []

    return next((found for name in sorted(imports) if (found := walk([name]))), [])


def test_no_module_imports_itself_by_way_of_others():
    imports = imports_of(PYTHON)
    assert imports["stepscope._hooks._compile"] == {"_stepscope_imports", "stepscope._hooks._frames", "stepscope._hooks._patch"}
    assert imports[NATIVE] == {"stepscope._calm", "stepscope._decorate"}
    assert circle(imports) == []


@pytest.mark.parametrize("text", ["from . import _b", "from ._b import x", "import stepscope._b", "def f():\n    from stepscope import _b"])
def test_a_circle_is_found(tmp_path, text):
    (tmp_path / "stepscope").mkdir()
    (tmp_path / "stepscope/_a.py").write_text(text)
    (tmp_path / "stepscope/_b.py").write_text("from ._a import y")
    assert circle(imports_of(tmp_path)) == ["stepscope._a", "stepscope._b", "stepscope._a"]


@pytest.mark.parametrize("place", ["python/setup.py", "cmake/packages.cmake", "docker/Dockerfile"])
def test_modules_beside_the_package_are_shipped(place):
    assert tuple(sorted(path.name for path in PYTHON.glob("_*.py"))) == BESIDE
    words = re.findall(r"\b_stepscope_\w+", (ROOT / place).read_text())
    assert {f"{word}.py" for word in words} == set(BESIDE)

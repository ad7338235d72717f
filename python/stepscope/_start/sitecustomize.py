"""Stands in front of PYTHONPATH below `stepscope-agent run`: begins the watch for torch, and then gives way to
the module that it hides, so that everything is as it would be without it.

It has two names. As sitecustomize it is what Python imports first. Where another tool has put a sitecustomize of
its own in front of it, it is imported as usercustomize, which Python looks for next."""

import os
import sys


def _watch() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    root = os.path.dirname(os.path.dirname(here))
    if root not in sys.path:
        sys.path.append(root)  # at the end: a stepscope that the environment has goes before
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # the folder is the package manager's
    try:
        import _stepscope_start
    finally:
        sys.dont_write_bytecode = writes
    _stepscope_start.watch()


try:
    _watch()
except Exception as problem:
    if os.environ.get("STEPSCOPE_DEBUG") == "1":
        print("stepscope: no hooks:", repr(problem), file=sys.stderr)

# The module system puts in our place what this import leaves there. Without another one it fails, as it would
# have without us, and the interpreter takes no notice.
del sys.modules[__name__]
__import__(__name__)

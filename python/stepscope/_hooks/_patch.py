"""Functions of others that are replaced, and how they come back."""

from __future__ import annotations

import functools
from typing import Any, Callable, List, Tuple

_MISSING = object()
_replaced: List[Tuple[Any, str, Any, Any]] = []  # owner, name, what its __dict__ had, ours


class Unavailable(Exception):
    """The reason why something cannot be watched here."""


def replace(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Puts make(original) in the place of a function of a module or a class; once only."""
    original = getattr(owner, name, None)
    if original is None:
        raise Unavailable(f"this version has no {getattr(owner, '__name__', owner)}.{name}")
    if is_replaced(owner, name):
        return
    ours = make(original)
    functools.update_wrapper(ours, original)
    before = vars(owner).get(name, _MISSING)
    setattr(owner, name, ours)
    _replaced.append((owner, name, before, ours))


def is_replaced(owner: Any, name: str) -> bool:
    return any(row[0] is owner and row[1] == name for row in _replaced)


def give_back(owner: Any, name: str) -> None:
    for row in [row for row in _replaced if row[0] is owner and row[1] == name]:
        _give_back(row)


def restore() -> None:
    while _replaced:
        _give_back(_replaced[-1])


def _give_back(row: Tuple[Any, str, Any, Any]) -> None:
    """Whoever has put something of theirs on top of ours keeps it."""
    _replaced.remove(row)
    owner, name, before, ours = row
    if vars(owner).get(name) is not ours:
        return
    if before is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, before)

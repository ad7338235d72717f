"""Functions of others that are watched, and how they come back.

Nobody else is to find a difference (docs/decisions/0053-code-in-place.md). A function of Python is watched where it is: it
stays the same object. Where a class has to get a method of its own, or has one of C, its attribute shows the original to
whoever asks the class, and only the calls of its objects are watched.
"""

from __future__ import annotations

import functools
import weakref
from operator import itemgetter
from threading import get_ident
from types import CodeType, FunctionType, MethodType
from typing import Any, Callable, Dict, List, Optional, Tuple

from .._calm import let_through
from . import _in_place
from ._flow import flow
from ._frames import unseen

_MISSING = object()
# What was put into classes, by the class's id and the name: only the class itself keeps it, and nothing keeps the class.
_replaced: Dict[Tuple[int, str], "weakref.ref[Shown]"] = {}
_watched: List[Tuple[FunctionType, CodeType, CodeType]] = []  # function, its code, ours


class Unavailable(Exception):
    """The reason why something cannot be watched here."""


class Shown:
    """The attribute of a class whose objects' calls are watched. The class itself has the original, so it is compared,
    pickled and wrapped as if we were not there; what takes a class apart finds the original too (`__reduce__`). It does
    not say that it is a function: cloudpickle, with which joblib and Ray send classes, would take it to pieces, and those of
    the watch with it.

    Only the outermost call is watched (`outermost`): those within it get the original, so a model that calls itself goes
    as deep as it would without us."""

    def __init__(self, kind: type, name: str, original: Any, found: Any, timed: Any) -> None:
        functools.update_wrapper(self, found, updated=())
        del self.__wrapped__
        self.outermost = name == "__call__"
        self.kind, self.name, self.original, self._timed = kind, name, original, timed

    @unseen
    def __get__(self, object: Any, kind: Optional[type] = None) -> Any:
        if object is None:
            return self.shown(kind)
        is_elsewhere = self.original is _MISSING and kind is not self.kind and not self._is_of(type(object))
        if not is_elsewhere and not (self.outermost and (flow.inside or get_ident() != flow.owner)):
            return MethodType(self._timed, object)
        if self.original is _MISSING:
            return getattr(super(self._place(type(object)) if is_elsewhere else self.kind, object), self.name)
        bind = getattr(type(self.original), "__get__", None)
        return bind(self.original, object, kind) if bind else self.original

    def __set_name__(self, kind: type, name: str) -> None:
        """Another class was made of the attributes of ours, as decorators of classes do: it gets what ours had."""
        try:
            self.leave(kind)
        except Exception as problem:  # a class may take no attributes
            let_through(problem)

    def leave(self, kind: type) -> None:
        """Gives the class back what it had."""
        if self.original is _MISSING:
            delattr(kind, self.name)
        else:
            setattr(kind, self.name, self.original)

    def _is_of(self, kind: type) -> bool:
        return any(each is self.kind for each in kind.__mro__)

    def _place(self, kind: type) -> type:
        """The class in which this is found for a class or its objects: others may put it into theirs."""
        if self._is_of(kind):
            return self.kind
        return next(each for each in reversed(kind.__mro__) if vars(each).get(self.name) is self)

    @unseen
    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._timed(*args, **named)

    def shown(self, kind: Optional[type]) -> Any:
        if self.original is _MISSING:
            return getattr(super(self._place(kind or self.kind), kind or self.kind), self.name)
        bind = getattr(type(self.original), "__get__", None)
        return bind(self.original, None, kind or self.kind) if bind else self.original

    def __getattr__(self, name: str) -> Any:
        """What takes a class apart looks at the functions in it."""
        if name in ("original", "kind", "name"):  # while it is made
            raise AttributeError(name)
        return getattr(self.shown(None), name)

    def __reduce__(self) -> Any:
        return itemgetter(0), ((self.shown(None),),)


def watch(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Lets a function of Python, of a module or a class, call make(one like it); once only."""
    function = _in_place.innermost(_found(owner, name))
    if not _in_place.fits(function):
        raise Unavailable(f"{getattr(owner, '__name__', owner)}.{name} is no plain function of Python")
    if all(row[0] is not function for row in _watched):
        before = function.__code__
        _watched.append((function, before, _in_place.put(function, make)))


def replace(kind: Any, name: str, make: Callable[[Any], Any], put: Callable[..., Any] = Shown) -> None:
    """Puts make(original) in the place of a class's method, for calls of its objects; once only, unless others took it
    away: who puts back later what the class showed (torch.fx does) puts the original there."""
    original, before = _found(kind, name), vars(kind).get(name, _MISSING)
    known = _ours(kind, name)
    if known is not None and known is before:
        return
    if issubclass(type(before), Shown):  # another class's
        before = before.original
    timed = make(original)
    if type(timed) is FunctionType:
        functools.update_wrapper(timed, original)
    ours = put(kind, name, before, original, timed)
    setattr(kind, name, ours)
    for key in [key for key, each in list(_replaced.items()) if each() is None]:
        del _replaced[key]
    _replaced[id(kind), name] = weakref.ref(ours)


def _ours(kind: Any, name: str) -> Optional[Shown]:
    """What was put there, for as long as anybody has it."""
    known = _replaced.get((id(kind), name))
    ours = known() if known is not None else None
    return ours if ours is not None and ours.kind is kind else None


def _found(owner: Any, name: str) -> Any:
    original = getattr(owner, name, None)
    if original is None:
        raise Unavailable(f"this version has no {getattr(owner, '__name__', owner)}.{name}")
    return original


def has_own(kind: Any, name: str) -> bool:
    """Whether the class has an attribute of its own, apart from ours."""
    found = vars(kind).get(name, _MISSING)
    return (found.original if issubclass(type(found), Shown) else found) is not _MISSING


def is_replaced(kind: Any, name: str) -> bool:
    return _ours(kind, name) is not None


def is_inherited(kind: Any, name: str) -> bool:
    """Whether calls of the class's objects are watched, by the class itself or by one that it inherits from."""
    return any(is_replaced(each, name) for each in kind.__mro__)


def give_back(kind: Any, name: str) -> None:
    ours = _ours(kind, name)
    _replaced.pop((id(kind), name), None)
    if ours is not None and vars(kind).get(name) is ours:
        ours.leave(kind)


def restore() -> None:
    """Whoever has put something of theirs on top of ours keeps it."""
    for put in [each() for each in list(_replaced.values())]:
        if put is not None:
            give_back(put.kind, put.name)
    while _watched:
        function, before, ours = _watched.pop()
        if function.__code__ is ours:
            function.__code__ = before


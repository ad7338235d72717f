"""Forward passes and losses of the root modules: those that no other module calls.

During the first calls every module's call is looked at. As soon as the roots are known, `Module` gets its own
`__call__` back and only the classes of the roots are watched, so a model of many modules pays for one call a step.
"""

from __future__ import annotations

import weakref
from threading import get_ident
from types import MethodType
from typing import Any, Dict, List, Optional, Tuple

from .._calm import let_through
from ._calls import computing, computing_once, tell
from ._compile import compiling, readers
from ._flow import flow
from ._frames import unseen
from ._patch import Shown, give_back, has_own, is_replaced, replace

_LEAST_CALLS = 6  # so many calls of roots, before the roots are taken as known
_LEAST_BACKWARDS = 2
_MOST_CALLS = 500
_MOST_CLASSES = 16
_SEVERAL = 64  # calls within others from one look at them to the next

_searching: List[_Roots] = []


def install(torch: Any) -> None:
    roots = _Roots(torch)
    roots.search()
    flow.renewed.append(roots.search)
    _searching[:] = [roots]


def look_again(_: Any) -> None:
    """A script that reads its model before it trains it, with torch.fx, puts the original of Module's call back."""
    for roots in _searching:
        roots.look()


class _Looking(Shown):
    """The call of all modules while roots are looked for: it says of each object what the call is to be, and takes no part
    in the call itself."""

    def __init__(self, roots: _Roots, *place: Any) -> None:
        super().__init__(*place)
        self.roots = roots

    @unseen
    def __get__(self, object: Any, kind: Optional[type] = None) -> Any:
        if object is None:
            return self.shown(kind)
        return MethodType(self.roots.choose(self.original, object), object)


def _calling(original: Any) -> Any:
    return lambda *args, **named: original(*args, **named)


class _Roots:
    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.module = torch.nn.Module
        self.loss = torch.nn.modules.loss._Loss
        self.compiling = compiling(torch)
        self.phases: Dict[int, Tuple["weakref.ref[type]", str]] = {}  # by a class's id: the class, and the phase of its objects
        self.calls = self.backwards = self.within = 0
        self.known = False

    def search(self) -> None:
        self.calls, self.backwards, self.known = 0, flow.all_backwards, False
        self.phases.clear()
        self.look()

    def look(self) -> None:
        if not self.known:
            replace(self.module, "__call__", _calling, lambda *place: _Looking(self, *place))

    def choose(self, original: Any, module: Any) -> Any:
        """What the call of a module is to be: the original, or that with its time taken."""
        if flow.inside or get_ident() != flow.owner:
            self.within += 1
            if self.within % _SEVERAL == 0:
                tell(self._count_within)
            return original
        if readers and self.compiling():
            return original
        phase = self._phase_of(module)
        if phase is None or is_replaced(type(module), "__call__"):
            return original
        tell(self._count)
        return computing_once(flow, original, self.torch, phase)

    def _phase_of(self, module: Any) -> Optional[str]:
        """The phase of a module's calls; None where it has no parameters and is no loss, such as a transformation of images."""
        try:
            kind = type(module)
            known = self.phases.get(id(kind))
            if known is not None and known[0]() is kind:
                return known[1]
            phase = None
            if isinstance(module, self.loss) or kind.__name__.endswith(("Loss", "Criterion")):
                phase = "loss"
            elif next(module.parameters(), None) is not None:
                phase = "forward"
            if phase is not None:
                self.phases[id(kind)] = weakref.ref(kind), phase
            return phase
        except Exception as problem:
            let_through(problem)
            return None

    def _count(self) -> None:
        self.calls += 1
        enough = self.calls >= _LEAST_CALLS and flow.all_backwards - self.backwards >= _LEAST_BACKWARDS
        if enough or self.calls >= _MOST_CALLS:
            self._end_search()

    def _count_within(self) -> None:
        """All roots may be those of the training before, whose calls are not counted here."""
        if flow.all_backwards - self.backwards >= _LEAST_CALLS + _LEAST_BACKWARDS:
            self._end_search()

    def _end_search(self) -> None:
        if not self.known:
            self.known = True
            give_back(self.module, "__call__")
            for known, phase in list(self.phases.values())[:_MOST_CLASSES]:
                kind = known()
                if kind is not None:
                    tell(self._watch, kind, phase)  # a class may take no attributes

    def _watch(self, kind: type, phase: str) -> None:
        own = has_own(kind, "__call__")
        replace(kind, "__call__", lambda original: self._timed(original if own else None, kind, phase))

    def _timed(self, own: Any, kind: Any, phase: str) -> Any:
        return computing(flow, own, self.torch, phase, kind)

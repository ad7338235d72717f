"""Waits for the next batch of a torch DataLoader, the start of its workers, and its settings."""

from __future__ import annotations

from functools import lru_cache
from threading import get_ident
from time import monotonic_ns
from typing import Any, Dict, Tuple

from .._calm import let_through
from ._calls import SETTINGS, tell, waiting
from ._flow import flow
from ._frames import unseen
from ._patch import watch

_SETTINGS = ("num_workers", "batch_size", "prefetch_factor", "pin_memory", "persistent_workers")


def install_settings(torch: Any) -> None:
    """An iterator does not know its loader, so this is there before the training begins."""
    watch(torch.utils.data.dataloader._BaseDataLoaderIter, "__init__", _noting)


def install(torch: Any) -> None:
    iterator = torch.utils.data.dataloader._BaseDataLoaderIter
    watch(iterator, "__next__", lambda original: waiting(flow, original, torch.is_grad_enabled))
    watch(torch.utils.data.DataLoader, "__iter__", lambda original: _starting(original, torch.is_grad_enabled))


@unseen
def _starting(original: Any, gradients: Any) -> Any:
    """Times the begin of an epoch: the loader starts its workers, or tells them to begin again."""

    def __iter__(self: Any) -> Any:
        if flow.inside or get_ident() != flow.owner:
            return original(self)
        start = monotonic_ns()
        batches = original(self)
        tell(flow.began, start, monotonic_ns(), gradients())
        return batches

    return __iter__


def settings(loader: Any) -> Dict[str, str]:
    """The loader's settings that are plain numbers, as a fact each."""
    values = {name: getattr(loader, name, None) for name in _SETTINGS}
    facts = {"loader_" + name: str(value) for name, value in values.items() if type(value) in (int, bool)}
    sampler: Any = getattr(loader, "batch_sampler", None)
    if "loader_batch_size" not in facts and type(getattr(sampler, "batch_size", None)) is int:
        facts["loader_batch_size"] = str(sampler.batch_size)
    return facts


@lru_cache(maxsize=16)
def _same(facts: Tuple[Tuple[str, str], ...]) -> Dict[str, str]:
    """One and the same dictionary for equal facts: the next epoch, or a second loader like it, does not tell them again."""
    return dict(facts)


@unseen
def _noting(original: Any) -> Any:
    def __init__(self: Any, loader: Any, *args: Any, **named: Any) -> None:
        original(self, loader, *args, **named)
        try:
            setattr(self, SETTINGS, _same(tuple(settings(loader).items())))
        except Exception as problem:
            let_through(problem)

    return __init__

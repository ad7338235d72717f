"""Waits for the next batch of a torch DataLoader, and its settings."""

from __future__ import annotations

from typing import Any, Dict

from ._calls import SETTINGS, waiting
from ._flow import flow
from ._patch import replace

_SETTINGS = ("num_workers", "batch_size", "prefetch_factor", "pin_memory", "persistent_workers")


def install(torch: Any) -> None:
    iterator = torch.utils.data.dataloader._BaseDataLoaderIter
    replace(iterator, "__init__", _noting)
    replace(iterator, "__next__", lambda original: waiting(flow, original, torch.is_grad_enabled))


def settings(loader: Any) -> Dict[str, str]:
    """Those that are plain numbers, as a fact each."""
    values = {name: getattr(loader, name, None) for name in _SETTINGS}
    facts = {"loader_" + name: str(value) for name, value in values.items() if type(value) in (int, bool)}
    sampler: Any = getattr(loader, "batch_sampler", None)
    if "loader_batch_size" not in facts and type(getattr(sampler, "batch_size", None)) is int:
        facts["loader_batch_size"] = str(sampler.batch_size)
    return facts


def _noting(original: Any) -> Any:
    def __init__(self: Any, loader: Any, *args: Any, **named: Any) -> None:
        original(self, loader, *args, **named)
        try:
            setattr(self, SETTINGS, settings(loader))
        except Exception:
            pass

    return __init__

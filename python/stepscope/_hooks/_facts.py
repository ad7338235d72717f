"""Facts that are told once of a rank: the framework, how it talks to the other ranks, its device."""

from __future__ import annotations

from typing import Any, Dict

from .. import _marks
from ._waits import uses_device


def tell(torch: Any) -> None:
    facts: Dict[str, str] = {"torch": str(torch.__version__)}
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        facts["backend"] = str(distributed.get_backend())
        facts["ranks"] = str(distributed.get_world_size())
    if uses_device(torch):
        facts.update(_device(torch))
    _marks.add_facts(facts)


def _device(torch: Any) -> Dict[str, str]:
    """Host times of forward and backward are launch times there; `gpu_async` says so."""
    shown = torch.cuda.get_device_properties(torch.cuda.current_device())
    facts = {"device_name": str(shown.name), "gpu_async": "True"}
    uuid = getattr(shown, "uuid", None)
    if uuid is not None:
        facts["device_uuid"] = f"GPU-{uuid}"
    return facts

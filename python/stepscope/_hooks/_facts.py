"""Facts that are told once of a rank: the framework, how it talks to the other ranks, its device."""

from __future__ import annotations

from typing import Any, Dict

from .. import _marks
from ._flow import flow
from ._waits import uses_device

_MOST_PARAMETERS = 2_000  # so many of an optimizer are looked at


def tell(torch: Any) -> None:
    facts: Dict[str, str] = {"torch": str(torch.__version__)}
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        facts["backend"] = str(distributed.get_backend())
        facts["ranks"] = str(distributed.get_world_size())
    if uses_device(torch):
        facts.update(_device(torch))
    else:
        facts.update(_place_of_parameters(torch))
    _marks.add_facts(facts)


def _place_of_parameters(torch: Any) -> Dict[str, str]:
    """`device_type` is where the training computes, such as "cpu"; the agent gives a rank on the CPU no GPU."""
    leader: Any = flow.leader and flow.leader()
    if leader is None:
        return {}
    with torch._C.DisableTorchFunction():  # subclasses and modes hear nothing of this
        parameters = [each for group in leader.param_groups for each in group["params"]][:_MOST_PARAMETERS]
        types = {str(each.device.type) for each in parameters}
    return {"device_type": types.pop()} if len(types) == 1 else {}


def _device(torch: Any) -> Dict[str, str]:
    """Host times of forward and backward are launch times there; `gpu_async` says so."""
    shown = torch.cuda.get_device_properties(torch.cuda.current_device())
    facts = {"device_type": "cuda", "device_name": str(shown.name), "gpu_async": "True"}
    uuid = getattr(shown, "uuid", None)
    if uuid is not None:
        facts["device_uuid"] = f"GPU-{uuid}"
    return facts

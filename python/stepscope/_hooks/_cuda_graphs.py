"""Captures of CUDA graphs, which do not agree with the profiler that records windows of operators."""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple

from ._calls import tell
from ._frames import unseen
from ._patch import Unavailable, watch

# From here on CUPTI neither ends processes that start it anew beside graphs (pytorch#112507, #101879: mended in 12.6), nor
# those with conditional nodes (pytorch#134308: after 12.6).
_MENDED = (12, 8)


class CudaGraphs:
    def __init__(self) -> None:
        self.captured = 0
        self.at_capture: Optional[Callable[[], None]] = None  # called on the capturing thread, before it begins

    def install(self, torch: Any) -> None:
        kind = getattr(torch.cuda, "CUDAGraph", None)
        if kind is None or "capture_begin" not in vars(kind):
            raise Unavailable("this version has none")
        watch(kind, "capture_begin", self._told)

    def why_no_window(self, torch: Any) -> str:
        """Why no window is recorded beside the graphs that this process has captured, or ""."""
        if not self.captured:
            return ""
        version = str(getattr(torch.version, "cuda", None) or "")
        if _numbers(version) >= _MENDED:
            return ""
        known = f"of CUDA {version} is known to crash" if version else "is not known to work"
        return f"the training captured a CUDA graph, beside which the profiler {known} (pytorch#112507, #134308)"

    @unseen
    def _told(self, original: Any) -> Any:
        def capture_begin(*args: Any, **named: Any) -> Any:
            tell(self._begins)
            return original(*args, **named)

        return capture_begin

    def _begins(self) -> None:
        self.captured += 1
        if self.at_capture is not None:
            self.at_capture()


def _numbers(version: str) -> Tuple[int, ...]:
    numbers = version.split(".")[:2]
    return tuple(map(int, numbers)) if len(numbers) == 2 and all(each.isdigit() for each in numbers) else ()


graphs = CudaGraphs()

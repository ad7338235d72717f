"""The stream on which the training thread launches, cheaply: PyTorch makes an object at each question, which takes microseconds."""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple


class CurrentStream:
    """The current stream of one device. `handle`: torch._C._cuda_getCurrentRawStream, where this version has it."""

    def __init__(self, cuda: Any, device: int, handle: Optional[Callable[[int], int]]) -> None:
        self.cuda, self.device, self.handle = cuda, device, handle
        self.known: Optional[Tuple[Any, int]] = None

    def get(self) -> Tuple[Any, int]:
        """The stream, and its handle."""
        if self.handle is None or self.known is None or self.handle(self.device) != self.known[1]:
            stream = self.cuda.current_stream(self.device)
            self.known = stream, stream.cuda_stream
        return self.known

"""The exception for all that can go wrong between a script and the service."""

from __future__ import annotations

from typing import Any, Dict, List


class Problem(Exception):
    """The service refused a call and said why (RFC 9457); `request_id` is what its log names too."""

    def __init__(self, said: Dict[str, Any]) -> None:
        self.status = int(said.get("status", 0))
        self.code = str(said.get("code", ""))
        self.title = str(said.get("title", ""))
        self.detail = str(said.get("detail", ""))
        self.request_id = str(said.get("request_id", ""))
        self.errors: List[Dict[str, str]] = list(said.get("errors", []))
        super().__init__(said)

    def __str__(self) -> str:
        text = f"{self.title}: {self.detail}" if self.detail else self.title
        return f"{text} (status {self.status}, request {self.request_id or 'without an id'})"


class Unreachable(ConnectionError):
    """No answer came: the service is away, its name or certificate is wrong, or it took too long."""

"""The calls of the REST API, with the standard library: one request a connection, nothing kept open."""

from __future__ import annotations

import gzip
import http.client
import ipaddress
import json
import os
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from typing import Any, Callable, Dict, Iterator, Optional, TypeVar

from ._problem import Problem, Unreachable

_JSON, _PAGE = "application/json", "text/html"
_T = TypeVar("_T")
_Understand = Callable[[Any, bytes], Optional[_T]]  # reads an answer and its body; None where the service did not send it
_TRIES = 5  # while the service says that it is busy, and when to come again
_LONGEST_PAUSE = 10.0  # seconds


class Service:
    """The address of the service and who asks. Not changed by use: threads may share it."""

    def __init__(self, url: str, token: Optional[str], ca_file: Optional[str], timeout: float, insecure_http: bool) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not the address of a service, such as http://127.0.0.1:8080")
        here = _is_loopback(parts.hostname)
        if token and parts.scheme == "http" and not here and not insecure_http:
            raise ValueError(f"a token would travel in the clear to {parts.hostname}: use https, or insecure_http=True")
        self.url = url.rstrip("/")
        self.timeout = timeout
        self._headers = {"Accept-Encoding": "gzip"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        trust = ssl.create_default_context(cafile=ca_file)
        handlers = [_NoRedirect(), urllib.request.HTTPSHandler(context=trust)]
        if here:
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def get(self, path: str, **query: Any) -> Dict[str, Any]:
        """The JSON object of an answer. Parameters that are None are left out; lists become words with commas."""
        given = {name: _text(value) for name, value in query.items() if value is not None}
        return self._answer(f"{self.url}/api/v1{path}" + ("?" + urllib.parse.urlencode(given) if given else ""), None, _JSON, _json_object)

    def ask(self, path: str, question: Dict[str, Any]) -> Dict[str, Any]:
        """The answer to a question that is too long for an address, or to a request that is safe to repeat."""
        return self._answer(f"{self.url}/api/v1{path}", json.dumps(question).encode(), _JSON, _json_object)

    def page(self, path: str) -> bytes:
        """The HTML page of an answer."""
        return self._answer(f"{self.url}/api/v1{path}", None, _PAGE, _whole_page)

    def _answer(self, url: str, question: Optional[bytes], media_type: str, understand: _Understand[_T]) -> _T:
        tries = 0
        while True:
            try:
                return self._read(url, question, media_type, understand)
            except urllib.error.HTTPError as refused:
                tries += 1
                pause = _pause(refused)
                if pause is None or tries == _TRIES:
                    raise _problem_of(refused) from None
                refused.close()
                time.sleep(pause)
            except (OSError, EOFError, http.client.HTTPException, zlib.error) as fault:
                raise Unreachable(f"{self.url} does not answer: {_reason(fault)}") from fault

    def pages(self, path: str, **query: Any) -> Iterator[Any]:
        """The answers of a list, from the first page to the last."""
        cursor = None
        while True:
            page = self.get(path, cursor=cursor, **query)
            yield page
            cursor = page["next"]
            if cursor is None:
                return

    def _read(self, url: str, question: Optional[bytes], media_type: str, understand: _Understand[_T]) -> _T:
        headers = {**self._headers, "Accept": media_type}
        if question is not None:
            headers["Content-Type"] = _JSON
        with self._opener.open(urllib.request.Request(url, question, headers), timeout=self.timeout) as answer:
            body = _plain(answer)
            said = understand(answer, body)
            if said is None:
                raise Problem({"status": answer.status, "title": "Not an answer of a Stepscope service", "detail": _start_of(body)})
            return said


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The service redirects nobody, and another host must not get the token."""

    def redirect_request(self, *_: Any) -> None:
        return None


def path_part(name: str) -> str:
    return urllib.parse.quote(name, safe="")


def environment_token() -> Optional[str]:
    """The token, found as the agent finds it: in a file that STEPSCOPE_TOKEN_FILE names, else in STEPSCOPE_TOKEN."""
    path = os.environ.get("STEPSCOPE_TOKEN_FILE")
    if path:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    return os.environ.get("STEPSCOPE_TOKEN") or None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _plain(answer: Any) -> bytes:
    body: bytes = answer.read()
    return gzip.decompress(body) if answer.headers.get("Content-Encoding") == "gzip" else body


def _object(answer: Any, body: bytes, media_type: str) -> Optional[Dict[str, Any]]:
    """The JSON object of an answer; None when it is something else, as of a proxy between."""
    if answer.headers.get_content_type() != media_type:
        return None
    try:
        said = json.loads(body)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def _json_object(answer: Any, body: bytes) -> Optional[Dict[str, Any]]:
    return _object(answer, body, _JSON)


def _whole_page(answer: Any, body: bytes) -> Optional[bytes]:
    """A page of the service, to its last line; None when it is something else, as the sign-in of a proxy."""
    return body if answer.headers.get_content_type() == _PAGE and b"Made by Stepscope" in body[-1000:] else None


def _start_of(body: bytes) -> str:
    return " ".join(body[:200].decode("utf-8", "replace").split())


def _pause(refused: urllib.error.HTTPError) -> Optional[float]:
    """How long to wait before the call is made again; None when that would not help, or takes too long."""
    after = refused.headers.get("Retry-After", "")
    if refused.code not in (429, 503) or not after.isdigit() or int(after) > _LONGEST_PAUSE:
        return None
    return float(after)


def _problem_of(refused: urllib.error.HTTPError) -> Problem:
    body = _plain(refused)
    said = _object(refused, body, "application/problem+json") or {}
    usual = {"status": refused.code, "title": str(refused.reason), "detail": _start_of(body)}
    return Problem({**usual, "request_id": refused.headers.get("X-Request-Id", ""), **said})


def _reason(fault: BaseException) -> str:
    inner = getattr(fault, "reason", None)
    return str(inner if isinstance(inner, BaseException) else fault) or repr(fault)

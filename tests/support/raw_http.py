"""HTTP as bytes: a client that says exactly what it is told to, and a reader of whatever comes back."""

import asyncio
import socket
import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict  # names in lower case
    body: bytes

    @property
    def type(self) -> str:
        return self.headers.get("content-type", "").split(";")[0]


def take_answer(data: bytes, without_body=False):
    """(the first answer of `data`, what stands behind it); (None, data) while it is not complete."""
    head, end, rest = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ", 2)
    if not end or words[0] != "HTTP/1.1" or len(words) < 2 or not words[1].isdigit():
        return None, data
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    bodiless = without_body or words[1] in ("204", "304") or words[1].startswith("1")
    size = 0 if bodiless else int(headers.get("content-length", "0"))
    if len(rest) < size:
        return None, data
    return Answer(int(words[1]), headers, rest[:size]), rest[size:]


class RawClient:
    """A connection. Whatever the other side does is a value; nothing is raised, nothing waits longer than told."""

    def __init__(self, port: int, source="127.0.0.1", seconds=10.0, receive_buffer=0):
        self.socket = socket.socket()
        self.received = b""
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(seconds)
        self.connected = self._well(lambda: (self.socket.bind((source, 0)), self.socket.connect(("127.0.0.1", port))))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    @staticmethod
    def _well(call):
        try:
            call()
            return True
        except OSError:
            return False

    def send(self, data: bytes) -> bool:
        """False when the other side is gone, or does not take it."""
        return self._well(lambda: self.socket.sendall(data))

    def end_sending(self):
        self._well(lambda: self.socket.shutdown(socket.SHUT_WR))

    def read_answer(self, seconds=10.0, without_body=False):
        """The next answer; None when the connection ends or the time is over before it is complete."""
        end = time.monotonic() + seconds
        while True:
            answer, self.received = take_answer(self.received, without_body)
            if answer or not self._fill(end - time.monotonic()):
                return answer

    def read_to_end(self, seconds=10.0):
        """(all answers, whether the connection ended within the time)"""
        end, ended, answers = time.monotonic() + seconds, False, []
        while self._fill(end - time.monotonic()):
            pass
        ended = time.monotonic() < end
        while (taken := take_answer(self.received))[0]:
            answers.append(taken[0])
            self.received = taken[1]
        return answers, ended

    def _fill(self, seconds):
        if seconds <= 0:
            return False
        try:
            self.socket.settimeout(seconds)
            piece = self.socket.recv(1 << 16)
        except OSError:
            return False
        self.received += piece
        return bool(piece)

    def is_open(self) -> bool:
        """Whether the other side has kept the connection; what it sent meanwhile does not count."""
        try:
            self.socket.setblocking(False)
            while piece := self.socket.recv(1 << 16):
                self.received += piece
            return False
        except BlockingIOError:
            return True
        except OSError:
            return False


def request(method: str, path: str, headers=(), body=b"", host="127.0.0.1") -> bytes:
    """A well-formed request; Content-Length is added where there is a body."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in headers)]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


@dataclass
class Thrown:
    """Bytes for a connection of their own, and what came of them."""

    data: bytes
    note: str = ""
    pieces: int = 1  # sent in so many
    half_closes: bool = True  # says that nothing more will come
    answers: list = field(default_factory=list)
    ended: str = ""  # "closed", "reset", "late": still open when the time was over
    seconds: float = 0


async def _throw(thrown: Thrown, port: int, source: str, limit: float):
    began = time.monotonic()
    received = b""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    try:
        size = max(1, -(-len(thrown.data) // thrown.pieces))
        for at in range(0, len(thrown.data), size):
            writer.write(thrown.data[at : at + size])
            await asyncio.wait_for(writer.drain(), limit)
            if thrown.pieces > 1:
                await asyncio.sleep(0)
        if thrown.half_closes:
            writer.write_eof()
        while piece := await asyncio.wait_for(reader.read(1 << 16), max(0.01, began + limit - time.monotonic())):
            received += piece
        thrown.ended = "closed"
    except asyncio.TimeoutError:
        thrown.ended = "late"
    except OSError:
        thrown.ended = "reset"
    writer.transport.abort()
    thrown.seconds = time.monotonic() - began
    while (taken := take_answer(received, thrown.data[:5] == b"HEAD "))[0]:
        thrown.answers.append(taken[0])
        received = taken[1]


def throw_all(port: int, throws, parallel=400, limit=15.0, sources=50):
    """Sends each throw on a connection of its own, `parallel` at a time, from `sources` addresses of loopback."""
    waiting = iter(throws)

    async def one_after_the_other(number):
        for thrown in waiting:
            try:
                await _throw(thrown, port, f"127.3.0.{1 + number % sources}", limit)
            except OSError as fault:  # not even connected
                thrown.ended = f"refused: {fault.strerror}"

    async def all_of_them():
        await asyncio.gather(*(one_after_the_other(number) for number in range(parallel)))

    asyncio.run(all_of_them())

"""Frames as docs/wire.md describes them, written apart from the C++ code: what both agree on is the format."""

import hashlib
import struct

TICKS, STEPS, SPANS, LIFECYCLE, ANNOTATIONS, LOST = 1, 2, 3, 5, 6, 7
MAGIC, VERSION = 0x46535453, 1


def _crc_table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value: int) -> int:
    return value << 1 if value >= 0 else ((-value) << 1) - 1


def text(value) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return varint(len(data)) + data


def schema(columns, rank=-1, names=()) -> bytes:
    """`columns` are (metric, device) pairs."""
    body = b"".join(text(metric) + text(device) for metric, device in columns)
    return struct.pack("<Bi", 1, rank) + varint(len(columns)) + body + varint(len(names)) + b"".join(map(text, names))


def schema_hash(encoded: bytes) -> int:
    return struct.unpack("<Q", hashlib.sha256(encoded).digest()[:8])[0] or 1


def row(values, scales) -> bytes:
    """A table of one row: each column is constant."""
    bodies = [struct.pack("<BB", 0, scale) + varint(zigzag(value)) + varint(0) for value, scale in zip(values, scales)]
    directory = b"".join(varint(len(body)) for body in bodies)
    return struct.pack("<BB", 1, 0) + varint(1) + varint(len(values)) + directory + b"".join(bodies)


def frame(kind, session, sequence, created_us, job, node, payload, columns=b"", columns_hash=0) -> bytes:
    """`columns` is the encoded schema, or empty when the service knows it by `columns_hash`."""
    body = struct.pack("<IBB16sQqqqQ", MAGIC, VERSION, kind, session, sequence, created_us, 0, 0, columns_hash)
    body += text(job) + text(node) + text(columns) + text(payload)
    return body + struct.pack("<I", crc32c(body))


def push(frames) -> bytes:
    return b"".join(struct.pack("<I", len(one)) + one for one in frames)

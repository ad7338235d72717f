// Frames of an agent that a test plays, as docs/wire.md describes them.

import {createHash, randomBytes} from 'node:crypto';

export const LIFECYCLE = 5;
export const SPANS = 3;

function crc32c(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

const number = (size, write) => {
  const bytes = Buffer.alloc(size);
  write(bytes);
  return bytes;
};
const u32 = (value) => number(4, (bytes) => bytes.writeUInt32LE(value));
const i64 = (value) => number(8, (bytes) => bytes.writeBigInt64LE(BigInt(value)));

function varint(value) {
  const bytes = [];
  let left = BigInt(value);
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(left)]);
}

const text = (value) => Buffer.concat([varint(Buffer.byteLength(value)), Buffer.from(value)]);

/** The schema of a rank's table. */
export function schema(rank, columns, names) {
  const named = columns.flatMap((column) => [text(column), text('')]);
  return Buffer.concat([Buffer.from([1]), u32(rank), varint(columns.length), ...named, varint(names.length), ...names.map(text)]);
}

/** A table of one row: each column is constant; no value is below 0. */
export function row(values) {
  const columns = values.map((value) => Buffer.concat([Buffer.from([0, 0]), varint(BigInt(value) * 2n), varint(0)]));
  const directory = columns.map((column) => varint(column.length));
  return Buffer.concat([Buffer.from([1, 0]), varint(1), varint(values.length), ...directory, ...columns]);
}

/** An agent whose clock is `behind` microseconds behind; each call gives the next push of its session, with one frame. */
export function agentOf(job, node, behind = 0) {
  const session = randomBytes(16);
  let sequence = 0;
  return (kind, payload, of = Buffer.alloc(0)) => {
    sequence += 1;
    const hash = of.length ? createHash('sha256').update(of).digest().subarray(0, 8) : Buffer.alloc(8);
    const body = Buffer.concat([
      ...[Buffer.from('STSF'), Buffer.from([1, kind]), session, i64(sequence), i64(1_795_205_614_000_000), i64(behind), i64(900), hash],
      ...[text(job), text(node), varint(of.length), of, varint(payload.length), Buffer.from(payload)],
    ]);
    return Buffer.concat([u32(body.length + 4), body, u32(crc32c(body))]);
  };
}

// Frames as docs/wire.md describes them, as far as these tests push them: small tables, each column constant.

import { createHash, randomBytes } from "node:crypto";

const kTicks = 1;
const kLifecycle = 5;

const kCrc = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc >>> 0;
});

function crc32c(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ kCrc[(crc ^ byte) & 0xff];
  return (crc ^ 0xffffffff) >>> 0;
}

function number(value, bytes) {
  const out = Buffer.alloc(bytes);
  for (let i = 0, left = BigInt.asUintN(bytes * 8, BigInt(value)); i < bytes; i += 1, left >>= 8n) out[i] = Number(left & 0xffn);
  return out;
}

function varint(value) {
  const out = [];
  let left = BigInt(value);
  for (; left >= 0x80n; left >>= 7n) out.push(Number(left & 0x7fn) | 0x80);
  return Buffer.from([...out, Number(left)]);
}

function text(value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(bytes.length), bytes]);
}

const column = (value) => Buffer.concat([Buffer.from([0, 0]), varint(BigInt(value) * 2n), varint(0)]);

/** A table of one row. */
function table(values) {
  const columns = values.map(column);
  const directory = columns.map(({ length }) => varint(length));
  return Buffer.concat([Buffer.from([1, 0]), varint(1), varint(columns.length), ...directory, ...columns]);
}

/** The frames of one node of a job; each call adds one. Times are microseconds. */
export class NodeFrames {
  #frames = []; // since the last push
  #sequence = 0;
  #session = randomBytes(16);

  constructor(job, node) {
    this.job = job;
    this.node = node;
  }

  lifecycle(atUs, event) {
    return this.#add(kLifecycle, atUs, Buffer.from(JSON.stringify({ ...event, at_us: atUs })));
  }

  /** Adds a frame of one tick: `series` are [metric, device, whole number]. */
  tick(atUs, series) {
    const named = [["at_us", ""], ...series].map(([metric, device]) => Buffer.concat([text(metric), text(device)]));
    const schema = Buffer.concat([Buffer.from([1]), number(-1, 4), varint(named.length), ...named, varint(0)]);
    return this.#add(kTicks, atUs, table([atUs, ...series.map(([, , value]) => value)]), schema);
  }

  /** The body of a push: the frames since the last one. */
  push() {
    return Buffer.concat(this.#frames.splice(0).flatMap((frame) => [number(frame.length, 4), frame]));
  }

  #add(kind, atUs, payload, schema = Buffer.alloc(0)) {
    const hash = schema.length === 0 ? Buffer.alloc(8) : createHash("sha256").update(schema).digest().subarray(0, 8);
    const head = [number(0x46535453, 4), Buffer.from([1, kind]), this.#session, number((this.#sequence += 1), 8), number(atUs, 8), number(0, 16), hash];
    const body = Buffer.concat([...head, text(this.job), text(this.node), text(schema), text(payload)]);
    this.#frames.push(Buffer.concat([body, number(crc32c(body), 4)]));
    return this;
  }
}

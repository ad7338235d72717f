// Makes a PNG smaller: 256 colours are enough for a page, and take a third of the bytes of true colour.

import { deflateSync, inflateSync } from "node:zlib";

const kSignature = Buffer.from("89504e470d0a1a0a", "hex");
const kMostColours = 256;
const kChannels = { 2: 3, 6: 4 }; // by colour type: true colour, and true colour with alpha

const kCrcTable = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc >>> 0;
});

/** The checksum of a chunk: the zlib of Node 18 does not offer it. */
function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ kCrcTable[(crc ^ byte) & 0xff];
  return (crc ^ 0xffffffff) >>> 0;
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

function chunksOf(png) {
  const found = [];
  for (let at = kSignature.length; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const length = png.readUInt32BE(at);
    found.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
  }
  return found;
}

function paeth(left, up, corner) {
  const [toLeft, toUp, toCorner] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

/** Undoes the filter of each row in place; `rows` has a byte with the filter before each row. */
function unfilter(rows, stride, height, step) {
  for (let y = 0; y < height; y += 1) {
    const begin = y * (stride + 1) + 1;
    const filter = rows[begin - 1];
    for (let x = 0; x < stride; x += 1) {
      const left = x < step ? 0 : rows[begin + x - step];
      const up = y === 0 ? 0 : rows[begin + x - stride - 1];
      const corner = x < step || y === 0 ? 0 : rows[begin + x - stride - 1 - step];
      const guess = [0, left, up, (left + up) >> 1, filter === 4 ? paeth(left, up, corner) : 0][filter];
      rows[begin + x] += guess;
    }
  }
}

/** The pixels of an opaque PNG of 8 bits a channel, as 0xrrggbb from the top left on. */
export function decode(png) {
  const chunks = chunksOf(png);
  const head = chunks[0].data;
  const [width, height, depth, type, interlaced] = [head.readUInt32BE(0), head.readUInt32BE(4), head[8], head[9], head[12]];
  const step = type === 3 ? 1 : kChannels[type];
  if (depth !== 8 || step === undefined || interlaced !== 0) throw new Error("not a PNG as Chromium writes them");
  const rows = inflateSync(Buffer.concat(chunks.filter((each) => each.type === "IDAT").map(({ data }) => data)));
  unfilter(rows, width * step, height, step);
  const palette = chunks.find((each) => each.type === "PLTE")?.data;
  const pixels = new Uint32Array(width * height);
  for (let i = 0; i < pixels.length; i += 1) {
    const at = i * step + Math.floor(i / width) + 1;
    const [source, from] = type === 3 ? [palette, 3 * rows[at]] : [rows, at];
    pixels[i] = (source[from] << 16) | (source[from + 1] << 8) | source[from + 2];
  }
  return { width, height, pixels };
}

const squaredDistance = (a, b) =>
  ((a >> 16) - (b >> 16)) ** 2 + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2;

/** The most frequent colours, and the number of the nearest of them for every colour. */
function paletteOf(pixels) {
  const counts = new Map();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const colours = [...counts].sort(([a, many], [b, more]) => more - many || a - b).map(([colour]) => colour);
  const palette = colours.slice(0, kMostColours);
  const numbers = new Map(palette.map((colour, number) => [colour, number]));
  for (const colour of colours.slice(kMostColours)) {
    let nearest = 0;
    for (let i = 1; i < palette.length; i += 1) {
      if (squaredDistance(palette[i], colour) < squaredDistance(palette[nearest], colour)) nearest = i;
    }
    numbers.set(colour, nearest);
  }
  return { palette, numbers };
}

/** The PNG with at most 256 colours: the most frequent ones stay, each other becomes the nearest of them. */
export function withPalette(png) {
  const { width, height, pixels } = decode(png);
  const { palette, numbers } = paletteOf(pixels);
  const rows = Buffer.alloc((width + 1) * height); // rows begin with filter 0, which suits flat colours best
  pixels.forEach((colour, i) => (rows[i + Math.floor(i / width) + 1] = numbers.get(colour)));
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3], 8);
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const parts = [["IHDR", head], ["PLTE", colours], ["IDAT", deflateSync(rows, { level: 9, memLevel: 9 })], ["IEND", Buffer.alloc(0)]];
  return Buffer.concat([kSignature, ...parts.map(([type, data]) => chunk(type, data))]);
}

// Packs the built page and writes it as C++: node embed.mjs DIST OUTPUT.cpp
// embed.cmake calls it only where npm is installed; else the server gets a plain page.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, extname, join, relative, sep } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const kTypes = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".json": "application/json",
  ".txt": "text/plain; charset=utf-8",
};
const kNotServed = new Set(["/manifest.json"]);

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

/** Bytes as C++ string literals of 64 bytes a line; octal, because it ends after three digits. */
function literal(bytes) {
  const lines = [];
  for (let i = 0; i < bytes.length; i += 64) {
    const text = [...bytes.subarray(i, i + 64)].map((byte) =>
      byte >= 32 && byte < 127 && byte !== 34 && byte !== 92 && byte !== 63
        ? String.fromCharCode(byte)
        : `\\${byte.toString(8).padStart(3, "0")}`);
    lines.push(`    "${text.join("")}"`);
  }
  return lines.length === 0 ? '    ""' : lines.join("\n");
}

function packed(bytes) {
  const gzip = gzipSync(bytes, { level: 9 });
  gzip[9] = 3; // The header names the operating system: always "Unix", so that every machine builds equal bytes.
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  const unlessLarger = (form) => (form.length < bytes.length ? form : Buffer.alloc(0));
  return { plain: bytes, gzip: unlessLarger(gzip), brotli: unlessLarger(brotli) };
}

function entryOf(dist, path, number) {
  const bytes = readFileSync(path);
  const forms = packed(bytes);
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 32);
  const type = kTypes[extname(path)];
  if (type === undefined) throw new Error(`${path}: no content type for this kind of file`);
  const arrays = Object.entries(forms).map(
    ([form, data]) => `constexpr char k${form}${number}[] =\n${literal(data)};`);
  const views = Object.entries(forms).map(([form, data]) => `{k${form}${number}, ${data.length}}`);
  const url = `/${relative(dist, path).split(sep).join("/")}`;
  return { url, arrays, row: `    {"${url}", "${type}", ${views.join(", ")}, "\\"${hash}\\""},` };
}

const [dist, output] = process.argv.slice(2);
const byUrl = (a, b) => (a.url < b.url ? -1 : 1);
const entries = filesIn(dist)
  .map((path, number) => entryOf(dist, path, number))
  .filter(({ url }) => !kNotServed.has(url))
  .sort(byUrl);
if (!entries.some(({ url }) => url === "/index.html")) throw new Error(`${dist}: no index.html`);

mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, `// Generated from web/; do not edit.
#include "server/api/service/static_file_table.h"

namespace stepscope {
namespace {

${entries.flatMap(({ arrays }) => arrays).join("\n")}

constexpr StaticFile kFiles[] = {
${entries.map(({ row }) => row).join("\n")}
};

}  // namespace

std::span<const StaticFile> StaticFiles() {
  return kFiles;
}

}  // namespace stepscope
`);

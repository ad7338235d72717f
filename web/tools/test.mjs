// Unit tests: each test/*_test.ts becomes plain JavaScript in a temporary folder, then node runs them.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const web = fileURLToPath(new URL("..", import.meta.url));
const tests = readdirSync(join(web, "test")).filter((name) => name.endsWith("_test.ts"));
const out = mkdtempSync(join(web, "node_modules", ".test-"));
try {
  await build({
    entryPoints: tests.map((name) => join(web, "test", name)),
    outdir: out,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node18",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
  });
  const files = tests.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
  const run = spawnSync(process.execPath, ["--test", "--test-reporter=spec", ...files], { cwd: web, stdio: "inherit" });
  process.exitCode = run.status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { service, useService } from "./support/mock_page.mjs";
import { decode } from "./support/palette_png.mjs";
import { sampleJob } from "./support/sample_jobs.mjs";

// The pictures that scripts/screenshot takes, here of the scripted service.

const kProgram = new URL("support/screenshot.mjs", import.meta.url).pathname;
const kToken = "st_reader_x";
const folder = mkdtempSync(join(tmpdir(), "stepscope-screenshot-test-"));
after(() => rmSync(folder, { recursive: true }));

useService(() => {
  service.reset([sampleJob({ name: "mlp-demo", startedUs: Date.now() * 1000 - 3600e6, seconds: 120, gpus: 2 })]);
  service.access.demand({ [kToken]: { name: "x", role: "reader" } });
});

/** Runs the program to its end; gives its exit code and what it wrote. */
function screenshot(job, token = kToken, more = []) {
  const options = { env: { ...process.env, STEPSCOPE_TOKEN: token } };
  return new Promise((resolve) =>
    execFile(process.execPath, [kProgram, service.url, job, folder, "800", ...more], options, (fault, out, err) =>
      resolve({ code: fault?.code ?? 0, out, err })));
}

test("a job's page is pictured wide and narrow, light and dark", async () => {
  const { code, out, err } = await screenshot("mlp-demo");
  assert.equal(code, 0, err);
  const names = ["job-dark.png", "job-light.png", "job-phone-dark.png", "job-phone-light.png"];
  assert.deepEqual(readdirSync(folder).sort(), names);
  const [dark, light, phoneDark, phoneLight] = names.map((name) => decode(readFileSync(join(folder, name))));
  assert.deepEqual([dark, light, phoneDark, phoneLight].map(({ width }) => width), [1280, 1280, 390, 390]);
  assert.ok([dark, light, phoneDark, phoneLight].every(({ height }) => height > 600 && height <= 800));
  const corner = ({ pixels }) => pixels[pixels.length - 1];
  assert.deepEqual([dark, light].map(corner), [phoneDark, phoneLight].map(corner));
  assert.ok(corner(dark) < 0x202020 && corner(light) > 0xe0e0e0, "the ground has the colour of its scheme");
  assert.equal(out.trim().split("\n").length, 4);
});

test("with all, every page has its four pictures", async () => {
  service.access.demand({ [kToken]: { name: "x", role: "admin" } });
  const { code, out, err } = await screenshot("mlp-demo", kToken, ["all"]);
  assert.equal(code, 0, err);
  assert.equal(out.trim().split("\n").length, 48);
  for (const page of ["steps", "heatmap", "compare", "alerts-phone"]) assert.ok(readdirSync(folder).includes(`${page}-dark.png`), page);
});

test("without a job or a valid token the program fails and says why", async () => {
  const none = await screenshot("none");
  assert.deepEqual([none.code, none.err], [1, `${service.url}/jobs/none: No such job\n`]);
  const refused = await screenshot("mlp-demo", "st_wrong");
  assert.equal(refused.code, 1);
  assert.match(refused.err, /the token is not valid/);
});

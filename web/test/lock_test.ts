import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

// The page and its tests build with the Node.js of Debian 12: every package that is installed says that it runs there.

const kDebian12 = "18.20.4"; // its npm is 9.2.0

type Version = readonly [number, number, number];
interface Locked {
  readonly version?: string;
  readonly optional?: boolean;
  readonly engines?: { readonly node?: string };
}

const parsed = (text: string): Version => {
  const [major = "0", minor = "0", patch = "0"] = text.split(".");
  return [Number(major), Number(minor), Number(patch)];
};
const before = (a: Version, b: Version) => (a[0] - b[0] || a[1] - b[1] || a[2] - b[2]) < 0;

/** Whether a version is within a range such as "^18.0.0 || >= 20"; a form that engines do not use is a fault. */
function fits(version: string, range: string): boolean {
  const is = parsed(version);
  return range.split("||").some((part) =>
    part.trim().replace(/([<>=^~]) +/g, "$1").split(/\s+/).every((each) => {
      if (each === "" || each === "*") return true;
      const [, sign, text] = /^(>=|\^|<|)v?(\d+(?:\.\d+){0,2})(?:\.x)?$/.exec(each) ?? assert.fail(`an unknown form of a range: ${range}`);
      const than = parsed(text ?? "");
      if (sign === ">=") return !before(is, than);
      if (sign === "<") return before(is, than);
      return is[0] === than[0] && (sign === "" ? text?.split(".").every((word, i) => Number(word) === is[i]) === true : !before(is, than));
    }),
  );
}

for (const folder of [".", "../tests/browser", "../tests/contract"]) {
  test(`packages of ${folder} run on Node.js ${kDebian12}`, () => {
    const { packages } = JSON.parse(readFileSync(`${folder}/package-lock.json`, "utf8")) as { packages: Record<string, Locked> };
    const wrong = Object.entries(packages).filter(([, { engines, optional }]) => optional !== true && engines?.node !== undefined && !fits(kDebian12, engines.node));
    assert.deepEqual(wrong.map(([name, { version, engines }]) => `${name} ${version ?? ""} needs ${engines?.node ?? ""}`), []);
    const own = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as Locked;
    const least = own.engines?.node?.replace(">=", "") ?? assert.fail("package.json names no Node.js");
    const older = Object.entries(packages).filter(([, { engines, optional }]) => optional !== true && engines?.node !== undefined && !fits(least, engines.node));
    assert.deepEqual(older.map(([name]) => name), [], `package.json promises ${least}`);
  });
}

test("ranges are read as npm reads them", () => {
  for (const [range, yes] of [[">=18", true], [">= 14.17", true], ["^18.0.0 || ^20.0.0", true], [">=20", false], ["^16.0.0 || >=22", false], ["18.x", true], [">=18.21", false], [">=12 <18", false], ["*", true]] as const) {
    assert.equal(fits(kDebian12, range), yes, range);
  }
  assert.throws(() => fits(kDebian12, "latest"));
});

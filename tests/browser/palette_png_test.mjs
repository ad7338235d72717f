import assert from "node:assert/strict";
import { test } from "node:test";
import { browser, useService } from "./support/mock_page.mjs";
import { decode, withPalette } from "./support/palette_png.mjs";

// The pictures of scripts/screenshot are written by hand, so a browser and this decoder must agree on them.

useService(() => {});

/** A picture of the browser: 64 x 32 squares of 5 px, each of another colour when `many`, and some text. */
async function picture(many) {
  const page = await browser.newPage({ viewport: { width: 320, height: 160 } });
  await page.setContent("<body style='margin:0'><canvas width=320 height=160 style='display:block'></canvas>");
  await page.evaluate((colours) => {
    const ctx = document.querySelector("canvas").getContext("2d");
    for (let i = 0; i < 2048; i += 1) {
      ctx.fillStyle = colours ? `rgb(${(i % 64) * 4} ${Math.floor(i / 64) * 8} 128)` : ["#ffffff", "#16202b", "#0b5cad"][i % 3];
      ctx.fillRect((i % 64) * 5, Math.floor(i / 64) * 5, 5, 5);
    }
  }, many);
  const png = await page.screenshot();
  await page.close();
  return png;
}

/** The pixels of a PNG as the browser reads them. */
async function readByBrowser(png) {
  const page = await browser.newPage();
  const pixels = await page.evaluate(async (address) => {
    const image = await createImageBitmap(await (await fetch(address)).blob());
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    const ctx = canvas.getContext("2d");
    ctx.drawImage(image, 0, 0);
    const { data } = ctx.getImageData(0, 0, image.width, image.height);
    return Array.from({ length: data.length / 4 }, (_, i) => (data[4 * i] << 16) | (data[4 * i + 1] << 8) | data[4 * i + 2]);
  }, `data:image/png;base64,${png.toString("base64")}`);
  await page.close();
  return pixels;
}

test("a picture of few colours stays as it is, pixel by pixel", async () => {
  const png = await picture(false);
  const before = decode(png);
  const small = withPalette(png);
  assert.deepEqual([before.width, before.height], [320, 160]);
  assert.ok(new Set(before.pixels).size <= 3);
  assert.deepEqual(decode(small), before);
  assert.deepEqual(await readByBrowser(small), [...before.pixels]);
});

test("a picture of many colours keeps 256 of them, and each other is near its own", async () => {
  const png = await picture(true);
  const before = decode(png).pixels;
  const after = await readByBrowser(withPalette(png));
  assert.ok(new Set(before).size > 256);
  assert.ok(new Set(after).size <= 256);
  const parts = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];
  const kept = before.filter((colour, i) => colour === after[i]).length;
  assert.ok(kept > 0 && kept < before.length, `${kept} kept`);
  assert.ok(after.every((colour) => parts(colour)[2] === 128), "no colour is invented");
});

test("what is no PNG of true colour is refused", () => {
  const sixteenBits = Buffer.alloc(45);
  Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").copy(sixteenBits);
  sixteenBits.set([16, 2], 24);
  assert.throws(() => decode(sixteenBits), /not a PNG as Chromium writes them/);
});

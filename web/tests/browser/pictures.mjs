// node tests/browser/pictures.mjs REPORT.html FOLDER
//   makes the screenshots of the demo in docs/report.md
// node tests/browser/pictures.mjs REPORT.html FOLDER NAME CLASS SECTION
//   makes one screenshot of another report, for a class, with the section at the top
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { choose, openBrowser, openReport } from "./support.mjs";
import { palettePng } from "./palette_png.mjs";

const [report, into, only, cls, section] = process.argv.slice(2);
if (!report || !into || (only && !section))
  throw new Error("usage: pictures.mjs REPORT.html FOLDER [NAME CLASS SECTION]");
const MOST_BYTES = 250_000;
mkdirSync(into, { recursive: true });
const browser = await openBrowser();
const { page } = await openReport(browser, resolve(report));
const blank = await (await browser.newContext()).newPage();

/** The pixels of a PNG, which the browser decodes. */
const decode = (png) =>
  blank.evaluate(async (text) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const bytes = context.getImageData(0, 0, image.width, image.height).data;
    let out = "";
    for (let i = 0; i < bytes.length; i += 8192) out += String.fromCharCode(...bytes.subarray(i, i + 8192));
    return { width: image.width, height: image.height, data: btoa(out) };
  }, png.toString("base64"));

const shot = async (name, selector) => {
  await page.waitForTimeout(500);
  if (selector) await page.addStyleTag({ content: ".toolbar, .save, .cross { visibility: hidden; }" });
  const { width, height, data } = await decode(await (selector ? page.locator(selector) : page).screenshot());
  const pixels = Buffer.from(data, "base64");
  let png = palettePng(width, height, pixels);
  for (let colours = 224; png.length > MOST_BYTES && colours >= 64; colours -= 32)
    png = palettePng(width, height, pixels, colours);
  writeFileSync(join(into, `${name}.png`), png);
  console.log(`${name}.png: ${Math.round(png.length / 1000)} kB`);
};
const scrollTo = (id) =>
  page.evaluate((name) => {
    document.activeElement.blur();
    window.scrollTo(0, document.getElementById(name).getBoundingClientRect().top + scrollY - 70);
  }, id);
const pin = async (id, x, y) => {
  const canvas = page.locator(`#${id} canvas`);
  const box = await canvas.boundingBox();
  await canvas.click({ position: { x: x * box.width, y: y * box.height } });
  await page.mouse.move(5, 5);
};

if (only) {
  await choose(page, "class", cls);
  await page.waitForTimeout(500);
  await pin("best-map", 0.5, 0.55);
  if (section === "trade") await shot(only, "#trade-chart");
  else if (section === "overview") await page.evaluate(() => window.scrollTo(0, 0));
  else await scrollTo(section);
  if (section !== "trade") await shot(only);
} else {
  await pin("best-map", 0.3, 0.3);
  await shot("report");
  for (const id of ["errors", "sets", "regions"]) {
    await scrollTo(id);
    await shot(`report-${id}`);
  }
  await shot("sets", "#sets .example >> nth=1");
}
await browser.close();

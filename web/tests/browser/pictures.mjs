// node tests/browser/pictures.mjs REPORT.html FOLDER: the screenshots of docs/report.md.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { openBrowser, openReport } from "./support.mjs";

const [report, into] = process.argv.slice(2);
if (!report || !into) throw new Error("usage: pictures.mjs REPORT.html FOLDER");
mkdirSync(into, { recursive: true });
const browser = await openBrowser();
const { page } = await openReport(browser, resolve(report));
const shot = async (name) => {
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(into, `${name}.png`) });
};
const canvas = page.locator("#best-map canvas");
const box = await canvas.boundingBox();
await canvas.click({ position: { x: 0.3 * box.width, y: 0.3 * box.height } });
await shot("report");
await page.mouse.move(5, 5);
for (const id of ["errors", "sets", "regions"]) {
  await page.evaluate((name) => {
    document.activeElement.blur();
    scrollTo(0, document.getElementById(name).getBoundingClientRect().top + scrollY - 70);
  }, id);
  await shot(`report-${id}`);
}
await browser.close();

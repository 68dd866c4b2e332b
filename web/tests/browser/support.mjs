// Common code of the browser tests: the program, a browser, and the arrays that the program writes.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const browserPath = process.env.KANDINSKY_CHROMIUM ?? "/usr/bin/chromium";
export const command = process.env.KANDINSKY_COMMAND ?? "";
export const shared = process.env.KANDINSKY_SHARED ?? "";
export const missing = !existsSync(browserPath)
  ? `no browser at ${browserPath}; install chromium or set KANDINSKY_CHROMIUM`
  : command === ""
    ? "set KANDINSKY_COMMAND to the kandinsky program"
    : false;

/** Whether the program is a sanitizer build, which is tens of times slower; the tests then use small data. */
export const slow = Number(process.env.KANDINSKY_PATIENCE ?? 1) > 1;

/** A new folder, which is removed when the tests end. */
export function folder() {
  const made = mkdtempSync(join(tmpdir(), "kandinsky-report-"));
  process.on("exit", () => rmSync(made, { recursive: true, force: true }));
  return made;
}

export function run(cwd, ...words) {
  return execFileSync(command, words.map(String), { cwd, encoding: "utf8", maxBuffer: 1 << 28 });
}

/** Unpacks the arrays of a real data set into a folder; returns null if they are not available. */
export function realData(name, into) {
  const unpack = join(shared, "data", "unpack.py");
  if (shared === "" || !existsSync(unpack)) return null;
  execFileSync(process.env.KANDINSKY_PYTHON ?? "/usr/bin/python3", [unpack, name, into], {
    encoding: "utf8",
  });
  return into;
}

/** float64 values of a .npy file in C order. */
export function readDoubles(path) {
  const bytes = readFileSync(path);
  const header = bytes.readUInt16LE(8);
  const text = bytes.toString("latin1", 10, 10 + header);
  if (!text.includes("'<f8'")) throw new Error(`${path} is not float64: ${text}`);
  const body = bytes.subarray(10 + header);
  return new Float64Array(body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength));
}

export async function openBrowser() {
  return chromium.launch({
    executablePath: browserPath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
}

/** Opens a report and collects all errors, warnings and requests for anything outside the file. */
export async function openReport(browser, file, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    acceptDownloads: true,
    ...options,
  });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  const own = pathToFileURL(file).href;
  page.on("request", (request) => {
    const url = request.url().split("#")[0];
    if (url !== own && !url.startsWith("data:") && !url.startsWith("blob:"))
      complaints.push(`request: ${url}`);
  });
  await page.goto(own);
  await page.waitForSelector("#pixel-coverage svg");
  await page.waitForSelector("#violins svg");
  return { page, complaints, context };
}

export async function choose(page, id, text) {
  await page.selectOption(`#${id}`, { label: text });
}

/**
 * Waits until an element has the wanted text. Playwright's waitForFunction cannot be used, because the page's
 * content security policy forbids evaluation.
 */
export async function textIs(page, id, wanted) {
  let text = null;
  for (const end = Date.now() + 10_000; Date.now() < end; await page.waitForTimeout(20)) {
    text = await page.locator(`#${id}`).textContent();
    if (wanted instanceof RegExp ? wanted.test(text) : text === wanted) return;
  }
  throw new Error(`#${id} says "${text}" and not ${wanted}`);
}

/** The content of a canvas as the data URL of a PNG. */
export async function picture(page, id) {
  return page.evaluate((name) => document.querySelector(`#${name} canvas`).toDataURL("image/png"), id);
}

export async function screenshot(page, name, options = {}) {
  const into = process.env.KANDINSKY_SCREENSHOTS;
  if (!into) return;
  mkdirSync(into, { recursive: true });
  await page.screenshot({ path: join(into, `${name}.png`), ...options });
}

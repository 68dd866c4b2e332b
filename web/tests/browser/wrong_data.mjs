// Tests that a page with invalid data reports this in one line, on the page and in the console.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before, describe } from "node:test";
import { pathToFileURL } from "node:url";
import { folder, missing, openBrowser, run } from "./support.mjs";

describe("wrong data", { skip: missing }, () => {
  let browser;
  let page;
  const at = folder();
  before(async () => {
    browser = await openBrowser();
    run(at, "demo", "-o", "demo", "-q", "--images", 24, "--test-images", 12, "--size", "48x32");
    page = readFileSync(join(at, "demo", "report.html"), "utf8");
  });
  after(async () => browser.close());

  /** The text of the page and the errors in the console after `change` was applied to the page. */
  async function shown(change) {
    const file = join(at, "wrong.html");
    const wrong = change(page);
    assert.notEqual(wrong, page);
    writeFileSync(file, wrong);
    const tab = await browser.newPage();
    const console = [];
    tab.on("console", (message) => message.type() === "error" && console.push(message.text()));
    tab.on("pageerror", (error) => console.push(error.message));
    await tab.goto(pathToFileURL(file).href);
    await tab.waitForSelector("main > [role=alert]");
    const text = await tab.locator("main").textContent();
    await tab.close();
    return { text, console };
  }

  for (const [what, change, line] of [
    ["a field is missing", (html) => html.replace('"alpha":', '"alfa":'), "alpha is missing"],
    [
      "a number is text",
      (html) => html.replace(/"samples":\d+/, '"samples":"many"'),
      "methods[0].strata[0].samples is text, but a whole number of at least 0 is expected",
    ],
    [
      "the schema is of another version",
      (html) => html.replace('{"schema":1,', '{"schema":2,'),
      "the data have schema 2, but this page reads 1",
    ],
    [
      "a map is damaged",
      (html) => html.replace(/("ce_map":{[^}]*"data":")[^"]*/g, "$1AAAA"),
      "a map cannot be unpacked",
    ],
  ])
    test(`${what}: one line`, async () => {
      const wanted = `This report cannot be shown: ${line}`;
      assert.deepEqual(await shown(change), { text: wanted, console: [wanted] });
    });

  test("a page that was cut off: one line", async () => {
    const { text, console } = await shown((html) => html.replace(/("title":")/, "$1\n"));
    assert.match(text, /^This report cannot be shown: the data are not JSON: [^\n]+$/);
    assert.deepEqual(console, [text]);
  });
});

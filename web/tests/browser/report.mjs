// Tests reports in a real browser: the numbers are those of `evaluate`, and the controls work.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import test, { after, before, describe } from "node:test";
import {
  choose,
  folder,
  missing,
  openBrowser,
  openReport,
  picture,
  readDoubles,
  realData,
  run,
  screenshot,
  slow,
  textIs,
} from "./support.mjs";

let browser;
if (!missing) {
  before(async () => (browser = await openBrowser()));
  after(async () => browser.close());
}

/** The id of the chart of a soft method's weights. */
const blend = (page) => page.locator('figure[id^="weights-"]').first().getAttribute("id");

const percent = (value) => `${(100 * value).toFixed(2)} %`;

/** The name of a class that contains markup; the demo's report must show it as text. */
const nasty = '<img src=x onerror="window.broken=1"></script><b>thing';
function makeDemo() {
  const at = folder();
  const size = slow ? ["--images", 24, "--test-images", 12, "--size", "48x32"] : [];
  run(at, "demo", "-o", "demo", "-q", "--class-names", `background,${nasty}`, ...size);
  return {
    at: join(at, "demo"),
    file: join(at, "demo", "report.html"),
    names: ["background", nasty],
    probs: "test_probs.npy",
    labels: "test_labels.npy",
  };
}

function makeReal(name, names) {
  const at = folder();
  if (realData(name, at) === null) return null;
  const input = (kind) => [
    `--${kind}-probs`,
    `${name}_${kind}_probs.npy`,
    `--${kind}-labels`,
    `${name}_${kind}_labels.npy`,
  ];
  run(
    at,
    "compare",
    ...input("cal"),
    ...input("test"),
    "--pooling",
    "pixels",
    "--report",
    "report.html",
    "--class-names",
    names.join(","),
    "-q",
    "--json",
    "compare.json",
  );
  const methods = [
    ...new Set(JSON.parse(readFileSync(join(at, "compare.json"))).results.map((row) => row.method)),
  ];
  for (const method of methods)
    run(
      at,
      "calibrate",
      "--probs",
      `${name}_cal_probs.npy`,
      "--labels",
      `${name}_cal_labels.npy`,
      "--method",
      method,
      "--pooling",
      "pixels",
      "-o",
      `${method}.kcal`,
      "-q",
    );
  return {
    at,
    file: join(at, "report.html"),
    names,
    probs: `${name}_test_probs.npy`,
    labels: `${name}_test_labels.npy`,
  };
}

/** Checks the numbers of every method and class against `evaluate` with the method's calibrator. */
async function checkNumbers(made) {
  const { page, complaints, context } = await openReport(browser, made.file);
  const methods = await page.locator("#results tbody th").allTextContents();
  assert.ok(methods.length >= 6, `only ${methods}`);
  for (const method of methods) {
    const json = JSON.parse(
      run(
        made.at,
        "evaluate",
        `${method}.kcal`,
        "--probs",
        made.probs,
        "--labels",
        made.labels,
        "--json",
        "-",
      ),
    );
    await choose(page, "method", method);
    for (const [cls, name] of made.names.entries()) {
      const own = json.results[cls];
      await choose(page, "class", name);
      const row = page.locator(`#results tbody tr:nth-child(${methods.indexOf(method) + 1})`);
      const what = `${method}, ${name}`;
      assert.equal(await row.locator("th").textContent(), method);
      if (own.mean_ce === null) {
        assert.equal(await row.locator("td").nth(1).textContent(), "-", what);
        continue;
      }
      const cells = await row.locator("td").allTextContents();
      const [, error, range, floor, coverage, wrong, place, size, empty, single, right, full] = cells;
      const { hardest, by_feature } = own.image_coverage;
      assert.equal(cells.at(-1), hardest === null ? "-" : `${(100 * hardest).toFixed(1)} %`, what);
      assert.equal(by_feature.doubt.coverage.at(-1), hardest, what);
      assert.equal(error, own.mean_ce.toFixed(4), what);
      assert.equal(range, `[${own.q05.toFixed(3)}, ${own.q95.toFixed(3)}]`, what);
      assert.equal(floor, own.floor.toFixed(4), what);
      assert.equal(coverage, `${(100 * own.coverage[17]).toFixed(1)} %`, what);
      assert.equal(wrong, `${(100 * own.false_share).toFixed(1)} %`, what);
      assert.equal(place, own.place_error === null ? "-" : own.place_error.toFixed(4), what);
      assert.equal(size, own.set_size.toFixed(3), what);
      assert.equal(empty, percent(own.empty_share), what);
      for (const [cell, share] of [
        [single, own.single_share],
        [right, own.single_right],
        [full, own.full_share],
      ])
        assert.equal(cell, share === null ? "-" : `${(100 * share).toFixed(1)} %`, what);
      for (const [alpha, level] of [
        [20, 15],
        [10, 17],
      ]) {
        await page.locator("#alpha").fill(String(alpha));
        assert.equal(await page.locator("#set-coverage").textContent(), percent(own.coverage[level]), what);
        assert.equal(await page.locator("#set-size").textContent(), json.set_sizes[level].toFixed(3), what);
      }
    }
  }
  assert.deepEqual(complaints, []);
  await context.close();
}

/** Checks the properties of every report with a k-means method. */
async function checkReport(made, cls) {
  const json = JSON.parse(
    run(
      made.at,
      "evaluate",
      "kmeans.kcal",
      "--probs",
      made.probs,
      "--labels",
      made.labels,
      "--json",
      "-",
      "--ce-map",
      "ce.npy",
    ),
  );
  const [height, width] = json.grid;
  const errors = readDoubles(join(made.at, "ce.npy"));
  const { page, complaints, context } = await openReport(browser, made.file);
  const own = json.results[cls];

  await choose(page, "class", made.names[cls]);
  await choose(page, "method", "kmeans");
  const row = page.locator("#results tbody tr", { hasText: "kmeans" });
  await row.waitFor();
  assert.equal(await row.locator("td").nth(1).textContent(), own.mean_ce.toFixed(4));
  assert.equal(
    await row.locator("td").nth(2).textContent(),
    `[${own.q05.toFixed(3)}, ${own.q95.toFixed(3)}]`,
  );
  assert.equal(await row.locator("td").nth(3).textContent(), own.floor.toFixed(4));
  assert.match(
    await page.locator("#reliability-text").textContent(),
    new RegExp(`ECE = ${own.ece.toFixed(4)}`),
  );

  // The slider changes the sets and shows the numbers of `evaluate`.
  let before = await picture(page, "example-0");
  for (const [alpha, level] of [
    [20, 15],
    [50, 9],
    [5, 18],
  ]) {
    await page.locator("#alpha").fill(String(alpha));
    await textIs(page, "alpha-value", `alpha = ${(alpha / 100).toFixed(2)}`);
    assert.equal(await page.locator("#set-coverage").textContent(), percent(own.coverage[level]));
    assert.equal(await page.locator("#set-size").textContent(), json.set_sizes[level].toFixed(3));
    assert.equal(await page.locator("#set-empty").textContent(), percent(json.empty_shares[level]));
    await page.waitForTimeout(150);
    const now = await picture(page, "example-0");
    assert.notEqual(now, before, `the sets at alpha ${alpha} look as before`);
    before = now;
  }

  // Whole sets are the default, and one class can be selected. The text below describes each view.
  await textIs(page, "example-0-shares", /of the pixels have one class, and it is right in [\d.]+ % of them/);
  const whole = await picture(page, "example-0");
  await choose(page, "sets-view", "one class");
  await textIs(page, "example-0-shares", /certain, .* undecided, .* ruled out/);
  assert.notEqual(await picture(page, "example-0"), whole);
  await choose(page, "sets-view", "whole sets");

  // The chart of the trade-off has a point for every method.
  assert.equal(
    await page.locator('#trade-chart [aria-label="dot"] circle').count(),
    await page.locator("#results tbody tr").count(),
  );
  assert.match(
    await page.locator("#trade-text").textContent(),
    new RegExp(`^${made.names[cls].replace(/[^\w ]/g, ".")}: the choice is among `),
  );

  // A click pins a pixel, and the panel shows its error for every method.
  const known = errors.findIndex(
    (value, i) =>
      i >= (cls + 0.5) * height * width && i < (cls + 1) * height * width && Number.isFinite(value),
  );
  const pixel = known - cls * height * width;
  const [y, x] = [Math.floor(pixel / width), pixel % width];
  // In the largest map, a pixel of the map is larger than a pixel of the screen.
  const canvas = page.locator("#difference canvas");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  // The position of a click is a whole number of screen pixels. inside() returns the first position inside
  // the map's pixel, whatever the layout.
  const inside = (start, share, size) => Math.ceil(start + share * size + 0.01) - start;
  await canvas.click({
    position: { x: inside(box.x, x / width, box.width), y: inside(box.y, y / height, box.height) },
  });
  await textIs(page, "pixel-where", `Row ${y}, column ${x}, pinned`);
  const shown = Number(await page.locator('#pixel-table tr[data-method="kmeans"] .error').textContent());
  assert.ok(Math.abs(shown - errors[known]) < 0.004, `CE ${shown} instead of ${errors[known]}`);
  assert.equal(
    await page.locator("#pixel-table tbody tr").count(),
    await page.locator("#results tbody tr").count(),
  );
  assert.ok((await page.locator("#pixel-scores svg path").count()) > 0);
  // The pointer does not move a pinned pixel, but arrow keys do.
  await canvas.hover({ position: { x: box.width / 2, y: box.height / 2 } });
  assert.equal(await page.locator("#pixel-where").textContent(), `Row ${y}, column ${x}, pinned`);
  await canvas.focus();
  await page.keyboard.press(x > 0 ? "ArrowLeft" : "ArrowRight");
  await textIs(page, "pixel-where", `Row ${y}, column ${x > 0 ? x - 1 : x + 1}, pinned`);
  await page.keyboard.press("Escape");
  await textIs(page, "pixel-where", /^(?!.*pinned)/);

  // Exchanging the two methods exchanges the sides of the difference map.
  await choose(page, "first", "kmeans");
  await choose(page, "second", "image");
  await textIs(page, "difference-text", /^Red: kmeans .*Blue: image /);
  const forth = (await page.locator("#difference-text").textContent()).match(/[\d.]+ %/g);
  await choose(page, "first", "image");
  await choose(page, "second", "kmeans");
  await textIs(page, "difference-text", /^Red: image .*Blue: kmeans /);
  assert.deepEqual(
    (await page.locator("#difference-text").textContent()).match(/[\d.]+ %/g),
    forth.reverse(),
  );
  assert.deepEqual(complaints, []);
  await context.close();
}

describe("the demo's report", { skip: missing }, () => {
  let made;
  before(() => (made = makeDemo()));

  test("is one file below 6 MB", () =>
    assert.ok(statSync(made.file).size < 6e6, `${statSync(made.file).size} bytes`));

  test("agrees with evaluate and reacts to slider, clicks, keys and pickers", async () => {
    await checkReport(made, 1);
    await checkReport(made, 0);
  });

  test("has the numbers of evaluate for every method and class", async () => checkNumbers(made));

  test("shows class names with markup as text", async () => {
    const { page, complaints, context } = await openReport(browser, made.file);
    assert.ok((await page.locator("#headline").textContent()).includes(nasty));
    assert.equal(await page.evaluate(() => window.broken), undefined);
    assert.equal(await page.locator("main img, main b").count(), 0);
    assert.deepEqual(complaints, []);
    await context.close();
  });

  test("sorts its table by a click on a column header", async () => {
    const { page, context } = await openReport(browser, made.file);
    const errors = async () =>
      (await page.locator("#results tbody tr td:nth-child(3)").allTextContents()).map(Number);
    await page.locator("#results thead button", { hasText: "mean CE" }).click();
    const rising = await errors();
    assert.deepEqual(
      rising,
      [...rising].sort((a, b) => a - b),
    );
    await page.locator("#results thead button", { hasText: "mean CE" }).click();
    assert.deepEqual(await errors(), [...rising].reverse());
    assert.ok(rising.length > 1);
    await context.close();
  });

  test("shows what the soft method blends, class by class", async () => {
    const weights = JSON.parse(run(made.at, "inspect", "field.kcal", "--json")).strata.map((stratum) =>
      stratum.geometry.candidates.filter((one) => one.weight > 0),
    );
    const { page, complaints, context } = await openReport(browser, made.file);
    for (const [cls, name] of made.names.entries()) {
      await choose(page, "class", name);
      const bars = page.locator(`#${await blend(page)} svg rect[aria-label]`);
      const shown = (await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute("aria-label")))).map(
        (text) => text.match(/weight (.*)$/)[1],
      );
      assert.deepEqual(shown.sort(), weights[cls].map((one) => one.weight.toFixed(3)).sort());
    }
    await page.locator("#regions").scrollIntoViewIfNeeded();
    await screenshot(page, "blend");
    assert.deepEqual(complaints, []);
    await context.close();
  });

  test("saves charts as SVG and maps as PNG", async () => {
    const { page, context } = await openReport(browser, made.file);
    const saved = async (button) => {
      const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
      return [download.suggestedFilename(), readFileSync(await download.path())];
    };
    for (const [id, kind] of [
      ["violins", "SVG"],
      ["coverage", "SVG"],
      ["reliability", "SVG"],
      [await blend(page), "SVG"],
      ["pixel-scores", "SVG"],
      ["trade-chart", "SVG"],
      ["ce-0", "PNG"],
      ["false-0", "PNG"],
      ["difference", "PNG"],
      ["example-1", "PNG"],
    ]) {
      const figure = page.locator(`figure#${id}`);
      const [name, bytes] = await saved(
        figure.getByRole("button", { name: new RegExp(`as ${kind}$`) }).first(),
      );
      assert.ok(name.endsWith(`.${kind.toLowerCase()}`), name);
      assert.ok(
        kind === "SVG"
          ? bytes.toString("utf8").startsWith("<svg")
          : bytes.subarray(1, 4).toString() === "PNG",
        name,
      );
    }
    await context.close();
  });

  test("fits narrow and dark screens and paper", async () => {
    for (const options of [{ viewport: { width: 390, height: 800 } }, { colorScheme: "dark" }]) {
      const { page, complaints, context } = await openReport(browser, made.file, options);
      const [inner, outer] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        window.innerWidth,
      ]);
      assert.ok(inner <= outer, `${inner} px wide on a screen of ${outer}`);
      await screenshot(page, options.colorScheme ? "demo-dark" : "demo-narrow");
      assert.deepEqual(complaints, []);
      await context.close();
    }
    const { page, context } = await openReport(browser, made.file);
    await screenshot(page, "demo");
    await screenshot(page, "demo-full", { fullPage: true });
    assert.ok((await page.pdf({ format: "A4" })).length > 20_000);
    await context.close();
  });
});

describe("unusual reports", { skip: missing }, () => {
  const input = [
    "--cal-probs",
    "demo/cal_probs.npy",
    "--cal-labels",
    "demo/cal_labels.npy",
    "--test-probs",
    "demo/test_probs.npy",
    "--test-labels",
    "demo/test_labels.npy",
  ];
  const one = ["--probs", "demo/cal_probs.npy", "--labels", "demo/cal_labels.npy"];
  const test_data = ["--probs", "demo/test_probs.npy", "--labels", "demo/test_labels.npy"];
  let at;
  before(() => {
    at = folder();
    run(at, "demo", "-o", "demo", "-q", "--images", 12, "--test-images", 9, "--size", "40x30");
  });

  const opens = async (file, look) => {
    const { page, complaints, context } = await openReport(browser, join(at, file));
    await page.locator("#alpha").fill("30");
    await page.locator("#ce-0 canvas").click();
    await textIs(page, "pixel-where", /pinned$/);
    await look(page);
    assert.deepEqual(complaints, []);
    await context.close();
  };

  test("classes pooled", async () => {
    run(
      at,
      "compare",
      ...input,
      "--condition",
      "none",
      "--promise",
      "none",
      "--report",
      "pooled.html",
      "-q",
      "--json",
      "pooled.json",
    );
    await opens("pooled.html", async (page) =>
      assert.match(await page.locator("#headline").textContent(), /all classes/),
    );
  });

  test("the released code's rules, several draws", async () => {
    run(
      at,
      "compare",
      ...input,
      "--compat",
      "released",
      "--report",
      "released.html",
      "-q",
      "--json",
      "released.json",
      "--sample",
      6,
      "--draws",
      2,
    );
    await opens("released.html", async (page) =>
      assert.match(await page.locator("#results caption").textContent(), /means over 2 draws/),
    );
  });

  test("one calibrator that falls back to the image-wide curve", async () => {
    run(
      at,
      "calibrate",
      ...one,
      "--method",
      "pixel",
      "--fallback",
      "image",
      "--min-count",
      13,
      "-o",
      "pixel.kcal",
      "-q",
    );
    run(at, "report", "pixel.kcal", ...test_data, "-o", "one.html", "-q");
    await opens("one.html", async (page) => {
      assert.match(await page.locator("#pixel-table tbody").textContent(), /image-wide/);
      assert.equal(await page.locator("#difference").count(), 0);
    });
  });

  test("each pixel's own curve and the image-wide curve in reports of other methods", async () => {
    for (const method of ["kmeans", "pixel", "image"])
      run(at, "calibrate", ...one, "--method", method, "-o", `only-${method}.kcal`, "-q");
    const cal = ["--cal-probs", "demo/cal_probs.npy", "--cal-labels", "demo/cal_labels.npy"];
    run(at, "report", "only-kmeans.kcal", ...test_data, "-o", "bare.html", "-q");
    run(at, "report", "only-kmeans.kcal", ...test_data, ...cal, "-o", "beside.html", "-q");
    for (const method of ["pixel", "image"])
      run(at, "report", `only-${method}.kcal`, ...test_data, "-o", `only-${method}.html`, "-q");
    const line = (page, selector) => page.locator(`#pixel-scores ${selector}`).first().getAttribute("d");
    const alone = {};
    for (const method of ["pixel", "image"])
      await opens(`only-${method}.html`, async (page) => {
        alone[method] = await line(page, '[aria-label="line"] path');
        assert.match(
          await page.locator("#pixel-legend").textContent(),
          new RegExp(`${method === "pixel" ? "own" : "image-wide"}: ${method}`),
        );
      });
    assert.notEqual(alone.pixel, alone.image);
    await opens("bare.html", async (page) => {
      assert.match(
        await page.locator("#missing-curves").textContent(),
        /own curve and the image-wide curve.*--cal-probs and --cal-labels/,
      );
      assert.equal(await page.locator("#pixel-legend li").count(), 0);
    });
    await opens("beside.html", async (page) => {
      assert.equal(await page.locator("#missing-curves").count(), 0);
      assert.deepEqual(await page.locator("#pixel-legend li").allTextContents(), ["own", "image-wide"]);
      assert.equal(await line(page, 'path[aria-label="own"]'), alone.pixel);
      assert.equal(await line(page, 'path[aria-label="image-wide"]'), alone.image);
      assert.equal(await page.locator("#results tbody tr").count(), 1);
      await screenshot(page, "references");
    });
  });

  test("outlines are drawn over the examples, with the guarantee and how often it held", async () => {
    run(
      at,
      "outline",
      "--cal-probs",
      one[1],
      "--cal-labels",
      one[3],
      "--alpha",
      "0.3",
      "--share",
      "0.8",
      "--save",
      "rule.json",
      "-q",
    );
    const found = JSON.parse(run(at, "outline", "--rule", "rule.json", ...test_data, "--json", "-"));
    run(at, "calibrate", ...one, "--method", "image", "-o", "plain.kcal", "-q");
    run(at, "report", "plain.kcal", ...test_data, "--outline", "rule.json", "-o", "outlines.html", "-q");
    await opens("outlines.html", async (page) => {
      await textIs(
        page,
        "outline-numbers",
        new RegExp(`as promised in ${found.test[0].held} of ${found.test[0].groups} test groups`),
      );
      assert.match(await page.locator("#outlines .lead").textContent(), /^Guaranteed for a new image/);
      assert.equal(await page.locator("#outline-0 svg.lines path").count(), 3);
      assert.equal(await page.locator("#outline-sizes tbody tr").count(), found.test[0].objects.length);
      await page.locator("#outlines").scrollIntoViewIfNeeded();
      await screenshot(page, "outlines");
    });
    run(at, "report", "plain.kcal", ...test_data, "-o", "none.html", "-q");
    await opens("none.html", async (page) => assert.equal(await page.locator("#outlines").count(), 0));
  });

  test("two calibrators of one method, and classes the labels do not show", async () => {
    for (const [k, name] of [
      [3, "three"],
      [5, "five"],
    ])
      run(
        at,
        "calibrate",
        ...one,
        "--method",
        "kmeans",
        "--kmeans-clusters",
        k,
        "--ignore",
        "1,255",
        "-o",
        `${name}.kcal`,
        "-q",
      );
    run(at, "report", "three.kcal", "five.kcal", ...test_data, "-o", "two.html", "-q");
    await opens("two.html", async (page) => {
      assert.deepEqual(await page.locator("#results tbody th").allTextContents(), ["three", "five"]);
      await choose(page, "class", "class 1");
      await textIs(page, "headline", /^No test image shows class 1/);
    });
  });
});

const real = {
  hippocampus: { names: ["background", "anterior", "posterior"], cls: 2 },
  camvid: {
    names: [
      "sky",
      "building",
      "pole",
      "road",
      "pavement",
      "tree",
      "sign",
      "fence",
      "car",
      "pedestrian",
      "cyclist",
    ],
    cls: 8,
  },
};
for (const [name, { names, cls }] of Object.entries(real))
  test(`the report of ${name} agrees with evaluate`, {
    skip: missing || (slow && "real data take hours in a sanitizer's build"),
  }, async (context) => {
    const made = makeReal(name, names);
    if (made === null)
      return context.skip(
        `no real data: set KANDINSKY_SHARED to the folder that holds data/unpack.py (${name})`,
      );
    assert.ok(statSync(made.file).size < 8e6, `${statSync(made.file).size} bytes`);
    await checkNumbers(made);
    await checkReport(made, cls);
    const { page, complaints, context: opened } = await openReport(browser, made.file);
    await choose(page, "class", names[cls]);
    await page.waitForTimeout(500);
    await screenshot(page, name, { fullPage: true });
    assert.deepEqual(complaints, []);
    await opened.close();
  });

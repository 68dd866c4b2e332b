// Shows inner and outer masks as lines on example images, and how often the guarantee held on test images.
import type { Rgb } from "./colour";
import { rgbText } from "./colour";
import type { Outlines, Report } from "./data";
import { values } from "./data";
import { h, picker, section, svg } from "./dom";
import { outline } from "./geometry";
import { PixelMap, swatches } from "./map";
import { exampleTitle } from "./sets";
import type { Store } from "./store";
import { latest } from "./store";
import { percent } from "./text";

const outerColour: Rgb = [230, 126, 0];
const innerColour: Rgb = [40, 120, 230];
const truthColour: Rgb = [30, 160, 70];

/** The meaning of a pixel's code. */
export function outlineWord(code: number, own: { inner: boolean; outer: boolean }): string {
  if (code === 2) return "inside the inner mask";
  if (!own.outer) return "not in the inner mask";
  if (code === 0) return "outside the outer mask";
  return own.inner ? "between the masks" : "in the outer mask";
}

/** The figures of one outlined class on the test images, in a sentence or two. */
export function outlineSentence(own: Outlines, k: number): string {
  const test = own.test[k];
  if (test.groups === 0) return "No test group has this class.";
  const kept =
    own.per === "object"
      ? `Of a test group's objects, ${percent(test.found, 1)} are ` +
        `${own.share === 0 ? "touched" : "covered"} on average; promised: ${percent(1 - own.alpha, 1)}.`
      : `The masks are as promised in ${test.held} of ${test.groups} test groups ` +
        `(${percent(test.held / test.groups, 1)}; promised: ${percent(1 - own.alpha, 1)}).`;
  const outer = own.outer ? `, the outer mask ${percent(test.outer_share, 1)}` : "";
  const inner = own.inner ? `, the inner mask ${percent(test.inner_share, 1)}` : "";
  return `${kept} The object has ${percent(test.object_share, 1)} of the image${outer}${inner}.`;
}

function sizesTable(own: Outlines, k: number): HTMLElement {
  const share = own.share === 0 || own.share === 1 ? "" : ` (${percent(own.share, 0)} or more)`;
  const head = [
    `size (${own.size_unit})`,
    "objects",
    "touched",
    ...(own.share === 0 ? [] : [`covered${share}`]),
  ];
  return h(
    "table",
    { id: "outline-sizes" },
    h("caption", {}, "True objects (connected parts) by size: shares that the outer mask touches and covers"),
    h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))),
    h(
      "tbody",
      {},
      ...own.test[k].objects.map((one) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, one.largest === null ? "larger" : `up to ${one.largest}`),
          h("td", {}, String(one.objects)),
          h("td", {}, percent(one.touched / one.objects, 1)),
          own.share === 0 ? null : h("td", {}, percent(one.covered / one.objects, 1)),
        ),
      ),
    ),
  );
}

function lineOf(report: Report, colour: Rgb, inside: (pixel: number) => boolean): SVGElement {
  const [height, width] = report.grid;
  return svg("path", {
    d: outline(height, width, inside),
    fill: "none",
    stroke: rgbText(colour),
    "stroke-width": 2,
    "vector-effect": "non-scaling-stroke",
  });
}

/** The section with the outlines; null if the report has none. */
export function outlinesSection(store: Store): HTMLElement | null {
  const { report } = store;
  const own = report.outlines;
  if (!own) return null;
  const [height, width] = report.grid;
  const pixels = height * width;
  let shown = Math.max(0, own.classes.indexOf(store.choice.stratum));
  const maps = report.examples.map((example, i) => {
    const title = exampleTitle(example, i, report.examples.length);
    return new PixelMap(store, `${title}, outlines`, `outline-${i}`, title);
  });
  const words = h("p", { class: "note", id: "outline-numbers" });
  const sizes = h("div", {});
  const load = async () =>
    Promise.all(
      report.examples.map(async (example, i) => ({
        codes: await values(own.examples[i]),
        truth: await values(example.truth),
        probs: await values(example.probabilities),
        photo: example.photo ? await values(example.photo) : null,
      })),
    );
  const redraw = latest(load, (loaded) => {
    const cls = own.classes[shown];
    words.textContent = outlineSentence(own, shown);
    sizes.replaceChildren(
      ...(own.outer && own.test[shown].objects.length > 0 ? [sizesTable(own, shown)] : []),
    );
    loaded.forEach(({ codes, truth, probs, photo }, i) => {
      const code = (p: number) => codes[shown * pixels + p];
      const grey = (p: number): Rgb => {
        const shade = 60 + Math.round(1.7 * probs[cls * pixels + p]);
        return [shade, shade, shade];
      };
      maps[i].draw({
        paint: photo ? (p) => [photo[3 * p], photo[3 * p + 1], photo[3 * p + 2]] : grey,
        describe: (p) =>
          `${outlineWord(code(p), own)}, truth ` +
          `${truth[p] === 255 ? "ignored" : report.classes[truth[p]]}, p(${report.classes[cls]}) ` +
          `= ${(probs[cls * pixels + p] / 100).toFixed(2)}`,
        overlay: [
          lineOf(report, truthColour, (p) => truth[p] === cls),
          ...(own.outer ? [lineOf(report, outerColour, (p) => code(p) !== 0)] : []),
          ...(own.inner ? [lineOf(report, innerColour, (p) => code(p) === 2)] : []),
        ],
      });
    });
  });
  const names = own.classes.map((c) => report.classes[c]);
  const classPick = picker("outlined class", "outline-class", names, shown, (k) => {
    shown = k;
    redraw();
  });
  store.on(["stratum"], () => {
    const k = report.pooled ? -1 : own.classes.indexOf(store.choice.stratum);
    if (k >= 0) (classPick.querySelector("select") as HTMLSelectElement).selectedIndex = shown = k;
    redraw();
  });
  return section(
    "outlines",
    "Outlines of whole objects",
    `${own.guarantee.charAt(0).toUpperCase()}${own.guarantee.slice(1)}.`,
    h("div", { class: "controls" }, classPick),
    swatches([
      ...(own.outer ? [[outerColour, "outer mask"] as [Rgb, string]] : []),
      ...(own.inner ? [[innerColour, "inner mask"] as [Rgb, string]] : []),
      [truthColour, "the true object"],
    ]),
    h("div", { class: "maps" }, ...maps.map((map) => map.figure)),
    words,
    sizes,
  );
}

// Shows one pixel for all methods: regions, curves, coverage, counts.
import { ChartFrame, methodLines, curveLevels } from "./charts";
import { methodColour } from "./colour";
import type { Report } from "./data";
import { classesOf, CURVE_LEVELS, NO_VALUE, stratumName, values } from "./data";
import { h, svg } from "./dom";
import type { Store } from "./store";
import { latest } from "./store";
import type { Curve, ReferenceCurve } from "./thresholds";
import { methodCurve, missingReferences, referenceCurves } from "./thresholds";
import { count, fixed, percent, plural } from "./text";

/** The properties of a pixel for one method. */
export interface PixelFacts {
  method: number;
  region: number | null; // null: the region is this pixel alone
  level: 0 | 1 | 2 | 3; // the region's curve, the image-wide curve, or none: always or never in the set
  error: number | null;
  curve: Curve;
  coverage: { x: number; y: number }[];
}

export async function pixelFacts(
  report: Report,
  stratum: number,
  m: number,
  pixel: number,
): Promise<PixelFacts> {
  const [, width] = report.grid;
  const own = report.methods[m].strata[stratum];
  const row = Math.floor(pixel / width);
  const column = pixel % width;
  const level = (own.level_map ? (await values(own.level_map))[pixel] : 0) as PixelFacts["level"];
  const region = own.region_map ? (await values(own.region_map))[pixel] : null;
  const error = (await values(own.ce_map))[pixel];
  const table = await values(own.pixel_coverage);
  const [, rows, columns] = own.pixel_coverage.shape;
  const cell = Math.floor(row / report.coverage_block) * columns + Math.floor(column / report.coverage_block);
  const coverage: { x: number; y: number }[] = [];
  for (let l = 0; l < CURVE_LEVELS; ++l) {
    const code = table[l * rows * columns + cell];
    if (code !== NO_VALUE) coverage.push({ x: curveLevels[l], y: code / 100 });
  }
  return {
    method: m,
    region,
    level,
    error: error === NO_VALUE ? null : (error / 254) * (own.ce_map.top ?? 1),
    curve: await methodCurve(report, stratum, m, pixel),
    coverage,
  };
}

const levelNames = [
  "its region's",
  "image-wide (too few scores)",
  "none: always in the set",
  "none: never in the set",
];

/** How to read the threshold curves. */
export function curveNote(report: Report): string {
  const adapts = report.methods.some(
    ({ meta }) => (meta.options as { adapt?: unknown } | undefined)?.adapt === "image",
  );
  const { curve_stride: stride } = report;
  return [
    "Where a line ends before 0.95, later thresholds are infinite: the class is always in the set.",
    "A method without a line has no threshold here; the table says what its sets do.",
    adapts ? "Thresholds that depend on the image are shown for an image whose levels are not shifted." : "",
    stride > 1
      ? `Curves of methods with very many regions are those of one pixel in each ${stride} x ${stride} block.`
      : "",
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

/** The legend entry of a reference curve. If a method has the curve, the entry shows the method's line. */
function legendEntry(report: Report, one: ReferenceCurve): HTMLElement {
  const colour = one.method === null ? "currentColor" : methodColour(one.method);
  const line = svg("line", {
    x1: 0,
    x2: 26,
    y1: 5,
    y2: 5,
    stroke: colour,
    "stroke-width": one.method === null ? 1.3 : 2,
    "stroke-dasharray": one.method === null ? one.dash : undefined,
  });
  const sample = svg(
    "svg",
    { width: 26, height: 10, viewBox: "0 0 26 10", class: "line-sample", "aria-hidden": "true" },
    line,
  );
  return h(
    "li",
    { "data-reference": one.name },
    sample,
    one.method === null ? one.name : `${one.name}: ${report.methods[one.method].name}`,
  );
}

export function inspector(store: Store): HTMLElement {
  const { report } = store;
  const [, width] = report.grid;
  const where = h("p", { class: "where", "aria-live": "polite", id: "pixel-where" });
  const facts = h("dl", { class: "facts", id: "pixel-facts" });
  const table = h("div", { class: "scroll", id: "pixel-table" });
  const scores = new ChartFrame("Non-conformity curves", "pixel-scores");
  const coverage = new ChartFrame("Coverage", "pixel-coverage");
  const legend = h("ul", { class: "swatches", id: "pixel-legend" });
  const missing = missingReferences(report);
  const unpin = h(
    "button",
    { type: "button", class: "save", click: () => store.set({ pinned: false }) },
    "release",
  );
  const block = report.coverage_block;

  const collect = async () => {
    const { stratum, pixel } = store.choice;
    const own = await Promise.all(report.methods.map((_, m) => pixelFacts(report, stratum, m, pixel)));
    const tested = await Promise.all(
      classesOf(report, stratum).map(async (c) => (await values(report.test_counts[c]))[pixel]),
    );
    const calibrated = (await values(report.calibration_counts[stratum]))[pixel];
    const labelled = (await values(report.labelled))[pixel];
    const beside = await referenceCurves(report, stratum, pixel);
    return { own, beside, tested: tested.reduce((a, b) => a + b, 0), calibrated, labelled, stratum, pixel };
  };
  const show = ({
    own,
    beside,
    tested,
    calibrated,
    labelled,
    stratum,
    pixel,
  }: Awaited<ReturnType<typeof collect>>) => {
    const name = stratumName(report, stratum);
    where.textContent =
      `Row ${Math.floor(pixel / width)}, column ` +
      `${pixel % width}${store.choice.pinned ? ", pinned" : ""}`;
    unpin.hidden = !store.choice.pinned;
    const fact = (title: string, text: string) => h("div", {}, h("dt", {}, title), h("dd", {}, text));
    facts.replaceChildren(
      fact("calibration scores", count(calibrated)),
      fact("test samples", `${count(tested)} of ${count(labelled)}`),
      report.pooled ? "" : fact("prevalence", percent(labelled > 0 ? tested / labelled : null)),
    );
    const heads = ["method", "region", "curve used", "CE here"].map((text) =>
      h("th", { scope: "col" }, text),
    );
    const lines = own.map((one) =>
      h(
        "tr",
        { "data-method": report.methods[one.method].name },
        h(
          "th",
          { scope: "row" },
          h("span", { class: "dot", style: `background: ${methodColour(one.method)}` }),
          report.methods[one.method].name,
        ),
        h(
          "td",
          {},
          one.region === null
            ? "own"
            : `${one.region + 1} of ${report.methods[one.method].strata[stratum].regions}`,
        ),
        h("td", {}, one.level === 0 && one.region === null ? "its own" : levelNames[one.level]),
        h("td", { class: "error" }, fixed(one.error, 3)),
      ),
    );
    table.replaceChildren(
      h("table", { class: "small" }, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...lines)),
    );
    const points = (pick: (one: PixelFacts) => { x: number; y: number }[]) =>
      own.flatMap((one) => pick(one).map((point) => ({ ...point, method: one.method })));
    const size = { width: 360, height: 190, at: 1 - store.choice.percent / 100 };
    scores.show(
      methodLines(
        report,
        points((one) => one.curve.points),
        {
          title: `Non-conformity curves of ${name}`,
          x: "wanted coverage, 1 - alpha",
          y: "score threshold",
          diagonal: false,
          range: report.score_range,
          dashed: beside
            .filter((one) => one.method === null)
            .map((one) => ({ name: one.name, dash: one.dash, points: one.curve.points })),
          ...size,
        },
      ),
    );
    legend.replaceChildren(...beside.map((one) => legendEntry(report, one)));
    coverage.show(
      methodLines(
        report,
        points((one) => one.coverage),
        {
          title: `Coverage of ${name} here`,
          x: "wanted coverage, 1 - alpha",
          y: "coverage",
          diagonal: true,
          ...size,
        },
      ),
    );
  };
  store.on(["stratum", "pixel", "pinned", "percent"], latest(collect, show));
  const around = block === 1 ? "at this pixel" : `in the block of ${block} x ${block} pixels around it`;
  return h(
    "aside",
    { id: "inspector", "aria-label": "One pixel in all methods" },
    h("h2", {}, "One pixel, all methods"),
    h(
      "p",
      { class: "hint" },
      "Hover over any map; click to pin. With the keyboard: focus a map, then the arrow keys.",
    ),
    h("div", { class: "where-line" }, where, unpin),
    facts,
    table,
    scores.figure,
    legend,
    missing ? h("p", { class: "note", id: "missing-curves" }, missing) : null,
    h("p", { class: "note" }, curveNote(report)),
    coverage.figure,
    h(
      "p",
      { class: "note" },
      `Share of the test samples ${around} that are covered ` +
        `(${plural(report.images.test, "test image")} in all); it is noisy where samples are few.`,
    ),
  );
}

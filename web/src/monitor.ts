// The page of `kandinsky monitor`, which shows a stream of images over time.
import * as Plot from "@observablehq/plot";
import { ChartFrame, look } from "./charts";
import { differenceRamp, methodColour, rgbText } from "./colour";
import { h, section, svg } from "./dom";
import type { Course, MonitorData } from "./monitor_data";
import { count, fixed, plural } from "./text";

/** The points of a column. Each point covers a run of units: x is the number of the last of them. */
export function series(course: Course, column: string): { x: number; y: number }[] {
  const c = course.columns.indexOf(column);
  if (c < 0) return [];
  return course.rows.flatMap((row, i) => {
    const y = row[c];
    return y === null ? [] : [{ x: Math.min((i + 1) * course.stride, course.units), y }];
  });
}

function axis(unit: string) {
  return { label: `${unit}s so far`, labelAnchor: "center" as const, labelArrow: "none" as const };
}

function alarmRule(at: number | undefined) {
  return at === undefined
    ? []
    : [
        Plot.ruleX([at], { stroke: "#d55e00", strokeWidth: 1.5 }),
        Plot.text([at], {
          x: (d: number) => d,
          frameAnchor: "top",
          dy: -10,
          text: () => "alarm",
          fill: "#d55e00",
        }),
      ];
}

function lines(
  title: string,
  data: MonitorData,
  points: { x: number; y: number }[],
  options: { y: string; at?: number; rule?: number; colour?: number; zero?: boolean; height?: number },
): SVGSVGElement {
  const dots = points.length < 60;
  return Plot.plot({
    ariaLabel: title,
    style: look,
    width: 560,
    height: options.height ?? 230,
    marginLeft: 52,
    marginTop: 24,
    marginBottom: 40,
    x: axis(data.verdict.unit),
    y: { label: options.y, grid: true, labelArrow: "none", zero: options.zero ?? false, nice: true },
    marks: [
      options.rule === undefined
        ? null
        : Plot.ruleY([options.rule], { stroke: "currentColor", strokeDasharray: "4 4" }),
      ...alarmRule(options.at),
      Plot.lineY(points, { x: "x", y: "y", stroke: methodColour(options.colour ?? 0), strokeWidth: 1.6 }),
      dots ? Plot.dot(points, { x: "x", y: "y", r: 1.8, fill: methodColour(options.colour ?? 0) }) : null,
      Plot.tip(
        points,
        Plot.pointerX({
          x: "x",
          y: "y",
          title: (d: { x: number; y: number }) => `${data.verdict.unit} ${count(d.x)}\n${d.y.toPrecision(4)}`,
        }),
      ),
    ],
  }) as SVGSVGElement;
}

function evidenceSection(data: MonitorData): HTMLElement {
  const { verdict } = data;
  const wanted = -Math.log10(verdict.delta);
  const frame = new ChartFrame(
    "Evidence that the outputs have changed",
    "evidence",
    `The largest weighted martingale, as a power of ten. The dashed line is the alarm, at ` +
      `${count(Math.round(1 / verdict.delta))}: without a change, the probability of ever reaching it is ` +
      `at most ${verdict.delta}.`,
  );
  frame.show(
    lines("Evidence", data, series(data.outputs, "log10 evidence"), {
      y: "log10 evidence",
      at: verdict.outputs_alarm?.unit,
      rule: wanted,
      zero: true,
    }),
  );
  const parts: HTMLElement[] = [frame.figure];
  const sizes = series(data.outputs, "set size");
  if (sizes.length > 0) {
    const size = new ChartFrame(
      "Set size",
      "set-size",
      "Mean number of classes in a set, in labelled images and in about one in 64 of the others.",
    );
    size.show(lines("Set size", data, sizes, { y: "classes", at: verdict.outputs_alarm?.unit, colour: 2 }));
    parts.push(size.figure);
  }
  return section(
    "outputs",
    "Outputs",
    "Do the outputs still look like those of the calibration images?",
    h("div", { class: "pair" }, ...parts),
  );
}

function coverageSection(data: MonitorData): HTMLElement | null {
  const { verdict, labels } = data;
  if (labels.rows.length === 0) return null;
  const figures = verdict.coverage.flatMap((one) => {
    const mean = series(labels, `coverage of class ${one.class}`);
    const low = series(labels, `low of class ${one.class}`);
    const high = series(labels, `high of class ${one.class}`);
    if (mean.length === 0) return [];
    const name = data.classes[one.class];
    const band = low.map((point, i) => ({ x: point.x, low: point.y, high: high[i].y }));
    const frame = new ChartFrame(`Coverage of ${name}`, `coverage-${one.class}`);
    const at = [verdict.labels_alarm, verdict.odds_alarm].find((alarm) => alarm?.class === one.class)?.unit;
    frame.show(
      Plot.plot({
        ariaLabel: `Coverage of ${name}`,
        style: look,
        width: 560,
        height: 230,
        marginLeft: 52,
        marginTop: 24,
        marginBottom: 40,
        x: { ...axis(verdict.unit), label: `labelled ${verdict.unit}s so far` },
        y: { label: "coverage", grid: true, domain: [0, 1], labelArrow: "none" },
        marks: [
          Plot.areaY(band, { x: "x", y1: "low", y2: "high", fill: methodColour(0), fillOpacity: 0.18 }),
          Plot.ruleY([1 - verdict.alpha], { stroke: "currentColor", strokeDasharray: "4 4" }),
          Plot.ruleY([one.limit], { stroke: "#d55e00", strokeDasharray: "2 4" }),
          ...alarmRule(at),
          Plot.dot(mean, { x: "x", y: "y", r: 1.6, fill: methodColour(0) }),
        ],
      }) as SVGSVGElement,
    );
    return [frame.figure];
  });
  return section(
    "coverage",
    "Coverage",
    `Dots: coverage in each part of the stream. Band: with probability ${1 - verdict.delta} the true ` +
      `coverage was never outside, if it stayed the same; the band ends where no constant coverage is ` +
      `possible. Dashed: 1 - alpha. Dotted: the limit, which is below 1 - alpha because ` +
      `calibration images are random. An alarm means that the true coverage is below the limit, or that ` +
      `odds in the class's own pixels are lower than at calibration.`,
    h("div", { class: "pair" }, ...figures),
  );
}

/** The regions of a class, coloured by the rank of new values among those of the calibration images. */
export function regionMap(data: MonitorData, cls: number): SVGSVGElement | null {
  const [height, width] = data.grid;
  const regions = data.verdict.features.filter((one) => one.class === cls && one.region !== null);
  if (regions.length === 0) return null;
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      width: 280,
      role: "img",
      "aria-label": `Change of ${data.classes[cls]} by region`,
    },
    ...regions.map((one) => {
      const { rows, columns } = one.region!;
      const colour = differenceRamp[Math.round(255 * (0.5 - 0.5 * (one.direction ?? 0)))];
      return svg(
        "rect",
        {
          x: columns[0],
          y: rows[0],
          width: columns[1] - columns[0],
          height: rows[1] - rows[0],
          fill: rgbText(colour),
        },
        svg(
          "title",
          {},
          `rows ${rows[0]}-${rows[1] - 1}, columns ${columns[0]}-${columns[1] - 1}: ` +
            `${fixed(one.direction, 2)}, evidence ${fixed(one.evidence, 2)}`,
        ),
      );
    }),
  );
}

function regionSection(data: MonitorData): HTMLElement | null {
  const classes = [...new Set(data.verdict.features.map((one) => one.class))].slice(0, 12);
  const maps = classes.flatMap((cls) => {
    const map = regionMap(data, cls);
    return map ? [h("figure", { class: "chart" }, h("figcaption", {}, data.classes[cls]), map)] : [];
  });
  if (maps.length === 0) return null;
  return section(
    "regions",
    "Where",
    "Recent images compared with the calibration images. Red: more of the class; blue: less; white: as much.",
    h("div", { class: "maps" }, ...maps),
  );
}

function featureSection(data: MonitorData): HTMLElement {
  const { verdict } = data;
  const shown = verdict.features
    .filter((one) => one.region === null)
    .sort((a, b) => (b.evidence ?? 0) - (a.evidence ?? 0))
    .flatMap((one, i) => {
      const points = series(data.outputs, `${one.feature} of class ${one.class}`);
      if (points.length === 0 || i >= 8) return [];
      const frame = new ChartFrame(
        `${one.feature} of ${data.classes[one.class]}`,
        `feature-${one.class}-${i}`,
      );
      frame.show(
        lines(one.feature, data, points, {
          y: one.feature,
          rule: one.before ?? undefined,
          at: verdict.outputs_alarm?.unit,
          height: 190,
          colour: 3,
        }),
      );
      return [frame.figure];
    });
  const rows = [...verdict.features]
    .sort((a, b) => (b.evidence ?? 0) - (a.evidence ?? 0))
    .slice(0, 20)
    .map((one) =>
      h(
        "tr",
        {},
        h("td", {}, data.classes[one.class]),
        h("td", {}, one.feature),
        h(
          "td",
          {},
          one.region
            ? `rows ${one.region.rows[0]}-${one.region.rows[1] - 1}, columns ` +
                `${one.region.columns[0]}-${one.region.columns[1] - 1}`
            : "whole image",
        ),
        h("td", { class: "number" }, one.evidence === null ? "-" : one.evidence.toPrecision(2)),
        h("td", { class: "number" }, fixed(one.before, 2)),
        h("td", { class: "number" }, fixed(one.now, 2)),
      ),
    );
  const table = h(
    "table",
    {},
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ...["class", "feature", "where", "evidence", "calibration", "recent"].map((name) =>
          h("th", { scope: "col" }, name),
        ),
      ),
    ),
    h("tbody", {}, ...rows),
  );
  return section(
    "features",
    "Features",
    "The features with most evidence over time; dashed: the median of the calibration images.",
    h("div", { class: "pair" }, ...shown),
    h("div", { class: "table-room" }, table),
  );
}

export function buildMonitor(data: MonitorData): Node[] {
  document.title = data.title;
  const { verdict } = data;
  const rang = [verdict.outputs_alarm, verdict.labels_alarm, verdict.odds_alarm].some(
    (alarm) => alarm !== null,
  );
  const [height, width] = data.grid;
  const parts = [
    evidenceSection(data),
    coverageSection(data),
    regionSection(data),
    featureSection(data),
  ].filter((part) => part !== null);
  return [
    h(
      "header",
      {},
      h("h1", {}, data.title),
      h(
        "p",
        { class: "facts-line" },
        `${plural(verdict.images, "image")}, ${plural(verdict.units, verdict.unit)} judged, ` +
          `compared with ${plural(verdict.reference_units, `calibration ${verdict.unit}`)}; ` +
          `${height} x ${width} pixels (height x width), ${data.classes.length} classes`,
      ),
      h("p", { class: rang ? "verdict alarm" : "verdict", role: "status" }, rang ? "Alarm" : "No alarm"),
      h("ul", { class: "verdict-lines" }, ...verdict.text.map((line) => h("li", {}, line))),
    ),
    h("div", { class: "story" }, ...parts),
    h("p", { class: "note" }, `kandinsky ${data.version}; docs/monitoring.md describes the guarantee.`),
  ];
}

// The charts, which Observable Plot draws.
import * as Plot from "@observablehq/plot";
import { methodColour } from "./colour";
import type { Reliability, Report } from "./data";
import { CURVE_LEVELS, SLIDER_LEVELS } from "./data";
import { h } from "./dom";
import { saveButton, saveSvg } from "./download";
import { fileName } from "./text";

export const curveLevels = Array.from({ length: CURVE_LEVELS }, (_, i) => (i + 1) / 20);
export const sliderLevels = Array.from({ length: SLIDER_LEVELS }, (_, i) => (i + 1) / 100);

export const look = {
  fontSize: "12px",
  fontFamily: "inherit",
  background: "transparent",
  overflow: "visible",
};

/** A chart with a caption and a button that saves it; show() replaces the drawing. */
export class ChartFrame {
  readonly figure: HTMLElement;
  private readonly room = h("div", { class: "chart-room" });

  constructor(
    readonly title: string,
    id: string,
    note = "",
  ) {
    this.figure = h(
      "figure",
      { class: "chart", id },
      h(
        "figcaption",
        {},
        title,
        saveButton("SVG", title, () => this.save()),
      ),
      this.room,
      note ? h("p", { class: "note" }, note) : null,
    );
  }

  show(chart: SVGSVGElement | HTMLElement): void {
    this.room.replaceChildren(chart);
  }

  private save(): void {
    const chart = this.room.querySelector<SVGSVGElement>("svg:not([class*='swatch'])");
    if (chart) saveSvg(chart, fileName(this.title));
  }
}

export function methodLegend(report: Report): HTMLElement {
  return h(
    "ul",
    { class: "swatches methods" },
    ...report.methods.map((method, m) =>
      h("li", {}, h("span", { class: "swatch line", style: `background: ${methodColour(m)}` }), method.name),
    ),
  );
}

interface Point {
  x: number;
  y: number;
  method: number;
}

function unit(label: string) {
  return {
    domain: [0, 1],
    label,
    grid: true,
    ticks: [0, 0.2, 0.4, 0.6, 0.8, 1],
    labelAnchor: "center" as const,
    labelArrow: "none" as const,
  };
}

/**
 * Draws the lines of each method in the method's colour, and dashed lines in the colour of the text. The
 * range of the y axis is `range` or, if it is not given, [0, 1].
 */
export function methodLines(
  report: Report,
  points: Point[],
  options: {
    title: string;
    x: string;
    y: string;
    diagonal: boolean;
    width: number;
    height: number;
    at?: number;
    range?: [number, number];
    dashed?: { name: string; dash: string; points: { x: number; y: number }[] }[];
  },
): SVGSVGElement {
  const name = (d: Point) => report.methods[d.method].name;
  const isUnit = !options.range || (options.range[0] === 0 && options.range[1] === 1);
  return Plot.plot({
    ariaLabel: options.title,
    style: look,
    width: options.width,
    height: options.height,
    marginLeft: 52,
    marginBottom: 40,
    x: unit(options.x),
    y: isUnit ? unit(options.y) : { ...unit(options.y), domain: options.range, ticks: 6 },
    marks: [
      options.diagonal
        ? Plot.line(
            [
              [0, 0],
              [1, 1],
            ],
            { stroke: "currentColor", strokeDasharray: "3 4", strokeOpacity: 0.6 },
          )
        : null,
      options.at === undefined
        ? null
        : Plot.ruleX([options.at], { stroke: "currentColor", strokeOpacity: 0.5 }),
      Plot.line(points, {
        x: "x",
        y: "y",
        z: "method",
        stroke: (d: Point) => methodColour(d.method),
        strokeWidth: 1.8,
      }),
      ...(options.dashed ?? []).map((one) =>
        Plot.line(one.points, {
          x: "x",
          y: "y",
          stroke: "currentColor",
          strokeWidth: 1.3,
          strokeDasharray: one.dash,
          ariaLabel: () => one.name,
        }),
      ),
      Plot.tip(
        points,
        Plot.pointer({
          x: "x",
          y: "y",
          title: (d: Point) => `${name(d)}\n${options.x}: ${d.x.toFixed(2)}\n${options.y}: ${d.y.toFixed(3)}`,
        }),
      ),
    ],
  }) as SVGSVGElement;
}

export function coverageDiagram(
  report: Report,
  stratum: number,
  width: number,
  height: number,
  percent: number,
): SVGSVGElement {
  const points = report.methods.flatMap((method, m) =>
    method.strata[stratum].slider_coverage.flatMap((y, i) =>
      y === null ? [] : [{ x: sliderLevels[i], y, method: m }],
    ),
  );
  return methodLines(report, points, {
    title: "Coverage diagram",
    x: "wanted coverage, 1 - alpha",
    y: "coverage on the test images",
    diagonal: true,
    width,
    height,
    at: 1 - percent / 100,
  });
}

export function reliabilityDiagram(bins: Reliability, width: number, height: number): SVGSVGElement {
  const total = bins.count.reduce((a, b) => a + b, 0);
  const points = bins.count.flatMap((n, i) =>
    n > 0 ? [{ x: bins.confidence[i]!, y: bins.accuracy[i]!, n, low: i / 20, high: (i + 1) / 20 }] : [],
  );
  return Plot.plot({
    ariaLabel: "Reliability diagram",
    style: look,
    width,
    height,
    marginLeft: 52,
    marginBottom: 40,
    x: unit("probability the model gives"),
    y: unit("share of pixels that have the class"),
    marks: [
      Plot.rect(points, {
        x1: "low",
        x2: "high",
        y1: 0,
        y2: "y",
        fill: "#0072b2",
        fillOpacity: 0.25,
        inset: 0.5,
      }),
      Plot.line(
        [
          [0, 0],
          [1, 1],
        ],
        { stroke: "currentColor", strokeDasharray: "3 4", strokeOpacity: 0.6 },
      ),
      Plot.link(points, { x1: "x", x2: "x", y1: "x", y2: "y", stroke: "#d55e00", strokeWidth: 1.5 }),
      Plot.dot(points, { x: "x", y: "y", r: 3, fill: "#0072b2" }),
      Plot.tip(
        points,
        Plot.pointerX({
          x: "x",
          y: "y",
          title: (d) =>
            `probability ${d.x.toFixed(3)}\nshare ` +
            `${d.y.toFixed(3)}\n${((100 * d.n) / total).toFixed(2)} % of all pixels`,
        }),
      ),
    ],
  }) as SVGSVGElement;
}

/** The density of the codes 0 .. 254, slightly smoothed, with maximum 1. Code 255 is left out. */
export function density(codes: ArrayLike<number>, sigma = 5): number[] {
  const histogram = new Array<number>(255).fill(0);
  for (let i = 0; i < codes.length; ++i) if (codes[i] < 255) histogram[codes[i]] += 1;
  const reach = Math.ceil(3 * sigma);
  const smooth = histogram.map((_, i) => {
    let sum = 0;
    for (let j = Math.max(0, i - reach); j <= Math.min(254, i + reach); ++j)
      sum += histogram[j] * Math.exp(-0.5 * ((i - j) / sigma) ** 2);
    return sum;
  });
  const most = Math.max(...smooth);
  return most > 0 ? smooth.map((value) => value / most) : smooth;
}

/** Violin plots of the coverage error over pixels by method, with mean and 0.05 and 0.95 quantiles. */
export function violins(
  report: Report,
  stratum: number,
  maps: ArrayLike<number>[],
  top: number,
  cut: number,
  width: number,
  height: number,
): SVGSVGElement {
  const rows = maps.flatMap((map, m) =>
    density(map).flatMap((d, i) => {
      const y = (i / 254) * top;
      return y <= cut && d > 0.002 ? [{ m, y, x1: m - 0.42 * d, x2: m + 0.42 * d }] : [];
    }),
  );
  const stats = report.methods
    .map((method, m) => ({ m, ...method.strata[stratum] }))
    .filter((d) => d.mean_ce !== null);
  const floor = stats[0]?.floor;
  return Plot.plot({
    ariaLabel: "Coverage error of the pixels, by method",
    style: look,
    width,
    height,
    marginLeft: 56,
    marginBottom: 30,
    x: {
      domain: [-0.5, report.methods.length - 0.5],
      ticks: report.methods.map((_, m) => m),
      tickFormat: (m: number) => report.methods[m]?.name ?? "",
      label: null,
      tickSize: 0,
    },
    y: {
      domain: [0, cut],
      label: "coverage error CE of a pixel",
      grid: true,
      labelAnchor: "center",
      labelArrow: "none",
    },
    marks: [
      floor ? Plot.ruleY([floor], { stroke: "currentColor", strokeDasharray: "3 4" }) : null,
      floor
        ? Plot.text([floor], {
            y: (d: number) => d,
            x: -0.48,
            text: () => "sampling floor",
            textAnchor: "start",
            dy: -7,
            fillOpacity: 0.8,
          })
        : null,
      Plot.areaX(rows, {
        x1: "x1",
        x2: "x2",
        y: "y",
        z: "m",
        fill: (d) => methodColour(d.m),
        fillOpacity: 0.55,
      }),
      Plot.ruleX(stats, { x: "m", y1: "q05", y2: "q95", stroke: "currentColor", strokeWidth: 1.5 }),
      Plot.dot(stats, { x: "m", y: "mean_ce", fill: "currentColor", stroke: "var(--paper, white)", r: 4 }),
      Plot.tip(
        stats,
        Plot.pointerX({
          x: "m",
          y: "mean_ce",
          title: (d) =>
            `${report.methods[d.m].name}\nmean ${d.mean_ce.toFixed(4)}\n[0.05, 0.95] ` +
            `[${d.q05.toFixed(3)}, ${d.q95.toFixed(3)}]`,
        }),
      ),
    ],
  }) as SVGSVGElement;
}

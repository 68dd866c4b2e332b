// The weights with which a soft method mixes distributions: those of the image, of nearby pixels at several
// bandwidths, and of rings. Each distribution also has a mirrored form with its own weight.
import * as Plot from "@observablehq/plot";
import { h } from "./dom";
import { roundUp } from "./text";

export interface WeightColumn {
  kind: "image" | "space" | "rings";
  bandwidth: number; // in pixels; for rings, the bandwidth that smooths the prevalence
  rings: number; // tau, the width of the kernel of log prevalence; 0 for other kinds
  plain: number;
  mirrored: number;
}

const kinds = ["image", "space", "rings"] as const;
const colours = { plain: "#0072b2", mirrored: "#d55e00" };

/** The columns of a geometry; none for methods without such weights. */
export function weightColumns(geometry: Record<string, unknown>): WeightColumn[] {
  if (!Array.isArray(geometry.candidates)) return [];
  const columns: WeightColumn[] = [];
  for (const one of geometry.candidates as Record<string, unknown>[]) {
    if (
      typeof one !== "object" ||
      one === null ||
      typeof one.weight !== "number" ||
      typeof one.mirror !== "boolean" ||
      one.bandwidth === undefined ||
      one.rings === undefined
    )
      return [];
    const bandwidth = typeof one.bandwidth === "number" ? one.bandwidth : 0;
    const rings = typeof one.rings === "number" ? one.rings : 0;
    const kind =
      typeof one.bandwidth !== "number" ? "image" : typeof one.rings === "number" ? "rings" : "space";
    let column = columns.find(
      (other) => other.kind === kind && other.bandwidth === bandwidth && other.rings === rings,
    );
    if (!column) {
      column = { kind, bandwidth, rings, plain: 0, mirrored: 0 };
      columns.push(column);
    }
    column[one.mirror ? "mirrored" : "plain"] += one.weight;
  }
  return kinds.flatMap((kind) => columns.filter((column) => column.kind === kind));
}

function pixels(bandwidth: number): string {
  return bandwidth < 10 ? String(Number(bandwidth.toPrecision(2))) : bandwidth.toFixed(0);
}

export function weightName(column: WeightColumn): string {
  if (column.kind === "image") return "image";
  return column.kind === "space" ? pixels(column.bandwidth) : `${pixels(column.bandwidth)}\n${column.rings}`;
}

/** A bar chart of the weights by bandwidth. Each weight has its mirrored weight to the right. */
export function weightsChart(
  columns: WeightColumn[],
  title: string,
  width: number,
  height: number,
): SVGSVGElement {
  const gap = 0.7;
  const placed = columns.map((column, i) => ({
    ...column,
    x: i + gap * kinds.indexOf(column.kind),
    text: weightName(column),
  }));
  const bars = placed.flatMap((one) => [
    { ...one, x1: one.x - 0.4, x2: one.x, weight: one.plain, colour: colours.plain, how: "plain" },
    {
      ...one,
      x1: one.x,
      x2: one.x + 0.4,
      weight: one.mirrored,
      colour: colours.mirrored,
      how: "with its mirror image",
    },
  ]);
  const top = Math.min(1, roundUp(Math.max(...bars.map((bar) => bar.weight))));
  const titles = placed.filter(
    (one, i) => one.kind !== "image" && (i === 0 || placed[i - 1].kind !== one.kind),
  );
  const names = new Map(placed.map((one) => [one.x, one.text]));
  const shown = (bar: (typeof bars)[number]) => {
    const width = bar.kind === "image" ? "" : ` ${pixels(bar.bandwidth)} px`;
    const rings = bar.kind === "rings" ? `, tau ${bar.rings}` : "";
    return `${bar.kind}${width}${rings}, ${bar.how}\nweight ${bar.weight.toFixed(3)}`;
  };
  return Plot.plot({
    ariaLabel: title,
    style: { fontSize: "12px", fontFamily: "inherit", background: "transparent", overflow: "visible" },
    width,
    height,
    marginLeft: 48,
    marginBottom: 52,
    marginTop: 24,
    x: {
      domain: [-0.6, placed[placed.length - 1].x + 0.6],
      ticks: placed.map((one) => one.x),
      tickFormat: (x: number) => names.get(x) ?? "",
      tickSize: 0,
      label: "bandwidth in pixels; below it, for rings, tau",
      labelAnchor: "center",
      labelArrow: "none",
      labelOffset: 48,
    },
    y: { domain: [0, top], grid: true, label: "weight", labelAnchor: "center", labelArrow: "none", ticks: 5 },
    marks: [
      Plot.rect(
        bars.filter((bar) => bar.weight > 0),
        { x1: "x1", x2: "x2", y1: 0, y2: "weight", fill: "colour", ariaLabel: shown },
      ),
      Plot.ruleY([0], { stroke: "currentColor", strokeOpacity: 0.5 }),
      Plot.text(titles, {
        x: (one) => one.x - 0.45,
        y: top,
        text: "kind",
        textAnchor: "start",
        dy: -10,
        fontWeight: 600,
      }),
      Plot.tip(bars, Plot.pointerX({ x: (bar) => (bar.x1 + bar.x2) / 2, y: "weight", title: shown })),
    ],
  }) as SVGSVGElement;
}

export function weightsLegend(): HTMLElement {
  const entry = (colour: string, text: string) =>
    h("li", {}, h("span", { class: "swatch", style: `background: ${colour}` }), text);
  return h(
    "ul",
    { class: "swatches" },
    entry(colours.plain, "plain"),
    entry(colours.mirrored, "with its mirror image"),
  );
}

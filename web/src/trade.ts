// Shows the trade-off between place error and false share, with a point for each method: correct coverage at
// every place needs larger sets.
import * as Plot from "@observablehq/plot";
import { ChartFrame, look } from "./charts";
import { methodColour } from "./colour";
import type { Report } from "./data";
import { stratumName } from "./data";
import { h, section } from "./dom";
import type { Store } from "./store";
import { percent } from "./text";

export interface TradePoint {
  method: number;
  name: string;
  price: number; // false share
  error: number; // place error
  best: boolean; // no other point is at least as good in both and better in one
}

export function tradePoints(report: Report, stratum: number): TradePoint[] {
  const points = report.methods.flatMap((method, m) => {
    const { false_share: price, place_error: error } = method.strata[stratum];
    return price === null || error === null
      ? []
      : [{ method: m, name: method.name, price, error, best: true }];
  });
  for (const one of points)
    one.best = !points.some(
      (other) =>
        other.price <= one.price &&
        other.error <= one.error &&
        (other.price < one.price || other.error < one.error),
    );
  return points;
}

export function tradeChart(report: Report, stratum: number, width: number, height: number): SVGSVGElement {
  const points = tradePoints(report, stratum);
  const front = points.filter((one) => one.best).sort((a, b) => a.price - b.price);
  const most = Math.max(0, ...points.map((one) => one.price));
  const ticks = [0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1];
  const end = ticks.find((tick) => tick >= most) ?? 1;
  const axis = { zero: true, grid: true, labelAnchor: "center" as const, labelArrow: "none" as const };
  return Plot.plot({
    ariaLabel: "Place error against false share, by method",
    style: look,
    width,
    height,
    marginLeft: 56,
    marginRight: 70,
    marginBottom: 42,
    x: {
      ...axis,
      type: "sqrt",
      domain: [0, end],
      ticks: ticks.filter((tick) => tick <= end),
      label: "false share: other pixels with the class in their set",
      tickFormat: (x: number) => `${+(100 * x).toPrecision(3)} %`,
    },
    y: { ...axis, label: "place error: mean |coverage - wanted| of a pixel" },
    marks: [
      Plot.line(front, {
        x: "price",
        y: "error",
        stroke: "currentColor",
        strokeDasharray: "3 4",
        strokeOpacity: 0.6,
      }),
      Plot.dot(points, { x: "price", y: "error", r: 5, fill: (d: TradePoint) => methodColour(d.method) }),
      ...(["start", "end"] as const).map((side) =>
        Plot.text(
          points.filter((one) => one.price > 0.5 * end === (side === "end")),
          {
            x: "price",
            y: "error",
            text: "name",
            dx: side === "start" ? 8 : -8,
            textAnchor: side,
            stroke: "var(--paper, white)",
            fill: "currentColor",
          },
        ),
      ),
      Plot.tip(
        points,
        Plot.pointer({
          x: "price",
          y: "error",
          title: (d: TradePoint) =>
            `${d.name}\nfalse share ${percent(d.price, 2)}\nplace error ${d.error.toFixed(4)}`,
        }),
      ),
    ],
  }) as SVGSVGElement;
}

export function tradeSection(store: Store): HTMLElement {
  const { report } = store;
  const chart = new ChartFrame(
    `Place error against false share at alpha ${report.alpha}`,
    "trade-chart",
    "Left: smaller sets. Down: coverage closer to the wanted one at every place. For points on the dashed " +
      "line, no other point is better in both.",
  );
  const note = h("p", { class: "note", id: "trade-text" });
  store.on(["stratum"], () => {
    const { stratum } = store.choice;
    chart.show(tradeChart(report, stratum, 720, 380));
    const best = tradePoints(report, stratum).filter((one) => one.best);
    note.textContent =
      best.length > 0
        ? `${stratumName(report, stratum)}: the choice is among ${best.map((one) => one.name).join(", ")}.`
        : `No test image shows ${stratumName(report, stratum)}.`;
  });
  return section(
    "trade",
    "Right coverage at every place, or small sets",
    "One threshold for the whole image gives the smallest sets and is wrong in most places. Right " +
      "coverage at every place costs larger sets. calibrate --place moves the method field between the two.",
    chart.figure,
    note,
  );
}

// The coverage of single images as a function of each feature of the model's outputs, by method.
import * as Plot from "@observablehq/plot";
import { ChartFrame, look, methodLegend } from "./charts";
import { methodColour } from "./colour";
import type { Report, Stratum } from "./data";
import { stratumName } from "./data";
import { h, section } from "./dom";
import type { Store } from "./store";
import { fixed, percent } from "./text";

const MEANING: Record<string, string> = {
  doubt: "log2 of the mean of 4 p (1 - p)",
  area: "log2 of the mean of p",
  inside: "log2 of the mean of 4 p (1 - p) where p > 1/2",
  stray: "share of the sum of p that lies where p <= 1/2",
  root: "log2 of the mean of sqrt(1 - p), weighted by p",
  fourth: "log2 of the mean of the fourth root of 1 - p, weighted by p",
};

export interface FeaturePoint {
  method: number;
  x: number;
  y: number;
  images: number;
}

/** One point for each tenth that has images, in the order of the methods. */
export function featurePoints(report: Report, stratum: number, feature: string): FeaturePoint[] {
  return report.methods.flatMap((method, m) => {
    const tenths = method.strata[stratum].by_feature[feature];
    return tenths.images.flatMap((images, i) =>
      images > 0 ? [{ method: m, x: tenths.value[i]!, y: tenths.coverage[i]!, images }] : [],
    );
  });
}

/** The lower end of the y axis of all charts: slightly below the lowest coverage that they show. */
export function leastShown(report: Report, stratum: number): number {
  const features = Object.keys(report.methods[0].strata[stratum].by_feature);
  const all = features.flatMap((feature) => featurePoints(report, stratum, feature).map((one) => one.y));
  return Math.max(0, Math.floor(10 * Math.min(1 - report.alpha, ...all) - 0.2) / 10);
}

function featureChart(report: Report, stratum: number, feature: string): SVGSVGElement {
  const points = featurePoints(report, stratum, feature);
  const axis = { grid: true, labelAnchor: "center" as const, labelArrow: "none" as const };
  return Plot.plot({
    ariaLabel: `Coverage of images against ${feature}`,
    style: look,
    width: 460,
    height: 260,
    marginLeft: 52,
    marginBottom: 40,
    x: { ...axis, ticks: 6, label: `${feature}: ${MEANING[feature] ?? ""}` },
    y: { ...axis, domain: [leastShown(report, stratum), 1], ticks: 5, label: "mean coverage of the images" },
    marks: [
      Plot.ruleY([1 - report.alpha], {
        stroke: "currentColor",
        strokeDasharray: "3 4",
        strokeOpacity: 0.6,
      }),
      Plot.line(points, {
        x: "x",
        y: "y",
        z: "method",
        stroke: (d: FeaturePoint) => methodColour(d.method),
        strokeWidth: 1.8,
      }),
      Plot.dot(points, { x: "x", y: "y", r: 2.5, fill: (d: FeaturePoint) => methodColour(d.method) }),
      Plot.tip(
        points,
        Plot.pointer({
          x: "x",
          y: "y",
          title: (d: FeaturePoint) =>
            `${report.methods[d.method].name}\n${feature} ${d.x.toFixed(2)}\ncoverage ` +
            `${percent(d.y, 1)} of ${d.images} images`,
        }),
      ),
    ],
  }) as SVGSVGElement;
}

/** By method: the coverage of the images that look hardest, and how far images are from 1 - alpha. */
export function imagesText(report: Report, stratum: number): string {
  const known = report.methods.filter((method) => method.strata[stratum].hardest_tenth !== null);
  if (known.length === 0) return `No test image shows ${stratumName(report, stratum)}.`;
  const each = (say: (own: Stratum) => string) =>
    known.map(({ name, strata }) => `${name} ${say(strata[stratum])}`).join(", ");
  return [
    `${stratumName(report, stratum)}. Coverage of the tenth of the images that look hardest ` +
      `(largest doubt): ${each((own) => percent(own.hardest_tenth, 1))}.`,
    `Mean distance of an image's coverage from ${(1 - report.alpha).toFixed(2)}: ` +
      `${each((own) => fixed(own.image_spread, 3))}.`,
    `Images more than 0.1 below it: ${each((own) => percent(own.images_far_below, 1))}.`,
  ].join(" ");
}

export function imagesSection(store: Store): HTMLElement {
  const { report } = store;
  const frames = Object.keys(report.methods[0].strata[0].by_feature).map((feature) => ({
    feature,
    chart: new ChartFrame(`Coverage against ${feature}`, `images-${feature}`),
  }));
  const note = h("p", { class: "note", id: "images-text" });
  store.on(["stratum"], () => {
    const { stratum } = store.choice;
    for (const { feature, chart } of frames) chart.show(featureChart(report, stratum, feature));
    note.textContent = imagesText(report, stratum);
  });
  return section(
    "images",
    "Single images",
    `Each point is a tenth of the test images, ordered by a feature of the model's outputs, which needs ` +
      `no labels. If all images have the same level, images that look hard are covered less; with ` +
      `calibrate --adapt image the level depends on these features. Dashed: the wanted coverage at ` +
      `alpha ${report.alpha}.`,
    methodLegend(report),
    h("div", { class: "pair" }, ...frames.map(({ chart }) => chart.figure)),
    note,
  );
}

// Shows the training of the network, if the report has its log: the loss and the Dice overlap by epoch.
import * as Plot from "@observablehq/plot";
import { ChartFrame, look } from "./charts";
import { methodColour } from "./colour";
import type { Report, Training } from "./data";
import { h, section } from "./dom";
import { plural } from "./text";

const epochs = { label: "epoch", labelAnchor: "center" as const, labelArrow: "none" as const };

function lossChart(training: Training): SVGSVGElement {
  const points = training.epoch.map((epoch, i) => ({ epoch, loss: training.loss[i] }));
  return Plot.plot({
    width: 420,
    height: 230,
    marginBottom: 40,
    style: look,
    ariaLabel: "Loss by epoch",
    x: epochs,
    y: { label: "loss", grid: true, zero: true, labelArrow: "none" },
    marks: [
      Plot.ruleY([0]),
      Plot.lineY(points, { x: "epoch", y: "loss", stroke: methodColour(0), strokeWidth: 1.5 }),
    ],
  }) as SVGSVGElement;
}

function overlapChart(training: Training): SVGSVGElement {
  const points = training.dice.flatMap(({ name, values }) =>
    values.flatMap((dice, i) => (dice === null ? [] : [{ epoch: training.epoch[i], dice, name }])),
  );
  const names = training.dice.map((one) => one.name);
  return Plot.plot({
    width: 420,
    height: 230,
    marginBottom: 40,
    style: look,
    ariaLabel: "Dice by epoch",
    x: epochs,
    y: { label: "Dice", grid: true, domain: [0, 1], labelArrow: "none" },
    color: { domain: names, range: names.map((_, i) => methodColour(i)) },
    marks: [Plot.lineY(points, { x: "epoch", y: "dice", z: "name", stroke: "name", strokeWidth: 1.5 })],
  }) as SVGSVGElement;
}

/** The section with the training; null if the report has no training log. */
export function trainingSection(report: Report): HTMLElement | null {
  const { training } = report;
  if (!training || training.epoch.length === 0) return null;
  const loss = new ChartFrame(
    "Loss",
    "training-loss",
    "Binary cross-entropy over the hardest pixels; it rises while the share of pixels that count shrinks.",
  );
  const overlap = new ChartFrame(
    "Dice",
    "training-dice",
    "Overlap of the network's output and the labels, on some of the training images.",
  );
  loss.show(lossChart(training));
  overlap.show(overlapChart(training));
  const legend = h(
    "ul",
    { class: "swatches" },
    ...training.dice.map(({ name }, i) =>
      h("li", {}, h("span", { class: "swatch line", style: `background: ${methodColour(i)}` }), name),
    ),
  );
  return section(
    "training",
    "Training of the network",
    `${plural(training.epoch.length, "epoch")}.`,
    h("div", { class: "pair" }, loss.figure, overlap.figure),
    legend,
  );
}

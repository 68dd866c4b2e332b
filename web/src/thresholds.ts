// Score thresholds, which are stored relative to the range of the scores, and the reference curves.
import { curveLevels, sliderLevels } from "./charts";
import type { Blob8, Reference, Report } from "./data";
import { CURVE_LEVELS, NO_VALUE, SLIDER_LEVELS, values } from "./data";

export interface Curve {
  points: { x: number; y: number }[]; // score at wanted coverage; infinite ones left out
  infiniteFrom: number | null; // lowest wanted coverage without a finite threshold
}

/** The score at a place from 0 to 1 in the range. */
export function scoreAt(place: number, [low, high]: [number, number]): number {
  return low + place * (high - low);
}

function curveOf(levels: number[], score: (l: number) => number | null): Curve {
  const curve: Curve = { points: [], infiniteFrom: null };
  levels.forEach((x, l) => {
    const y = score(l);
    if (y !== null) curve.points.push({ x, y });
    else curve.infiniteFrom ??= x;
  });
  return curve;
}

/** One curve of a table [curve][slider level]. */
export async function tableCurve(report: Report, table: Blob8, curve: number): Promise<Curve> {
  const codes = await values(table);
  return curveOf(sliderLevels, (l) => {
    const code = codes[curve * SLIDER_LEVELS + l];
    return code === 65535 ? null : scoreAt(code / 65534, report.score_range);
  });
}

/** The curve of the block that contains a pixel, from samples [level][row][column]. */
export async function sampledCurve(report: Report, samples: Blob8, pixel: number): Promise<Curve> {
  const codes = await values(samples);
  const [, rows, columns] = samples.shape;
  const [, width] = report.grid;
  const cell =
    Math.floor(Math.floor(pixel / width) / report.curve_stride) * columns +
    Math.floor((pixel % width) / report.curve_stride);
  return curveOf(curveLevels.slice(0, CURVE_LEVELS), (l) => {
    const code = codes[l * rows * columns + cell];
    return code === NO_VALUE ? null : scoreAt((code / 64) ** 2, report.score_range);
  });
}

/** The curve that a method uses at a pixel. */
export async function methodCurve(report: Report, stratum: number, m: number, pixel: number): Promise<Curve> {
  const own = report.methods[m].strata[stratum];
  if (own.curves && own.region_map) {
    const wide = own.level_map !== null && (await values(own.level_map))[pixel] === 1;
    return tableCurve(report, own.curves, wide ? own.regions : (await values(own.region_map))[pixel]);
  }
  return own.pixel_curves
    ? sampledCurve(report, own.pixel_curves, pixel)
    : { points: [], infiniteFrom: null };
}

export interface ReferenceCurve {
  name: string;
  dash: string; // of its line
  method: number | null; // the method that has this curve; null: an additional line
  curve: Curve;
}

const looks: { key: "own" | "image"; name: string; dash: string }[] = [
  { key: "own", name: "own", dash: "2 3" },
  { key: "image", name: "image-wide", dash: "8 4" },
];

/** The reference curves at a pixel: its own curve and the image-wide curve, if the report has them. */
export async function referenceCurves(
  report: Report,
  stratum: number,
  pixel: number,
): Promise<ReferenceCurve[]> {
  const found: ReferenceCurve[] = [];
  for (const { key, name, dash } of looks) {
    const reference = report.references[key];
    if (reference === null) continue;
    if (reference.method !== undefined)
      found.push({
        name,
        dash,
        method: reference.method,
        curve: await methodCurve(report, stratum, reference.method, pixel),
      });
    else
      found.push({ name, dash, method: null, curve: await ownCurve(report, key, reference, stratum, pixel) });
  }
  return found;
}

async function ownCurve(
  report: Report,
  key: "own" | "image",
  reference: Reference,
  stratum: number,
  pixel: number,
): Promise<Curve> {
  const blob = reference.strata![stratum];
  return key === "own" ? sampledCurve(report, blob, pixel) : tableCurve(report, blob, 0);
}

/** The advice on how to get missing reference curves; empty if none is missing. */
export function missingReferences(report: Report): string {
  const missing = looks
    .filter(({ key }) => report.references[key] === null)
    .map(({ name }) => (name === "own" ? "the pixel's own curve" : "the image-wide curve"));
  return missing.length === 0
    ? ""
    : `To show ${missing.join(" and ")}, give the report the calibration images: --cal-probs and ` +
        `--cal-labels.`;
}

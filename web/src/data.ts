// The data of a report as the program writes them (src/report/page/report_data.hpp): the schema, from which
// the types are derived, and the functions that unpack them.
import {
  anything,
  count,
  flag,
  list,
  number,
  object,
  oneOf,
  optional,
  orNull,
  pair,
  record,
  text,
  type TypeOf,
} from "./schema";

export const SLIDER_LEVELS = 99;
export const CURVE_LEVELS = 19;
export const NO_VALUE = 255;

const maybe = orNull(number);
const figures = list(maybe);
const slider = list(maybe, SLIDER_LEVELS, SLIDER_LEVELS);

const blob8 = object({
  type: oneOf("u8", "u16"),
  shape: list(count, 1),
  lag: count,
  data: text,
  top: optional(number),
});
export type Blob8 = TypeOf<typeof blob8>;

/** The images divided into tenths by a feature, in ascending order. */
const featureTenths = object({ images: list(count), value: figures, coverage: figures });
export type FeatureTenths = TypeOf<typeof featureTenths>;

const stratum = object({
  regions: count,
  mean_ce: maybe,
  mean_ce_sd: maybe,
  q05: maybe,
  q95: maybe,
  floor: maybe,
  pixels: count,
  pixels_without_data: count,
  samples: count,
  weighted_ce: maybe,
  worst_block: maybe, // coverage at alpha
  images_below: maybe, // share of images
  // The next four are those of the last draw.
  image_spread: maybe, // mean |coverage - (1 - alpha)| over images
  images_far_below: maybe, // share of images more than 0.1 below
  hardest_tenth: maybe, // coverage of the tenth of the images with the largest doubt
  by_feature: record(featureTenths),
  coverage_at_alpha: maybe, // before filling
  false_share: maybe, // at alpha, after filling
  place_error: maybe, // at alpha
  coverage: figures,
  slider_false_share: slider,
  slider_coverage: slider,
  region_samples: list(count),
  ce_map: blob8,
  false_map: blob8, // at alpha, before filling
  region_map: orNull(blob8),
  level_map: orNull(blob8), // curve: 0 region's, 1 image-wide, 2 none (always in the set), 3 none (never)
  geometry: record(anything),
  curves: orNull(blob8),
  pixel_curves: orNull(blob8),
  pixel_coverage: blob8,
});
export type Stratum = TypeOf<typeof stratum>;

const method = object({
  name: text,
  summary: text,
  guarantee: text,
  meta: record(anything),
  empty: oneOf("fill", "keep"), // what happens to empty sets
  // The next six describe the sets at alpha, as means over the draws: empty_share before filling, the others
  // after filling. Figures by slider level, and set_size_map, are those of the last draw before filling.
  set_size: maybe,
  false_classes: maybe,
  empty_share: maybe,
  single_share: maybe,
  single_right: maybe,
  full_share: maybe,
  coverage_at_alpha: maybe, // of the last draw
  slider_set_size: slider,
  slider_false_classes: slider,
  slider_empty: slider,
  slider_single: slider,
  slider_single_right: slider,
  slider_full: slider,
  set_size_map: blob8,
  strata: list(stratum, 1),
});
export type Method = TypeOf<typeof method>;

/** Reference curves: either the number of the method that has them, or one blob for each stratum. */
const reference = object({ method: optional(count), strata: optional(list(blob8)) });
export type Reference = TypeOf<typeof reference>;

const reliability = object({ count: list(count), confidence: figures, accuracy: figures, ece: maybe });
export type Reliability = TypeOf<typeof reliability>;

const example = object({
  image: count,
  group: orNull(number),
  truth: blob8,
  likeliest: blob8, // the most probable class of every pixel
  probabilities: blob8,
  photo: orNull(blob8), // [H][W][3]
  sets: list(blob8),
});
export type Example = TypeOf<typeof example>;

const objectCounts = object({
  largest: maybe, // upper end of the sizes; null: no end
  objects: count,
  touched: count,
  covered: count,
});

const judgement = object({
  groups: count,
  held: count,
  found: maybe,
  object_share: maybe,
  outer_share: maybe,
  inner_share: maybe,
  objects: list(objectCounts),
});

/** The inner and outer masks of the examples, their guarantee, and how often it held on the test images. */
const outlines = object({
  guarantee: text,
  alpha: number,
  share: number, // of the object, or of each object; 0: one voxel is enough
  per: oneOf("group", "object"),
  inner: flag,
  outer: flag,
  size_unit: text,
  classes: list(count),
  test: list(judgement),
  examples: list(blob8), // [index into classes][H][W]: 0 outside, 1 between, 2 inside
});
export type Outlines = TypeOf<typeof outlines>;

const inputFile = object({
  what: text,
  probabilities: text,
  labels: text,
  groups: text,
  shape: list(count),
  dtype: text,
});

const training = object({
  epoch: list(count),
  loss: figures,
  dice: list(object({ name: text, values: figures })),
});
export type Training = TypeOf<typeof training>;

export const reportSchema = object({
  schema: count,
  title: text,
  version: text,
  grid: pair(count),
  classes: list(text, 1),
  pooled: flag,
  shown: list(count),
  alpha: number,
  images: object({ cal: count, test: count }),
  groups: orNull(count),
  draws: count,
  coverage_block: count,
  curve_stride: count,
  score: text,
  score_range: pair(number),
  references: object({ own: orNull(reference), image: orNull(reference) }),
  methods: list(method, 1),
  calibration_counts: list(blob8),
  test_counts: list(blob8),
  labelled: blob8,
  reliability: list(reliability),
  examples: list(example),
  outlines: optional(orNull(outlines)),
  training: orNull(training),
  provenance: object({
    command: optional(text),
    inputs: optional(list(inputFile)),
    calibrators: optional(list(text)),
  }),
});
export type Report = TypeOf<typeof reportSchema>;

function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflate(base64: string): Promise<Uint8Array> {
  const stream = new Blob([bytesOf(base64) as BlobPart])
    .stream()
    .pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Undoes, in place, the subtraction of the byte `lag` places earlier. */
export function undoLag(bytes: Uint8Array, lag: number): void {
  if (lag > 0) for (let i = lag; i < bytes.length; ++i) bytes[i] += bytes[i - lag];
}

async function decode(blob: Blob8): Promise<Uint8Array | Uint16Array> {
  const bytes = await inflate(blob.data).catch(() => {
    throw new Error("a map cannot be unpacked");
  });
  undoLag(bytes, blob.lag);
  const size = blob.shape.reduce((a, b) => a * b, 1);
  if (blob.type === "u8") {
    if (bytes.length !== size) throw new Error(`a map has ${bytes.length} bytes instead of ${size}`);
    return bytes;
  }
  if (bytes.length !== 2 * size) throw new Error(`a map has ${bytes.length} bytes instead of ${2 * size}`);
  const values = new Uint16Array(size);
  for (let i = 0; i < size; ++i) values[i] = bytes[i] | (bytes[size + i] << 8);
  return values;
}

const unpacked = new WeakMap<Blob8, Promise<Uint8Array | Uint16Array>>();

/** The values of a blob, which is unpacked only once. */
export function values(blob: Blob8): Promise<Uint8Array | Uint16Array> {
  const known = unpacked.get(blob);
  if (known) return known;
  const found = decode(blob);
  unpacked.set(blob, found);
  return found;
}

/** The classes of a stratum: one, or all if classes are pooled. */
export function classesOf(report: Report, stratum: number): number[] {
  return report.pooled ? report.classes.map((_, c) => c) : [stratum];
}

export function stratumName(report: Report, stratum: number): string {
  return report.pooled ? "all classes" : report.classes[stratum];
}

/** The index into the slider arrays for an alpha in percent (1 .. 99). */
export function sliderIndex(percent: number): number {
  return SLIDER_LEVELS - percent;
}

/**
 * Of the methods whose coverage error is at most a tenth above the lowest, the method with the smallest false
 * share; 0 if there are none.
 */
export function bestMethod(report: Report, stratum: number): number {
  const own = report.methods.map((method) => method.strata[stratum]);
  const least = Math.min(...own.map((one) => one.mean_ce ?? Infinity));
  let best = 0;
  let price = Infinity;
  own.forEach((one, m) => {
    if (one.mean_ce === null || one.mean_ce > 1.1 * least || (one.false_share ?? 1) >= price) return;
    best = m;
    price = one.false_share ?? 1;
  });
  return best;
}

/**
 * The stratum to show first: the first chosen class that has test samples. If there is none, it is the first
 * other class with test samples, or else class 0.
 */
export function firstStratum(report: Report): number {
  if (report.pooled) return 0;
  const usable = (s: number) => (report.methods[0].strata[s]?.samples ?? 0) > 0;
  const wanted = report.shown.filter(usable);
  if (wanted.length > 0) return wanted[0];
  const others = report.classes.map((_, c) => c).filter((c) => c > 0 && usable(c));
  return others[0] ?? 0;
}

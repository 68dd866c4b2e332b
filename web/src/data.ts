// The data of a report as the program wrote them (src/report/page/report_data.hpp), and how to unpack them.

export interface Blob8 {
  type: "u8" | "u16";
  shape: number[];
  lag: number;
  data: string;
  top?: number;
}

/** The images in tenths by a feature, ascending. */
export interface FeatureTenths {
  images: number[];
  value: (number | null)[];
  coverage: (number | null)[];
}

export interface Stratum {
  regions: number;
  mean_ce: number | null;
  mean_ce_sd: number | null;
  q05: number | null;
  q95: number | null;
  floor: number | null;
  pixels: number;
  pixels_without_data: number;
  samples: number;
  weighted_ce: number | null;
  worst_block: number | null; // coverage at alpha
  images_below: number | null; // share of images
  image_spread: number | null; // mean |coverage - (1 - alpha)| of an image; of the last draw, as the next three
  images_far_below: number | null; // share of images more than 0.1 below
  hardest_tenth: number | null; // coverage of the tenth of the images with the largest doubt
  by_feature: Record<string, FeatureTenths>;
  coverage_at_alpha: number | null; // before filling
  false_share: number | null; // at alpha, of the sets once filled
  place_error: number | null; // at alpha
  coverage: (number | null)[];
  slider_false_share: (number | null)[];
  slider_coverage: (number | null)[];
  region_coverage: (number | null)[][];
  region_samples: number[];
  ce_map: Blob8;
  false_map: Blob8; // at alpha, before filling
  region_map: Blob8 | null;
  level_map: Blob8 | null;
  geometry: Record<string, unknown>;
  curves: Blob8 | null;
  pixel_curves: Blob8 | null;
  pixel_coverage: Blob8;
}

export interface Method {
  name: string;
  summary: string;
  guarantee: string;
  meta: Record<string, unknown>;
  set_size: number | null; // at alpha, once filled, as the next four but for the empty ones
  false_classes: number | null;
  empty_share: number | null;
  single_share: number | null;
  single_right: number | null;
  full_share: number | null;
  coverage_at_alpha: number | null;
  slider_set_size: (number | null)[];
  slider_false_classes: (number | null)[];
  slider_empty: (number | null)[];
  slider_single: (number | null)[];
  slider_single_right: (number | null)[];
  slider_full: (number | null)[];
  set_size_map: Blob8;
  strata: Stratum[];
}

/** Curves to compare others with: those of a method of the report, or its own by stratum. */
export interface Reference {
  method?: number;
  strata?: Blob8[];
}

export interface Reliability {
  count: number[];
  confidence: (number | null)[];
  accuracy: (number | null)[];
  ece: number | null;
}

export interface Example {
  image: number;
  group: number | null;
  truth: Blob8;
  likeliest: Blob8; // the most probable class of every pixel
  probabilities: Blob8;
  photo: Blob8 | null; // [H][W][3]
  sets: Blob8[];
}

export interface ObjectCounts {
  largest: number; // upper end of the sizes
  objects: number;
  touched: number;
  covered: number;
}

/** Inner and outer masks of the examples, what is promised of them, and what became of it on the test images. */
export interface Outlines {
  guarantee: string;
  alpha: number;
  share: number; // of the object, or of each object; 0: touched
  per: "group" | "object";
  inner: boolean;
  outer: boolean;
  size_unit: string;
  classes: number[];
  test: {
    groups: number;
    held: number;
    found: number;
    object_share: number;
    outer_share: number;
    inner_share: number;
    objects: ObjectCounts[];
  }[];
  examples: Blob8[]; // [class of classes][H][W]: 0 outside, 1 between, 2 inside
}

export interface InputFile {
  what: string;
  probabilities: string;
  labels: string;
  groups: string;
  shape: number[];
  dtype: string;
}

export interface Training {
  epoch: number[];
  loss: number[];
  dice: { name: string; values: (number | null)[] }[];
}

export interface Report {
  schema: number;
  title: string;
  version: string;
  grid: [number, number];
  classes: string[];
  pooled: boolean;
  shown: number[];
  alpha: number;
  images: { cal: number; test: number };
  groups: number | null;
  draws: number;
  targets: number[];
  coverage_block: number;
  curve_stride: number;
  score: string;
  score_range: [number, number];
  references: { own: Reference | null; image: Reference | null };
  methods: Method[];
  calibration_counts: Blob8[];
  test_counts: Blob8[];
  labelled: Blob8;
  reliability: Reliability[];
  examples: Example[];
  outlines?: Outlines | null;
  training: Training | null;
  provenance: { command?: string; inputs?: InputFile[]; calibrators?: string[] };
}

export const SLIDER_LEVELS = 99;
export const CURVE_LEVELS = 19;
export const NO_VALUE = 255;

function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflate(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Undoes the subtraction of the byte `lag` places before. In place. */
export function undoLag(bytes: Uint8Array, lag: number): void {
  if (lag > 0) for (let i = lag; i < bytes.length; ++i) bytes[i] += bytes[i - lag];
}

async function decode(blob: Blob8): Promise<Uint8Array | Uint16Array> {
  const bytes = await inflate(bytesOf(blob.data));
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

/** The values of a blob; unpacked once. */
export function values(blob: Blob8): Promise<Uint8Array | Uint16Array> {
  const known = unpacked.get(blob);
  if (known) return known;
  const found = decode(blob);
  unpacked.set(blob, found);
  return found;
}

/** The classes that a stratum speaks for. */
export function classesOf(report: Report, stratum: number): number[] {
  return report.pooled ? report.classes.map((_, c) => c) : [stratum];
}

export function stratumName(report: Report, stratum: number): string {
  return report.pooled ? "all classes" : report.classes[stratum];
}

/** Index into the slider arrays for alpha in percent (1 .. 99). */
export function sliderIndex(percent: number): number {
  return SLIDER_LEVELS - percent;
}

/** Of the methods whose coverage error is within a tenth of the lowest, the one with the smallest false share; 0 without any. */
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

/** The stratum to open with: the first of those asked for, else the last one with test samples after class 0. */
export function firstStratum(report: Report): number {
  if (report.pooled) return 0;
  const usable = (s: number) => (report.methods[0].strata[s]?.samples ?? 0) > 0;
  const wanted = report.shown.filter(usable);
  if (wanted.length > 0) return wanted[0];
  const others = report.classes.map((_, c) => c).filter((c) => c > 0 && usable(c));
  return others[0] ?? 0;
}

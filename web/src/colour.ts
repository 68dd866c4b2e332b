// Colours: perceptually uniform scales, and palettes that colour-blind readers can distinguish.
import * as Plot from "@observablehq/plot";

export type Rgb = [number, number, number];

function parse(text: string): Rgb {
  if (text.startsWith("#")) return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16)) as Rgb;
  return (text.match(/[\d.]+/g) ?? ["0", "0", "0"]).slice(0, 3).map(Number) as Rgb;
}

export function rgbText([r, g, b]: Rgb): string {
  return `rgb(${r}, ${g}, ${b})`;
}

/** 256 colours of one of Plot's continuous schemes, from low to high. */
export function ramp(scheme: Plot.ColorScheme, reverse = false): Rgb[] {
  const scale = Plot.scale({ color: { type: "linear", scheme, domain: [0, 255], reverse } });
  return Array.from({ length: 256 }, (_, i) => parse(scale.apply(i) as string));
}

export const errorRamp = ramp("viridis");
export const shareRamp = ramp("cividis");
export const countRamp = ramp("cividis");
/** Low values are red. As in the paper, red means that the first method has the lower error. */
export const differenceRamp = ramp("rdbu");

/** Method colours: those of Okabe and Ito with a darker yellow. After the last colour they repeat. */
const kinds = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#666666", "#882255"];
export function methodColour(m: number): string {
  return kinds[m % kinds.length];
}

/** Region colours, which differ in lightness too. */
const regionColours: Rgb[] = [
  [38, 70, 131],
  [233, 196, 106],
  [42, 157, 143],
  [231, 111, 81],
  [141, 110, 172],
  [168, 218, 220],
  [120, 60, 40],
  [244, 162, 180],
].map((colour) => colour as Rgb);
/** Up to eight regions have different colours. More regions have colours from dark to bright. */
export const distinctRegions = regionColours.length;
export function regionColour(r: number, regions: number): Rgb {
  return regions <= distinctRegions ? regionColours[r] : shareRamp[Math.round((255 * r) / (regions - 1))];
}

/** Class colours: grey, then those of Okabe and Ito and of Tol. After the last colour they repeat. */
const classColours = [
  "#d9dde2",
  "#0072b2",
  "#d55e00",
  "#009e73",
  "#e69f00",
  "#56b4e9",
  "#cc79a7",
  "#b8a800",
  "#332288",
  "#aa4499",
  "#117733",
  "#882255",
  "#661100",
  "#6699cc",
  "#44aa99",
  "#777777",
].map(parse);
export function classColour(c: number): Rgb {
  return classColours[c % classColours.length];
}

/** The colour mixed with the same amount of white. */
export function pale([r, g, b]: Rgb): Rgb {
  return [(r + 255) >> 1, (g + 255) >> 1, (b + 255) >> 1];
}

/** The colour of sets with more classes than stripes can show. */
export const manyClasses: Rgb = [120, 122, 126];

export const noData: Rgb = [190, 190, 190];

/** The colour of a set that has only the class, only other classes, both, or no class. */
export const setColours: Record<"in" | "out" | "both" | "empty", Rgb> = {
  in: [0, 90, 160],
  out: [236, 238, 240],
  both: [240, 178, 60],
  empty: [170, 20, 60],
};

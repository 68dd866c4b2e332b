// Prediction sets of all classes as a picture: one colour where the set has one class, stripes where it has
// several.
import type { Rgb } from "./colour";
import { classColour, manyClasses, pale, setColours } from "./colour";

/** The largest number of classes that stripes show. */
export const STRIPES = 3;

/**
 * The classes in the set of a pixel. The codes [class][pixel] are the largest alphas, in percent, at which a
 * class is in the set.
 */
export function setMembers(
  codes: ArrayLike<number>,
  pixels: number,
  classes: number,
  pixel: number,
  alpha: number,
): number[] {
  const members: number[] = [];
  for (let k = 0; k < classes; ++k) if (codes[k * pixels + pixel] >= alpha) members.push(k);
  return members;
}

/**
 * The sets of all pixels from their codes, and the number of empty sets that were filled with the most
 * probable class, if the rule is to fill.
 */
export function wholeSets(
  codes: ArrayLike<number>,
  likeliest: ArrayLike<number>,
  classes: number,
  alpha: number,
  rule: "fill" | "keep",
): { sets: number[][]; filled: number } {
  const pixels = likeliest.length;
  let filled = 0;
  const sets = Array.from({ length: pixels }, (_, p) => {
    const members = setMembers(codes, pixels, classes, p, alpha);
    if (members.length > 0 || rule === "keep") return members;
    ++filled;
    return [likeliest[p]];
  });
  return { sets, filled };
}

/** The colour of a set at a pixel; stripes are diagonal and `wide` pixels wide. */
export function setColour(members: number[], row: number, column: number, wide: number): Rgb {
  if (members.length === 0) return setColours.empty;
  if (members.length === 1) return classColour(members[0]);
  if (members.length > STRIPES) return manyClasses;
  return pale(classColour(members[Math.floor((row + column) / wide) % members.length]));
}

export interface SetSummary {
  decided: number; // shares of all pixels
  right: number; // share of the labelled decided pixels whose class is right
  filled: number;
  empty: number;
  undecided: number;
  kinds: { members: number[]; share: number }[]; // of the undecided sets, most frequent first
}

/** A summary of the sets of an image, of which `filled` were empty and took the most probable class. */
export function summary(sets: number[][], truth: ArrayLike<number>, filled: number): SetSummary {
  const kinds = new Map<string, { members: number[]; count: number }>();
  let decided = 0;
  let empty = 0;
  let judged = 0;
  let right = 0;
  sets.forEach((members, pixel) => {
    if (members.length === 1) {
      ++decided;
      if (truth[pixel] === 255) return;
      ++judged;
      right += Number(truth[pixel] === members[0]);
      return;
    }
    if (members.length === 0) {
      ++empty;
      return;
    }
    const key = members.join();
    const known = kinds.get(key);
    if (known) ++known.count;
    else kinds.set(key, { members, count: 1 });
  });
  const all = Math.max(1, sets.length);
  return {
    decided: decided / all,
    right: judged > 0 ? right / judged : NaN,
    filled: filled / all,
    empty: empty / all,
    undecided: (sets.length - decided - empty) / all,
    kinds: [...kinds.values()]
      .sort((a, b) => b.count - a.count)
      .map(({ members, count }) => ({ members, share: count / all })),
  };
}

import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Blob8, Report } from "../../src/data";
import { curveNote } from "../../src/inspector";
import {
  methodCurve,
  missingReferences,
  referenceCurves,
  sampledCurve,
  scoreAt,
  tableCurve,
} from "../../src/thresholds";

const blob = (bytes: number[], type: "u8" | "u16", shape: number[]): Blob8 => ({
  type,
  shape,
  lag: 0,
  data: deflateSync(Uint8Array.from(bytes)).toString("base64"),
});
/** 16-bit values: low bytes, then high bytes. */
const wide = (codes: number[], shape: number[]) =>
  blob([...codes.map((c) => c & 255), ...codes.map((c) => c >> 8)], "u16", shape);

/** Two curves at 99 levels: one at the middle of the range, one that is infinite from the level 0.50 on. */
const table = wide(
  [...new Array(99).fill(32767), ...Array.from({ length: 99 }, (_, l) => (l < 49 ? 65534 : 65535))],
  [2, 99],
);
/** Two pixels: one with code 32 (a quarter of the range), one that is infinite from the level 0.60 on. */
const samples = blob(Array.from({ length: 19 }, (_, l) => [32, l < 11 ? 64 : 255]).flat(), "u8", [19, 1, 2]);

function report(change: Partial<Report>): Report {
  const stratum = {
    regions: 2,
    curves: table,
    region_map: blob([0, 1], "u8", [1, 2]),
    level_map: null,
    pixel_curves: null,
  };
  return {
    grid: [1, 2],
    curve_stride: 1,
    score_range: [0, 1],
    references: { own: null, image: null },
    methods: [{ name: "m", strata: [stratum] }],
    ...change,
  } as unknown as Report;
}

describe("thresholds", () => {
  test("are places in the range of the scores", async () => {
    expect(scoreAt(0, [-1, 3])).toBe(-1);
    expect(scoreAt(0.5, [-1, 3])).toBe(1);
    for (const range of [
      [0, 1],
      [-1, 1],
      [0, 2.5],
    ] as [number, number][]) {
      const one = report({ score_range: range });
      const middle = (range[0] + range[1]) / 2;
      expect((await tableCurve(one, table, 0)).points.every((p) => p.y === middle)).toBe(true);
      expect((await sampledCurve(one, samples, 0)).points[7].y).toBe(range[0] + (range[1] - range[0]) / 4);
      expect((await sampledCurve(one, samples, 1)).points[0].y).toBe(range[1]);
    }
  });

  test("that are infinite end the curve", async () => {
    const curve = await methodCurve(report({}), 0, 0, 1);
    expect(curve.points.length).toBe(49);
    expect(curve.infiniteFrom).toBeCloseTo(0.5);
    expect((await sampledCurve(report({}), samples, 1)).infiniteFrom).toBeCloseTo(0.6);
    expect((await methodCurve(report({}), 0, 0, 0)).infiniteFrom).toBeNull();
  });
});

describe("the note on curves", () => {
  const noted = (stride: number, ...adapt: string[]) =>
    curveNote(
      report({
        curve_stride: stride,
        methods: adapt.map((one) => ({ meta: { options: { adapt: one } } })),
      } as unknown as Partial<Report>),
    );

  test("says what a line that ends or is missing means", () => {
    expect(noted(1)).toMatch(/infinite: the class is always in the set\. A method without a line/);
    expect(noted(1)).not.toMatch(/block|shift/);
    expect(noted(3)).toMatch("one pixel in each 3 x 3 block");
  });

  test("says of which images the curves are if thresholds depend on the image", () => {
    expect(noted(1, "none", "image")).toMatch("an image whose levels are not shifted");
    expect(noted(1, "none")).not.toMatch("shift");
  });
});

describe("reference curves", () => {
  test("come from a method of the report or from additional data", async () => {
    const one = report({ references: { own: { strata: [samples] }, image: { method: 0 } } });
    const [own, image] = await referenceCurves(one, 0, 1);
    expect([own.name, own.method, own.curve.points.length]).toEqual(["own", null, 11]);
    expect([image.name, image.method, image.curve.points.length]).toEqual(["image-wide", 0, 49]);
    expect(missingReferences(one)).toBe("");
  });

  test("that are missing are named, with the way to get them", async () => {
    expect(await referenceCurves(report({}), 0, 0)).toEqual([]);
    expect(missingReferences(report({}))).toMatch(/own curve and the image-wide curve.*--cal-probs/);
    expect(missingReferences(report({ references: { own: null, image: { method: 0 } } }))).not.toMatch(
      /image-wide/,
    );
  });
});

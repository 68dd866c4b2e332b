import { describe, expect, test } from "vitest";
import { classColour, manyClasses, pale } from "../../src/colour";
import type { Report } from "../../src/data";
import { tradePoints } from "../../src/trade";
import { setColour, summary } from "../../src/whole_sets";

describe("whole sets", () => {
  test("one class has its colour, few share stripes, many are grey", () => {
    expect(setColour([2], 0, 0, 1)).toEqual(classColour(2));
    expect([0, 1, 2].map((column) => setColour([1, 3], 0, column, 1))).toEqual(
      [1, 3, 1].map((c) => pale(classColour(c))),
    );
    expect([0, 1, 2, 3].map((column) => setColour([1, 3], 0, column, 2))).toEqual(
      [1, 1, 3, 3].map((c) => pale(classColour(c))),
    );
    expect(setColour([0, 1, 2, 3], 5, 5, 1)).toEqual(manyClasses);
  });

  test("are told in shares: decided, right, undecided and what is in them", () => {
    const found = summary([[0], [1], [0, 1], [0, 1], [1, 2]], [0, 0, 1, 1, 255], 1);
    expect([found.decided, found.right, found.filled, found.undecided]).toEqual([0.4, 0.5, 0.2, 0.6]);
    expect(found.kinds).toEqual([
      { members: [0, 1], share: 0.4 },
      { members: [1, 2], share: 0.2 },
    ]);
    expect(summary([[0, 1]], [255], 0).right).toBeNaN();
  });
});

describe("the trade", () => {
  const report = (pairs: [number | null, number | null][]) =>
    ({
      methods: pairs.map(([false_share, place_error], m) => ({
        name: `m${m}`,
        strata: [{ false_share, place_error }],
      })),
    }) as unknown as Report;
  test("marks the points that no other point dominates", () => {
    const points = tradePoints(
      report([
        [0.1, 0.2],
        [0.2, 0.1],
        [0.2, 0.2],
        [0.1, 0.2],
        [null, 0.1],
      ]),
      0,
    );
    expect(points.map((one) => one.best)).toEqual([true, true, false, true]);
    expect(points.map((one) => one.name)).toEqual(["m0", "m1", "m2", "m3"]);
  });
});

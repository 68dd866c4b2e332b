import { describe, expect, test } from "vitest";
import { classColour, manyClasses, pale, setColours } from "../../src/colour";
import type { Method, Report } from "../../src/data";
import { emptyWords, wholeWords } from "../../src/sets";
import { tradePoints } from "../../src/trade";
import { setColour, summary, wholeSets } from "../../src/whole_sets";

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
    expect(setColour([], 0, 0, 1)).toEqual(setColours.empty);
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

  test("that are empty get the most probable class only if the rule is to fill", () => {
    const codes = [20, 5, 20, 5, 5, 20]; // [class][pixel]
    expect(wholeSets(codes, [0, 1, 1], 2, 10, "fill")).toEqual({ sets: [[0], [1], [0, 1]], filled: 1 });
    expect(wholeSets(codes, [0, 1, 1], 2, 10, "keep")).toEqual({ sets: [[0], [], [0, 1]], filled: 0 });
  });

  test("that stay empty are neither decided nor undecided", () => {
    const found = summary([[0], [], [], [0, 1]], [0, 0, 1, 1], 0);
    expect([found.decided, found.filled, found.empty, found.undecided]).toEqual([0.25, 0, 0.5, 0.25]);
    expect(found.kinds).toEqual([{ members: [0, 1], share: 0.25 }]);
  });

  test("are told as the method's rule treats empty sets", () => {
    const names = (members: number[]) => `{${members.join(", ")}}`;
    const kept = wholeWords(summary([[0], [], [0, 1], [0]], [0, 0, 1, 1], 0), names);
    expect(kept).toMatch(
      /50.* one class, and it is right in 50.* of them\. 25.* have no class\. 25.* undecided: \{0, 1\}/,
    );
    expect(kept).not.toMatch("most probable");
    const filled = wholeWords(summary([[0], [1], [0, 1], [0]], [0, 0, 1, 1], 1), names);
    expect(filled).toMatch(/\(25.* were empty and took the most probable class\)\. 25.* undecided/);
    expect(emptyWords({ empty: "fill" } as Method)).toMatch("take the most probable class");
    expect(emptyWords({ empty: "keep" } as Method)).toMatch("stay empty");
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

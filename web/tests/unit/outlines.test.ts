import { describe, expect, test } from "vitest";
import type { Outlines } from "../../src/data";
import { outlineSentence, outlineWord } from "../../src/outlines";

const made = (change: Partial<Outlines>): Outlines => ({
  guarantee: "",
  alpha: 0.1,
  share: 1,
  per: "group",
  inner: true,
  outer: true,
  size_unit: "pixels",
  classes: [1],
  test: [
    {
      groups: 40,
      held: 37,
      found: 0.85,
      object_share: 0.2,
      outer_share: 0.35,
      inner_share: 0.1,
      objects: [],
    },
  ],
  examples: [],
  ...change,
});

describe("outlines", () => {
  test("say where a pixel lies, by the masks that there are", () => {
    const words = (own: { inner: boolean; outer: boolean }) =>
      [0, 1, 2].map((code) => outlineWord(code, own));
    expect(words({ inner: true, outer: true })).toEqual([
      "outside the outer mask",
      "between the masks",
      "inside the inner mask",
    ]);
    expect(words({ inner: false, outer: true })[1]).toBe("in the outer mask");
    expect(words({ inner: true, outer: false })[1]).toBe("not in the inner mask");
  });

  test("tell how often they held, in groups or in objects", () => {
    expect(outlineSentence(made({}), 0)).toBe(
      "The masks are as promised in 37 of 40 test groups (92.5 %; promised: 90.0 %). The object " +
        "has 20.0 % of the image, the outer mask 35.0 %, the inner mask 10.0 %.",
    );
    const objects = outlineSentence(made({ per: "object", share: 0, inner: false }), 0);
    expect(objects).toContain("Of a test group's objects, 85.0 % are touched on average; promised: 90.0 %.");
    expect(objects).not.toContain("inner mask");
    const none = made({});
    none.test[0].groups = 0;
    expect(outlineSentence(none, 0)).toBe("No test group has this class.");
  });
});

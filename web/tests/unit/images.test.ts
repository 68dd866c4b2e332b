import { describe, expect, test } from "vitest";
import type { Report } from "../../src/data";
import { featurePoints, imagesText, leastShown } from "../../src/images";

const stratum = (coverage: (number | null)[], hardest_tenth: number | null) => ({
  hardest_tenth,
  image_spread: 0.0614,
  images_far_below: 0.115,
  by_feature: {
    doubt: {
      images: coverage.map((one) => (one === null ? 0 : 3)),
      value: coverage.map((_, i) => i - 9),
      coverage,
    },
  },
});
const report = (...strata: ReturnType<typeof stratum>[]) =>
  ({
    alpha: 0.1,
    classes: ["animal"],
    methods: strata.map((one, m) => ({ name: m === 0 ? "none" : "image", strata: [one] })),
  }) as unknown as Report;

describe("single images", () => {
  test("tenths without images have no point", () => {
    expect(featurePoints(report(stratum([0.95, null, 0.8], 0.8)), 0, "doubt")).toEqual([
      { method: 0, x: -9, y: 0.95, images: 3 },
      { method: 0, x: -7, y: 0.8, images: 3 },
    ]);
  });

  test("the scale begins below the least coverage of all methods, and never above the one asked for", () => {
    expect(leastShown(report(stratum([0.95, 0.93], 0.93)), 0)).toBeCloseTo(0.8);
    expect(leastShown(report(stratum([0.95, 0.93], 0.93), stratum([0.74, 0.9], 0.9)), 0)).toBeCloseTo(0.7);
    expect(leastShown(report(stratum([0.01], 0.01)), 0)).toBe(0);
  });

  test("the text says what becomes of the hardest tenth", () => {
    const both = imagesText(report(stratum([0.8], 0.802), stratum([0.88], 0.877)), 0);
    expect(both).toContain("look hardest (largest doubt): none 80.2 %, image 87.7 %.");
    expect(both).toContain("from 0.90: none 0.061, image 0.061.");
    expect(both).toContain("below it: none 11.5 %, image 11.5 %.");
    expect(imagesText(report(stratum([null], null)), 0)).toBe("No test image shows animal.");
  });
});

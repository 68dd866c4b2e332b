import { describe, expect, test } from "vitest";
import { density } from "../../src/charts";
import { differenceRamp, errorRamp, regionColour, shareRamp } from "../../src/colour";
import { curvePaths, fourierRadius, outline } from "../../src/geometry";
import { codeQuantile } from "../../src/maps_section";
import { overPhoto, setState } from "../../src/sets";
import { asText, sorted } from "../../src/table";
import { fileName, fixed, percent, roundUp } from "../../src/text";
import { setMembers } from "../../src/whole_sets";

describe("photos", () => {
  test("the colour of a set lies over the pixel of the photo", () => {
    const photo = [0, 0, 0, 100, 200, 40];
    expect(overPhoto([200, 0, 100], photo, 1)).toEqual([145, 110, 67]);
    expect(overPhoto([200, 0, 100], photo, 0)).toEqual([90, 0, 45]);
  });
});

describe("text", () => {
  test("numbers that are missing are a dash", () => {
    expect([fixed(null), percent(undefined), fixed(NaN)]).toEqual(["-", "-", "-"]);
    expect([fixed(0.12345), percent(0.9012, 2)]).toEqual(["0.1235", "90.12 %"]);
  });

  test("scales end at round numbers not below the value", () => {
    expect([0.23, 0.25, 9.1, 0].map(roundUp)).toEqual([0.25, 0.25, 10, 1]);
  });

  test("file names have no character that a file system may refuse", () => {
    expect(fileName("Coverage <b>", "../x y")).toBe("coverage-b_x-y");
    expect(fileName("///")).toBe("figure");
  });
});

describe("tables", () => {
  const rows = [
    { n: "b", v: 2 },
    { n: "a", v: NaN },
    { n: "c", v: 1 },
  ];
  const columns = [
    { title: "n", cell: (r: (typeof rows)[0]) => r.n },
    { title: "v", cell: (r: (typeof rows)[0]) => String(r.v), key: (r: (typeof rows)[0]) => r.v },
  ];

  test("sort by text and by number, with missing numbers last in both directions", () => {
    expect(
      sorted(rows, columns[0], false)
        .map((r) => r.n)
        .join(""),
    ).toBe("abc");
    expect(
      sorted(rows, columns[1], false)
        .map((r) => r.n)
        .join(""),
    ).toBe("cba");
    expect(
      sorted(rows, columns[1], true)
        .map((r) => r.n)
        .join(""),
    ).toBe("bca");
  });

  test("copy as lines of cells", () => {
    expect(asText([{ n: "x\ty", v: 3 }], columns)).toBe("n\tv\nx y\t3");
  });
});

describe("sets", () => {
  // Two classes, three pixels: a code is the largest alpha at which a class is in the set.
  const codes = [10, 50, 0, /* class 1 */ 50, 50, 5];
  test("are read from the codes at any alpha", () => {
    const states = (alpha: number) => [0, 1, 2].map((pixel) => setState(codes, 3, 2, 1, pixel, alpha));
    expect(states(5)).toEqual(["both", "both", "in"]);
    expect(states(10)).toEqual(["both", "both", "empty"]);
    expect(states(11)).toEqual(["in", "both", "empty"]);
    expect(states(51)).toEqual(["empty", "empty", "empty"]);
    expect(setState(codes, 3, 2, 0, 0, 11)).toBe("out");
    expect(setMembers(codes, 3, 2, 0, 10)).toEqual([0, 1]);
  });
});

describe("shapes", () => {
  test("a constant series is a circle of its square", () => {
    expect(fourierRadius([3], 2, 1.234)).toBe(18);
    expect(fourierRadius([1, 0.5, 0], 1, 0)).toBe(4);
  });

  test("rings lie around their centre, and pixel centres are at halves", () => {
    const [path] = curvePaths({ kind: "annuli", centre_px: [5, 7], radii: [2], axis_ratio: 4, angle: 0 });
    expect(path.startsWith("M9.50,7.50")).toBe(true);
    expect(curvePaths({ kind: "kmeans" })).toEqual([]);
    expect(curvePaths({ kind: "annuli", centre_px: ["<b>", 1], radii: [2] })).toEqual([]);
  });

  test("the outline of one pixel is its four edges without those at the border of the picture", () => {
    expect(outline(3, 3, (pixel) => pixel === 4)).toBe("M1,1H2M1,2H2M1,1V2M2,1V2");
    expect(outline(1, 1, () => true)).toBe("");
  });
});

describe("colours and densities", () => {
  test("ramps have 256 colours, red at the low end of differences", () => {
    expect(errorRamp.length).toBe(256);
    expect(differenceRamp[20][0]).toBeGreaterThan(differenceRamp[20][2]);
    expect(differenceRamp[235][2]).toBeGreaterThan(differenceRamp[235][0]);
    expect(new Set(Array.from({ length: 8 }, (_, r) => regionColour(r, 8).join())).size).toBe(8);
    // More than eight regions have shades from dark to bright.
    const light = Array.from({ length: 64 }, (_, r) => regionColour(r, 64).reduce((a, b) => a + b));
    expect(light[63]).toBeGreaterThan(light[0]);
    expect(regionColour(0, 64)).toEqual(shareRamp[0]);
    expect(regionColour(63, 64)).toEqual(shareRamp[255]);
  });

  test("a density has its largest value 1 where most values are and ignores missing ones", () => {
    const found = density([10, 10, 10, 200, 255, 255, 255, 255]);
    expect(found.indexOf(1)).toBe(10);
    expect(found.length).toBe(255);
  });

  test("quantiles of codes leave missing ones out", () => {
    expect(codeQuantile([[1, 2, 3, 4, 255, 255]], 0.5)).toBe(2);
    expect(codeQuantile([[255]], 0.5)).toBe(0);
  });
});

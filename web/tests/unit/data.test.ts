import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Blob8, Report } from "../../src/data";
import { bestMethod, firstStratum, sliderIndex, undoLag, values } from "../../src/data";

function packed(bytes: number[], lag: number, type: "u8" | "u16", shape: number[]): Blob8 {
  const lagged = bytes.map((b, i) => (lag > 0 && i >= lag ? (b - bytes[i - lag] + 256) % 256 : b));
  return { type, shape, lag, data: deflateSync(Uint8Array.from(lagged)).toString("base64") };
}

describe("blobs", () => {
  test("bytes come back for every lag", async () => {
    const bytes = Array.from({ length: 300 }, (_, i) => (i * i * 7) % 256);
    for (const lag of [0, 1, 3, 17])
      expect([...(await values(packed(bytes, lag, "u8", [300])))]).toEqual(bytes);
  });

  test("sixteen-bit values are low bytes, then high bytes", async () => {
    expect([...(await values(packed([2, 0, 1, 255], 0, "u16", [2])))]).toEqual([0x0102, 0xff00]);
  });

  test("a blob of the wrong size is refused", async () => {
    await expect(values(packed([1, 2, 3], 0, "u8", [4]))).rejects.toThrow("3 bytes instead of 4");
  });

  test("undoing a lag of zero changes nothing", () => {
    const bytes = Uint8Array.of(5, 250, 7);
    undoLag(bytes, 0);
    expect([...bytes]).toEqual([5, 250, 7]);
  });
});

function report(errors: (number | null)[][], samples: number[], shown: number[] = []): Report {
  const methods = errors.map((of) => ({
    strata: of.map((mean_ce, s) => ({ mean_ce, samples: samples[s] })),
  }));
  return { methods, shown, pooled: false, classes: samples.map((_, c) => `c${c}`) } as unknown as Report;
}

describe("what is shown first", () => {
  test("the best method has the smallest error, whatever is missing", () => {
    const one = report(
      [
        [0.3, null],
        [0.1, null],
        [null, 0.2],
      ],
      [5, 5],
    );
    expect(bestMethod(one, 0)).toBe(1);
    expect(bestMethod(one, 1)).toBe(2);
  });

  test("among errors within a tenth of the smallest, the false share decides", () => {
    const one = report([[0.1], [0.109], [0.12]], [5]);
    for (const [m, share] of [0.7, 0.01, 0].entries()) one.methods[m].strata[0].false_share = share;
    expect(bestMethod(one, 0)).toBe(1);
  });

  test("the class asked for goes first, then the first after the background that has samples", () => {
    expect(firstStratum(report([[0, 0, 0]], [9, 9, 9], [2]))).toBe(2);
    expect(firstStratum(report([[0, 0, 0]], [9, 0, 9]))).toBe(2);
    expect(firstStratum(report([[0, 0]], [9, 0], [1]))).toBe(0);
  });

  test("alpha of 5 percent is the level 0.95", () => {
    expect((sliderIndex(5) + 1) / 100).toBeCloseTo(0.95);
  });
});

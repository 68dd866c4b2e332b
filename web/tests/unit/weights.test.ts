import { describe, expect, test } from "vitest";
import { weightColumns, weightName } from "../../src/weights";

describe("weights of a blend", () => {
  const candidate = (bandwidth: number | null, mirror: boolean, rings: number | null, weight: number) => ({
    bandwidth,
    mirror,
    rings,
    weight,
    loss: null,
  });

  test("are one column for each kind and bandwidth, with the mirrored weight in the same column", () => {
    const columns = weightColumns({
      candidates: [
        candidate(null, false, null, 0.1),
        candidate(3.75, false, 0.15, 0.2),
        candidate(22.8, false, null, 0.3),
        candidate(22.8, true, null, 0.4),
      ],
    });
    expect(columns).toEqual([
      { kind: "image", bandwidth: 0, rings: 0, plain: 0.1, mirrored: 0 },
      { kind: "space", bandwidth: 22.8, rings: 0, plain: 0.3, mirrored: 0.4 },
      { kind: "rings", bandwidth: 3.75, rings: 0.15, plain: 0.2, mirrored: 0 },
    ]);
    expect(columns.map(weightName)).toEqual(["image", "23", "3.8\n0.15"]);
  });

  test("are none for other methods, whatever their geometry holds", () => {
    for (const other of [
      {},
      { candidates: 3 },
      { candidates: [] },
      { candidates: [null] },
      { candidates: [{ method: "x", weight: 1 }] },
    ])
      expect(weightColumns(other)).toEqual([]);
  });
});

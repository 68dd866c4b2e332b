import { expect, test } from "vitest";
import { series } from "../../src/monitor";

const course = {
  stride: 4,
  units: 9,
  columns: ["a", "b"],
  rows: [
    [1, null],
    [2, 5],
    [3, 6],
  ],
};

test("a point is at the last unit that it covers, and the last point at the end of the stream", () => {
  expect(series(course, "a")).toEqual([
    { x: 4, y: 1 },
    { x: 8, y: 2 },
    { x: 9, y: 3 },
  ]);
});

test("missing values give no point, and an unknown column gives no points", () => {
  expect(series(course, "b")).toEqual([
    { x: 8, y: 5 },
    { x: 9, y: 6 },
  ]);
  expect(series(course, "c")).toEqual([]);
});

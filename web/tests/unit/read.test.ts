import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { SLIDER_LEVELS } from "../../src/data";
import { readData } from "../../src/read";

const blob = { type: "u8", shape: [1, 2], lag: 0, data: "" };
const slider = Array(SLIDER_LEVELS).fill(null);

/** The smallest report: one method, two classes, no examples. */
function smallest() {
  const stratum = {
    ...{ regions: 1, pixels: 2, pixels_without_data: 0, samples: 3 },
    ...{ mean_ce: 0.1, mean_ce_sd: null, q05: 0, q95: 1, floor: 0, weighted_ce: 0, worst_block: null },
    ...{ images_below: 0, image_spread: 0, images_far_below: 0, hardest_tenth: null },
    ...{ coverage_at_alpha: 0.9, false_share: 0.1, place_error: 0, coverage: [0.5, null] },
    by_feature: { doubt: { images: [1], value: [0], coverage: [1] } },
    ...{ slider_false_share: slider, slider_coverage: slider, region_samples: [3] },
    ...{ ce_map: { ...blob, top: 1 }, false_map: blob, region_map: blob, level_map: null },
    ...{ geometry: {}, curves: null, pixel_curves: null, pixel_coverage: blob },
  };
  const method = {
    ...{ name: "field", summary: "", guarantee: "", meta: {}, empty: "fill" },
    ...{ set_size: 1, false_classes: 0, empty_share: 0, single_share: 1, single_right: 1, full_share: 0 },
    ...{ coverage_at_alpha: 0.9, slider_set_size: slider, slider_false_classes: slider },
    ...{ slider_empty: slider, slider_single: slider, slider_single_right: slider, slider_full: slider },
    ...{ set_size_map: blob, strata: [stratum, structuredClone(stratum)] },
  };
  return {
    ...{ schema: 1, title: "small", version: "0", grid: [1, 2], classes: ["a", "b"], pooled: false },
    ...{ shown: [1], alpha: 0.1, images: { cal: 1, test: 1 }, groups: null, draws: 1 },
    ...{ coverage_block: 1, curve_stride: 1, score: "softmax", score_range: [0, 1] },
    references: { own: null, image: { method: 0 } },
    methods: [method],
    ...{ calibration_counts: [blob, blob], test_counts: [blob, blob], labelled: blob },
    reliability: Array(2).fill({ count: [1], confidence: [0.5], accuracy: [null], ece: null }),
    ...{ examples: [], outlines: null, training: null, provenance: { command: "kandinsky report" } },
  };
}

/** The error for the smallest report after one place is changed, or removed if `value` is undefined. */
function said(path: string, value: unknown): string {
  // biome-ignore lint/suspicious/noExplicitAny: a path may lead to any type
  const data: any = structuredClone(smallest());
  const steps = path.split(".");
  const last = steps.pop()!;
  const place = steps.reduce((at, step) => at[step], data);
  if (value === undefined) delete place[last];
  else place[last] = value;
  try {
    readData(JSON.stringify(data));
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("the data of a report", () => {
  test("are taken as they are when they fit, with or without fields that may be absent", () => {
    expect(readData(JSON.stringify(smallest()))).toEqual({ report: smallest() });
    expect(said("outlines", undefined)).toBe("");
    expect(said("provenance.command", undefined)).toBe("");
    expect(said("a field of a later version", 1)).toBe("");
  });

  test("with another schema are refused by the number", () => {
    expect(said("schema", 2)).toBe("the data have schema 2, but this page reads 1");
    expect(said("schema", undefined)).toBe("the data have schema undefined, but this page reads 1");
  });

  test("that do not fit are refused with the place and the reason", () => {
    expect(said("methods.0.strata.1.samples", undefined)).toBe("methods[0].strata[1].samples is missing");
    expect(said("methods.0.strata.1.samples", "3")).toBe(
      "methods[0].strata[1].samples is text, but a whole number of at least 0 is expected",
    );
    expect(said("methods.0.strata.0.samples", 1.5)).toMatch("samples is the number 1.5, but a whole number");
    expect(said("methods.0.strata.0.ce_map.type", "f4")).toBe(
      "methods[0].strata[0].ce_map.type is text, but one of u8, u16 is expected",
    );
    expect(said("methods", [])).toBe("methods is a list of 0, but a list of at least 1 is expected");
    expect(said("methods.0.slider_full", [1])).toBe(
      "methods[0].slider_full is a list of 1, but a list of 99 is expected",
    );
    expect(said("methods.0.empty", "auto")).toBe(
      "methods[0].empty is text, but one of fill, keep is expected",
    );
    expect(said("grid", [1, 2, 3])).toBe("grid is a list of 3, but a list of 2 is expected");
    expect(said("title", null)).toBe("title is null, but text is expected");
    expect(said("provenance", [])).toBe("provenance is a list of 0, but an object is expected");
    expect(said("methods.0.strata.0.by_feature.doubt.images", [-1])).toMatch(
      /^methods\[0\]\.strata\[0\]\.by_feature\.doubt\.images\[0\] is the number -1/,
    );
  });

  test("that contradict each other are refused", () => {
    expect(said("classes", ["a", "b", "c"])).toBe("methods[0].strata has 2 entries, but there are 3 classes");
    expect(said("pooled", true)).toBe("methods[0].strata has 2 entries, but there are 1 pooled class");
    expect(said("shown", [2])).toBe("shown[0] is 2, but there are 2 classes");
    expect(said("references.image", { method: 1 })).toBe(
      "references.image.method is 1, but there " + "are 1 methods",
    );
    expect(said("references.own", {})).toBe("references.own has neither method nor strata");
  });

  test("that are no JSON object are refused in a line", () => {
    expect(() => readData("{")).toThrow(/^the data are not JSON: [^\n]*$/);
    expect(() => readData("3")).toThrow("the data are not an object");
  });

  test("of an unknown kind are refused", () => {
    expect(said("kind", "film")).toBe("kind is text, but one of monitor is expected");
  });
});

const command = process.env.KANDINSKY_COMMAND ?? "";
const patience = 120_000 * Number(process.env.KANDINSKY_PATIENCE ?? 1);

describe.skipIf(command === "")("the pages that the program writes", { timeout: patience }, () => {
  const folder = mkdtempSync(join(tmpdir(), "kandinsky-pages-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const run = (...words: string[]) => execFileSync(command, words, { cwd: folder, encoding: "utf8" });
  const dataOf = (page: string) =>
    /<script type="application\/json" id="kandinsky-data">(.*?)<\/script>/s.exec(
      readFileSync(join(folder, page), "utf8"),
    )![1];
  const testImages = ["--probs", "demo/test_probs.npy", "--labels", "demo/test_labels.npy"];
  const calibration = ["--cal-probs", "demo/cal_probs.npy", "--cal-labels", "demo/cal_labels.npy"];
  beforeAll(() => {
    run("demo", "-o", "demo", "--images", "24", "--test-images", "12", "--size", "48x32", "-q");
  }, patience);

  test("fit the schema: a comparison", () => {
    const read = readData(dataOf("demo/report.html"));
    expect("report" in read && read.report.methods.length > 1).toBe(true);
  });

  test("fit the schema: a report with outlines", () => {
    run("outline", ...calibration, ...testImages.slice(0, 2), "--alpha", "0.3", "--save", "rule.json", "-q");
    run("report", "demo/kmeans.kcal", ...testImages, "--outline", "rule.json", "-o", "outlines.html", "-q");
    const read = readData(dataOf("outlines.html"));
    expect("report" in read && read.report.outlines?.test.length).toBe(1);
  });

  test("fit the schema: a monitor", () => {
    run("monitor", "demo/kmeans.kcal", ...testImages, "--report", "monitor.html", "-q");
    const read = readData(dataOf("monitor.html"));
    expect("monitor" in read && read.monitor.verdict.features.length > 0).toBe(true);
  });
});

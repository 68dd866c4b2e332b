// Shows where the errors are: error maps on a common scale, violin plots, differences, regions, counts.
import { ChartFrame, violins } from "./charts";
import {
  countRamp,
  differenceRamp,
  distinctRegions,
  errorRamp,
  methodColour,
  noData,
  regionColour,
  shareRamp,
} from "./colour";
import { classesOf, NO_VALUE, stratumName, values } from "./data";
import { h, picker, section } from "./dom";
import { curveLines } from "./geometry";
import { onScale, PixelMap, swatches } from "./map";
import type { Store } from "./store";
import { latest } from "./store";
import { count, fixed, percent, roundUp } from "./text";
import { weightColumns, weightsChart, weightsLegend } from "./weights";

/** The smallest code such that at least `share` of all codes are at most this code; 255 is left out. */
export function codeQuantile(maps: ArrayLike<number>[], share: number): number {
  const histogram = new Array<number>(255).fill(0);
  let total = 0;
  for (const map of maps)
    for (let i = 0; i < map.length; ++i)
      if (map[i] < 255) {
        ++histogram[map[i]];
        ++total;
      }
  let below = 0;
  for (let code = 0; code < 255; ++code) {
    below += histogram[code];
    if (below >= share * total) return code;
  }
  return 254;
}

/**
 * The coverage errors of all methods for a stratum: codes, the value of the top code, the end of the colours.
 */
export async function errorMaps(store: Store) {
  const { report } = store;
  const { stratum } = store.choice;
  const maps = await Promise.all(report.methods.map((method) => values(method.strata[stratum].ce_map)));
  const top = report.methods[0].strata[stratum].ce_map.top ?? 1;
  const cut = roundUp((codeQuantile(maps, 0.99) / 254) * top || 0.01);
  return { maps, top, cut, stratum };
}

export function errorContent(map: ArrayLike<number>, top: number, cut: number, name: string) {
  const cutCode = (cut / top) * 254;
  return {
    paint: (pixel: number) => onScale(errorRamp, map[pixel], cutCode),
    describe: (pixel: number) =>
      map[pixel] === NO_VALUE ? "no test sample" : `CE ${fixed((map[pixel] / 254) * top, 3)}`,
    bar: { ramp: errorRamp, low: "0", high: `${cut} and more`, label: `coverage error of ${name}` },
  };
}

/** The false shares of all methods for a stratum, in steps of 1/254, and the end of the colour scale. */
export async function falseMaps(store: Store) {
  const { stratum } = store.choice;
  const maps = await Promise.all(
    store.report.methods.map((method) => values(method.strata[stratum].false_map)),
  );
  return { maps, cut: roundUp(codeQuantile(maps, 0.99) / 254 || 0.01), stratum };
}

export function falseContent(map: ArrayLike<number>, cut: number, name: string) {
  return {
    paint: (pixel: number) => onScale(shareRamp, map[pixel], cut * 254),
    describe: (pixel: number) =>
      map[pixel] === NO_VALUE ? `every label here is ${name}` : `false share ${percent(map[pixel] / 254)}`,
    bar: {
      ramp: shareRamp,
      low: "0",
      high: cut < 1 ? `${percent(cut, 0)} and more` : "100 %",
      label: `false share of ${name}`,
    },
  };
}

export function errorSection(store: Store): HTMLElement {
  const { report } = store;
  const maps = report.methods.map((method, m) => {
    const caption = h(
      "span",
      {},
      h("span", { class: "dot", style: `background: ${methodColour(m)}` }),
      method.name,
    );
    return new PixelMap(store, `Coverage error of ${method.name}`, `ce-${m}`, caption);
  });
  const prices = report.methods.map((method, m) => {
    const caption = h(
      "span",
      {},
      h("span", { class: "dot", style: `background: ${methodColour(m)}` }),
      method.name,
    );
    return new PixelMap(store, `False share of ${method.name}`, `false-${m}`, caption);
  });
  const violin = new ChartFrame(
    "Coverage error over pixels",
    "violins",
    "Width: how many pixels have that error. Dot: mean. Line: from the 0.05 to the 0.95 quantile. " +
      "The sampling floor is what a perfect calibrator would show with these test images.",
  );
  store.on(
    ["stratum"],
    latest(
      () => errorMaps(store),
      ({ maps: codes, top, cut, stratum }) => {
        const name = stratumName(report, stratum);
        for (const [m, map] of maps.entries()) map.draw(errorContent(codes[m], top, cut, name));
        violin.show(violins(report, stratum, codes, top, cut, 760, 320));
      },
    ),
  );
  store.on(
    ["stratum"],
    latest(
      () => falseMaps(store),
      ({ maps: codes, cut, stratum }) => {
        const name = stratumName(report, stratum);
        for (const [m, map] of prices.entries()) map.draw(falseContent(codes[m], cut, name));
      },
    ),
  );
  return section(
    "errors",
    "Coverage error and false share by pixel",
    "Each pixel's coverage error, all methods on one colour scale: dark is small, bright is large. " +
      "Grey pixels have no test sample of the class.",
    h("div", { class: "maps" }, ...maps.map((map) => map.figure)),
    violin.figure,
    h("h3", {}, `False share at alpha ${report.alpha}`),
    h(
      "p",
      { class: "lead" },
      "Among the test images with another label at a pixel, the share whose set there contains the " +
        "class, before empty sets are filled. Dark is low, bright is high.",
    ),
    h("div", { class: "maps" }, ...prices.map((map) => map.figure)),
  );
}

export function differenceSection(store: Store): HTMLElement | null {
  const { report } = store;
  if (report.methods.length < 2) return null;
  const map = new PixelMap(store, "Difference of two methods", "difference", "First minus second");
  const text = h("p", { class: "note", id: "difference-text" });
  const names = report.methods.map((method) => method.name);
  store.on(
    ["stratum", "first", "second"],
    latest(
      () => errorMaps(store),
      ({ maps, top }) => {
        const { first, second } = store.choice;
        const [a, b] = [maps[first], maps[second]];
        const known = (pixel: number) => a[pixel] !== NO_VALUE && b[pixel] !== NO_VALUE;
        const sizes = Uint8Array.from(a, (_, pixel) =>
          known(pixel) ? Math.abs(a[pixel] - b[pixel]) : NO_VALUE,
        );
        const cut = Math.max(1, codeQuantile([sizes], 0.99));
        const end = fixed((cut / 254) * top, 3);
        map.draw({
          paint: (pixel) =>
            known(pixel)
              ? differenceRamp[
                  Math.max(0, Math.min(255, Math.round(127.5 + (127.5 * (a[pixel] - b[pixel])) / cut)))
                ]
              : noData,
          describe: (pixel) =>
            known(pixel)
              ? `${names[first]} ${fixed((a[pixel] / 254) * top, 3)}, ${names[second]} ` +
                `${fixed((b[pixel] / 254) * top, 3)}`
              : "no test sample",
          bar: {
            ramp: differenceRamp,
            low: `-${end}: ${names[first]} better`,
            middle: "0",
            high: `+${end}: ${names[second]} better`,
            label: "CE difference",
          },
        });
        let red = 0;
        let blue = 0;
        for (let pixel = 0; pixel < a.length; ++pixel) {
          if (!known(pixel)) continue;
          red += Number(a[pixel] < b[pixel]);
          blue += Number(a[pixel] > b[pixel]);
        }
        const all = Math.max(
          1,
          sizes.reduce((n, code) => n + Number(code !== NO_VALUE), 0),
        );
        text.textContent =
          `Red: ${names[first]} has the lower error (${percent(red / all)} of the ` +
          `pixels). Blue: ${names[second]} has it (${percent(blue / all)}).`;
      },
    ),
  );
  return section(
    "difference",
    "Difference of two methods",
    "",
    h(
      "div",
      { class: "controls" },
      picker("first", "first", names, store.choice.first, (first) => store.set({ first })),
      picker("second", "second", names, store.choice.second, (second) => store.set({ second })),
    ),
    h("div", { class: "maps one" }, map.figure),
    text,
  );
}

export function partitionSection(store: Store): HTMLElement | null {
  const { report } = store;
  const drawn = report.methods
    .map((_, m) => m)
    .filter((m) => report.methods[m].strata.some((stratum) => stratum.region_map && stratum.regions > 1));
  const blends = blendCharts(store);
  if (drawn.length === 0 && blends.length === 0) return null;
  const maps = drawn.map((m) => new PixelMap(store, `Regions of ${report.methods[m].name}`, `regions-${m}`));
  const legends = drawn.map(() => h("div", {}));
  const load = async () =>
    Promise.all(
      drawn.map(async (m) => {
        const own = report.methods[m].strata[store.choice.stratum];
        const lines = curveLines(own.geometry);
        // A method may have shapes for some classes only, so the background is chosen for each class.
        const background =
          lines.length > 0
            ? report.methods.find((method) => method.strata[store.choice.stratum].geometry.kind === "kmeans")
            : undefined;
        const behind = background?.strata[store.choice.stratum] ?? own;
        return {
          own,
          lines,
          background,
          regions: own.region_map && (await values(own.region_map)),
          behind: behind.region_map && (await values(behind.region_map)),
          shown: behind,
        };
      }),
    );
  store.on(
    ["stratum"],
    latest(load, (loaded) =>
      loaded.forEach(({ own, lines, background, regions, behind, shown }, i) => {
        const many = behind && shown.regions > distinctRegions;
        maps[i].draw({
          paint: (pixel) => (behind ? regionColour(behind[pixel], shown.regions) : noData),
          describe: (pixel) =>
            regions ? `region ${regions[pixel] + 1} of ${own.regions}` : "a region of its own",
          bar: many
            ? {
                ramp: shareRamp,
                low: "1",
                high: String(shown.regions),
                label: shown.geometry.kind === "kmeans" ? "region, from easy pixels to hard ones" : "region",
              }
            : undefined,
          overlay: lines,
        });
        const entries = own.region_samples
          .slice(0, 8)
          .map((n, r): [[number, number, number], string] => [
            regionColour(r, own.regions),
            `${r + 1}: ${count(n)} test samples`,
          ]);
        const note = background
          ? `${lines.length / 2} curves over the regions of ${background.name}`
          : regions
            ? ""
            : "Every pixel has a curve of its own.";
        legends[i].replaceChildren(note ? h("p", { class: "note" }, note) : many ? "" : swatches(entries));
      }),
    ),
  );
  return section(
    "regions",
    "Which pixels share their scores",
    "A method chooses regions, or how far pixels share their scores. Methods with shapes are drawn as " +
      "lines over the k-means regions.",
    h("div", { class: "maps" }, ...maps.map((map, i) => h("div", {}, map.figure, legends[i])), ...blends),
  );
}

/** Charts of the weights of methods without regions. */
function blendCharts(store: Store): HTMLElement[] {
  const { report } = store;
  const blended = report.methods
    .map((_, m) => m)
    .filter((m) => report.methods[m].strata.some((stratum) => weightColumns(stratum.geometry).length > 0));
  return blended.map((m) => {
    const frame = new ChartFrame(
      `Weights of ${report.methods[m].name}`,
      `weights-${m}`,
      "Every pixel's distribution is a blend of that of the image, those of pixels nearby (space), and " +
        "those of pixels where the class is about as common (rings; a larger tau accepts larger " +
        "differences). Cross-validation chose the weights.",
    );
    const holder = h("div", { class: "wide" }, frame.figure);
    frame.figure.querySelector(".chart-room")!.after(weightsLegend());
    store.on(["stratum"], () => {
      const columns = weightColumns(report.methods[m].strata[store.choice.stratum].geometry);
      holder.hidden = columns.length === 0;
      if (columns.length > 0)
        frame.show(
          weightsChart(
            columns,
            `Weights of ${report.methods[m].name} for ${stratumName(report, store.choice.stratum)}`,
            620,
            260,
          ),
        );
    });
    return holder;
  });
}

export function dataSection(store: Store): HTMLElement {
  const { report } = store;
  const prevalence = new PixelMap(store, "Prevalence", "prevalence");
  const size = new PixelMap(store, `Mean set size at alpha ${report.alpha}`, "set-sizes");
  const calibration = new PixelMap(store, "Calibration scores", "calibration-counts");
  const test = new PixelMap(store, "Test samples", "test-counts");
  const load = async () => {
    const { stratum, method } = store.choice;
    const counts = await Promise.all(classesOf(report, stratum).map((c) => values(report.test_counts[c])));
    const tested = Uint32Array.from(counts[0], (_, pixel) =>
      counts.reduce((sum, one) => sum + one[pixel], 0),
    );
    return {
      tested,
      labelled: await values(report.labelled),
      calibrated: await values(report.calibration_counts[stratum]),
      sizes: await values(report.methods[method].set_size_map),
      stratum,
      method,
    };
  };
  store.on(
    ["stratum", "method"],
    latest(load, ({ tested, labelled, calibrated, sizes, stratum, method }) => {
      const name = stratumName(report, stratum);
      const own = report.methods[method];
      const most = (counts: ArrayLike<number>) =>
        Math.max(
          1,
          (counts as Uint16Array).reduce((a, b) => Math.max(a, b), 0),
        );
      const share = (pixel: number) => (labelled[pixel] > 0 ? tested[pixel] / labelled[pixel] : NaN);
      prevalence.draw({
        paint: (pixel) =>
          labelled[pixel] > 0 ? shareRamp[Math.round(Math.min(1, share(pixel)) * 255)] : noData,
        describe: (pixel) => percent(share(pixel)),
        bar: { ramp: shareRamp, low: "0 %", high: "100 %", label: `test images with ${name} there` },
      });
      const classes = report.classes.length;
      const toSize = (code: number) => (code / 254) * classes;
      const least = toSize(codeQuantile([sizes], 0.005));
      const largest = Math.max(least + 0.01, toSize(codeQuantile([sizes], 0.995)));
      const shade = (value: number) =>
        Math.max(0, Math.min(255, Math.round((255 * (value - least)) / (largest - least))));
      size.draw({
        paint: (pixel) => (sizes[pixel] === NO_VALUE ? noData : shareRamp[shade(toSize(sizes[pixel]))]),
        describe: (pixel) =>
          sizes[pixel] === NO_VALUE ? "no label" : `${fixed(toSize(sizes[pixel]), 2)} classes`,
        bar: {
          ramp: shareRamp,
          low: fixed(least, 2),
          high: fixed(largest, 2),
          label: `classes in a set of ${own.name}, before filling`,
        },
      });
      for (const [map, counts, label] of [
        [calibration, calibrated, "calibration scores"],
        [test, tested, "test samples"],
      ] as const) {
        const top = most(counts);
        map.draw({
          paint: (pixel) =>
            counts[pixel] === 0 ? noData : countRamp[Math.round((counts[pixel] / top) * 255)],
          describe: (pixel) => count(counts[pixel]),
          bar: { ramp: countRamp, low: "0 (grey)", high: count(top), label: `${label} of ${name}` },
        });
      }
    }),
  );
  return section(
    "data",
    "Numbers of samples and sizes of sets",
    "How often each pixel shows the class, how many scores it was calibrated and tested with, and " +
      "how large its sets are.",
    h("div", { class: "maps" }, prevalence.figure, size.figure, calibration.figure, test.figure),
  );
}

// The first screen and the table of results.
import { ChartFrame, coverageDiagram, methodLegend, reliabilityDiagram } from "./charts";
import { methodColour } from "./colour";
import { bestMethod, classesOf, stratumName } from "./data";
import { h, section } from "./dom";
import { PixelMap } from "./map";
import { errorContent, errorMaps, falseContent, falseMaps } from "./maps_section";
import type { Store } from "./store";
import { latest } from "./store";
import { table } from "./table";
import { count, fixed, percent, plural } from "./text";

/** The result in one or two sentences. */
export function headline(store: Store): string {
  const { report } = store;
  const { stratum } = store.choice;
  const best = bestMethod(report, stratum);
  const own = report.methods[best].strata[stratum];
  const name = stratumName(report, stratum);
  if (own.mean_ce === null) return `No test image shows ${name}, so its coverage cannot be measured.`;
  const covered = own.coverage_at_alpha;
  const lowest = report.methods.every(
    (method) => (method.strata[stratum].mean_ce ?? Infinity) >= own.mean_ce!,
  );
  const lead =
    report.methods.length > 1
      ? `${report.methods[best].name} is the best method for ${name}: its coverage error is ` +
        `${fixed(own.mean_ce)}, ` +
        `${lowest ? "the lowest" : "within a tenth of the lowest, with the smallest false share of those"}`
      : `The coverage error of ${report.methods[best].name} for ${name} is`;
  const number = report.methods.length > 1 ? "" : ` ${fixed(own.mean_ce)}`;
  const floor =
    own.floor === null ? "" : ` A perfect calibrator would show ${fixed(own.floor)} with these test images.`;
  const sets =
    covered === null
      ? ""
      : ` At alpha = ${report.alpha} the coverage of ${name} is ${percent(covered)}; ` +
        `${percent(1 - report.alpha, 0)} was requested.`;
  const price =
    own.false_share === null
      ? ""
      : ` False share: ${percent(own.false_share)} of the pixels without the class have it in their set.`;
  return `${lead}${number}.${floor}${sets}${price}`;
}

export function overviewSection(store: Store): HTMLElement {
  const { report } = store;
  const text = h("p", { class: "headline", id: "headline" });
  const caption = h("span", {});
  const map = new PixelMap(store, "Coverage error of the best method", "best-map", caption);
  const priceCaption = h("span", {});
  const price = new PixelMap(store, "False share of the best method", "best-false-map", priceCaption);
  const chart = new ChartFrame(
    "Coverage diagram",
    "coverage",
    "On the dashed line coverage is what was asked for; below it, sets are too small.",
  );
  const tiles = h("div", { class: "tiles" });
  store.on(["stratum"], () => {
    const { stratum } = store.choice;
    const best = bestMethod(report, stratum);
    const own = report.methods[best].strata[stratum];
    text.textContent = headline(store);
    caption.textContent = `Coverage error of ${report.methods[best].name}`;
    priceCaption.textContent = `False share of ${report.methods[best].name}`;
    const tile = (value: string, note: string) =>
      h("div", { class: "tile" }, h("strong", {}, value), h("span", {}, note));
    const classes = classesOf(report, stratum);
    const ece = classes.reduce((sum, c) => sum + (report.reliability[c].ece ?? NaN), 0) / classes.length;
    tiles.replaceChildren(
      tile(fixed(own.mean_ce), `mean CE of ${report.methods[best].name}`),
      tile(fixed(own.floor), "sampling floor"),
      tile(fixed(ece, 3), "ECE of the model itself"),
      tile(
        percent(own.false_share, 1),
        `of the pixels without the class have it in their set at alpha ${report.alpha}`,
      ),
      tile(fixed(report.methods[best].set_size, 3), `classes per set at alpha ${report.alpha}`),
    );
  });
  store.on(
    ["stratum"],
    latest(
      () => errorMaps(store),
      ({ maps, top, cut, stratum }) =>
        map.draw(errorContent(maps[bestMethod(report, stratum)], top, cut, stratumName(report, stratum))),
    ),
  );
  store.on(
    ["stratum"],
    latest(
      () => falseMaps(store),
      ({ maps, cut, stratum }) =>
        price.draw(falseContent(maps[bestMethod(report, stratum)], cut, stratumName(report, stratum))),
    ),
  );
  store.on(["stratum", "percent"], () =>
    chart.show(coverageDiagram(report, store.choice.stratum, 460, 380, store.choice.percent)),
  );
  chart.figure.append(methodLegend(report));
  return h(
    "section",
    { id: "overview", "aria-label": "Overview" },
    text,
    tiles,
    h("div", { class: "pair" }, map.figure, price.figure, chart.figure),
  );
}

export function tableSection(store: Store): HTMLElement {
  const { report } = store;
  const room = h("div", {});
  const draws = report.draws > 1;
  store.on(["stratum"], () => {
    const { stratum } = store.choice;
    const best = bestMethod(report, stratum);
    const rows = report.methods.map((method, m) => ({ m, method, own: method.strata[stratum] }));
    type Row = (typeof rows)[number];
    const numeric = (pick: (row: Row) => number | null) => (row: Row) => pick(row) ?? NaN;
    const columns = [
      { title: "method", cell: (row: Row) => row.method.name },
      { title: "regions", cell: (row: Row) => count(row.own.regions), key: (row: Row) => row.own.regions },
      {
        title: "mean CE",
        hint: "mean over pixels of the coverage error; lower is better",
        cell: (row: Row) => fixed(row.own.mean_ce),
        key: numeric((row) => row.own.mean_ce),
      },
      ...(draws
        ? [
            {
              title: "sd",
              hint: "standard deviation over the draws of calibration images",
              cell: (row: Row) => fixed(row.own.mean_ce_sd),
              key: numeric((row) => row.own.mean_ce_sd),
            },
          ]
        : []),
      {
        title: "[0.05, 0.95]",
        hint: "quantiles of CE over pixels",
        cell: (row: Row) => `[${fixed(row.own.q05, 3)}, ${fixed(row.own.q95, 3)}]`,
        key: numeric((row) => row.own.q95),
      },
      {
        title: "floor",
        hint: "mean CE of a perfect calibrator with these test images",
        cell: (row: Row) => fixed(row.own.floor),
        key: numeric((row) => row.own.floor),
      },
      {
        title: "coverage",
        hint: `of this class at alpha ${report.alpha}`,
        cell: (row: Row) => percent(row.own.coverage_at_alpha, 1),
        key: numeric((row) => row.own.coverage_at_alpha),
      },
      {
        title: "false share",
        hint: `share of the pixels without this class whose set contains it, at alpha ${report.alpha}`,
        cell: (row: Row) => percent(row.own.false_share, 1),
        key: numeric((row) => row.own.false_share),
      },
      {
        title: "place error",
        hint:
          `mean distance of a pixel's coverage from ${(1 - report.alpha).toFixed(2)}, over ` +
          `pixels with at least 3 test samples`,
        cell: (row: Row) => fixed(row.own.place_error),
        key: numeric((row) => row.own.place_error),
      },
      {
        title: "set size",
        hint: `classes in a set at alpha ${report.alpha}`,
        cell: (row: Row) => fixed(row.method.set_size, 3),
        key: numeric((row) => row.method.set_size),
      },
      {
        title: "empty",
        hint: `share of empty sets at alpha ${report.alpha}, before any is filled`,
        cell: (row: Row) => percent(row.method.empty_share, 2),
        key: numeric((row) => row.method.empty_share),
      },
      {
        title: "single",
        hint: `share of sets of one class at alpha ${report.alpha}`,
        cell: (row: Row) => percent(row.method.single_share, 1),
        key: numeric((row) => row.method.single_share),
      },
      {
        title: "right",
        hint: "how often the sets of one class are right",
        cell: (row: Row) => percent(row.method.single_right, 1),
        key: numeric((row) => row.method.single_right),
      },
      {
        title: "full",
        hint: `share of sets with every class at alpha ${report.alpha}`,
        cell: (row: Row) => percent(row.method.full_share, 1),
        key: numeric((row) => row.method.full_share),
      },
      {
        title: "weighted CE",
        hint: "mean CE with pixels weighted by their test samples",
        cell: (row: Row) => fixed(row.own.weighted_ce),
        key: numeric((row) => row.own.weighted_ce),
      },
      {
        title: "worst block",
        hint: `lowest coverage at alpha ${report.alpha} among 4 x 4 blocks of the image`,
        cell: (row: Row) => percent(row.own.worst_block, 1),
        key: numeric((row) => row.own.worst_block),
      },
      {
        title: "images below",
        hint: `share of images whose coverage is below ${(1 - report.alpha).toFixed(2)}`,
        cell: (row: Row) => percent(row.own.images_below, 1),
        key: numeric((row) => row.own.images_below),
      },
      {
        title: "hardest tenth",
        hint: "mean coverage of the tenth of the images that look hardest: those with the largest doubt",
        cell: (row: Row) => percent(row.own.hardest_tenth, 1),
        key: numeric((row) => row.own.hardest_tenth),
      },
    ];
    const own = rows[0].own;
    room.replaceChildren(
      table(rows, columns, {
        id: "results",
        caption:
          `${stratumName(report, stratum)}: ${plural(own.pixels, "pixel")} with test ` +
          `samples, ${count(own.pixels_without_data)} without` +
          `${draws ? `; means over ${report.draws} draws; hardest tenth and maps of the last` : ""}`,
        mark: (row) => row.m === best && row.own.mean_ce !== null,
        colour: (row) => methodColour(row.m),
        choose: (row) => store.set({ method: row.m }),
      }),
    );
  });
  return section(
    "table",
    "All methods",
    "Coverage error (CE): how far the coverage of a pixel is from what was asked for, averaged " +
      "over the levels 0.05 to 0.95.",
    room,
  );
}

export function reliabilitySection(store: Store): HTMLElement {
  const { report } = store;
  const chart = new ChartFrame("Reliability diagram", "reliability");
  const other = new ChartFrame("Coverage diagram of the chosen class", "coverage-again");
  const note = h("p", { class: "note", id: "reliability-text" });
  store.on(["stratum"], () => {
    const { stratum } = store.choice;
    const c = report.pooled ? Math.min(1, report.classes.length - 1) : stratum;
    chart.show(reliabilityDiagram(report.reliability[c], 460, 380));
    const best = bestMethod(report, stratum);
    note.textContent =
      `${report.classes[c]}: ECE = ${fixed(report.reliability[c].ece)} for the ` +
      `model's probabilities; mean CE = ${fixed(report.methods[best].strata[stratum].mean_ce)} for ` +
      `the sets of ${report.methods[best].name}. Orange: the gap in each of 20 bins.`;
  });
  store.on(["stratum", "percent"], () =>
    other.show(coverageDiagram(report, store.choice.stratum, 460, 380, store.choice.percent)),
  );
  return section(
    "honesty",
    "Calibration of the probabilities",
    "On the dashed line the share of pixels with the class equals its probability. The coverage of the " +
      "sets, on the right, does not depend on this.",
    h("div", { class: "pair" }, chart.figure, other.figure),
    note,
  );
}

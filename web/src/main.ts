// Reads the data of the page and builds it.
import "./style.css";
import { guaranteeSection, provenanceSection } from "./about";
import type { Report } from "./data";
import { stratumName } from "./data";
import { h, picker } from "./dom";
import { inspector } from "./inspector";
import { dataSection, differenceSection, errorSection, partitionSection } from "./maps_section";
import { outlinesSection } from "./outlines";
import { overviewSection, reliabilitySection, tableSection } from "./overview";
import { imagesSection } from "./images";
import { setsSection } from "./sets";
import { type MonitorData, buildMonitor } from "./monitor";
import { Store } from "./store";
import { plural } from "./text";
import { tradeSection } from "./trade";
import { trainingSection } from "./training";

function header(report: Report): HTMLElement {
  const [height, width] = report.grid;
  const groups = report.groups === null ? "" : ` of ${plural(report.groups, "group")}`;
  return h(
    "header",
    {},
    h("h1", {}, report.title),
    h(
      "p",
      { class: "facts-line" },
      `${plural(report.images.cal, "calibration image")}${groups}, ${plural(report.images.test, "test image")}, ${width} x ${height} pixels, ${report.classes.length} classes`,
    ),
  );
}

function toolbar(store: Store): HTMLElement {
  const { report } = store;
  const strata = report.methods[0].strata.map((_, s) => stratumName(report, s));
  const method = picker(
    "method",
    "method",
    report.methods.map((m) => m.name),
    store.choice.method,
    (m) => store.set({ method: m }),
  );
  store.on(
    ["method"],
    () => ((method.querySelector("select") as HTMLSelectElement).selectedIndex = store.choice.method),
  );
  const links: [string, string][] = [
    ["#table", "table"],
    ["#trade", "trade"],
    ["#images", "images"],
    ["#errors", "errors"],
    ["#sets", "sets"],
    ...(report.outlines ? ([["#outlines", "outlines"]] as [string, string][]) : []),
    ["#regions", "regions"],
    ["#honesty", "reliability"],
    ["#provenance", "origin"],
  ];
  return h(
    "nav",
    { class: "toolbar", "aria-label": "Choices" },
    picker("class", "class", strata, store.choice.stratum, (stratum) => store.set({ stratum })),
    method,
    h("span", { class: "links" }, ...links.map(([href, text]) => h("a", { href }, text))),
  );
}

function build(report: Report): Node[] {
  if (report.schema !== 1) throw new Error(`the data have schema ${report.schema}, but this page reads 1`);
  document.title = report.title;
  const store = new Store(report);
  const parts = [
    overviewSection(store),
    tableSection(store),
    tradeSection(store),
    imagesSection(store),
    errorSection(store),
    differenceSection(store),
    setsSection(store),
    outlinesSection(store),
    partitionSection(store),
    dataSection(store),
    reliabilitySection(store),
    trainingSection(report),
    guaranteeSection(report),
    provenanceSection(report),
  ].filter((part) => part !== null);
  return [
    header(report),
    toolbar(store),
    h("div", { class: "columns" }, h("div", { class: "story" }, ...parts), inspector(store)),
  ];
}

const main = document.getElementById("report")!;
try {
  const text = document.getElementById("kandinsky-data")!.textContent ?? "";
  const data = JSON.parse(text) as Report | MonitorData;
  main.replaceChildren(...("kind" in data ? buildMonitor(data) : build(data)));
} catch (error) {
  main.replaceChildren(
    h(
      "p",
      { role: "alert" },
      `This report cannot be shown: ${error instanceof Error ? error.message : String(error)}`,
    ),
  );
  throw error;
} finally {
  main.removeAttribute("aria-busy");
}

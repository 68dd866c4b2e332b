// Reads the data of the page and builds the page.
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
import { buildMonitor } from "./monitor";
import { readData } from "./read";
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
      `${plural(report.images.cal, "calibration image")}${groups}, ` +
        `${plural(report.images.test, "test image")}, ${height} x ${width} pixels (height x width), ` +
        `${report.classes.length} classes`,
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

/** Reports an error in one line, on the page and in the console. */
function tell(error: unknown): HTMLElement {
  const line = `This report cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
  console.error(line);
  return h("p", { role: "alert" }, line);
}

const main = document.getElementById("report")!;
// A damaged map is detected when it is unpacked to be drawn. The first such error replaces the page.
addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  if (!main.querySelector(":scope > [role=alert]")) main.replaceChildren(tell(event.reason));
});
try {
  const data = readData(document.getElementById("kandinsky-data")!.textContent ?? "");
  main.replaceChildren(...("monitor" in data ? buildMonitor(data.monitor) : build(data.report)));
} catch (error) {
  main.replaceChildren(tell(error));
} finally {
  main.removeAttribute("aria-busy");
}

// The guarantees, and the inputs, options and command that made this file.
import type { Report } from "./data";
import { methodColour } from "./colour";
import { h, section } from "./dom";
import { copyButton } from "./download";

export function guaranteeSection(report: Report): HTMLElement {
  return section(
    "guarantee",
    "Guarantee",
    "",
    h(
      "dl",
      { class: "promises" },
      ...report.methods.flatMap((method, m) => [
        h("dt", {}, h("span", { class: "dot", style: `background: ${methodColour(m)}` }), method.name),
        h("dd", {}, method.guarantee),
      ]),
    ),
  );
}

export function provenanceSection(report: Report): HTMLElement {
  const { command, inputs } = report.provenance;
  const [height, width] = report.grid;
  const files = (inputs ?? []).map((file) =>
    h(
      "li",
      {},
      `${file.what}: ${file.probabilities} and ` +
        `${file.labels}${file.groups ? ` with groups ${file.groups}` : ""}, ${file.dtype} ` +
        `[${file.shape.join(", ")}]`,
    ),
  );
  const options = report.methods.map((method) =>
    h(
      "details",
      {},
      h("summary", {}, `Options of ${method.name}`),
      h("pre", {}, JSON.stringify(method.meta, null, 2)),
    ),
  );
  const block = report.coverage_block;
  const resolution =
    `Maps are rounded to 1/254 of their scale. Coverage curves of ` +
    `${block === 1 ? "every pixel" : `blocks of ${block} x ${block} pixels`} are rounded to 1/100 ` +
    `at the levels 0.05 to 0.95; ` +
    `sets of the examples are exact at every position of the slider. Tables and diagrams are not rounded.`;
  return section(
    "provenance",
    "Origin of this report",
    `Kandinsky ${report.version}, schema ${report.schema}, ${height} x ${width} pixels (height x width), ` +
      `${report.images.cal} calibration and ${report.images.test} test images. The same inputs and ` +
      `command make the same file.`,
    command
      ? h(
          "div",
          { class: "command" },
          h("pre", { id: "command" }, command),
          copyButton("copy", () => command),
        )
      : null,
    files.length > 0 ? h("ul", {}, ...files) : null,
    h("p", { class: "note" }, resolution),
    ...options,
  );
}

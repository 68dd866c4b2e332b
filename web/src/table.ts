// A table that can be copied, and sorted by a click on a column header.
import { h } from "./dom";
import { copyButton } from "./download";

export interface Column<Row> {
  title: string;
  hint?: string;
  cell: (row: Row) => string;
  /** The number to sort by; without it, rows are sorted by the cell's text. */
  key?: (row: Row) => number;
}

export interface TableOptions<Row> {
  id: string;
  caption: string;
  mark?: (row: Row) => boolean;
  colour?: (row: Row) => string;
  choose?: (row: Row) => void;
}

/** Sorts a copy; missing numbers come last in both directions. */
export function sorted<Row>(rows: Row[], column: Column<Row>, descending: boolean): Row[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    if (!column.key) return sign * column.cell(a).localeCompare(column.cell(b));
    const [x, y] = [column.key(a), column.key(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return sign * (x - y);
  });
}

/** The table as lines of cells separated by tabs, as spreadsheets expect. */
export function asText<Row>(rows: Row[], columns: Column<Row>[]): string {
  const clean = (text: string) => text.replace(/[\t\n\u2009]/g, (c) => (c === "\u2009" ? "" : " "));
  return [columns.map((c) => c.title), ...rows.map((row) => columns.map((c) => c.cell(row)))]
    .map((line) => line.map(clean).join("\t"))
    .join("\n");
}

export function table<Row>(rows: Row[], columns: Column<Row>[], options: TableOptions<Row>): HTMLElement {
  let order = rows;
  const body = h("tbody");
  const fill = () =>
    body.replaceChildren(
      ...order.map((row) => {
        const cells = columns.map((column, i) => {
          if (i > 0) return h("td", {}, column.cell(row));
          const dot = options.colour
            ? h("span", { class: "dot", style: `background: ${options.colour(row)}` })
            : null;
          return h("th", { scope: "row" }, dot, column.cell(row));
        });
        const line = h("tr", { class: options.mark?.(row) ? "best" : undefined }, ...cells);
        if (options.choose) line.addEventListener("click", () => options.choose!(row));
        return line;
      }),
    );
  const heads = columns.map((column) => {
    const head = h("th", { scope: "col", title: column.hint });
    const button = h("button", { type: "button" }, column.title);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      order = sorted(rows, column, descending);
      fill();
    });
    head.append(button);
    return head;
  });
  fill();
  return h(
    "div",
    { class: "table-frame", id: options.id },
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        {},
        h(
          "caption",
          {},
          options.caption,
          copyButton("copy", () => asText(order, columns)),
        ),
        h("thead", {}, h("tr", {}, ...heads)),
        body,
      ),
    ),
  );
}

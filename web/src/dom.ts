// Functions that make elements. Text from the data is set as text only and never parsed as markup.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** A labelled drop-down list; calls `change` with the index of the selected entry. */
export function picker(
  label: string,
  id: string,
  options: string[],
  chosen: number,
  change: (index: number) => void,
): HTMLLabelElement {
  const select = h("select", { id });
  options.forEach((text, i) => {
    const option = h("option", { value: i }, text);
    option.selected = i === chosen;
    select.append(option);
  });
  select.addEventListener("change", () => change(select.selectedIndex));
  return h("label", { class: "picker" }, h("span", {}, label), select);
}

export function section(id: string, title: string, lead: string, ...children: Child[]): HTMLElement {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    lead ? h("p", { class: "lead" }, lead) : null,
    ...children,
  );
}

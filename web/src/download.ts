// Saves parts of the page: charts as SVG, maps as PNG, tables as text.
import { h } from "./dom";

function save(name: string, url: string): void {
  const link = h("a", { href: url, download: name });
  link.click();
}

/** The chart as the text of an SVG file, with its size, a background and the colours of the page. */
export function svgText(chart: SVGSVGElement): string {
  const copy = chart.cloneNode(true) as SVGSVGElement;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("style", "color: #1b1f24; background: #ffffff; font-family: system-ui, sans-serif");
  const box = chart.viewBox.baseVal;
  if (box && box.width > 0) {
    copy.setAttribute("width", String(box.width));
    copy.setAttribute("height", String(box.height));
  }
  return new XMLSerializer().serializeToString(copy);
}

export function saveSvg(chart: SVGSVGElement, name: string): void {
  const url = URL.createObjectURL(new Blob([svgText(chart)], { type: "image/svg+xml" }));
  save(`${name}.svg`, url);
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function savePng(canvas: HTMLCanvasElement, name: string): void {
  save(`${name}.png`, canvas.toDataURL("image/png"));
}

export function saveButton(kind: "SVG" | "PNG", what: string, action: () => void): HTMLButtonElement {
  return h(
    "button",
    { type: "button", class: "save", "aria-label": `Save ${what} as ${kind}`, click: action },
    kind,
  );
}

/** A button that copies text and then shows whether this succeeded. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const button: HTMLButtonElement = h("button", { type: "button", class: "save" }, label);
  button.addEventListener("click", async () => {
    let done = false;
    try {
      await navigator.clipboard.writeText(text());
      done = true;
    } catch {
      // Pages opened from disk may have no access to the clipboard; then the text is copied as a selection.
      const area = h("textarea", { class: "offscreen" });
      area.value = text();
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    button.textContent = done ? "copied" : "not allowed";
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
}

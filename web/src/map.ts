// A picture of the pixel grid with a colour bar. It reacts to the pointer, to clicks and to arrow keys.
import type { Rgb } from "./colour";
import { noData, rgbText } from "./colour";
import { h, svg } from "./dom";
import { saveButton, savePng, saveSvg } from "./download";
import type { Store } from "./store";
import { fileName } from "./text";

export interface Bar {
  ramp: Rgb[];
  low: string;
  middle?: string;
  high: string;
  label: string;
}

export interface MapContent {
  paint: (pixel: number) => Rgb;
  describe: (pixel: number) => string;
  bar?: Bar;
  overlay?: SVGElement[];
}

export class PixelMap {
  readonly figure: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly lines: SVGSVGElement;
  private readonly cross: SVGGElement;
  private readonly over: SVGGElement;
  private readonly tip: HTMLElement;
  private readonly legend: HTMLElement;
  private content: MapContent | null = null;

  constructor(
    private readonly store: Store,
    readonly title: string,
    id: string,
    caption: HTMLElement | string = title,
  ) {
    const [height, width] = store.report.grid;
    this.canvas = h("canvas", {
      width,
      height,
      tabindex: 0,
      role: "img",
      "aria-label": `${title}. Arrow keys move the pixel, Shift moves by ten, Enter pins it.`,
    });
    this.cross = svg("g", { class: "cross", "aria-hidden": "true" });
    this.over = svg("g", {});
    this.lines = svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, class: "lines", "aria-hidden": "true" },
      this.over,
      this.cross,
    );
    this.tip = h("div", { class: "tip", hidden: true });
    this.legend = h("div", {});
    const stage = h(
      "div",
      { class: "stage", style: `aspect-ratio: ${width} / ${height}` },
      this.canvas,
      this.lines,
      this.tip,
    );
    this.figure = h(
      "figure",
      { class: "map", id },
      h(
        "figcaption",
        {},
        caption,
        saveButton("PNG", title, () => this.savePng()),
        this.svgButton(),
      ),
      stage,
      this.legend,
    );
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.canvas.addEventListener("click", (event) => store.set({ pixel: this.pixelAt(event), pinned: true }));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    store.on(["pixel", "pinned"], () => this.drawCross());
  }

  draw(content: MapContent): void {
    this.content = content;
    const [height, width] = this.store.report.grid;
    const context = this.canvas.getContext("2d")!;
    const image = context.createImageData(width, height);
    for (let p = 0; p < width * height; ++p) {
      const [r, g, b] = content.paint(p);
      image.data.set([r, g, b, 255], 4 * p);
    }
    context.putImageData(image, 0, 0);
    this.over.replaceChildren(...(content.overlay ?? []));
    this.legend.replaceChildren(...(content.bar ? [barElement(content.bar)] : []));
    this.figure.classList.toggle("has-lines", (content.overlay ?? []).length > 0);
  }

  private svgButton(): HTMLButtonElement {
    const button = saveButton("SVG", this.title, () => this.saveSvg());
    button.classList.add("vector");
    return button;
  }

  private pixelAt(event: MouseEvent): number {
    const [height, width] = this.store.report.grid;
    const box = this.canvas.getBoundingClientRect();
    const column = Math.min(
      width - 1,
      Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * width)),
    );
    const row = Math.min(
      height - 1,
      Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * height)),
    );
    return row * width + column;
  }

  private hover(event: PointerEvent): void {
    const pixel = this.pixelAt(event);
    if (!this.store.choice.pinned) this.store.set({ pixel });
    const [, width] = this.store.report.grid;
    this.tip.textContent =
      `row ${Math.floor(pixel / width)}, column ${pixel % width}: ` +
      `${this.content?.describe(pixel) ?? ""}`;
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    this.tip.style.top = `${event.clientY - box.top + 14}px`;
    if (x < box.width / 2) Object.assign(this.tip.style, { left: `${x + 12}px`, right: "auto" });
    else Object.assign(this.tip.style, { left: "auto", right: `${box.width - x + 12}px` });
    this.tip.hidden = false;
  }

  private key(event: KeyboardEvent): void {
    const [height, width] = this.store.report.grid;
    const step = event.shiftKey ? 10 : 1;
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [0, -step],
      ArrowRight: [0, step],
      ArrowUp: [-step, 0],
      ArrowDown: [step, 0],
    };
    if (event.key === "Enter" || event.key === " ") this.store.set({ pinned: !this.store.choice.pinned });
    else if (event.key === "Escape") this.store.set({ pinned: false });
    else if (event.key in moves) {
      const { pixel } = this.store.choice;
      const row = Math.min(height - 1, Math.max(0, Math.floor(pixel / width) + moves[event.key][0]));
      const column = Math.min(width - 1, Math.max(0, (pixel % width) + moves[event.key][1]));
      this.store.set({ pixel: row * width + column, pinned: true });
    } else return;
    event.preventDefault();
  }

  private drawCross(): void {
    const [, width] = this.store.report.grid;
    const { pixel, pinned } = this.store.choice;
    const x = (pixel % width) + 0.5;
    const y = Math.floor(pixel / width) + 0.5;
    const r = Math.max(1.2, width / 60);
    this.cross.replaceChildren(
      svg("circle", { cx: x, cy: y, r, class: "halo" }),
      svg("circle", { cx: x, cy: y, r, class: pinned ? "ring pinned" : "ring" }),
    );
  }

  /** Saves the map, enlarged without smoothing, with its colour bar. */
  private savePng(): void {
    const [height, width] = this.store.report.grid;
    const zoom = Math.max(1, Math.round(960 / width));
    const bar = this.content?.bar;
    const out = h("canvas", { width: width * zoom, height: height * zoom + (bar ? 64 : 0) });
    const context = out.getContext("2d")!;
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, out.width, out.height);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.canvas, 0, 0, width * zoom, height * zoom);
    if (bar) {
      const top = height * zoom + 8;
      bar.ramp.forEach((colour, i) => {
        context.fillStyle = rgbText(colour);
        context.fillRect((i / 256) * out.width, top, out.width / 256 + 1, 16);
      });
      context.fillStyle = "#1b1f24";
      context.font = "16px system-ui, sans-serif";
      context.fillText(bar.low, 2, top + 36);
      context.textAlign = "center";
      context.fillText(bar.label, out.width / 2, top + 36);
      context.textAlign = "right";
      context.fillText(bar.high, out.width - 2, top + 36);
    }
    savePng(out, fileName(this.title));
  }

  /** Saves the map with its lines as vectors. */
  private saveSvg(): void {
    const [height, width] = this.store.report.grid;
    const picture = svg("image", {
      href: this.canvas.toDataURL("image/png"),
      width,
      height,
      style: "image-rendering: pixelated",
    });
    const whole = svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}` },
      picture,
      ...[...this.over.childNodes].map((node) => node.cloneNode(true)),
    );
    saveSvg(whole, fileName(this.title));
  }
}

export function barElement(bar: Bar): HTMLElement {
  const stops = bar.ramp.filter((_, i) => i % 15 === 0 || i === 255).map((colour) => rgbText(colour));
  return h(
    "div",
    { class: "bar", role: "img", "aria-label": `Colour bar: ${bar.label} from ${bar.low} to ${bar.high}` },
    h("div", { class: "bar-colours", style: `background: linear-gradient(to right, ${stops.join(", ")})` }),
    h(
      "div",
      { class: "bar-ends" },
      h("span", {}, bar.low),
      h(
        "span",
        { class: "bar-label" },
        bar.middle ? `${bar.label} (${bar.middle} in the middle)` : bar.label,
      ),
      h("span", {}, bar.high),
    ),
  );
}

/** A legend with named colours. */
export function swatches(entries: [Rgb, string][]): HTMLElement {
  return h(
    "ul",
    { class: "swatches" },
    ...entries.map(([colour, text]) =>
      h("li", {}, h("span", { class: "swatch", style: `background: ${rgbText(colour)}` }), text),
    ),
  );
}

/** The colour of a code 0 .. 254 on a scale that ends at the code `cut`. */
export function onScale(ramp: Rgb[], code: number, cut: number): Rgb {
  return code === 255 ? noData : ramp[Math.min(255, Math.round((code / Math.max(cut, 1e-9)) * 255))];
}

// Shows the prediction sets of example images, and redraws them when alpha changes: whole sets, or the state
// of one class.
import type { Rgb } from "./colour";
import { classColour, manyClasses, noData, pale, setColours } from "./colour";
import type { Example, Method, Report } from "./data";
import { sliderIndex, values } from "./data";
import { h, picker, section, svg } from "./dom";
import { outline } from "./geometry";
import { PixelMap, swatches } from "./map";
import type { Store } from "./store";
import { latest } from "./store";
import { fixed, percent } from "./text";
import type { SetSummary } from "./whole_sets";
import { setColour, setMembers, STRIPES, summary, wholeSets } from "./whole_sets";

export type SetState = "in" | "out" | "both" | "empty";

/**
 * The state of class c in the set of a pixel. The codes [class][pixel] are the largest alphas, in percent, at
 * which a class is in the set.
 */
export function setState(
  codes: ArrayLike<number>,
  pixels: number,
  classes: number,
  c: number,
  pixel: number,
  alpha: number,
): SetState {
  const members = setMembers(codes, pixels, classes, pixel, alpha);
  if (members.includes(c)) return members.length > 1 ? "both" : "in";
  return members.length > 0 ? "out" : "empty";
}

/** The colour of a state, blended with the photo's pixel. */
export function overPhoto(colour: Rgb, photo: ArrayLike<number>, pixel: number): Rgb {
  const mix = (c: 0 | 1 | 2) => Math.round(0.45 * colour[c] + 0.55 * photo[3 * pixel + c]);
  return [mix(0), mix(1), mix(2)];
}

const kinds = ["easy", "usual", "hard"];

export function exampleTitle(example: Example, i: number, all: number): string {
  const kind = all === 3 ? `: ${kinds[i]}` : "";
  return `Image ${example.image}${example.group === null ? "" : ` (group ${example.group})`}${kind}`;
}

async function unpack(example: Example, method: number) {
  const [codes, truth, likeliest, probs] = await Promise.all(
    [example.sets[method], example.truth, example.likeliest, example.probabilities].map(values),
  );
  return { codes, truth, likeliest, probs, photo: example.photo ? await values(example.photo) : null };
}
type Unpacked = Awaited<ReturnType<typeof unpack>>;

/** A summary in words; `names` writes a set. */
export function wholeWords(all: SetSummary, names: (members: number[]) => string): string {
  const what = all.kinds.slice(0, 4).map(({ members, share }) => `${names(members)} ${percent(share)}`);
  const rest = all.kinds.length > 4 ? `, and ${all.kinds.length - 4} more kinds of sets` : "";
  return (
    `${percent(all.decided)} of the pixels have one class, and it is right in ` +
    `${percent(all.right)} of them` +
    `${all.filled > 0 ? ` (${percent(all.filled)} were empty and took the most probable class)` : ""}. ` +
    `${all.empty > 0 ? `${percent(all.empty)} have no class. ` : ""}` +
    `${percent(all.undecided)} are undecided${what.length > 0 ? `: ${what.join(", ")}${rest}` : ""}.`
  );
}

/** What happens to the empty sets of a method, in words. */
export function emptyWords(method: Method): string {
  return method.empty === "fill"
    ? "of the sets are empty and take the most probable class"
    : "of the sets are empty and stay empty";
}

/** One example: the model's output (or the photo), the set, the truth, and a summary of the set in words. */
class ExampleView {
  readonly row: HTMLElement;
  private readonly model: PixelMap;
  private readonly set: PixelMap;
  private readonly truth: PixelMap;
  private readonly words: HTMLElement;
  private readonly pixels: number;
  private readonly classes: number;
  private readonly wide: number; // of a stripe

  constructor(
    private readonly store: Store,
    example: Example,
    i: number,
  ) {
    const { report } = store;
    const [height, width] = report.grid;
    this.pixels = height * width;
    this.classes = report.classes.length;
    this.wide = Math.max(1, Math.round(width / 120));
    const title = exampleTitle(example, i, report.examples.length);
    this.model = new PixelMap(
      store,
      `${title}, ${example.photo ? "photo" : "most probable class"}`,
      `example-${i}-model`,
      example.photo ? "The image" : "Most probable class",
    );
    this.set = new PixelMap(store, `${title}, prediction sets`, `example-${i}`, "Prediction sets");
    this.truth = new PixelMap(store, `${title}, truth`, `example-${i}-truth`, "Truth");
    this.words = h("p", { class: "note shares", id: `example-${i}-shares` });
    this.row = h(
      "div",
      { class: "example" },
      h("h3", {}, title),
      h("div", { class: "maps" }, this.model.figure, this.set.figure, this.truth.figure),
      this.words,
    );
  }

  draw(data: Unpacked, shown: number | null, underlay: boolean): void {
    const { report } = this.store;
    const [height, width] = report.grid;
    const name = (c: number) => report.classes[c];
    const { truth, likeliest, photo } = data;
    const label = (p: number) => (truth[p] === 255 ? "ignored" : name(truth[p]));
    this.model.draw({
      paint: photo
        ? (p) => [photo[3 * p], photo[3 * p + 1], photo[3 * p + 2]]
        : (p) => classColour(likeliest[p]),
      describe: (p) => `most probable: ${name(likeliest[p])}`,
    });
    this.truth.draw({ paint: (p) => (truth[p] === 255 ? noData : classColour(truth[p])), describe: label });
    const over = (colour: Rgb, p: number) => (photo && underlay ? overPhoto(colour, photo, p) : colour);
    const line = (inside: (p: number) => boolean) => [
      svg("path", {
        d: outline(height, width, inside),
        fill: "none",
        stroke: "#111111",
        "stroke-width": 1.2,
        "vector-effect": "non-scaling-stroke",
      }),
    ];
    if (shown === null) this.drawWhole(data, over, line, label);
    else this.drawClass(data, shown, over, line, label);
  }

  private drawWhole(
    { codes, truth, likeliest }: Unpacked,
    over: (colour: Rgb, p: number) => Rgb,
    line: (inside: (p: number) => boolean) => SVGElement[],
    label: (p: number) => string,
  ): void {
    const { report, choice } = this.store;
    const [, width] = report.grid;
    const names = (members: number[]) => `{${members.map((k) => report.classes[k]).join(", ")}}`;
    const rule = report.methods[choice.method].empty;
    const { sets, filled } = wholeSets(codes, likeliest, this.classes, choice.percent, rule);
    this.set.draw({
      paint: (p) => over(setColour(sets[p], Math.floor(p / width), p % width, this.wide), p),
      describe: (p) => `set ${names(sets[p])}, truth ${label(p)}`,
      overlay: line((p) => sets[p].length > 1),
    });
    const all = summary(sets, truth, filled);
    this.words.textContent = wholeWords(all, names);
  }

  private drawClass(
    { codes, truth, probs }: Unpacked,
    c: number,
    over: (colour: Rgb, p: number) => Rgb,
    line: (inside: (p: number) => boolean) => SVGElement[],
    label: (p: number) => string,
  ): void {
    const { report, choice } = this.store;
    const tally: Record<SetState, number> = { in: 0, out: 0, both: 0, empty: 0 };
    this.set.draw({
      paint: (p) => {
        const state = setState(codes, this.pixels, this.classes, c, p, choice.percent);
        ++tally[state];
        return over(setColours[state], p);
      },
      describe: (p) => {
        const members = setMembers(codes, this.pixels, this.classes, p, choice.percent).map(
          (k) => report.classes[k],
        );
        return (
          `set {${members.join(", ")}}, truth ${label(p)}, p(${report.classes[c]}) = ` +
          `${(probs[c * this.pixels + p] / 100).toFixed(2)}`
        );
      },
      overlay: line((p) => truth[p] === c),
    });
    const share = (state: SetState) => percent(tally[state] / this.pixels);
    this.words.textContent =
      `${share("in")} certain, ${share("both")} undecided, ${share("out")} ` +
      `ruled out, ${share("empty")} empty` +
      `${report.methods[choice.method].empty === "fill" ? " before filling" : ""}. Line: the true outline.`;
  }
}

function legendOf(report: Report, method: Method, shown: number | null): HTMLElement {
  if (shown === null) {
    const classes = report.classes.map((name, c): [Rgb, string] => [classColour(c), name]);
    const more: [Rgb, string][] =
      report.classes.length > STRIPES ? [[manyClasses, `more than ${STRIPES} classes`]] : [];
    return swatches([
      ...classes,
      [pale(classColour(1)), "pale stripes, outlined: undecided between the classes of the stripes"],
      ...more,
      ...(method.empty === "keep" ? ([[setColours.empty, "empty set"]] as [Rgb, string][]) : []),
    ]);
  }
  const name = report.classes[shown];
  return swatches([
    [setColours.in, `certainly ${name}`],
    [setColours.both, "undecided"],
    [setColours.out, `certainly not ${name}`],
    [setColours.empty, "empty set"],
  ]);
}

export function setsSection(store: Store): HTMLElement {
  const { report } = store;
  const slider = h("input", {
    type: "range",
    id: "alpha",
    min: 1,
    max: 99,
    step: 1,
    value: store.choice.percent,
  });
  const output = h("output", { for: "alpha", id: "alpha-value" });
  slider.addEventListener("input", () => store.set({ percent: Number(slider.value) }));
  const numbers = h("div", { class: "tiles", id: "set-numbers" });
  const examples = report.examples.map((example, i) => new ExampleView(store, example, i));
  const methodPick = picker(
    "method",
    "sets-method",
    report.methods.map((m) => m.name),
    store.choice.method,
    (method) => store.set({ method }),
  );
  let whole = true;
  const viewPick = picker("show", "sets-view", ["whole sets", "one class"], 0, (view) => {
    whole = view === 0;
    redraw();
  });
  const legend = h("div", {});
  const under = h("input", { type: "checkbox", id: "photo-under", checked: true });
  const photoPick = report.examples.some((example) => example.photo)
    ? h("label", { class: "picker", for: "photo-under" }, under, "photo under the sets")
    : null;

  store.on(["percent", "method", "stratum"], () => {
    const { percent: a, method, stratum } = store.choice;
    const own = report.methods[method];
    const l = sliderIndex(a);
    slider.value = String(a);
    (methodPick.querySelector("select") as HTMLSelectElement).selectedIndex = method;
    output.textContent = `alpha = ${(a / 100).toFixed(2)}`;
    const tile = (id: string, value: string, text: string) =>
      h("div", { class: "tile" }, h("strong", { id }, value), h("span", {}, text));
    numbers.replaceChildren(
      tile(
        "set-coverage",
        percent(own.strata[stratum].slider_coverage[l], 2),
        `coverage of ${report.pooled ? "all classes" : report.classes[stratum]}; wanted: ${100 - a} %`,
      ),
      tile("set-size", fixed(own.slider_set_size[l], 3), "classes in a set, on average"),
      tile(
        "set-single",
        percent(own.slider_single[l], 1),
        `of the sets have one class; right: ${percent(own.slider_single_right[l], 1)}`,
      ),
      tile("set-empty", percent(own.slider_empty[l], 2), emptyWords(own)),
      tile("set-full", percent(own.slider_full[l], 2), "of the sets hold every class"),
    );
  });

  const load = async () =>
    Promise.all(report.examples.map((example) => unpack(example, store.choice.method)));
  const draw = (loaded: Unpacked[]) => {
    const shown = whole
      ? null
      : report.pooled
        ? Math.min(1, report.classes.length - 1)
        : store.choice.stratum;
    legend.replaceChildren(legendOf(report, report.methods[store.choice.method], shown));
    for (const [i, data] of loaded.entries()) examples[i].draw(data, shown, under.checked);
  };
  const redraw = latest(load, draw);
  store.on(["percent", "method", "stratum"], redraw);
  under.addEventListener("change", redraw);
  return section(
    "sets",
    "Prediction sets",
    "Sets of images that were not used for calibration, at an alpha of your choice. A smaller alpha " +
      "gives more coverage and more undecided pixels. Where a class has too few calibration scores for a " +
      "finite threshold, it is always in the set. The numbers are measured before any empty set is filled.",
    h(
      "div",
      { class: "controls" },
      h("label", { class: "slider", for: "alpha" }, output, slider),
      viewPick,
      methodPick,
      photoPick,
    ),
    numbers,
    legend,
    ...examples.map((example) => example.row),
  );
}

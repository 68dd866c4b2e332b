// The prediction sets of example images, redrawn as alpha moves.
import type { Rgb } from "./colour";
import { setColours } from "./colour";
import type { Example, Report } from "./data";
import { sliderIndex, values } from "./data";
import { h, picker, section, svg } from "./dom";
import { outline } from "./geometry";
import { PixelMap, swatches } from "./map";
import type { Store } from "./store";
import { latest } from "./store";
import { fixed, percent } from "./text";

export type SetState = "in" | "out" | "both" | "empty";

/** What a set says about class c: codes [class][pixel] say up to which alpha (in percent) a class stays in the set. */
export function setState(codes: ArrayLike<number>, pixels: number, classes: number, c: number, pixel: number, alpha: number): SetState {
  const has = codes[c * pixels + pixel] >= alpha;
  let others = 0;
  for (let k = 0; k < classes; ++k) if (k !== c && codes[k * pixels + pixel] >= alpha) ++others;
  if (has) return others > 0 ? "both" : "in";
  return others > 0 ? "out" : "empty";
}

/** How many classes the set of a pixel has. */
export function setMembers(codes: ArrayLike<number>, pixels: number, classes: number, pixel: number, alpha: number): number[] {
  const members: number[] = [];
  for (let k = 0; k < classes; ++k) if (codes[k * pixels + pixel] >= alpha) members.push(k);
  return members;
}

/** The colour of a state laid over the photo's pixel. */
export function overPhoto(colour: Rgb, photo: ArrayLike<number>, pixel: number): Rgb {
  const mix = (c: 0 | 1 | 2) => Math.round(0.45 * colour[c] + 0.55 * photo[3 * pixel + c]);
  return [mix(0), mix(1), mix(2)];
}

const kinds = ["easy", "usual", "hard"];

function exampleTitle(example: Example, i: number, all: number): string {
  const kind = all === 3 ? `: ${kinds[i]}` : "";
  return `Image ${example.image}${example.group === null ? "" : ` (group ${example.group})`}${kind}`;
}

export function setsSection(store: Store): HTMLElement {
  const { report } = store;
  const [height, width] = report.grid;
  const pixels = height * width;
  const classes = report.classes.length;
  const slider = h("input", { type: "range", id: "alpha", min: 1, max: 99, step: 1, value: store.choice.percent });
  const output = h("output", { for: "alpha", id: "alpha-value" });
  slider.addEventListener("input", () => store.set({ percent: Number(slider.value) }));
  const numbers = h("div", { class: "tiles", id: "set-numbers" });
  const maps = report.examples.map((example, i) => new PixelMap(store, exampleTitle(example, i, report.examples.length), `example-${i}`));
  const shares = report.examples.map((_, i) => h("p", { class: "note shares", id: `example-${i}-shares` }));
  const methodPick = picker("method", "sets-method", report.methods.map((m) => m.name), store.choice.method, (method) => store.set({ method }));
  const legend = h("div", {});
  const under = h("input", { type: "checkbox", id: "photo-under", checked: true });
  const photoPick = report.examples.some((example) => example.photo) ? h("label", { class: "picker", for: "photo-under" }, under, "photo under the sets") : null;
  const shownClass = () => (report.pooled ? Math.min(1, classes - 1) : store.choice.stratum);

  store.on(["percent", "method", "stratum"], () => {
    const { percent: a, method, stratum } = store.choice;
    const own = report.methods[method];
    const l = sliderIndex(a);
    slider.value = String(a);
    (methodPick.querySelector("select") as HTMLSelectElement).selectedIndex = method;
    output.textContent = `alpha = ${(a / 100).toFixed(2)}`;
    const tile = (id: string, value: string, text: string) => h("div", { class: "tile" }, h("strong", { id }, value), h("span", {}, text));
    numbers.replaceChildren(
      tile("set-coverage", percent(own.strata[stratum].slider_coverage[l], 2), `coverage of ${report.pooled ? "all classes" : report.classes[stratum]}; wanted: ${100 - a} %`),
      tile("set-size", fixed(own.slider_set_size[l], 3), "classes in a set, on average"),
      tile("set-empty", percent(own.slider_empty[l], 2), "of the sets are empty"),
    );
    const name = report.classes[shownClass()];
    legend.replaceChildren(
      swatches([
        [setColours.in, `certainly ${name}`],
        [setColours.both, "undecided"],
        [setColours.out, `certainly not ${name}`],
        [setColours.empty, "empty set"],
      ]),
    );
  });

  const load = async () => Promise.all(report.examples.map(async (example) => ({ codes: await values(example.sets[store.choice.method]), truth: await values(example.truth), probs: await values(example.probabilities), photo: example.photo ? await values(example.photo) : null })));
  const draw = (loaded: Awaited<ReturnType<typeof load>>) =>
    loaded.forEach(({ codes, truth, probs, photo }, i) => {
      const c = shownClass();
      const a = store.choice.percent;
      const tally: Record<SetState, number> = { in: 0, out: 0, both: 0, empty: 0 };
      const paint = (pixel: number): Rgb => {
        const state = setState(codes, pixels, classes, c, pixel, a);
        ++tally[state];
        return photo && under.checked ? overPhoto(setColours[state], photo, pixel) : setColours[state];
      };
      const line = outline(height, width, (pixel) => truth[pixel] === c);
      maps[i].draw({
        paint,
        describe: (pixel) => {
          const members = setMembers(codes, pixels, classes, pixel, a).map((k) => report.classes[k]);
          const label = truth[pixel] === 255 ? "ignored" : report.classes[truth[pixel]];
          const p = probs[c * pixels + pixel];
          return `set {${members.join(", ")}}, truth ${label}, p(${report.classes[c]}) = ${(p / 100).toFixed(2)}`;
        },
        overlay: [svg("path", { d: line, fill: "none", stroke: "#111111", "stroke-width": 1.6, "vector-effect": "non-scaling-stroke" })],
      });
      const share = (state: SetState) => percent(tally[state] / pixels);
      shares[i].textContent = `${share("in")} certain, ${share("both")} undecided, ${share("out")} ruled out, ${share("empty")} empty. Line: the true outline.`;
    });
  const redraw = latest(load, draw);
  store.on(["percent", "method", "stratum"], redraw);
  under.addEventListener("change", redraw);
  return section(
    "sets",
    "Prediction sets",
    "Move alpha and watch the sets of images that took no part in calibration. A smaller alpha asks for more coverage and pays with more undecided pixels. Where calibration never saw a class, the class is always in the set.",
    h("div", { class: "controls" }, h("label", { class: "slider", for: "alpha" }, output, slider), methodPick, photoPick),
    numbers,
    legend,
    h("div", { class: "maps" }, ...maps.map((map, i) => h("div", {}, map.figure, shares[i]))),
  );
}

/** For tests: the report's numbers at an alpha in percent. */
export function setNumbers(report: Report, method: number, stratum: number, alpha: number) {
  const l = sliderIndex(alpha);
  const own = report.methods[method];
  return { coverage: own.strata[stratum].slider_coverage[l], size: own.slider_set_size[l], empty: own.slider_empty[l] };
}

// The reader's choices. Parts of the page register functions that redraw them after a change.
import type { Report } from "./data";
import { bestMethod, firstStratum } from "./data";

export interface Choice {
  stratum: number;
  method: number; // for sets and single maps
  first: number; // of the difference map
  second: number;
  pixel: number;
  pinned: boolean;
  percent: number; // alpha of the slider, in percent
}

export class Store {
  readonly choice: Choice;
  private listeners: { keys: (keyof Choice)[]; hear: () => void }[] = [];

  constructor(readonly report: Report) {
    const stratum = firstStratum(report);
    const best = bestMethod(report, stratum);
    const [height, width] = report.grid;
    this.choice = {
      stratum,
      method: best,
      first: best,
      second:
        report.methods.findIndex((_, m) => m !== best) < 0
          ? best
          : report.methods.findIndex((_, m) => m !== best),
      pixel: Math.floor(height / 2) * width + Math.floor(width / 2),
      pinned: false,
      percent: Math.min(99, Math.max(1, Math.round(100 * report.alpha))),
    };
  }

  /** Calls `hear` now, and again after each change of one of the keys. */
  on(keys: (keyof Choice)[], hear: () => void): void {
    this.listeners.push({ keys, hear });
    hear();
  }

  set(change: Partial<Choice>): void {
    const keys = (Object.keys(change) as (keyof Choice)[]).filter((key) => change[key] !== this.choice[key]);
    Object.assign(this.choice, change);
    for (const { keys: wanted, hear } of this.listeners) if (keys.some((key) => wanted.includes(key))) hear();
  }
}

/** A function that starts `work` and calls `done` with its result, unless a later call has started. */
export function latest<T>(work: () => Promise<T>, done: (result: T) => void): () => void {
  let number = 0;
  return () => {
    const own = ++number;
    work().then((result) => {
      if (own === number) done(result);
    });
  };
}

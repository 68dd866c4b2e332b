// Numbers and names as text for readers.

export function fixed(value: number | null | undefined, digits = 4): string {
  return value === null || value === undefined || !Number.isFinite(value) ? "-" : value.toFixed(digits);
}

export function percent(value: number | null | undefined, digits = 1): string {
  return value === null || value === undefined || !Number.isFinite(value)
    ? "-"
    : `${(100 * value).toFixed(digits)} %`;
}

export function count(value: number): string {
  return value.toLocaleString("en-GB").replace(/,/g, "\u2009");
}

export function plural(n: number, word: string): string {
  return `${count(n)} ${word}${n === 1 ? "" : "s"}`;
}

/** A file name without characters that a file system may not allow. */
export function fileName(...parts: string[]): string {
  const clean = parts.map((part) =>
    part
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, ""),
  );
  return clean.filter((part) => part !== "").join("_") || "figure";
}

/** The smallest of 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten that is not below the value. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10])
    if (step * power >= value * (1 - 1e-12)) return Number((step * power).toPrecision(6));
  return 10 * power;
}

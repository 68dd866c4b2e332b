// Schemas for JSON. A schema is written once: it checks values, and TypeScript derives the type from it.

/** A place where a value does not fit its schema, as a path such as ".methods[0].name", and the reason. */
export interface Fault {
  at: string;
  why: string;
}

/** fault() returns the first place where a value does not fit, or null for a value of type T. */
export interface Schema<T> {
  fault(value: unknown): Fault | null;
  /** Never set; TypeOf derives T from it. */
  readonly type?: T;
}

/** A field that may be absent. */
export interface Optional<T> extends Schema<T> {
  readonly optional: true;
}

export type TypeOf<S> = S extends Schema<infer T> ? T : never;

type Fields = Record<string, Schema<unknown> | Optional<unknown>>;
type OptionalKeys<F> = { [K in keyof F]: F[K] extends { optional: true } ? K : never }[keyof F];
type ObjectOf<F> = { [K in Exclude<keyof F, OptionalKeys<F>>]: TypeOf<F[K]> } & {
  [K in OptionalKeys<F>]?: TypeOf<F[K]>;
};

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  const kinds: Record<string, string> = { object: "an object", string: "text", boolean: "true or false" };
  return kinds[typeof value] ?? `the number ${value}`;
}

function simple<T>(wanted: string, fits: (value: unknown) => boolean): Schema<T> {
  return {
    fault: (value) =>
      fits(value) ? null : { at: "", why: `is ${kindOf(value)}, but ${wanted} is expected` },
  };
}

export const text = simple<string>("text", (value) => typeof value === "string");
export const flag = simple<boolean>("true or false", (value) => typeof value === "boolean");
export const number = simple<number>("a number", Number.isFinite);
export const count = simple<number>(
  "a whole number of at least 0",
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);

export function oneOf<T extends string>(...words: T[]): Schema<T> {
  return simple(`one of ${words.join(", ")}`, (value) => words.includes(value as T));
}

export function orNull<T>(schema: Schema<T>): Schema<T | null> {
  return { fault: (value) => (value === null ? null : schema.fault(value)) };
}

export function optional<T>(schema: Schema<T>): Optional<T> {
  return { fault: schema.fault, optional: true };
}

/** A list of `least` to `most` values. */
export function list<T>(schema: Schema<T>, least = 0, most = Number.POSITIVE_INFINITY): Schema<T[]> {
  const length = least === most ? `a list of ${least}` : `a list${least > 0 ? ` of at least ${least}` : ""}`;
  const shape = simple(
    length,
    (value) => Array.isArray(value) && value.length >= least && value.length <= most,
  );
  return {
    fault(value) {
      const wrong = shape.fault(value);
      if (wrong) return wrong;
      for (const [i, one] of (value as unknown[]).entries()) {
        const inner = schema.fault(one);
        if (inner) return { at: `[${i}]${inner.at}`, why: inner.why };
      }
      return null;
    },
  };
}

export function pair<T>(schema: Schema<T>): Schema<[T, T]> {
  return { fault: list(schema, 2, 2).fault };
}

const anyObject = simple<object>(
  "an object",
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
);

/** An object with any field names, whose values all have one schema. */
export function record<T>(schema: Schema<T>): Schema<Record<string, T>> {
  return {
    fault(value) {
      const wrong = anyObject.fault(value);
      if (wrong) return wrong;
      for (const [name, one] of Object.entries(value as object)) {
        const inner = schema.fault(one);
        if (inner) return { at: `.${name}${inner.at}`, why: inner.why };
      }
      return null;
    },
  };
}

/** Any JSON. */
export const anything: Schema<unknown> = { fault: () => null };

/** An object with these fields; it may have others, which the page does not read. */
export function object<F extends Fields>(fields: F): Schema<ObjectOf<F>> {
  return {
    fault(value) {
      const wrong = anyObject.fault(value);
      if (wrong) return wrong;
      for (const [name, schema] of Object.entries(fields)) {
        if (!Object.hasOwn(value as object, name)) {
          if ("optional" in schema) continue;
          return { at: `.${name}`, why: "is missing" };
        }
        const inner = schema.fault((value as Record<string, unknown>)[name]);
        if (inner) return { at: `.${name}${inner.at}`, why: inner.why };
      }
      return null;
    },
  };
}

/** Returns the value with its type. Throws an Error whose one line names the place and the reason. */
export function checked<T>(schema: Schema<T>, value: unknown): T {
  const wrong = schema.fault(value);
  if (wrong) throw new Error(`${wrong.at.replace(/^\./, "") || "the whole"} ${wrong.why}`);
  return value as T;
}

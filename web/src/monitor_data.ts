// The data of a monitor's page as the program writes them (src/report/page/monitor_page.hpp).
import { count, list, number, object, oneOf, orNull, pair, text, type TypeOf } from "./schema";

const maybe = orNull(number);
const feature = {
  class: count,
  feature: text,
  region: orNull(object({ rows: pair(count), columns: pair(count) })),
  evidence: maybe,
  direction: maybe,
  before: maybe,
  now: maybe,
};

const course = object({ stride: count, units: count, columns: list(text), rows: list(list(maybe)) });
export type Course = TypeOf<typeof course>;

export const monitorSchema = object({
  schema: count,
  kind: oneOf("monitor"),
  title: text,
  version: text,
  grid: pair(count),
  classes: list(text, 1),
  verdict: object({
    delta: number,
    alpha: number,
    unit: text,
    reference_units: count,
    images: count,
    units: count,
    labelled_units: count,
    outputs_alarm: orNull(object({ ...feature, unit: count })),
    labels_alarm: orNull(object({ class: count, unit: count })),
    odds_alarm: orNull(object({ class: count, unit: count })),
    set_size: maybe,
    text: list(text),
    coverage: list(object({ class: count, limit: number })),
    features: list(object(feature)),
  }),
  outputs: course,
  labels: course,
});
export type MonitorData = TypeOf<typeof monitorSchema>;

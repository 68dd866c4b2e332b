// Reads the data that the program inserted into the page, and checks them before anything is drawn.
import type { Report } from "./data";
import { reportSchema } from "./data";
import { type MonitorData, monitorSchema } from "./monitor_data";
import { checked } from "./schema";

const READS = 1;

function wanted(place: string, length: number, expected: number, of: string): void {
  if (length !== expected) throw new Error(`${place} has ${length} entries, but there are ${expected} ${of}`);
}

function inside(place: string, index: number, length: number, of: string): void {
  if (index >= length) throw new Error(`${place} is ${index}, but there are ${length} ${of}`);
}

/** Checks that fields agree with each other. The shape of a map is checked when the map is unpacked. */
function agree(report: Report): void {
  const classes = report.classes.length;
  const methods = report.methods.length;
  const strata = report.pooled ? 1 : classes;
  for (const [m, method] of report.methods.entries())
    wanted(`methods[${m}].strata`, method.strata.length, strata, report.pooled ? "pooled class" : "classes");
  wanted("calibration_counts", report.calibration_counts.length, strata, "strata");
  wanted("test_counts", report.test_counts.length, classes, "classes");
  wanted("reliability", report.reliability.length, classes, "classes");
  for (const [i, c] of report.shown.entries()) inside(`shown[${i}]`, c, classes, "classes");
  for (const [i, example] of report.examples.entries())
    wanted(`examples[${i}].sets`, example.sets.length, methods, "methods");
  for (const key of ["own", "image"] as const) {
    const { method, strata: own } = report.references[key] ?? {};
    if (method !== undefined) inside(`references.${key}.method`, method, methods, "methods");
    else if (own !== undefined) wanted(`references.${key}.strata`, own.length, strata, "strata");
    else if (report.references[key]) throw new Error(`references.${key} has neither method nor strata`);
  }
  if (report.outlines) {
    wanted("outlines.test", report.outlines.test.length, report.outlines.classes.length, "outlined classes");
    wanted("outlines.examples", report.outlines.examples.length, report.examples.length, "examples");
    for (const [i, c] of report.outlines.classes.entries())
      inside(`outlines.classes[${i}]`, c, classes, "classes");
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(`the data are not JSON: ${(error as Error).message}`);
  }
}

/**
 * The data of a report or of a monitor. Throws an Error whose one line names the place and the reason if the
 * data are invalid.
 */
export function readData(json: string): { report: Report } | { monitor: MonitorData } {
  const data = parsed(json);
  if (typeof data !== "object" || data === null) throw new Error("the data are not an object");
  const { schema, kind } = data as { schema?: unknown; kind?: unknown };
  if (schema !== READS) throw new Error(`the data have schema ${schema}, but this page reads ${READS}`);
  if (kind !== undefined) return { monitor: checked(monitorSchema, data) };
  const report = checked(reportSchema, data);
  agree(report);
  return { report };
}

// The shapes of methods (see `kandinsky inspect`) as vectors in the pixel coordinates of the picture.
import { svg } from "./dom";

type Geometry = Record<string, unknown>;

function numbers(value: unknown): number[] {
  return Array.isArray(value) && value.every((v) => typeof v === "number") ? (value as number[]) : [];
}

/** The radius at angle theta: `scale` times the square of a Fourier series [a0, re1, im1, ...]. */
export function fourierRadius(coefficients: number[], scale: number, theta: number): number {
  let sum = coefficients[0] ?? 0;
  for (let k = 1; 2 * k < coefficients.length; ++k)
    sum += 2 * (coefficients[2 * k - 1] * Math.cos(k * theta) - coefficients[2 * k] * Math.sin(k * theta));
  return scale * sum * sum;
}

/** A closed path. In the coordinates of the picture, the first pixel has its centre at (0.5, 0.5). */
function closed(points: [number, number][]): string {
  const steps = points.map(
    ([x, y], i) => `${i === 0 ? "M" : "L"}${(x + 0.5).toFixed(2)},${(y + 0.5).toFixed(2)}`,
  );
  return `${steps.join("")}Z`;
}

/** The paths of a method's curves; none for methods without shapes. */
export function curvePaths(geometry: Geometry): string[] {
  const [cx, cy] = numbers(geometry.centre_px);
  if (cx === undefined || cy === undefined) return [];
  const turns = Array.from({ length: 360 }, (_, i) => (i * Math.PI) / 180);
  if (geometry.kind === "fourier" && Array.isArray(geometry.coefficients)) {
    const scale = typeof geometry.scale === "number" ? geometry.scale : 1;
    return geometry.coefficients.map((one) =>
      closed(
        turns.map((theta) => {
          const r = fourierRadius(numbers(one), scale, theta);
          return [cx + r * Math.cos(theta), cy + r * Math.sin(theta)];
        }),
      ),
    );
  }
  if (geometry.kind === "annuli") {
    const ratio = typeof geometry.axis_ratio === "number" ? geometry.axis_ratio : 1;
    const angle = typeof geometry.angle === "number" ? geometry.angle : 0;
    return numbers(geometry.radii).map((r) =>
      closed(
        turns.map((t) => {
          // The angle is counter-clockwise with y up, but rows point down.
          const [u, v] = [r * Math.sqrt(ratio) * Math.cos(t), (r / Math.sqrt(ratio)) * Math.sin(t)];
          return [
            cx + u * Math.cos(angle) - v * Math.sin(angle),
            cy - (u * Math.sin(angle) + v * Math.cos(angle)),
          ];
        }),
      ),
    );
  }
  return [];
}

export function curveLines(geometry: Geometry): SVGElement[] {
  return curvePaths(geometry).flatMap((d) => [
    svg("path", {
      d,
      fill: "none",
      stroke: "#ffffff",
      "stroke-width": 3,
      "vector-effect": "non-scaling-stroke",
    }),
    svg("path", {
      d,
      fill: "none",
      stroke: "#111111",
      "stroke-width": 1.4,
      "vector-effect": "non-scaling-stroke",
    }),
  ]);
}

/** The outline of the pixels for which `inside` is true, without edges at the border of the picture. */
export function outline(height: number, width: number, inside: (pixel: number) => boolean): string {
  const parts: string[] = [];
  const at = (y: number, x: number) => y >= 0 && x >= 0 && y < height && x < width && inside(y * width + x);
  for (let y = 0; y <= height; ++y) {
    for (let x = 0; x < width; ++x) {
      if (at(y, x) === at(y - 1, x)) continue;
      let end = x + 1;
      while (end < width && at(y, end) !== at(y - 1, end)) ++end;
      if (y > 0 && y < height) parts.push(`M${x},${y}H${end}`);
      x = end - 1;
    }
  }
  for (let x = 1; x < width; ++x) {
    for (let y = 0; y < height; ++y) {
      if (at(y, x) === at(y, x - 1)) continue;
      let end = y + 1;
      while (end < height && at(end, x) !== at(end, x - 1)) ++end;
      parts.push(`M${x},${y}V${end}`);
      y = end - 1;
    }
  }
  return parts.join("");
}

// Writes PNG files with at most 256 colours. They have a third of the size of files in full colour, and text
// stays sharp.
import { crc32 as zlibCrc, deflateSync } from "node:zlib";

const table = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});
// Node has its own crc32 only from version 22 on.
const crc32 =
  zlibCrc ??
  ((bytes) => (bytes.reduce((c, b) => table[(c ^ b) & 255] ^ (c >>> 8), 0xffffffff) ^ 0xffffffff) >>> 0);

function chunk(name, body) {
  const out = Buffer.alloc(12 + body.length);
  out.writeUInt32BE(body.length, 0);
  out.write(name, 4, "latin1");
  body.copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + body.length)), 8 + body.length);
  return out;
}

const distance = (a, b) => (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2;

/** Selects colours one by one. The next colour is frequent and far from all selected colours. */
function chosen(all, most) {
  const palette = [];
  const gaps = all.map(() => Infinity);
  const missed = (i) => (gaps[i] === 0 ? 0 : gaps[i] * Math.sqrt(all[i].n));
  while (palette.length < Math.min(most, all.length)) {
    let next = 0;
    if (palette.length > 0) for (let i = 1; i < all.length; ++i) if (missed(i) > missed(next)) next = i;
    palette.push(all[next].colour);
    for (let i = 0; i < all.length; ++i)
      gaps[i] = Math.min(gaps[i], distance(all[i].colour, all[next].colour));
  }
  return palette;
}

/**
 * Colours that agree in the five highest bits of each channel are drawn as their mean. A colour that is not
 * in the palette is replaced by the nearest colour.
 */
export function palettePng(width, height, rgba, colours = 256) {
  const buckets = new Map();
  const keyAt = (i) => ((rgba[i] >> 3) << 10) | ((rgba[i + 1] >> 3) << 5) | (rgba[i + 2] >> 3);
  for (let i = 0; i < rgba.length; i += 4) {
    const key = keyAt(i);
    let bucket = buckets.get(key);
    if (!bucket) {
      bucket = { n: 0, sum: [0, 0, 0] };
      buckets.set(key, bucket);
    }
    ++bucket.n;
    for (let c = 0; c < 3; ++c) bucket.sum[c] += rgba[i + c];
  }
  const mean = ({ n, sum }) => sum.map((s) => Math.round(s / n));
  const order = [...buckets.entries()].sort(([a, x], [b, y]) => y.n - x.n || a - b);
  const palette = chosen(
    order.map(([, bucket]) => ({ colour: mean(bucket), n: bucket.n })),
    colours,
  );
  const index = new Map();
  for (const [key, bucket] of order) {
    const own = mean(bucket);
    index.set(
      key,
      palette.reduce(
        (best, colour, i) => (distance(colour, own) < distance(palette[best], own) ? i : best),
        0,
      ),
    );
  }
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x) rows[y * (width + 1) + 1 + x] = index.get(keyAt(4 * (y * width + x)));
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", head),
    chunk("PLTE", Buffer.from(palette.flat())),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

// How are ten thousand slots drawn as fast as ten?
//
// Pixel by pixel from the states' tiles, in screen space, and only the rows that
// changed. Owners are kept apart by a thin line.
// Left out: slots that are large enough for marks (slots.js).

import { density, tileOf } from "./canvas.js";
import { GUT, WIDE } from "./grid.js";

const TILE = 24;

/** Draw these rows of a tier. Changes: the image that the canvas keeps of the tier. */
export function drawPixels(player, pen, canvas, t, g, shown, rows) {
  const dp = density();
  const size = [Math.round(WIDE * dp), Math.max(1, Math.round(t.high * dp))];
  const { images } = canvas;
  const image = images.get(t) ?? images.set(t, new ImageData(...size)).get(t);
  const pixels = new Uint32Array(image.data.buffer);
  const inks = inksOf(player);
  const put = (y0, y1) =>
    pen.putImageData(
      image,
      Math.round(GUT * dp),
      Math.round(t.y * dp),
      0,
      y0,
      size[0],
      y1 - y0,
    );
  let [from, to] = [-1, -1];
  // Rows lower than a pixel share lines, of which the last is seen: draw all of them.
  if (t.pitch * dp < 1)
    rows = Array.from({ length: Math.ceil(t.n / g.columns) }, (_, i) => i);
  for (const row of rows) {
    const [y0, y1] = drawPixelRow(pixels, size, t, g, shown, row, inks, dp);
    if (y0 > to) {
      if (from >= 0) put(from, to);
      from = y0;
    }
    to = Math.max(to, y1);
  }
  put(from, to);
}

/** Write a row's pixels; return its first line and the one after its last. */
function drawPixelRow(pixels, [W, H], t, g, { owners, codes }, row, inks, dp) {
  const top = row * t.pitch * dp;
  const y0 = Math.min(H - 1, Math.round(top));
  const y1 = Math.min(H, Math.max(y0 + 1, Math.round(top + t.row * dp)));
  const at = row * g.columns;
  const cells = Math.min(g.columns, t.n - at);
  const per = g.columns / W;
  for (let x = 0, cell = 0; x < W && cell < cells;) {
    const [owner, code, from] = [owners[at + cell], codes[at + cell], x];
    const ink = inks[code];
    const same = (i) => owners[i] === owner && codes[i] === code;
    while (x < W && (cell = Math.floor(x * per)) < cells && same(at + cell)) x++;
    for (let y = y0; y < y1; y++) {
      const tile = (y % TILE) * W;
      const line = y * W;
      if (x - from > 24) pixels.set(ink.subarray(tile + from, tile + x), line + from);
      else for (let i = from; i < x; i++) pixels[line + i] = ink[tile + i];
      if (from && owner > 1) pixels[line + from] = inks.bg;
    }
  }
  return [y0, y1];
}

/** Each state's tile as pixels, read once for each theme. */
function inksOf(player) {
  if (player.tiles?.inks) return player.tiles.inks;
  const canvas = document.createElement("canvas");
  const W = (canvas.width = Math.round(WIDE * density()));
  canvas.height = TILE;
  const p = canvas.getContext("2d", { willReadFrequently: true });
  const read = (fill) => {
    p.fillStyle = fill;
    p.fillRect(0, 0, W, TILE);
    return new Uint32Array(p.getImageData(0, 0, W, TILE).data.buffer);
  };
  const inks = Object.keys(player.log.looks).map((state) =>
    read(tileOf(player, p, state === "free" ? "available" : state)),
  );
  inks.bg = read(player.colour.bg)[0];
  return (player.tiles.inks = inks);
}

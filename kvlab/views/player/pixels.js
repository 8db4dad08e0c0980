// How are ten thousand slots drawn as fast as ten?
//
// Pixel by pixel from the states' tiles, in screen space, and only the rows that
// changed. Owners are kept apart by a thin line.
// Left out: slots that are large enough for marks (slots.js).

import { density, tileOf } from "./canvas.js";
import { GUT, WIDE } from "./grid.js";

const TILE = 144; // pixels after which a tile repeats: a whole number of every pattern

/** Draw these rows of a tier. Changes: `t.plate`, the pixels of the tier. */
export function drawPixels(player, pen, t, g, shown, rows) {
  const dp = density();
  const plate = (t.plate ??= plateOf(t, g, dp));
  const { image, high } = plate;
  const [x, y] = [Math.round(GUT * dp), Math.round(t.y * dp)];
  const put = (from, to) =>
    to > from && pen.putImageData(image, x, y, 0, from, image.width, to - from);
  let [from, to] = [0, 0];
  // Rows lower than a pixel share lines, of which the last is seen: draw all of them.
  if (t.pitch * dp < 1) rows = Array(Math.ceil(t.n / g.columns)).keys();
  const inks = inksOf(player);
  for (const row of rows) {
    const y0 = Math.min(high - 1, Math.round(row * t.pitch * dp));
    const y1 = Math.max(y0 + 1, Math.round((row * t.pitch + t.row) * dp));
    if (y0 > to) {
      put(from, to);
      from = y0;
    }
    to = Math.max(to, Math.min(high, y1));
    drawPixelRow(plate, shown, row * g.columns, t.n, inks, y0, Math.min(high, y1));
  }
  put(from, to);
}

/** What a tier is drawn on: its pixels, which cell of a row each of them shows, and a
 *  line of places in the inks. */
function plateOf(t, g, dp) {
  const W = Math.round(WIDE * dp);
  const high = Math.max(1, Math.round(t.high * dp));
  const image = new ImageData(W, high);
  const cells = Uint16Array.from({ length: W }, (_, x) => (x * g.columns) / W);
  const pixels = new Uint32Array(image.data.buffer);
  return { image, pixels, high, cells, line: new Int32Array(W) };
}

/** Write the pixels of the row whose first page is `first`, from y0 to y1. */
function drawPixelRow(plate, { owners, codes }, first, n, inks, y0, y1) {
  const { pixels, cells, line } = plate;
  const W = line.length;
  let [end, before] = [0, first];
  for (; end < W && first + cells[end] < n; end++) {
    const page = first + cells[end];
    const owner = owners[page];
    const same = owner === owners[before] && codes[page] === codes[before];
    const look = end && owner > 1 && !same ? inks.edge : codes[page];
    line[end] = look * inks.high * W + end;
    before = page;
  }
  for (let y = y0; y < y1; y++) {
    const [at, tile] = [y * W, (y % inks.high) * W];
    for (let x = 0; x < end; x++) pixels[at + x] = inks.all[line[x] + tile];
  }
}

/** Each state's tile as pixels, one below the other, the colour of an edge last; read
 *  once for each theme. */
function inksOf(player) {
  if (player.tiles?.inks) return player.tiles.inks;
  const canvas = document.createElement("canvas");
  const W = (canvas.width = Math.round(WIDE * density()));
  const states = Object.keys(player.log.looks);
  const high = Math.round(TILE * density());
  canvas.height = high * (states.length + 1);
  const p = canvas.getContext("2d", { willReadFrequently: true });
  const fills = states.map((state) =>
    tileOf(player, p, state === "free" ? "available" : state),
  );
  [...fills, player.colour.bg].forEach((fill, i) => {
    p.setTransform(1, 0, 0, 1, 0, i * high);
    p.fillStyle = fill;
    p.fillRect(0, 0, W, high);
  });
  const { buffer } = p.getImageData(0, 0, W, canvas.height).data;
  const all = new Uint32Array(buffer);
  return (player.tiles.inks = { all, high, edge: states.length });
}

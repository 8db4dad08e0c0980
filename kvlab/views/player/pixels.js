// How are ten thousand slots drawn as fast as ten?
//
// Pixel by pixel from the states' tiles, in screen space.
// Left out: slots that are large enough for marks (slots.js).

import { tileOf } from "./canvas.js";
import { GUT, WIDE } from "./grid.js";

const TILE = 24;

/** Slots too small for marks: every pixel from its state's tile, in screen space, so
 *  that ten thousand slots cost what ten do. Owners are kept apart by a thin line. */
export function drawPixels(player, pen, run, tier, g) {
  const t = g.tiers[tier - 1],
    dp = globalThis.devicePixelRatio || 1,
    rows = run.c[`owner${tier}`];
  const W = Math.round(WIDE * dp),
    H = Math.max(1, Math.round(t.high * dp)),
    image = new ImageData(W, H),
    pixels = new Uint32Array(image.data.buffer);
  const { inks, bg } = inksOf(player, pen),
    looks = Object.keys(player.log.looks),
    known = new Map();
  const inkOf = (owner) => {
    let ink = known.get(owner);
    if (ink === undefined)
      known.set(owner, (ink = inks[looks.indexOf(run.slotLook(tier, owner))]));
    return ink;
  };
  const per = g.columns / W,
    pitch = t.pitch * dp;
  for (let row = 0, at = t.first; at < t.first + t.n; row++, at += g.columns) {
    const y0 = Math.round(row * pitch),
      y1 = Math.min(H, Math.max(y0 + 1, Math.round(row * pitch + t.row * dp)));
    const cells = Math.min(g.columns, t.first + t.n - at);
    for (let x = 0, cell = 0; x < W && cell < cells;) {
      const owner = rows[at + cell],
        from = x;
      while (x < W && (cell = Math.floor(x * per)) < cells && rows[at + cell] === owner)
        x++;
      const ink = inkOf(owner);
      for (let y = y0; y < y1; y++) {
        const tile = (y % TILE) * W,
          line = y * W;
        if (x - from > 24) pixels.set(ink.subarray(tile + from, tile + x), line + from);
        else for (let i = from; i < x; i++) pixels[line + i] = ink[tile + i];
        if (from && owner > 1) pixels[line + from] = bg;
      }
    }
  }
  pen.putImageData(image, Math.round(GUT * dp), Math.round(t.y * dp));
  pen.strokeStyle = player.colour.line2;
  pen.lineWidth = 1;
  pen.strokeRect(GUT - 0.5, t.y - 0.5, WIDE + 1, t.high + 1);
}

/** Each state's tile as pixels, read once for each theme. */
function inksOf(player, pen) {
  if (player.tiles?.inks) return player.tiles.inks;
  const canvas = document.createElement("canvas");
  const W = (canvas.width = Math.round(WIDE * (globalThis.devicePixelRatio || 1)));
  canvas.height = TILE;
  const p = canvas.getContext("2d", { willReadFrequently: true }),
    all = [];
  for (const state of Object.keys(player.log.looks)) {
    p.fillStyle =
      state === "free" ? tileOf(player, pen, "available") : tileOf(player, pen, state);
    p.fillRect(0, 0, W, TILE);
    all.push(new Uint32Array(p.getImageData(0, 0, W, TILE).data.buffer));
  }
  p.fillStyle = player.colour.bg;
  p.fillRect(0, 0, 1, 1);
  const bg = new Uint32Array(p.getImageData(0, 0, 1, 1).data.buffer)[0];
  return (player.tiles.inks = { inks: all, bg });
}

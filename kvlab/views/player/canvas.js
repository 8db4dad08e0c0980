// How does a state look on a canvas?
//
// The tiles of looks.js, and pens that count in CSS pixels.
// Left out: what is drawn with them (slots.js, timeline.js).

import { DRAWN } from "./looks.js";

export const UI =
  "-apple-system, 'Segoe UI', Roboto, Helvetica, Arial, 'Noto Sans CJK SC', sans-serif";

export const density = () => globalThis.devicePixelRatio || 1;

/** A pen for a canvas of that many CSS pixels. `pen.fresh` says that nothing of what was
 *  drawn for `version` is left on it; then it is clear. */
export function penOf(canvas, w, h, version) {
  const dp = density();
  const [wide, high] = [Math.round(w * dp), Math.round(h * dp)];
  const sized = canvas.width === wide && canvas.height === high;
  const pen = (canvas.pen ??= canvas.getContext("2d"));
  pen.fresh = !sized || canvas.version !== version;
  if (!sized) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${w}px`;
    canvas.style.height = `${h}px`;
  }
  pen.setTransform(dp, 0, 0, dp, 0, 0);
  if (pen.fresh) pen.clearRect(0, 0, w, h);
  canvas.version = version;
  return pen;
}

/** A canvas pattern of a state, in screen space; made once for each theme. A pen that
 *  writes SVG has its own. */
export function tileOf(player, pen, state) {
  if (pen.fillOf) return pen.fillOf(state);
  player.tiles ??= {};
  return (player.tiles[state] ??= tileFor(player, pen, state));
}

function tileFor(player, pen, state) {
  const { colour } = player;
  const pattern = DRAWN[player.log.looks[state].pattern];
  if (!pattern) return colour[`${state}-ground`];
  const [w, h, turn, d, stroke] = pattern;
  const dp = density();
  const tile = document.createElement("canvas");
  tile.width = w * 2 * dp;
  tile.height = h * 2 * dp;
  const p = tile.getContext("2d");
  p.scale(2 * dp, 2 * dp);
  p.fillStyle = colour[`${state}-ground`];
  p.fillRect(0, 0, w, h);
  p.fillStyle = p.strokeStyle = colour[state];
  p.lineWidth = stroke ?? 1;
  stroke ? p.stroke(new Path2D(d)) : p.fill(new Path2D(d));
  const made = pen.createPattern(tile, "repeat");
  made.setTransform(new DOMMatrix().rotate(turn).scale(0.5 / dp));
  return made;
}

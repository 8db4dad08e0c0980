// How does a state look on a canvas?
//
// The tiles of looks.js, and pens that count in CSS pixels.
// Left out: what is drawn with them (slots.js, timeline.js).

import { DRAWN } from "./looks.js";

export function penOf(player, canvas, w, h) {
  const dp = globalThis.devicePixelRatio || 1;
  if (canvas.width !== Math.round(w * dp) || canvas.height !== Math.round(h * dp)) {
    canvas.width = Math.round(w * dp);
    canvas.height = Math.round(h * dp);
    canvas.style.cssText = `width:${w}px;height:${h}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(dp, 0, 0, dp, 0, 0);
  pen.clearRect(0, 0, w, h);
  return pen;
}

/** A canvas pattern of a state, in screen space; made once for each theme. */
export function tileOf(player, pen, state) {
  player.tiles ??= {};
  if (player.tiles[state]) return player.tiles[state];
  const pattern = DRAWN[player.log.looks[state].pattern],
    { colour } = player;
  if (!pattern) return (player.tiles[state] = colour[`${state}-ground`]);
  const [w, h, turn, d, stroke] = pattern,
    dp = globalThis.devicePixelRatio || 1;
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
  return (player.tiles[state] = made);
}

export const UI =
  "-apple-system, 'Segoe UI', Roboto, Helvetica, Arial, 'Noto Sans CJK SC', sans-serif";

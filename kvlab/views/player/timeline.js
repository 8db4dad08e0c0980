// Where in the run are we?
//
// Above the whole run, below it a stretch of events in lanes, with arcs to their causes.
// What stays as long as the stretch does is on a canvas below; the moment is on one above.
// Left out: the whole run (overview.js), the lanes (lanes.js), copies (copies.js).

import { noteOf } from "./caption.js";
import { UI, penOf } from "./canvas.js";
import { drawCopies } from "./copies.js";
import { drawMarks, LANES } from "./lanes.js";
import { drawOverview, FAR } from "./overview.js";
import { num } from "./text.js";
import { ui } from "./words.js";

export const HIGH = 92;

const LEFT = 56; // pixels before the first event
const EVENT = 9; // pixels of an event, unless the reader zooms
/** How much a notch of the wheel, or a key, zooms. */
export const ZOOM = 1.5;

const SHEET = 13; // pixels of the flag of a note
const LEAST = 12; // events shown at the closest

/** How many events the lanes show without zooming. */
const usual = (player) => Math.max(24, Math.floor((player.wide - LEFT) / EVENT));

/** The stretch of events that the lanes show: [from, end). It moves by whole stretches,
 *  when the moment leaves it. */
export function stretchOf(player) {
  const { run } = player;
  const most = Math.max(LEAST, run.count);
  const per = Math.min(most, player.span ?? usual(player));
  const now = Math.max(0, run.at - 1);
  let from = player.from ?? 0;
  const moved = player.lastAt !== run.at;
  player.lastAt = run.at;
  if (run.count <= per) from = 0;
  else if (moved && (now < from || now >= from + per))
    from = Math.floor(now / per) * per;
  from = Math.max(0, Math.min(from, run.count - Math.min(per, run.count)));
  player.from = from;
  return { from, end: Math.min(run.count, from + per), per };
}

/** Show so many events around the one that lies at `x` pixels; null for the usual. */
export function zoom(player, by, x = null) {
  const { from, per } = stretchOf(player);
  const W = player.wide - LEFT;
  const part = x === null ? (player.run.at - 1 - from) / per : (x - LEFT) / W;
  const wanted = by === null ? usual(player) : Math.round(per * by);
  const most = Math.max(LEAST, player.run.count);
  const span = Math.max(LEAST, Math.min(most, wanted));
  player.span = by === null ? null : span;
  player.from = Math.round(from + Math.max(0, Math.min(1, part)) * (per - span));
  drawTimeline(player);
}

/** Move the stretch by a part of itself, whatever the moment is. */
export function pan(player, part) {
  const { from, per } = stretchOf(player);
  const by = Math.sign(part) * Math.max(1, Math.round(Math.abs(part) * per));
  player.from = Math.max(0, Math.min(player.run.count - per, from + by));
  drawTimeline(player);
}

/** The moment after the event at this place of the timeline. */
export function momentAt(player, x, y) {
  const { from, end, cw } = placesOf(player);
  if (y < FAR) {
    const far = ((x - LEFT) / (player.wide - LEFT)) * player.run.count;
    return Math.max(0, Math.round(far));
  }
  return Math.max(from, Math.min(end - 1, from + Math.floor((x - LEFT) / cw))) + 1;
}

/** Places of events: `X` where one begins in the whole run, `mid` its middle there, `x` in
 *  the lanes. */
function placesOf(player) {
  const { from, end, per } = stretchOf(player);
  const W = player.wide - LEFT;
  const n = Math.max(1, player.run.count);
  const cw = W / per;
  return {
    from,
    end,
    per,
    cw,
    W,
    x0: LEFT,
    wide: player.wide,
    limit: player.limit,
    X: (e) => LEFT + (e / n) * W,
    mid: (e) => LEFT + ((e + 0.5) / n) * W,
    x: (e) => LEFT + (e - from + 0.5) * cw,
  };
}

/** Draw the timeline: its ground only where it differs, the moment anew. */
export function drawTimeline(player) {
  const [under, over] = player.tl;
  const at = placesOf(player);
  const key = [
    player.version,
    at.from,
    at.per,
    at.limit,
    player.sought,
    player.difference?.index,
    [...player.bookmarks].map((e) => e + (noteOf(player, e) && "n")).join("."),
  ].join();
  const pen = penOf(under, player.wide, HIGH, key);
  if (pen.fresh) drawGround(player, pen, at);
  drawMoment(player, over, at);
}

function drawGround(player, pen, at) {
  const k = player.colour;
  const { x, X, from, end, per, limit, cw, wide } = at;
  drawOverview(player, pen, at);
  pen.font = `11px ${UI}`;
  pen.textAlign = "left";
  LANES.forEach(([word, y]) => {
    pen.fillStyle = k.ink3;
    pen.fillText(ui(player, word), 0, y + 4);
    pen.fillStyle = k.line;
    pen.fillRect(LEFT, y, wide - LEFT, 1);
  });
  if (player.run.count > per) {
    pen.strokeStyle = k.ink;
    pen.lineWidth = 1.5;
    pen.strokeRect(X(from), 6, Math.max(3, X(end) - X(from)), 30);
  }
  drawCopies(player, pen, at);
  drawMarks(player, pen, at);
  if (limit < end) drawCover(player, pen, x(limit) - cw / 2, wide);
  drawFlags(player, pen, at);
}

/** What an open prediction withholds, from x on; the words for it where they have room. */
function drawCover(player, pen, x, wide) {
  const text = ui(player, "hidden");
  pen.fillStyle = player.colour.well;
  pen.fillRect(x, 40, wide - x, 48);
  if (pen.measureText(text).width + 12 > wide - x) return;
  pen.fillStyle = player.colour.ink3;
  pen.textAlign = "center";
  pen.fillText(text, (x + wide) / 2, 68);
  pen.textAlign = "left";
}

/** Bookmarks, those with a note as a written sheet; the first difference of two runs. */
function drawFlags(player, pen, { x, mid, from, end }) {
  for (const e of player.bookmarks) {
    drawFlag(player, pen, mid(e), 0, noteOf(player, e));
    if (e >= from && e < end) drawFlag(player, pen, x(e), 38, noteOf(player, e));
  }
  const e = player.difference?.index;
  if (e == null) return;
  pen.fillStyle = player.colour.ink;
  pen.beginPath();
  pen.moveTo(mid(e), 0);
  pen.lineTo(mid(e) + 10, 4);
  pen.lineTo(mid(e), 8);
  pen.fill();
  pen.fillRect(mid(e) - 0.75, 0, 1.5, 36);
}

function drawFlag(player, pen, x, y, note) {
  const half = note ? SHEET / 2 : 3;
  pen.fillStyle = player.colour.link;
  pen.fillRect(x - half, y, 2 * half, 8);
  if (!note) return;
  pen.fillStyle = player.colour.bg;
  pen.fillRect(x - half + 2, y + 2, SHEET - 4, 1.5);
  pen.fillRect(x - half + 2, y + 4.75, SHEET - 7, 1.5);
}

/** The moment: what comes after it is pale, arcs lead to its causes. */
function drawMoment(player, canvas, at) {
  const { run } = player;
  const { x, mid, from, end, cw, wide } = at;
  const k = player.colour;
  const pen = penOf(canvas, wide, HIGH, player.version);
  pen.clearRect(0, 0, wide, HIGH);
  const now = run.at - 1;
  const after = Math.max(LEFT, Math.min(x(run.at) - cw / 2, wide));
  pen.globalAlpha = 0.65;
  pen.fillStyle = k.bg;
  pen.fillRect(after, 42, Math.min(x(at.limit) - cw / 2, wide) - after, 46);
  pen.globalAlpha = 1;
  if (now < 0) return describe(player, canvas);
  pen.strokeStyle = pen.fillStyle = k.ink;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(mid(now), 5);
  pen.lineTo(mid(now), 36);
  if (now >= from && now < end) {
    for (const cause of run.chain(now).slice(0, -1)) {
      if (cause < from) continue;
      pen.moveTo(x(now), 43);
      pen.bezierCurveTo(x(now) - 4, 34, x(cause) + 4, 34, x(cause), 43);
    }
    pen.moveTo(x(now), 40);
    pen.lineTo(x(now), 88);
  }
  pen.stroke();
  if (now >= from && now < end) {
    pen.beginPath();
    pen.moveTo(x(now) - 5, 91);
    pen.lineTo(x(now) + 5, 91);
    pen.lineTo(x(now), 85);
    pen.fill();
  }
  describe(player, canvas);
}

function describe(player, canvas) {
  const { run, log } = player;
  canvas.setAttribute(
    "aria-label",
    `${ui(player, "timeline")}: ${ui(player, "event")} ${num(run.at)} / ${num(log.events)}`,
  );
}

// How are both pools drawn?
//
// Three canvases: copies between the pools lie below (ribbons.js), outlines above
// (rings.js). Here is the middle one: a rectangle for each run of slots with one owner.
// Left out: slots smaller than their marks (pixels.js), which colour (colouring.js).

import { UI, penOf, tileOf } from "./canvas.js";
import { colouringOf } from "./colouring.js";
import { GUT, WIDE, gridOf, tiersOf } from "./grid.js";
import { drawPixels } from "./pixels.js";
import { Shown } from "./shown.js";
import { plain } from "./text.js";
import { ui } from "./words.js";

const MOST_LOCKS = 99; // locks on a host copy that are told apart
const DASHES = { available: [1.5, 2.5], left: [1.5, 2.5], lost: [3, 2] };

/** Draw what changed of both pools on this canvas. */
export function drawSlots(player, canvas, run) {
  const g = gridOf(player);
  const pen = penOf(canvas, g.wide, g.high, player.version);
  if (pen.fresh) {
    canvas.tiers = tiersOf(player, run);
    drawTitles(player, pen, canvas.tiers);
    canvas.shown = canvas.tiers.map((t) => new Shown(t.n, run.owners, !t.tiny));
  }
  const names = Object.keys(player.log.looks);
  canvas.tiers.forEach((t, i) => {
    if (!t.n) return;
    const lookAt = colouringOf(player, run, i + 1);
    const codeOf = (owner, page) =>
      names.indexOf(lookAt(owner, page)) +
      (t.tiny ? 0 : 16 * names.indexOf(twinOf(run, i + 1, owner)) + 16) +
      (t.tiny ? 0 : 256 * hostLocks(run, i + 1, owner));
    const each = player.colouring === "contents";
    const rows = canvas.shown[i].update(run.places[i + 1], t, g.columns, codeOf, each);
    if (!rows.length) return;
    if (t.tiny) drawPixels(player, pen, t, g, canvas.shown[i], rows);
    else for (const row of rows) drawRow(player, pen, t, g, canvas.shown[i], row);
  });
}

function drawTitles(player, pen, tiers) {
  const k = player.colour;
  tiers.forEach((t, i) => {
    if (!t.n) return;
    pen.fillStyle = k.ink;
    pen.font = `600 13px ${UI}`;
    pen.fillText(`L${i + 1}`, 0, t.y + 13);
    pen.fillStyle = k.ink3;
    pen.font = `11px ${UI}`;
    pen.fillText(ui(player, i ? "host" : "gpu"), 0, t.y + 27);
    pen.strokeStyle = k.line2;
    if (t.tiny) pen.strokeRect(GUT - 0.5, t.y - 0.5, WIDE + 1, t.high + 1);
  });
}

/** The look of a node's other copy, of which a slot shows the edge. */
function twinOf(run, tier, owner) {
  if (owner < 2 || owner & 1) return undefined;
  const looks = run.looks((owner - 2) / 2);
  const copying = looks.includes("in_flight") || looks.includes("promised");
  return copying ? undefined : (looks[2 - tier] ?? undefined);
}

/** By how many a slot's host copy is locked, as far as is told apart. */
function hostLocks(run, tier, owner) {
  if (tier === 1 || owner < 2) return 0;
  return Math.min(MOST_LOCKS, run.c.host_lock[(owner - 2) / 2]);
}

function drawRow(player, pen, t, g, { owners, codes }, row) {
  const y = t.y + row * t.pitch;
  const from = row * g.columns;
  const end = Math.min(t.n, from + g.columns);
  const names = Object.keys(player.log.looks);
  // With the edges that share a pixel with what is beside the row.
  pen.clearRect(GUT - 1, y - 1, WIDE + 2, t.row + 2);
  for (let i = from; i < end;) {
    const [owner, code, first] = [owners[i], codes[i], i];
    while (i < end && owners[i] === owner && codes[i] === code) i++;
    const piece = {
      x: GUT + (first - from) * g.cell,
      y,
      w: (i - first) * g.cell,
      high: t.row,
      slots: i - first,
      owner,
      head: first === 0 || owners[first - 1] !== owner,
    };
    drawPiece(player, pen, piece, names[code & 15], g.cell);
    const twin = (code >> 4) & 15;
    if (twin) drawTwin(player, pen, piece, names[twin - 1], t.y === 0);
    if (t.row >= 12 && (piece.head || piece.w > 60))
      drawPlate(player, pen, piece, code >> 8);
  }
}

function drawPiece(player, pen, { x, y, w, high, slots }, look, cell) {
  const k = player.colour;
  pen.fillStyle = tileOf(player, pen, look);
  pen.fillRect(x + 0.5, y + 0.5, w - 1, high - 1);
  pen.strokeStyle = k[`${look}-edge`];
  pen.setLineDash(DASHES[look] ?? []);
  pen.lineWidth = 1;
  pen.strokeRect(x + 0.5, y + 0.5, w - 1, high - 1);
  pen.setLineDash([]);
  if (look === "lost") drawCross(pen, x + 2, y + 2, w - 4, high - 4, k.lost);
  else if (cell > 6) drawLines(pen, x, y, cell, high, slots, look, k);
}

function drawLines(pen, x, y, cell, high, slots, look, k) {
  const lines = { used: "rgba(255,255,255,.5)", available: k.line };
  pen.strokeStyle = lines[look] ?? k.bg;
  pen.globalAlpha = look === "available" ? 1 : 0.55;
  pen.beginPath();
  for (let i = 1; i < slots; i++) {
    pen.moveTo(x + i * cell, y + 2);
    pen.lineTo(x + i * cell, y + high - 2);
  }
  pen.stroke();
  pen.globalAlpha = 1;
}

function drawCross(pen, x, y, w, high, colour) {
  pen.strokeStyle = colour;
  pen.lineWidth = 1.6;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x + w, y + high);
  pen.moveTo(x, y + high);
  pen.lineTo(x + w, y);
  pen.stroke();
}

/** The edge that faces the other pool says that a copy lives there. */
function drawTwin(player, pen, { x, y, w, high }, look, above) {
  pen.fillStyle = player.colour[look === "copy" ? "host_only" : look];
  pen.fillRect(x + 1, above ? y + high - 3.5 : y + 0.5, w - 2, 3);
}

/** A label on a plate: whose the slots are, and a lock with its count; the lock alone
 *  where both have no room. */
function drawPlate(player, pen, { x, y, w, high, owner }, locks) {
  if (owner < 2) return;
  const request = player.log.requests[(owner - 3) / 2];
  const name = owner & 1 ? plain(request, 12) : `n${(owner - 2) / 2}`;
  const count = locks ? `${locks}` : "";
  pen.font = `600 ${high >= 18 ? 11 : 9.5}px monospace`;
  const size = (text) => pen.measureText(text).width;
  const lock = locks ? 10 + size(count) : 0;
  const fits = [name, ""].find((text) => size(text) + lock + 12 <= w);
  const wide = fits === undefined ? 0 : size(fits) + lock + (fits && locks ? 9 : 6);
  if (wide <= 6) return;
  const [left, middle] = [x + (w - wide) / 2, y + high / 2];
  pen.fillStyle = player.colour.bg;
  pen.fillRect(left, middle - 7, wide, 13);
  pen.fillStyle = player.colour.ink;
  if (fits) pen.fillText(fits, left + 3, middle + 3);
  if (!locks) return;
  drawLock(pen, left + wide - 3 - lock, middle - 5.5, player.colour.ink);
  pen.fillText(count, left + wide - 3 - size(count), middle + 3);
}

/** A padlock, 8 x 9 pixels. */
function drawLock(pen, x, y, ink) {
  pen.strokeStyle = ink;
  pen.lineWidth = 1.3;
  pen.beginPath();
  pen.moveTo(x + 2, y + 4.5);
  pen.lineTo(x + 2, y + 3);
  pen.bezierCurveTo(x + 2, y + 0.4, x + 6, y + 0.4, x + 6, y + 3);
  pen.lineTo(x + 6, y + 4.5);
  pen.stroke();
  pen.fillRect(x + 1, y + 4.5, 6, 4.5);
}

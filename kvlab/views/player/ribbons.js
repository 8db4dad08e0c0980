// How are copies between the pools drawn?
//
// In token order, cut where either side is cut. Ribbons lie on a canvas below the slots
// and are drawn anew when another copy is on its way.
// Left out: the slots at both ends (slots.js).

import { UI, penOf } from "./canvas.js";
import { LANE, gridOf, piecesOf, tiersOf } from "./grid.js";
import { num } from "./text.js";
import { ui } from "./words.js";

const MOST_RIBBONS = 24; // ribbons drawn, the widest; how many more is said
const MANY = 12; // beyond so many they are pale

/** Draw all copies in flight on this canvas, if they are others than it shows. */
export function drawRibbons(player, canvas, run) {
  const g = gridOf(player);
  const { c } = run;
  const pen = penOf(canvas, g.wide, g.high, player.version);
  const moving = run.alive.filter((n) => c.l1[n] === 2 || c.l2[n] === 2);
  const key = moving.map((n) => `${n}:${c.l1[n]}${c.l2[n]}${c.len[n]}`).join();
  if (!pen.fresh && canvas.key === key) return;
  canvas.key = key;
  pen.clearRect(0, 0, g.wide, g.high);
  if (!run.log.pools[1]) return;
  const strands = strandsOf(player, run, moving, g);
  strands.sort((a, b) => b.w - a.w);
  const drawn = strands.slice(0, MOST_RIBBONS);
  for (const strand of drawn) drawStrand(player, pen, strand, drawn.length);
  drawSums(player, pen, run, moving, g);
  const more = strands.length - drawn.length;
  if (more) {
    pen.font = `400 11px ${UI}`;
    pen.fillStyle = player.colour.ink3;
    pen.fillText(`+ ${num(more)}`, 0, g.tiers[0].high + LANE / 2 + 27);
  }
}

/** Where each copy begins and ends, cut into pieces that are whole on both sides. */
function strandsOf(player, run, moving, g) {
  if (!moving.length) return [];
  const { c } = run;
  const [above, below] = [0, 1].map((i) =>
    endsOf(run, i + 1, tiersOf(player, run)[i], new Set(moving), g),
  );
  const strands = [];
  for (const n of moving) {
    const [a, b] = [below.get(n) ?? [], above.get(n) ?? []];
    for (let i = 0, j = 0; i < a.length && j < b.length;) {
      const slots = Math.min(a[i].slots, b[j].slots);
      const w = slots * g.cell;
      const ends = { ax: a[i].x, ay: a[i].y, bx: b[j].x, by: b[j].y + g.tiers[0].row };
      strands.push({ ...ends, w, up: c.l1[n] === 2 });
      for (const piece of [a[i], b[j]]) {
        piece.slots -= slots;
        piece.x += w;
      }
      if (!a[i].slots) i++;
      if (!b[j].slots) j++;
    }
  }
  return strands;
}

/** The pieces that hold each moving node in a tier, in token order. */
function endsOf(run, tier, t, moving, g) {
  const rows = run.c[`owner${tier}`];
  const shift = run.c[`shift${tier}`];
  const found = new Map();
  for (let i = t.first; i < t.first + t.n;) {
    const [owner, from, moved] = [rows[i], i, shift[i]];
    while (i < t.first + t.n && rows[i] === owner && shift[i] === moved) i++;
    const node = (owner - 2) / 2;
    if (owner < 2 || owner & 1 || !moving.has(node)) continue;
    const list = found.get(node) ?? found.set(node, []).get(node);
    let at = from + moved;
    for (const [x, y, , slots] of piecesOf(t, from, i - from, g)) {
      list.push({ at, x, y, slots });
      at += slots;
    }
  }
  for (const list of found.values()) list.sort((a, b) => a.at - b.at);
  return found;
}

function drawStrand(player, pen, strand, all) {
  const k = player.colour;
  const { ax, ay, bx, by, w } = strand;
  const m = (ay + by) / 2;
  pen.beginPath();
  pen.moveTo(ax, ay);
  pen.bezierCurveTo(ax, m, bx, m, bx, by);
  pen.lineTo(bx + w, by);
  pen.bezierCurveTo(bx + w, m, ax + w, m, ax + w, ay);
  pen.closePath();
  pen.globalAlpha = all > MANY ? 0.16 : 0.3;
  pen.fillStyle = k.ribbon;
  pen.fill();
  pen.globalAlpha = all > MANY ? 0.5 : 1;
  pen.strokeStyle = k["in_flight-edge"];
  pen.lineWidth = 1;
  pen.stroke();
  pen.globalAlpha = 1;
  if (w >= 8) drawChevrons(pen, strand);
}

/** Chevrons along the middle of a ribbon, pointing where the copy goes. */
function drawChevrons(pen, { ax, ay, bx, by, w, up }) {
  pen.lineWidth = 1.8;
  const d = up ? -2.5 : 2.5;
  for (const t of [0.2, 0.4, 0.6, 0.8]) {
    const x = ax + w / 2 + (bx - ax) * (3 * t * t - 2 * t ** 3);
    const y = ay + (by - ay) * (1.5 * t - 1.5 * t * t + t ** 3);
    pen.beginPath();
    pen.moveTo(x - 4, y - d);
    pen.lineTo(x, y + d);
    pen.lineTo(x + 4, y - d);
    pen.stroke();
  }
}

/** Beside the lane: how many tokens are on their way, up and down. */
function drawSums(player, pen, run, moving, g) {
  const k = player.colour;
  const { c } = run;
  const sums = [0, 0];
  for (const n of moving) sums[c.l1[n] === 2 ? 0 : 1] += c.len[n];
  const middle = g.tiers[0].high + LANE / 2;
  ["load", "write"].forEach((word, i) => {
    const n = sums[i];
    pen.font = `${n ? 600 : 400} 11px ${UI}`;
    pen.fillStyle = n ? k["in_flight-edge"] : k.ink3;
    const text = `${i ? "↓" : "↑"} ${ui(player, word)}${n ? ` ${num(n)}` : ""}`;
    pen.fillText(text, 0, middle + (i ? 13 : -3));
  });
}

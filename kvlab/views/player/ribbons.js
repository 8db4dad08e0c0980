// How are copies between the pools drawn?
//
// In token order, cut where either side is cut; where that makes too many, neighbours are
// one ribbon that says how many pieces it holds. Ribbons lie on a canvas below the slots
// and are drawn anew when another copy is on its way.
// Left out: which are joined (bundle.js), the slots at both ends (slots.js).

import { bundle } from "./bundle.js";
import { UI, penOf } from "./canvas.js";
import { GUT, LANE, gridOf, piecesOf, tiersOf } from "./grid.js";
import { num } from "./text.js";
import { ui } from "./words.js";

const MOST_RIBBONS = 24; // ribbons that are still told apart
const MANY = 12; // beyond so many they are pale
const FEW_COUNTS = 4; // counts of pieces that are told in words

/** Draw all copies in flight on this canvas, if they are others than it shows. Changes:
 *  `canvas.strands`, where each of them begins and ends. */
export function drawRibbons(player, canvas, run) {
  const g = gridOf(player);
  const { c } = run;
  const pen = penOf(canvas, g.wide, g.high, player.version);
  const moving = run.alive.filter((n) => c.l1[n] === 2 || c.l2[n] === 2);
  const key = moving.map((n) => `${n}:${c.l1[n]}${c.l2[n]}${c.len[n]}`).join();
  if (!pen.fresh && canvas.key === key) return;
  canvas.key = key;
  canvas.strands = [];
  pen.clearRect(0, 0, g.wide, g.high);
  if (!run.log.pools[1]) return;
  canvas.strands = strandsOf(player, run, moving);
  const ribbons = bundle(canvas.strands, MOST_RIBBONS).map((ribbon) =>
    ribbon.rows ? { ...ribbon, ay: g.tiers[1].y, by: g.tiers[0].high } : ribbon,
  );
  ribbons.sort((x, y) => y.aw - x.aw);
  for (const ribbon of ribbons) drawRibbon(player, pen, ribbon, ribbons.length);
  drawPieceCounts(player, pen, ribbons, g);
  drawSums(player, pen, run, moving, g);
}

/** Where each copy begins and ends, cut into pieces that are whole on both sides. */
function strandsOf(player, run, moving) {
  if (!moving.length) return [];
  const { c } = run;
  const g = gridOf(player);
  const [above, below] = [0, 1].map((i) =>
    endsOf(run, i + 1, tiersOf(player, run)[i], moving, g),
  );
  const strands = [];
  for (const n of moving) {
    const [a, b] = [below, above].map((ends) => ends.get(2 + 2 * n));
    // Of a node that has left the tree: from the slots that are read all the same.
    for (const [first, size] of (c.life[n] === 2 && run.log.reads[n]) || [])
      for (const [x, y, , slots] of piecesOf(tiersOf(player, run)[1], first, size, g))
        a.push({ x, y, slots });
    for (let i = 0, j = 0; i < a.length && j < b.length;) {
      const slots = Math.min(a[i].slots, b[j].slots);
      const w = slots * g.cell;
      const ends = { ax: a[i].x, ay: a[i].y, bx: b[j].x, by: b[j].y + g.tiers[0].row };
      strands.push({ ...ends, w, node: n, up: c.l1[n] === 2 });
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
  const place = run.c[`place${tier}`];
  const found = new Map(moving.map((node) => [2 + 2 * node, []]));
  run.places[tier].stretches((owner) => found.has(owner), (first, end, owner) => {
    for (let row = first; row < end;) {
      const from = row++;
      while (row < end && place[row] === place[row - 1] + 1) row++;
      let at = place[from];
      for (const [x, y, , slots] of piecesOf(t, from, row - from, g)) {
        found.get(owner).push({ at, x, y, slots });
        at += slots;
      }
    }
  });
  for (const list of found.values()) list.sort((a, b) => a.at - b.at);
  return found;
}

function drawRibbon(player, pen, ribbon, all) {
  const k = player.colour;
  const { ax, ay, aw, bx, by, bw, full } = ribbon;
  const m = (ay + by) / 2;
  pen.beginPath();
  pen.moveTo(ax, ay);
  pen.bezierCurveTo(ax, m, bx, m, bx, by);
  pen.lineTo(bx + bw, by);
  pen.bezierCurveTo(bx + bw, m, ax + aw, m, ax + aw, ay);
  pen.closePath();
  pen.globalAlpha = (all > MANY ? 0.16 : 0.3) * Math.max(0.4, full);
  pen.fillStyle = k.ribbon;
  pen.fill();
  pen.globalAlpha = all > MANY ? 0.5 : 1;
  pen.strokeStyle = k["in_flight-edge"];
  pen.lineWidth = 1;
  pen.stroke();
  pen.globalAlpha = 1;
  if (Math.min(aw, bw) >= 8) drawChevrons(pen, ribbon);
}

/** The middle of a ribbon, a part `t` of the way up. */
const middleOf = ({ ax, ay, aw, bx, by, bw }, t) => [
  ax + aw / 2 + (bx + bw / 2 - ax - aw / 2) * (3 * t * t - 2 * t ** 3),
  ay + (by - ay) * (1.5 * t - 1.5 * t * t + t ** 3),
];

/** Chevrons along the middle of a ribbon, pointing where the copy goes; none where the
 *  count stands. */
function drawChevrons(pen, ribbon) {
  pen.lineWidth = 1.8;
  const d = ribbon.up ? -2.5 : 2.5;
  for (const t of ribbon.pieces > 1 ? [0.2, 0.8] : [0.2, 0.4, 0.6, 0.8]) {
    const [x, y] = middleOf(ribbon, t);
    pen.beginPath();
    pen.moveTo(x - 4, y - d);
    pen.lineTo(x, y + d);
    pen.lineTo(x + 4, y - d);
    pen.stroke();
  }
}

/** On each ribbon of several pieces, between the pools: how many, in fewer letters where
 *  there are many such. No two lie on each other: it stands at the first free place. */
function drawPieceCounts(player, pen, ribbons, g) {
  const several = ribbons.filter(({ pieces }) => pieces > 1);
  const taken = [];
  pen.font = `600 11px ${UI}`;
  pen.textAlign = "center";
  for (const ribbon of several.sort((a, b) => b.pieces - a.pieces)) {
    const n = num(ribbon.pieces);
    const text = several.length > FEW_COUNTS ? `×${n}` : ui(player, "pieces", { n });
    const w = pen.measureText(text).width + 6;
    if (w > Math.max(40, ribbon.aw + ribbon.bw)) continue;
    const at = placesFor(ribbon, g).find(([x, y]) => !taken.some(
      (other) => Math.abs(x - other.x) < (w + other.w) / 2 + 1 && y === other.y));
    if (!at) continue;
    const [x, y] = at;
    taken.push({ x, y, w });
    pen.fillStyle = player.colour.bg;
    pen.fillRect(x - w / 2, y - 7, w, 14);
    pen.fillStyle = player.colour["in_flight-edge"];
    pen.fillText(text, x, y + 4);
  }
  pen.textAlign = "left";
}

/** Where a count may stand on its ribbon: in the middle of the lane, above, below. */
function placesFor(ribbon, g) {
  const middle = g.tiers[0].high + LANE / 2;
  return [0, -15, 15].map((off) => {
    const y = middle + off;
    return [middleOf(ribbon, (ribbon.ay - y) / (ribbon.ay - ribbon.by))[0], y];
  });
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
    pen.fillText(text, 0, middle + (i ? 13 : -3), GUT - 3);
  });
}

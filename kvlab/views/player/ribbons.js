// How are copies between the pools drawn?
//
// In token order, cut where either side is cut; the widest, where there are too many.
// Left out: the slots at both ends (slots.js).

import { UI } from "./canvas.js";
import { LANE, piecesOf, stretchesOf } from "./grid.js";
import { num } from "./text.js";
import { ui } from "./words.js";

/** Copies in flight, in token order, cut where either side is cut. */
export function drawRibbons(player, pen, run, g) {
  const { c } = run,
    k = player.colour,
    [t1] = g.tiers,
    strands = [];
  const moving = new Set();
  for (let n = 1; n < c.life.length; n++)
    if (c.life[n] && (c.l1[n] === 2 || c.l2[n] === 2)) moving.add(n);
  const sums = [0, 0];
  for (const n of moving) sums[c.l1[n] === 2 ? 0 : 1] += c.len[n];
  if (moving.size) {
    const ends = [1, 2].map((tier) => {
      const found = new Map();
      for (const [first, length, owner] of stretchesOf(player, run, tier)) {
        const n = (owner - 2) / 2;
        if (owner < 2 || owner & 1 || !moving.has(n)) continue;
        const shift = run.c[`shift${tier}`];
        for (let i = first; i < first + length;) {
          const from = i;
          while (i < first + length && shift[i] === shift[from]) i++;
          for (const [x, y, , count] of piecesOf(
            player,
            g.tiers[tier - 1],
            from,
            i - from,
            g,
          ))
            (found.get(n) ?? found.set(n, []).get(n)).push({
              at: from + shift[from],
              x,
              y,
              count,
            });
        }
      }
      // pieces() walks row by row, so `at` of later rows follows from the counts
      for (const list of found.values()) {
        let last = null;
        for (const p of list) {
          if (last && last.at === p.at) p.at = last.at + last.count;
          last = p;
        }
        list.sort((a, b) => a.at - b.at);
      }
      return found;
    });
    for (const n of moving) {
      const a = (ends[1].get(n) ?? []).map((p) => ({ ...p })),
        b = (ends[0].get(n) ?? []).map((p) => ({ ...p }));
      while (a.length && b.length) {
        const count = Math.min(a[0].count, b[0].count),
          w = count * g.cell;
        strands.push([a[0].x, a[0].y, b[0].x, b[0].y + t1.row, w, c.l1[n] === 2]);
        for (const list of [a, b]) {
          list[0].count -= count;
          list[0].x += w;
          if (!list[0].count) list.shift();
        }
      }
    }
  }
  strands.sort((a, b) => b[4] - a[4]); // the widest tell most of the story
  for (const [ax, ay, bx, by, w, up] of strands.slice(0, 60)) {
    const m = (ay + by) / 2;
    const band = new Path2D(
      `M${ax} ${ay}C${ax} ${m} ${bx} ${m} ${bx} ${by}H${bx + w}C${bx + w} ${m} ${ax + w} ${m} ${ax + w} ${ay}Z`,
    );
    pen.globalAlpha = strands.length > 12 ? 0.16 : 0.3;
    pen.fillStyle = k.ribbon;
    pen.fill(band);
    pen.globalAlpha = strands.length > 12 ? 0.5 : 1;
    pen.strokeStyle = k["in_flight-edge"];
    pen.lineWidth = 1;
    pen.stroke(band);
    if (w < 8 || strands.length > 40) {
      pen.globalAlpha = 1;
      continue;
    }
    pen.globalAlpha = 1;
    pen.lineWidth = 1.8;
    for (const t of [0.2, 0.4, 0.6, 0.8]) {
      const s = 3 * t * t - 2 * t ** 3,
        x = ax + w / 2 + (bx - ax) * s,
        y = ay + (by - ay) * (1.5 * t - 1.5 * t * t + t ** 3),
        d = up ? -2.5 : 2.5;
      pen.beginPath();
      pen.moveTo(x - 4, y - d);
      pen.lineTo(x, y + d);
      pen.lineTo(x + 4, y - d);
      pen.stroke();
    }
  }
  const y = t1.high + LANE / 2;
  [
    [ui(player, "load"), sums[0], -7, "↑"],
    [ui(player, "write"), sums[1], 9, "↓"],
  ].forEach(([word, n, dy, arrow]) => {
    pen.font = `${n ? 600 : 400} 11px ${UI}`;
    pen.fillStyle = n ? k["in_flight-edge"] : k.ink3;
    pen.fillText(`${arrow} ${word}${n ? ` ${num(n)}` : ""}`, 0, y + dy + 4);
  });
}

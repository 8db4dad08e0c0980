// How are both pools drawn?
//
// One rectangle a run of slots with one owner, copies between the pools below them.
// Left out: slots smaller than their marks (pixels.js), ribbons.js, rings.js.

import { UI, tileOf } from "./canvas.js";
import { piecesOf, stretchesOf } from "./grid.js";
import { drawPixels } from "./pixels.js";
import { drawRibbons } from "./ribbons.js";
import { drawRings } from "./rings.js";
import { plain } from "./text.js";
import { ui } from "./words.js";

export function drawPools(player, pen, run, g) {
  const k = player.colour,
    e = run.at - 1,
    kind = e >= 0 ? run.kind(e) : "";
  const ghost = player.log.leaves[kind],
    touched = [[], []];
  const [c1, c2] = [
    player.log.columns.indexOf("owner1"),
    player.log.columns.indexOf("owner2"),
  ];
  run.patches((c, first, count) => {
    if (c === c1 || c === c2) touched[c === c1 ? 0 : 1].push([first, count]);
  });
  pen.font = "600 13px sans-serif";
  pen.textBaseline = "alphabetic";
  for (const tier of [1, 2]) {
    const t = g.tiers[tier - 1];
    if (!t.n) continue;
    pen.fillStyle = k.ink;
    pen.font = `600 13px ${UI}`;
    pen.textAlign = "left";
    pen.fillText(`L${tier}`, 0, t.y + 13);
    pen.fillStyle = k.ink3;
    pen.font = `11px ${UI}`;
    pen.fillText(ui(player, tier === 1 ? "gpu" : "host"), 0, t.y + 27);
  }
  if (g.tiers[1].n) drawRibbons(player, pen, run, g);
  for (const tier of [1, 2]) {
    const t = g.tiers[tier - 1];
    if (!t.n) continue;
    if (g.cell < 3 || t.row < 8) drawPixels(player, pen, run, tier, g);
    else
      for (const [first, length, owner] of stretchesOf(player, run, tier)) {
        let look = run.slotLook(tier, owner);
        if (
          ghost &&
          owner === 1 &&
          touched[tier - 1].some(([a, n]) => first >= a && first < a + n)
        )
          look = ghost;
        let piece = 0;
        for (const [x, y, w, count] of piecesOf(player, t, first, length, g)) {
          pen.fillStyle = tileOf(player, pen, look);
          pen.fillRect(x + 0.5, y + 0.5, w - 1, t.row - 1);
          pen.strokeStyle = k[`${look}-edge`];
          pen.setLineDash(
            look === "available" || look === "left"
              ? [1.5, 2.5]
              : look === "lost"
                ? [3, 2]
                : [],
          );
          pen.lineWidth = 1;
          pen.strokeRect(x + 0.5, y + 0.5, w - 1, t.row - 1);
          pen.setLineDash([]);
          if (g.cell > 6 && look !== "lost") {
            pen.strokeStyle =
              look === "used"
                ? "rgba(255,255,255,.5)"
                : look === "available"
                  ? k.line
                  : k.bg;
            pen.globalAlpha = look === "available" ? 1 : 0.55;
            pen.beginPath();
            for (let i = 1; i < count; i++) {
              pen.moveTo(x + i * g.cell, y + 2);
              pen.lineTo(x + i * g.cell, y + t.row - 2);
            }
            pen.stroke();
            pen.globalAlpha = 1;
          }
          if (owner > 1 && !(owner & 1))
            drawTwin(player, pen, run, tier, (owner - 2) / 2, x, y, w, t.row);
          if (look === "lost") {
            pen.strokeStyle = k.lost;
            pen.lineWidth = 1.6;
            pen.beginPath();
            pen.moveTo(x + 2, y + 2);
            pen.lineTo(x + w - 2, y + t.row - 2);
            pen.moveTo(x + 2, y + t.row - 2);
            pen.lineTo(x + w - 2, y + 2);
            pen.stroke();
          }
          if (t.row >= 12 && (piece++ === 0 || w > 60))
            drawPlate(player, pen, run, owner, x, y, w, t.row);
        }
      }
    drawRings(player, pen, run, tier, g, touched[tier - 1]);
  }
}

function drawTwin(player, pen, run, tier, node, x, y, w, high) {
  const twin = run.looks(node)[2 - tier];
  if (!twin || run.looks(node).includes("in_flight")) return;
  pen.fillStyle = player.colour[twin === "copy" ? "host_only" : twin];
  pen.fillRect(x + 1, tier === 1 ? y + high - 3.5 : y + 0.5, w - 2, 3);
}

function drawPlate(player, pen, run, owner, x, y, w, high) {
  if (owner < 2) return;
  const text =
    owner & 1 ? plain(run.log.requests[(owner - 3) / 2], 12) : `n${(owner - 2) / 2}`;
  pen.font = `600 ${high >= 18 ? 11 : 9.5}px monospace`;
  const wide = pen.measureText(text).width + 6;
  if (wide + 3 > w) return;
  pen.fillStyle = player.colour.bg;
  pen.fillRect(x + (w - wide) / 2, y + high / 2 - 7, wide, 13);
  pen.fillStyle = player.colour.ink;
  pen.textAlign = "center";
  pen.fillText(text, x + w / 2, y + high / 2 + 3);
  pen.textAlign = "left";
}

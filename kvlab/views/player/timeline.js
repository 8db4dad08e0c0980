// Where in the run are we?
//
// Above the whole run, below it one page of events in lanes, with arcs to their causes.
// Left out: the whole run (overview.js), copies (copies.js).

import { UI, penOf, tileOf } from "./canvas.js";
import { drawCopies } from "./copies.js";
import { overviewOf } from "./overview.js";
import { num } from "./text.js";
import { ui } from "./words.js";

export function drawTimeline(player) {
  const { run, log } = player,
    canvas = player.$(".tl canvas"),
    wide = player.wide;
  const pen = penOf(player, canvas, wide, 92),
    k = player.colour,
    x0 = 56,
    W = wide - x0,
    limit = player.limit;
  pen.font = `11px ${UI}`;
  pen.textAlign = "left";
  const n = Math.max(1, run.count),
    X = (e) => x0 + (e / n) * W;
  pen.drawImage(overviewOf(player, wide, x0, W, X, limit), 0, 0, wide, 38);
  // near: one page of events around the current one
  const per = Math.max(24, Math.floor(W / 9)),
    page = run.count <= per ? 0 : Math.floor(Math.max(0, run.at - 1) / per) * per,
    end = Math.min(run.count, page + per),
    cw = W / Math.max(per, 1);
  const x = (e) => x0 + (e - page + 0.5) * cw;
  player.near = { x0, W, page, end, cw, n };
  [ui(player, "decide"), ui(player, "change"), ui(player, "copy")].forEach(
    (word, i) => {
      pen.fillStyle = k.ink3;
      pen.fillText(word, 0, 54 + 15 * i);
      pen.strokeStyle = k.line;
      pen.beginPath();
      pen.moveTo(x0, 50.5 + 15 * i);
      pen.lineTo(wide, 50.5 + 15 * i);
      pen.stroke();
    },
  );
  if (run.count > per) {
    pen.fillStyle = k.ink;
    pen.strokeStyle = k.ink;
    pen.lineWidth = 1.5;
    pen.strokeRect(X(page), 6, Math.max(3, X(end) - X(page)), 30);
    pen.lineWidth = 1;
  }
  drawCopies(player, pen, page, end, x, limit);
  for (let e = page; e < Math.min(end, limit); e++)
    drawMark(player, pen, e, x(e), e >= run.at ? 0.35 : 1);
  if (limit < end) {
    pen.fillStyle = k.well;
    pen.fillRect(x(limit) - cw / 2, 40, wide, 48);
    pen.fillStyle = k.ink3;
    pen.textAlign = "center";
    pen.fillText(ui(player, "hidden"), Math.min(wide - 90, (x(limit) + wide) / 2), 68);
    pen.textAlign = "left";
  }
  const now = run.at - 1;
  if (now >= 0) {
    for (const cause of run.chain(now).slice(0, -1))
      if (cause >= page) {
        pen.strokeStyle = k.ink;
        pen.lineWidth = 1.2;
        pen.beginPath();
        pen.moveTo(x(now), 43);
        pen.bezierCurveTo(x(now) - 4, 34, x(cause) + 4, 34, x(cause), 43);
        pen.stroke();
      }
    pen.strokeStyle = k.ink;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x(now), 40);
    pen.lineTo(x(now), 88);
    pen.moveTo(X(now), 5);
    pen.lineTo(X(now), 36);
    pen.stroke();
    pen.fillStyle = k.ink;
    pen.beginPath();
    pen.moveTo(x(now) - 5, 91);
    pen.lineTo(x(now) + 5, 91);
    pen.lineTo(x(now), 85);
    pen.fill();
  }
  for (const e of player.bookmarks) {
    for (const at of [X(e), ...(e >= page && e < end ? [x(e)] : [])]) {
      pen.fillStyle = k.link;
      pen.fillRect(at - 3, at === X(e) ? 0 : 38, 6, 8);
    }
  }
  if (player.difference?.index != null) {
    const e = player.difference.index;
    pen.fillStyle = k.ink;
    const at = X(e);
    pen.beginPath();
    pen.moveTo(at, 0);
    pen.lineTo(at + 10, 4);
    pen.lineTo(at, 8);
    pen.fill();
    pen.fillRect(at - 0.75, 0, 1.5, 36);
  }
  canvas.setAttribute(
    "aria-label",
    `${ui(player, "timeline")}: ${ui(player, "event")} ${num(run.at)} / ${num(log.events)}`,
  );
}

function drawMark(player, pen, e, x, alpha) {
  const { run, log } = player,
    k = player.colour,
    kind = run.kind(e);
  pen.globalAlpha = alpha;
  if (run.isDecision(e)) {
    const no = run.why(e)?.sign === "no";
    pen.beginPath();
    pen.moveTo(x, 45);
    pen.lineTo(x + 5, 50);
    pen.lineTo(x, 55);
    pen.lineTo(x - 5, 50);
    pen.closePath();
    pen.fillStyle = no ? k.refused : k.bg;
    pen.fill();
    pen.strokeStyle = no ? k.refused : k.ink;
    pen.lineWidth = 1.3;
    pen.stroke();
    if (no) {
      pen.fillStyle = "#fff";
      pen.fillRect(x - 0.8, 46.5, 1.6, 4);
      pen.fillRect(x - 0.8, 52, 1.6, 1.4);
    }
  } else if (log.rise.includes(kind)) {
    pen.fillStyle = k["used-edge"];
    pen.fillRect(x - 2, 58, 4, 7);
  } else if (log.fall.includes(kind)) {
    pen.fillStyle = tileOf(player, pen, "evictable");
    pen.fillRect(x - 2, 66, 4, 7);
    pen.strokeStyle = k["evictable-edge"];
    pen.lineWidth = 0.8;
    pen.strokeRect(x - 2, 66, 4, 7);
  } else {
    pen.fillStyle = k.ink3;
    pen.fillRect(x - 0.75, 63, 1.5, 5);
  }
  pen.globalAlpha = 1;
}

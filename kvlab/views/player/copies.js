// From when to when did a copy take?
//
// Spans from submit to acknowledgement, paired once for the run.
// Left out: copies in the pools (ribbons.js).

import { tileOf } from "./canvas.js";

/** Copies as spans from submit to acknowledgement; pairs are found once. */
export function drawCopies(player, pen, page, end, x, limit) {
  if (!player.spans) {
    const open = new Map();
    player.spans = [];
    for (let e = 0; e < player.run.count; e++) {
      const kind = player.run.kind(e),
        done = player.log.copies[kind];
      if (done) {
        const key = `${done}${player.run.raw(e, kind === "load" ? "end" : "node")}`;
        if (!open.has(key)) open.set(key, e);
      } else if (kind === "backupdone" || kind === "loaddone") {
        const key = `${kind}${player.run.raw(e, "node")}`;
        if (open.has(key)) {
          player.spans.push([open.get(key), e]);
          open.delete(key);
        }
      }
    }
    for (const e of open.values()) player.spans.push([e, player.run.count]);
    player.longest = player.spans.reduce((most, [a, b]) => Math.max(most, b - a), 0);
    player.spans.sort((a, b) => a[0] - b[0]);
  }
  let low = 0,
    high = player.spans.length;
  while (low < high) {
    const m = (low + high) >> 1;
    player.spans[m][0] < page - player.longest ? (low = m + 1) : (high = m);
  }
  for (
    let i = low, drawn = 0;
    i < player.spans.length && player.spans[i][0] < end && drawn < 600;
    i++
  ) {
    const [a, b] = player.spans[i];
    if (b < page || a >= limit) continue;
    drawn++;
    const from = Math.max(x(a), 56),
      to = Math.min(x(Math.min(b, limit - 1)), x(end - 1));
    pen.fillStyle = tileOf(player, pen, "in_flight");
    pen.globalAlpha = a >= player.run.at ? 0.35 : 1;
    pen.fillRect(from, 76, Math.max(4, to - from), 8);
    pen.strokeStyle = player.colour["in_flight-edge"];
    pen.lineWidth = 1;
    pen.strokeRect(from, 76, Math.max(4, to - from), 8);
    pen.globalAlpha = 1;
  }
}

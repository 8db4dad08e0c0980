// How does a whole run look on one line?
//
// L1 use as an area, events in two greys, marks of what was found; drawn once.
// Left out: single events (timeline.js).

import { UI, penOf } from "./canvas.js";
import { ui } from "./words.js";

/** Far away: the whole run. L1 use as an area, events in two greys, marks. */
export function overviewOf(player, wide, x0, W, X, limit) {
  const key = [
    wide,
    limit,
    player.dark,
    player.lang,
    player.hits?.length,
    player.hits?.[0],
  ].join();
  if (player.far?.key === key) return player.far.canvas;
  const { run } = player,
    k = player.colour,
    canvas = document.createElement("canvas"),
    n = Math.max(1, run.count);
  const pen = penOf(player, canvas, wide, 38),
    strip = densityOf(player, W);
  pen.font = `11px ${UI}`;
  pen.fillStyle = k.ink3;
  pen.fillText(ui(player, "all"), 0, 22);
  pen.fillStyle = k.used;
  pen.globalAlpha = 0.28;
  run.strip.forEach((use, i) => {
    const e = (i * n) / run.strip.length;
    if (e <= limit)
      pen.fillRect(X(e), 28 - 20 * use, W / run.strip.length + 0.6, 20 * use);
  });
  pen.globalAlpha = 1;
  strip.all.forEach((count, i) => {
    if ((i / W) * n > limit || !count) return;
    pen.fillStyle = k.line2;
    pen.fillRect(x0 + i, 34 - 5 * (count / strip.most), 1, 5 * (count / strip.most));
    if (strip.decide[i]) {
      pen.fillStyle = k.ink2;
      pen.fillRect(
        x0 + i,
        34 - 5 * (strip.decide[i] / strip.most),
        1,
        5 * (strip.decide[i] / strip.most),
      );
    }
  });
  if (player.hits) {
    pen.fillStyle = k.link;
    const every = Math.ceil(player.hits.length / 4000);
    for (let i = 0; i < player.hits.length; i += every)
      if (player.hits[i] <= limit) pen.fillRect(X(player.hits[i]), 2, 1.5, 6);
  }
  pen.strokeStyle = k.line2;
  pen.strokeRect(x0 + 0.5, 7.5, W - 1, 27);
  player.far = { key, canvas };
  return canvas;
}

function densityOf(player, W) {
  W = Math.round(W);
  if (player.strip?.W === W) return player.strip;
  const all = new Int32Array(W),
    decide = new Int32Array(W),
    { run } = player,
    n = Math.max(1, run.count);
  for (let e = 0; e < run.count; e++) {
    const i = Math.floor((e * W) / n);
    all[i]++;
    if (run.isDecision(e)) decide[i]++;
  }
  return (player.strip = { W, all, decide, most: Math.max(1, ...all) });
}

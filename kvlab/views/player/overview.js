// How does a whole run look on one line?
//
// L1 use as an area, events in two greys; losses hang from the top, refusals half as far;
// above them marks of what was found.
// Left out: single events (lanes.js), the stretch in view (timeline.js).

import { UI, penOf } from "./canvas.js";
import { ui } from "./words.js";

/** Pixels of the whole run's line. */
export const FAR = 38;

/** Draw the whole run, up to the limit: no pixel tells of an event behind it. The picture
 *  is kept for the next time. */
export function drawOverview(player, pen, at) {
  const key = [
    at.wide,
    at.limit,
    player.version,
    player.sought,
  ];
  if (player.far?.key !== key.join()) {
    const canvas = document.createElement("canvas");
    paintRun(player, penOf(canvas, at.wide, FAR), at);
    player.far = { key: key.join(), canvas };
  }
  pen.drawImage(player.far.canvas, 0, 0, at.wide, FAR);
}

function paintRun(player, pen, { x0, W, X, mid, limit }) {
  const { run, colour: k, hits } = player;
  const n = Math.max(1, run.count);
  pen.font = `11px ${UI}`;
  pen.fillStyle = k.ink3;
  pen.fillText(ui(player, "all"), 0, 17);
  pen.fillText(ui(player, "l1_use"), 0, 31);
  pen.fillStyle = k.used;
  pen.globalAlpha = 0.28;
  const step = W / run.strip.length;
  run.strip.forEach((use, i) => {
    const e = (i * n) / run.strip.length;
    if (Math.ceil(e) < limit) pen.fillRect(X(e), 28 - 20 * use, step + 0.6, 20 * use);
  });
  pen.globalAlpha = 1;
  const { all, decide, graded, most } = densityOf(player, Math.round(W));
  const bar = (i, count, colour) => {
    pen.fillStyle = colour;
    pen.fillRect(x0 + i, 34 - 5 * (count / most), 1, 5 * (count / most));
  };
  all.forEach((count, i) => {
    if (((i + 1) / W) * n - 0.5 > limit || !count) return;
    bar(i, count, k.line2);
    if (decide[i]) bar(i, decide[i], k.ink2);
    pen.fillStyle = k.refused;
    if (graded[i]) pen.fillRect(x0 + i, 8, graded[i], 4 * graded[i]);
  });
  pen.fillStyle = k.link;
  const every = Math.ceil((hits?.length ?? 0) / 4000);
  for (let i = 0; i < (hits?.length ?? 0); i += every)
    if (hits[i] < limit) pen.fillRect(mid(hits[i]) - 0.75, 2, 1.5, 6);
  pen.strokeStyle = k.line2;
  pen.lineWidth = 1;
  pen.strokeRect(x0 + 0.5, 7.5, W - 1, 27);
}

/** Events and decisions for each pixel, counted once for each width; and the worst grade
 *  there, 2 for a loss, 1 for a refusal. */
function densityOf(player, W) {
  if (player.density?.W === W) return player.density;
  const { run } = player;
  const { variant } = run.log.col;
  const decides = Uint8Array.from(run.decides);
  const all = new Int32Array(W);
  const decide = new Int32Array(W);
  const graded = new Uint8Array(W);
  const worth = { loss: 2, refusal: 1, "": 0 };
  const per = W / Math.max(1, run.count);
  for (let e = 0; e < run.count; e++) {
    const i = Math.min(W - 1, Math.floor((e + 0.5) * per));
    all[i]++;
    decide[i] += decides[variant[e]];
    graded[i] = Math.max(graded[i], worth[run.grade(e)]);
  }
  return (player.density = { W, all, decide, graded, most: Math.max(1, ...all) });
}

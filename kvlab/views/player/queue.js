// Who waits, who runs, who is done?
//
// Left out: why one was refused (card.js).

import { box } from "./looks.js";
import { withSums } from "./sums.js";
import { esc, num, plain, put } from "./text.js";
import { ui } from "./words.js";

/** How far its output is; of a request that is asked for none, its input. */
const outWords = (player, c, r) =>
  c.max_new[r]
    ? ui(player, "out_of", { a: num(c.outputs[r]), b: num(c.max_new[r]) })
    : ui(player, "only_in", { a: num(c.prompt[r]) });

const DONE = 4; // the stage of who is finished; who left unserved is behind it
const CHIP = 125; // pixels that a request usually takes

export function drawQueue(player, pane, run) {
  const { c, log } = run,
    lanes = { waiting: [], running: [], finished: [] };
  let done = 0;
  for (let r = 0; r < c.stage.length; r++) {
    const stage = c.stage[r];
    if (stage === 1) lanes.waiting.push(r);
    else if (stage === 2 || stage === 3) lanes.running.push(r);
    else if (stage >= DONE) {
      done++;
      lanes.finished.push(r);
      if (lanes.finished.length > 3) lanes.finished.shift();
    }
  }
  const e = run.at - 1,
    now = e >= 0 ? run.request(e) : -1;
  for (const lane of ["waiting", "running"])
    lanes[lane].sort((a, b) => c.place[a] - c.place[b]);
  const chip = (r, words, bar = "") =>
    `<button tabindex="-1" class="chip ${run.names(e, r) ? "hot" : ""} ${player.select?.request === r ? "sel" : ""} ${player.hover?.request === r ? "hov" : ""}" data-request="${r}"><b><bdi>${esc(plain(log.requests[r], 18))}</bdi></b>${bar}<small>${esc(words)}</small></button>`;
  const over = (r) => {
    if (e < 0 || r !== now || run.variant(e) !== "admit no_token") return null;
    const t = withSums(log.whys["admit no_token"], run.terms(e)),
      w = 80 / Math.max(t.need, 1),
      have = Math.max(0, Math.min(t.room, t.need));
    return [
      ui(player, "exceeds", { n: num(t.need - t.room) }),
      `<svg width="82" height="14" aria-hidden="true">${box(player, 0, 0, have * w, 14, "promised")}<rect x="${have * w + 1}" y="1" width="${Math.max(2, (t.need - have) * w - 1)}" height="12" fill="${player.colour["refused-ground"]}" stroke="${player.colour.refused}" stroke-width="2"/></svg>`,
    ];
  };
  const told = {
    waiting: (r, i) =>
      over(r) ?? [
        i
          ? ui(player, "after", { q: plain(log.requests[lanes.waiting[i - 1]], 12) })
          : c.retracted[r]
            ? ui(player, "back", { n: c.retracted[r] })
            : c.max_new[r]
              ? ui(player, "in_out", { a: num(c.prompt[r]), b: num(c.max_new[r]) })
              : ui(player, "only_in", { a: num(c.prompt[r]) }),
      ],
    running: (r) => [
      c.stage[r] === 2
        ? ui(player, "chunk_of", { a: num(c.kv[r]), b: num(c.prompt[r]) })
        : outWords(player, c, r),
    ],
    finished: (r) => [
      c.stage[r] > DONE ? ui(player, "unserved") : outWords(player, c, r),
    ],
  };
  pane.wide ??= Math.max(200, pane.clientWidth - 32);
  const fitting = Math.max(1, Math.floor((pane.wide - 100) / CHIP));
  const lane = (name) => {
    const all = lanes[name],
      most = Math.min(name === "finished" ? 2 : 4, fitting),
      some = name === "finished" ? all.slice(-most) : all.slice(0, most);
    if (now >= 0 && all.includes(now) && !some.includes(now)) some.push(now);
    const more = (name === "finished" ? done : all.length) - some.length;
    return `<span class="ln">${ui(player, name)}</span><span class="chips">${some.map((r) => chip(r, ...told[name](r, all.indexOf(r)))).join("") || '<span class="none">–</span>'}${more > 0 ? `<span class="none">${ui(player, "more", { n: num(more) })}</span>` : ""}</span>`;
  };
  const none = !log.requests.length
    ? `<small>${ui(player, "no_requests")}</small>`
    : "";
  put(
    pane,
    `<h3>${ui(player, "queue")}${none}</h3><div class="lanes" tabindex="0" role="group" aria-label="${ui(player, "queue")}">${lane("waiting")}${lane("running")}${lane("finished")}</div>`,
  );
}

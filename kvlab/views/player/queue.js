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
// Pixels of a letter, a Chinese sign, a letter of a name; of a request's frame and gaps.
const [CHIP_LETTER, CHIP_SIGN, CHIP_NAME, CHIP_FRAME] = [5.3, 11.5, 7.3, 27];
const [LANE_NAME, LANE_MORE, DIGIT] = [68, 60, 7]; // before a lane; of how many more
const NARROW = 320; // pixels of a pane in which the names stand above their lanes
const QUEUE_BELOW = 746; // of a page in which it lies below the others, too low for that

/** How wide a request will be with these words, and the gap behind it. */
function chipWide(name, words, bar) {
  const signs = words.match(/[\u2e80-\uffef]/g)?.length ?? 0;
  const said = CHIP_LETTER * (words.length - signs) + CHIP_SIGN * signs;
  return CHIP_FRAME + CHIP_NAME * name.length + said + (bar ? 88 : 0);
}

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
    `<button tabindex="-1" class="chip ${run.names(e, r) ? "hot" : ""} ${player.select?.request === r ? "sel" : ""}" data-request="${r}"><b><bdi>${esc(plain(log.requests[r], 18))}</bdi></b>${bar}<small>${esc(words)}</small></button>`;
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
  const narrow = pane.wide < NARROW && player.wide > QUEUE_BELOW;
  const lane = (name) => {
    const all = lanes[name],
      late = name === "finished",
      hot = now >= 0 && all.includes(now) ? now : -1;
    const most = late ? 2 : 4;
    const wide = (r) => chipWide(plain(log.requests[r], 18), ...told[name](r, all.indexOf(r)));
    const sum = (some) => some.reduce((so, r) => so + wide(r), 0);
    let room = pane.wide - (narrow ? 0 : LANE_NAME) - (hot < 0 ? 0 : wide(hot));
    const some = hot < 0 ? [] : [hot];
    const others = all.filter((r) => r !== hot);
    const count = late ? done : all.length;
    const whole = count <= most && sum(others) <= room;
    if (!whole) room -= LANE_MORE + DIGIT * num(count).length;
    if (late) others.reverse();
    const least = narrow && some.length ? -1 : others[0]; // shown, room or not
    for (const r of others) {
      if (some.length === most || (r !== least && wide(r) > room)) break;
      some.push(r);
      room -= wide(r);
    }
    some.sort((a, b) => all.indexOf(a) - all.indexOf(b));
    const more = count - some.length;
    return `<span class="ln">${ui(player, name)}</span><span class="chips">${some.map((r) => chip(r, ...told[name](r, all.indexOf(r)))).join("") || '<span class="none">–</span>'}${more > 0 ? `<span class="none">${ui(player, "more", { n: num(more) })}</span>` : ""}</span>`;
  };
  if (!log.requests.length)
    return put(pane, `<h3>${ui(player, "queue")}<small>${ui(player, "no_requests")}</small></h3>`);
  put(
    pane,
    `<h3>${ui(player, "queue")}</h3><div class="lanes${narrow ? " narrow" : ""}" tabindex="0" role="group" aria-label="${ui(player, "queue")}">${lane("waiting")}${lane("running")}${lane("finished")}</div>`,
  );
}

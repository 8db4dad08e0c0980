// What did a change move?
//
// The terms of the accounts and the numbers of a node that are others than before it.
// Left out: why it was done (card.js), the accounts themselves (account.js).

import { box, stateName, swatch } from "./looks.js";
import { esc, num, plain, seconds } from "./text.js";
import { ui } from "./words.js";

const OF_NODE = { lock: "lock_ref", host_lock: "host_lock_ref", hits: "hit_count", priority: "priority" };
const MOST_ROWS = 6;

/** Rows of "name: before → after", or nothing. */
export function movedHtml(player, run, e) {
  if (run.at !== e + 1 || run.log.blocks) return "";
  const parts = run.log.ttft?.[e];
  if (parts) return ttftHtml(player, parts) + slowestHtml(player, run, e);
  const rows = [...nodeRows(run, e), ...accountRows(player, run)].slice(0, MOST_ROWS);
  const html = rows.map(
    ([name, before, after]) =>
      `<tr><td>${name}</td><td>${num(before)}</td><td>→</td><td><b>${num(after)}</b></td></tr>`,
  );
  return html.length ? `<table class="moved">${html.join("")}</table>` : "";
}

const TTFT_WORDS = ["ttft_waiting", "ttft_loading", "ttft_computing"];
const TTFT_LOOKS = ["available", "in_flight", "used"];

/** Of a request that is done, in a run with a clock: where the time to its first token
 *  went, as one bar and a row for each part. */
function ttftHtml(player, parts) {
  const sum = parts.reduce((a, b) => a + b, 0);
  const u = 300 / Math.max(1, sum);
  let x = 0;
  const bars = parts.map((part, i) => {
    x += part * u;
    return part ? box(player, x - part * u, 0, part * u, 14, TTFT_LOOKS[i]) : "";
  });
  const rows = parts.map(
    (part, i) =>
      `<tr><td>${swatch(player, TTFT_LOOKS[i])} ${ui(player, TTFT_WORDS[i])}</td><td>${seconds(part)}</td></tr>`,
  );
  return `<svg width="302" height="14" aria-hidden="true" style="flex:none;margin:6px 0 2px">${bars.join("")}</svg><table class="moved">${rows.join("")}<tr><td>${ui(player, "ttft")}</td><td><b>${seconds(sum)}</b></td></tr></table>${parts[1] ? `<div class="dim">${ui(player, "ttft_hidden")}</div>` : ""}`;
}

const SLOWEST = 5;

/** Who of those that are done by now waited longest for its first token: each a way to
 *  its end, with its parts. */
function slowestHtml(player, run, e) {
  const sum = (parts) => parts.reduce((a, b) => a + b, 0);
  const done = Object.entries(run.log.ttft).filter(([at]) => at <= e);
  done.sort(([, a], [, b]) => sum(b) - sum(a));
  const rows = done.slice(0, SLOWEST).map(([at, parts]) => {
    const name = esc(plain(run.log.requests[run.request(+at)], 18));
    const told = parts.map(seconds).join(" + ");
    return `<div class="chain"><button data-do="go" data-to="${+at + 1}"><bdi>${name}</bdi></button><span>${told} =</span><b>${seconds(sum(parts))}</b></div>`;
  });
  return `<div class="slowest"><div class="lab">${ui(player, "slowest")}</div>${rows.join("")}</div>`;
}

function nodeRows(run, e) {
  const node = run.raw(e, "node");
  if (!node) return [];
  return Object.entries(OF_NODE)
    .map(([column, name]) => [column, name, run.c[column]?.[node], before(run, column, node)])
    .filter(([, , now, then]) => now !== undefined && now !== then)
    .map(([, name, now, then]) => [`n${node} ${name}`, then, now]);
}

/** A row of a column before the last event; a lock counts along its path too. */
function before(run, column, node) {
  let value = run.was(column, node);
  if (column !== "lock") return value;
  run.patches((c, first, count, add) => {
    if (c === run.log.path && run.path(first).includes(node)) value -= add;
  });
  return value;
}

function accountRows(player, run) {
  return [1, 2].flatMap((tier) => {
    if (!run.log.pools[tier - 1]) return [];
    return run
      .account(tier)
      .terms.filter(([, , moved]) => moved)
      .map(([state, now, moved]) => {
        const outside = tier === 2 && state === "held";
        const name = outside ? ui(player, "outside") : stateName(player, state);
        return [`${swatch(player, state)} L${tier} ${esc(name)}`, now - moved, now];
      });
  });
}

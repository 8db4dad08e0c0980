// Which event is the next that matters?
//
// Decisions, losses, changes of the selection, hits of a watch or a filter.
// Left out: the panel that asks for them (panel.js).

import { drawPlace, hitsWords } from "./controls.js";
import { draw } from "./draw.js";
import { show, stop } from "./move.js";
import { drawTimeline } from "./timeline.js";
import { pick } from "./words.js";

const OF_NODES = ["parent", "len", "lock", "hits", "l1", "l2", "life"]; // columns

/** The next event from here that `is` wanted; -1 if none. */
export function find(player, by, is) {
  for (let e = player.run.at - 1 + by; e >= 0 && e < player.run.count; e += by)
    if (is(e)) return e;
  return -1;
}

export function jump(player, e) {
  stop(player);
  if (e >= 0) show(player, e + 1);
}

export function concerns(player, e, what) {
  const { run } = player;
  if (what.request >= 0) return run.names(e, what.request);
  const named = ["node", "upper", "parent"].some(
    (name) => run.raw(e, name) === what.node,
  );
  if (named) return true;
  for (let p = run.end[e]; p < run.end[e + 1]; p++) {
    const column = player.log.columns[run.op.column[p]] ?? "path";
    const node = run.op.first[p];
    const own = OF_NODES.includes(column) && node === what.node;
    if (own || (column === "path" && run.path(node).includes(what.node)))
      return true;
  }
  return false;
}

/** A kind as the engine names it, and in words. */
export const kindName = (player, kind) =>
  `${player.log.names[kind]} · ${pick(player, player.log.kinds[kind])}`;

/** The kinds that somebody means: of that name or those words in either language, or
 *  else all in which the text occurs. */
function kindsAsked({ log }, text) {
  const typed = text.toLowerCase();
  const called = (kind) => {
    const [name, words] = [log.names[kind], log.kinds[kind]];
    return [kind, name, ...words, ...words.map((said) => `${name} · ${said}`)];
  };
  const which = (is) =>
    Object.keys(log.kinds).filter((kind) =>
      called(kind).some((one) => is(one.toLowerCase())),
    );
  const exact = which((one) => one === typed);
  return exact.length ? exact : which((one) => one.includes(typed));
}

/** Find the events that the filter panel asks for, of those that may be shown. */
export function search(player) {
  const { run, log } = player;
  const asked = (s) => player.$(`.panel ${s}`).value.trim();
  const [kind, request, slot] = [".fk", ".fr", ".fs"].map(asked);
  const node = asked(".fn").replace(/^n/i, "");
  const kinds = kindsAsked(player, kind);
  const row = request ? log.requests.indexOf(request) : -1;
  const out = [];
  for (let e = 0; e < player.limit; e++) {
    if (kind && !kinds.includes(run.kind(e))) continue;
    if (request && run.request(e) !== row) continue;
    if (node && !concerns(player, e, { node: +node, request: -1 })) continue;
    if (slot && !moves(run, e, "owner1", +slot)) continue;
    out.push(e);
  }
  found(player, out);
}

/** Whether an event writes this row of a column of pages. */
function moves(run, e, name, row) {
  const column = run.log.columns.indexOf(name);
  let hit = false;
  for (let p = run.end[e]; p < run.end[e + 1]; p++)
    if (run.op.column[p] === column)
      run.rowsOf(p, (first, size) => {
        hit ||= first <= row && row < first + size;
      });
  return hit;
}

/** Keep these events as what was found, by a watch of that name or by the filter; those
 *  behind an open question are left out. */
export function found(player, list, watch = null) {
  take(player, watch, list.filter((e) => e < player.limit));
  drawTimeline(player);
  drawPlace(player);
  player.live.textContent = hitsWords(player);
}

/** Forget what was found. */
export function unfind(player) {
  take(player, null, null);
  draw(player);
}

/** `sought` tells one list of hits from the next: of the same length, say. */
function take(player, watch, hits) {
  pressWatch(player, watch);
  player.hits = hits;
  player.sought++;
}

/** Show which watch is the one whose events are marked. */
function pressWatch(player, name) {
  player.watched = name;
  for (const button of player.root.querySelectorAll("[data-do=watch]"))
    button.setAttribute("aria-pressed", button.dataset.to === name);
}

export function toHit(player, by) {
  const list = player.hits ?? [];
  const now = player.run.at - 1;
  const to = by > 0 ? list.find((e) => e > now) : list.findLast((e) => e < now);
  jump(player, to ?? -1);
  if (to === undefined && list.length) player.live.textContent = hitsWords(player);
}

export function toDecision(player, by) {
  const { run } = player;
  jump(
    player,
    find(player, by, (e) => run.isDecision(e) || run.isLoss(e)),
  );
}

export function toLoss(player, by) {
  jump(
    player,
    find(player, by, (e) => player.run.isLoss(e)),
  );
}

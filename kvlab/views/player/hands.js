// What does the pointer do?
//
// It points at a node, a slot, a request or a state, and all views of it light up.
// Left out: keys (keys.js), buttons (perform.js).

import { penOf } from "./canvas.js";
import { draw } from "./draw.js";
import { GUT, WIDE, gridOf } from "./grid.js";
import { show, stop } from "./move.js";
import { inspectHtml } from "./node.js";
import { perform } from "./perform.js";
import { drawPools } from "./slots.js";

export function seekTo(player, event) {
  const box = event.target.getBoundingClientRect(),
    x = event.clientX - box.left,
    y = event.clientY - box.top,
    { x0, W, page, end, cw, n } = player.near;
  stop(player);
  const e =
    y < 38 ? ((x - x0) / W) * n : Math.min(end - 1, page + Math.floor((x - x0) / cw));
  show(player, Math.max(0, Math.round(e)) + (y < 38 ? 0 : 1));
}

function choose(player, what) {
  const same =
    player.select &&
    what &&
    player.select.node === what.node &&
    player.select.request === what.request;
  player.select = same ? null : what;
  draw(player);
}

function aimOf(player, target) {
  const node = target.closest?.("[data-node]"),
    request = target.closest?.("[data-request]"),
    state = target.closest?.("[data-state]");
  if (node) return { node: +node.dataset.node, request: -1 };
  if (request) return { node: 0, request: +request.dataset.request };
  return state ? { state: state.dataset.state } : null;
}

export function hover(player, event) {
  const pool = event.target.closest?.(".p-pool canvas");
  if (pool && event.type === "pointerover") {
    pool.onpointermove ??= (move) => hoverOver(player, slotAt(player, move));
    pool.onpointerleave ??= () => hoverOver(player, null);
    return;
  }
  hoverOver(player, aimOf(player, event.target));
}

function hoverOver(player, at) {
  const key = JSON.stringify(at);
  if (key === player.aimed) return;
  player.aimed = key;
  player.hover = at && !at.state ? at : null;
  player.state = at?.state ?? null;
  highlight(player);
}

/** Hovering redraws what can show it, and leaves the element under the pointer alone. */
function highlight(player) {
  const under = document.activeElement;
  const sides = player.other
    ? [
        [player.run, ":not(.b)"],
        [player.other, ".b"],
      ]
    : [[player.run, ":not(.b)"]];
  for (const [run, b] of sides) {
    player.hot = new Set(run.touched());
    const canvas = player.$(`.p-pool${b} canvas`);
    if (canvas)
      drawPools(
        player,
        penOf(player, canvas, GUT + WIDE + 2, parseFloat(canvas.style.height)),
        run,
        gridOf(player),
      );
    for (const g of player.root.querySelectorAll(`.p-tree${b} [data-node]`))
      g.classList.toggle("hov", +g.dataset.node === player.hover?.node);
    const insp = player.$(`.p-tree${b} .insp`);
    if (insp) insp.outerHTML = player.$(`.p-tree${b}`).insp = inspectHtml(player, run);
  }
  for (const chip of player.root.querySelectorAll("[data-request]"))
    chip.classList.toggle(
      "hov",
      +chip.dataset.request === player.hover?.request && player.hover?.request >= 0,
    );
  for (const term of player.root.querySelectorAll("[data-state]")) {
    const look = player.hover?.node ? player.run.looks(player.hover.node) : [];
    term.classList.toggle(
      "hov",
      term.dataset.state === player.state || look.includes(term.dataset.state),
    );
  }
  if (under && under !== document.activeElement && player.root.contains(under))
    under.focus();
}

function slotAt(player, event) {
  const box =
      event.currentTarget?.getBoundingClientRect?.() ??
      event.target.getBoundingClientRect(),
    g = gridOf(player),
    run = event.target.run ?? player.run;
  const x = event.clientX - box.left - GUT,
    y = event.clientY - box.top;
  for (const tier of [1, 2]) {
    const t = g.tiers[tier - 1];
    if (x < 0 || x >= WIDE || y < t.y || y >= t.y + t.high) continue;
    const at =
        t.first + Math.floor((y - t.y) / t.pitch) * g.columns + Math.floor(x / g.cell),
      owner = run.c[`owner${tier}`][at];
    if (at >= t.first + t.n || owner < 2 || owner === undefined) return null;
    return owner & 1
      ? { node: 0, request: (owner - 3) / 2 }
      : { node: (owner - 2) / 2, request: -1 };
  }
  return null;
}

export function click(player, event) {
  const at = event.target.closest("[data-do]"),
    fold = event.target.closest("[data-fold]");
  if (fold) {
    const top = +fold.dataset.fold;
    player.open.has(top) ? player.open.delete(top) : player.open.add(top);
    return draw(player);
  }
  if (at) return perform(player, at.dataset.do, at.dataset.to, at);
  if (event.target.closest(".p-pool canvas")) {
    const what = slotAt(player, event);
    if (what) choose(player, what);
    return;
  }
  const what = aimOf(player, event.target);
  if (what && !what.state) choose(player, what);
}

// What does the pointer do?
//
// It points at a node, a slot, a request or a state, and all views of it light up.
// Left out: keys (keys.js), buttons (perform.js).

import { draw, sidesOf } from "./draw.js";
import { pageAt } from "./grid.js";
import { show, stop } from "./move.js";
import { toPlayer } from "./focus.js";
import { inspectHtml } from "./node.js";
import { perform } from "./perform.js";
import { markPointed, tierOf } from "./pointed.js";
import { drawOutlines } from "./pool.js";
import { put } from "./text.js";
import { ZOOM, momentAt, pan, zoom } from "./timeline.js";
import { toggleFold } from "./unfold.js";

/** Go where the timeline was pressed. */
export function seekTo(player, event) {
  const box = event.target.getBoundingClientRect();
  stop(player);
  show(player, momentAt(player, event.clientX - box.left, event.clientY - box.top));
}

/** Turning the wheel over the lanes zooms; sideways, or with Shift, it pans. */
export function turnWheel(player, event) {
  if (event.ctrlKey) return;
  event.preventDefault();
  const [dx, dy] = event.shiftKey ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
  if (Math.abs(dx) > Math.abs(dy)) return pan(player, dx / 1000);
  const box = event.target.getBoundingClientRect();
  zoom(player, dy > 0 ? ZOOM : 1 / ZOOM, event.clientX - box.left);
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
  return state ? { state: state.dataset.state, tier: tierOf(state) } : null;
}

export function hover(player, event) {
  const pool = event.target.closest?.(".p-pool .slots");
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
  player.tier = at?.tier;
  highlight(player);
}

/** Hovering redraws what can show it, and leaves the element under the pointer alone. */
function highlight(player) {
  const under = document.activeElement;
  const sides = sidesOf(player);
  for (const { run, pane } of player.log.blocks ? [] : sides) {
    drawOutlines(player, pane.pool, run);
    put(pane.tree.parts?.insp, inspectHtml(player, run));
  }
  markPointed(player, sides);
  if (under && under !== document.activeElement && player.root.contains(under)) under.focus();
}

function slotAt(player, event) {
  const run = event.target.run ?? player.run;
  const [tier, page] = pageAt(player, run, event);
  const owner = tier ? run.c[`owner${tier}`][page] : 0;
  if (owner < 2) return null;
  return owner & 1
    ? { node: 0, request: (owner - 3) / 2 }
    : { node: (owner - 2) / 2, request: -1 };
}

export function click(player, event) {
  // What lies bare in these panes does nothing: no ring says that it was taken.
  if (event.detail && document.activeElement?.matches(".p-pool, .p-queue"))
    toPlayer(player);
  const at = event.target.closest("[data-do]"),
    fold = event.target.closest("[data-fold]");
  if (fold) return toggleFold(player, +fold.dataset.fold);
  if (at) return perform(player, at.dataset.do, at.dataset.to, at);
  if (event.target.closest(".p-pool .slots")) {
    const what = slotAt(player, event);
    if (what) choose(player, what);
    return;
  }
  const what = aimOf(player, event.target);
  if (what && !what.state) choose(player, what);
}

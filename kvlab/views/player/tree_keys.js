// How does the keyboard walk through the tree?
//
// Up and down go through the rows as they are drawn, folded ones last; left goes to the
// parent, right to the first child; right opens a folded row, left folds it again from
// its top.
// Left out: the other keys (keys.js).

import { showNode, toggleFold } from "./unfold.js";

const ARROWS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];

/** Do what an arrow does in the tree; whether the key was such. */
export function treeKey(player, event) {
  const { parts } = player.panes[0].tree;
  const other = event.ctrlKey || event.shiftKey || !ARROWS.includes(event.key);
  if (other || player.log.blocks || !player.run.alive.length) return false;
  const folded = event.target.closest("[data-fold], [data-do=unfold]");
  const top = foldedBy(player, event);
  if (top) toggleFold(player, top);
  else if (folded && event.key === "ArrowLeft") parts.scroll.focus();
  else walk(player, event, parts, folded);
  return true;
}

/** The subtree that an arrow opens or folds again: that of the row, or of the selected
 *  node; 0 if none. */
function foldedBy(player, { key, target }) {
  const own = target.closest("[data-fold], [data-do]");
  const row = own ?? player.$(`.p-tree [data-fold="${player.select?.node}"]`);
  const wanted = { ArrowLeft: "true", ArrowRight: "false" }[key];
  return wanted && row?.getAttribute("aria-expanded") === wanted ? +row.dataset.fold : 0;
}

function walk(player, event, parts, folded) {
  const { c, log } = player.run;
  const { rows } = log.col;
  const nodes = [...parts.rows.querySelectorAll("[data-node]")]
    .map((strip) => +strip.dataset.node)
    .sort((a, b) => rows[a - 1] - rows[b - 1] || c.start[a] - c.start[b]);
  const rest = [...parts.folds.querySelectorAll("[data-fold], [data-do]")];
  const all = [...nodes, ...rest];
  const now = player.select?.node ?? 0;
  const at = rest.includes(folded) ? all.indexOf(folded) : nodes.indexOf(now);
  const to = {
    ArrowUp: all[Math.max(0, at - 1)],
    ArrowDown: all[Math.min(all.length - 1, at + 1)],
    ArrowLeft: c.parent[now] || now,
    ArrowRight: nodes.find((n) => c.parent[n] === now) ?? now,
  }[event.key];
  if (to instanceof Element) to.focus();
  else if (to) {
    parts.scroll.focus();
    showNode(player, to);
  }
}

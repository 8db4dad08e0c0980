// How does the keyboard walk through the tree?
//
// Up and down go through the rows as they are drawn, folded ones last; left goes to the
// parent, right to the first child, and opens a folded row.
// Left out: the other keys (keys.js).

import { draw } from "./draw.js";
import { click } from "./hands.js";
import { nodeWords } from "./node.js";

const ARROWS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];

/** Do what an arrow does in the tree; whether the key was such. */
export function treeKey(player, event) {
  const { parts } = player.panes[0].tree;
  const other = event.ctrlKey || event.shiftKey || !ARROWS.includes(event.key);
  if (other || player.log.blocks || !player.run.alive.length) return false;
  const folded = event.target.closest("[data-fold], [data-do=unfold]");
  if (folded && event.key === "ArrowRight") click(player, event);
  else if (folded && event.key === "ArrowLeft") parts.scroll.focus();
  else walk(player, event, parts, folded);
  return true;
}

function walk(player, event, parts, folded) {
  const { c, log } = player.run;
  const shown = [...parts.held.keys()].filter((key) => key[0] === "n");
  const { rows } = log.col;
  const nodes = shown
    .map((key) => +key.slice(1))
    .sort((a, b) => rows[a - 1] - rows[b - 1] || c.start[a] - c.start[b]);
  const folds = [...parts.folds.querySelectorAll("[data-fold], [data-do=unfold]")];
  const all = [...nodes, ...folds];
  const now = player.select?.node ?? 0;
  const at = folded ? all.indexOf(folded) : nodes.indexOf(now);
  const to = {
    ArrowUp: all[Math.max(0, at - 1)],
    ArrowDown: all[Math.min(all.length - 1, at + 1)],
    ArrowLeft: c.parent[now] || now,
    ArrowRight: nodes.find((n) => c.parent[n] === now) ?? now,
  }[event.key];
  if (to instanceof Element) to.focus();
  else chooseNode(player, parts, to);
}

/** Select a node, show it, and say it. */
function chooseNode(player, parts, node) {
  if (!node) return;
  player.select = { node, request: -1 };
  draw(player);
  const id = `${player.id}-n${node}`;
  parts.scroll.focus();
  parts.scroll.setAttribute("aria-activedescendant", id);
  player.live.textContent = nodeWords(player, player.run, node);
  player.$(`#${id}`)?.scrollIntoView({ block: "nearest" });
}

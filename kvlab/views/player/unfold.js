// How is a subtree opened, folded again, and a node brought into sight?
//
// Left out: which are folded (fold.js), the arrows in the tree (tree_keys.js).

import { draw } from "./draw.js";
import { nodeWords } from "./node.js";

/** Open a folded subtree, or fold an open one; what was pressed, or stands for it now,
 *  keeps the keyboard if it had it. */
export function toggleFold(player, top) {
  const opens = !player.open.delete(top);
  if (opens) player.open.add(top);
  const { scroll } = player.panes[0].tree.parts;
  const within = scroll.contains(document.activeElement);
  draw(player);
  const row = player.$(`.p-tree [data-fold="${top}"]`);
  row?.scrollIntoView({ block: "nearest" });
  if (within) (row ?? scroll).focus({ preventScroll: true });
}

/** Turn to the page of folded subtrees from number `to` on. */
export function turnFolds(player, to) {
  const { scroll } = player.panes[0].tree.parts;
  const within = scroll.contains(document.activeElement);
  player.folded = to;
  draw(player);
  player.$(".p-tree .folds > g:not(:empty)")?.scrollIntoView({ block: "nearest" });
  if (within) scroll.focus({ preventScroll: true });
}

/** Select a node, bring it into sight, and say it. */
export function showNode(player, node) {
  if (!player.run.c.life[node]) return;
  const { scroll } = player.panes[0].tree.parts;
  const id = `${player.id}-n${node}`;
  player.select = { node, request: -1 };
  draw(player);
  scroll.setAttribute("aria-activedescendant", id);
  player.live.textContent = nodeWords(player, player.run, node);
  player.$(`#${id}`)?.scrollIntoView({ block: "nearest" });
}

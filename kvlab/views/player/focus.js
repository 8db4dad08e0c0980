// Where does the keyboard stand?
//
// A pane, an account, a queue is one stop of Tab each; the arrows up and down go on within
// it, since left and right step through the run.
// Left out: the nodes of the tree (tree_keys.js), what other keys do (keys.js).

import { nameOf } from "./text.js";

const GROUPS = {
  ".acct": "[data-state]",
  ".lanes": "[data-request]",
  ".tables": "[data-request]",
};

/** Out of what was typed in or pressed, onto the player as a whole. */
export function toPlayer(player) {
  player.root.focus({ preventScroll: true });
}

/** Out of the player: in a notebook onto its cell, whose keys are the notebook's. */
export function leave(player) {
  document.activeElement.blur();
  player.root.parentElement.closest("[tabindex]")?.focus({ preventScroll: true });
}

/** Where the keyboard stands, to be taken again when all there is was made anew. */
export function keepPlace(player) {
  const { root } = player;
  const stood = document.activeElement;
  const within = stood !== root && root.contains(stood);
  return () => {
    if (!within || root.contains(stood)) return;
    const pane = stood.dataset.pane;
    const at = pane ? root.querySelector(`.p-${pane}`) : root.querySelector(nameOf(stood));
    (at ?? root).focus({ preventScroll: true });
  };
}

/** Put the keyboard on a pane, by its number; the fifth is the timeline. */
export function goToPane(player, number) {
  const pane = ["tree", "pool", "why", "queue"][number - 1];
  if (!pane) return player.tl[1].focus();
  const at = player.$(`.p-${pane}`);
  (at.tabIndex < 0 ? at.querySelector("[tabindex='0']") : at).focus();
}

/** Up and down among the parts of an account or a queue; whether the key was such. */
export function rove(event) {
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!by) return false;
  for (const [group, parts] of Object.entries(GROUPS)) {
    const { target } = event; // from a pane as a whole into its first
    const within = target.closest(group) ?? (target.matches(".pane") && target.querySelector(group));
    if (!within) continue;
    const all = [...within.querySelectorAll(parts)];
    const at = all.indexOf(event.target.closest(parts));
    const to = at < 0 && by < 0 ? all.length - 1 : at + by;
    (all[to] ?? within).focus();
    return true;
  }
  return false;
}

// Where does the keyboard stand?
//
// A pane, an account, a queue is one stop of Tab each; the arrows up and down go on within
// it, since left and right step through the run.
// Left out: the nodes of the tree (tree_keys.js), what other keys do (keys.js).

const GROUPS = { ".acct": "[data-state]", ".lanes": "[data-request]" };

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
    const within = event.target.closest(group);
    if (!within) continue;
    const all = [...within.querySelectorAll(parts)];
    const at = all.indexOf(event.target.closest(parts));
    const to = at < 0 && by < 0 ? all.length - 1 : at + by;
    (all[to] ?? within).focus();
    return true;
  }
  return false;
}

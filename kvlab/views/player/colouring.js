// Which look has a slot?
//
// A colouring is a function of a run and a tier that gives one of a page: its look, by
// name. More ways to colour the pools are more entries of COLOURINGS.
// Left out: drawing looks (slots.js, pixels.js), their words (theme.py).

import { contentsLook } from "./contents.js";
import { promisedPages } from "./promised.js";

export const COLOURINGS = { state: byState, contents: byContents };

/** A function (owner, page) => look, for one tier of the run as it is now. */
export function colouringOf(player, run, tier) {
  return COLOURINGS[player.colouring ?? "state"](run, tier);
}

/** The pages that the last event gave another owner: [first, count] for each tier. */
export function repainted(run) {
  const columns = ["owner1", "owner2"].map((name) => run.log.columns.indexOf(name));
  const found = [[], []];
  run.patches((column, first, count) => {
    const tier = columns.indexOf(column);
    if (tier >= 0) found[tier].push([first, count]);
  });
  return found;
}

/** By what a slot is good for: used, evictable, available ... What an event has just
 *  taken away looks so once more. */
export function byState(run, tier) {
  const looks = new Map();
  const ghost = run.at ? run.log.leaves[run.kind(run.at - 1)] : undefined;
  const left = ghost ? repainted(run)[tier - 1] : [];
  const within = (page) => left.some(([a, n]) => page >= a && page < a + n);
  const due = tier === 1 ? promisedPages(run) : new Set();
  return (owner, page) => {
    if (ghost && owner === 1 && within(page)) return ghost;
    if (owner === 1 && due.has(page)) return "promised";
    let look = looks.get(owner);
    if (look === undefined) looks.set(owner, (look = run.slotLook(tier, owner)));
    return look;
  };
}

/** By what a slot holds, as far as somebody has looked; else by state. */
function byContents(run, tier) {
  return contentsLook(run, tier, byState(run, tier));
}

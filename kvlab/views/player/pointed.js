// What lights up with what is pointed at?
//
// A class on nodes, requests and terms, set again after each drawing: what is drawn anew
// has none, and what stays may be another's by now.
// Left out: who points (hands.js), outlines of slots (rings.js).

import { chosenNodes } from "./chosen.js";

/** The tier whose account a term is of. */
export const tierOf = (term) => (term.closest(".a2") ? 2 : 1);

/** Mark all that shows what is pointed at, in the panes of these runs. */
export function markPointed({ root, log, run: first, hover, state, tier }, sides) {
  const mark = (within, name, is) => {
    for (const at of within.querySelectorAll(`[data-${name}]`))
      at.classList.toggle("hov", !!is(at.dataset[name], at));
  };
  for (const { run, pane } of log.blocks ? [] : sides) {
    const pointed = chosenNodes(run, hover);
    const counted = (n) => state && run.termsOf(n)[tier - 1] === state;
    mark(pane.tree, "node", (n) => pointed.includes(+n) || counted(n));
  }
  mark(root, "request", (r) => hover?.request === +r);
  const terms = hover?.node ? first.termsOf(hover.node) : [];
  if (state) terms[tier - 1] = state;
  mark(root, "state", (term, at) => terms[tierOf(at) - 1] === term);
}

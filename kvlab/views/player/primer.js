// What does a reader see before the first event?
//
// How to read the panes, the first keys, and what each pattern and mark means.
// Left out: the words (primer.py), patterns and marks (legend.js).

import { legendHtml } from "./legend.js";
import { esc, plain } from "./text.js";
import { pick, ui } from "./words.js";

/** The card before the first event. */
export function primerHtml(player, run, label) {
  const { primer } = run.log;
  const title = `<div class="v">${label}${ui(player, primer ? "how" : "why")}</div>`;
  if (!primer) return `${title}<div class="empty">${ui(player, "no_card")}</div>`;
  // What a run is about would give its answers away.
  const told = run.log.about && player.mode !== "predict";
  const about = told ? `<p class="about">${esc(plain(pick(player, run.log.about), 300))}</p>` : "";
  const panes = primer.panes.map((words) => `<p>${esc(pick(player, words))}</p>`);
  const keys = primer.keys.map(
    ([key, words]) =>
      `<dt><kbd>${esc(key)}</kbd></dt><dd>${esc(pick(player, words))}</dd>`,
  );
  return `${title}<div class="primer">${about}${panes.join("")}<dl>${keys.join("")}</dl><dl class="legend">${legendHtml(player, run)}</dl></div>`;
}

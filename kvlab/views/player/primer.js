// What does a reader see before the first event?
//
// How to read the panes, the first keys, and what each pattern means.
// Left out: the words (primer.py).

import { stateName, swatch } from "./looks.js";
import { esc, plain } from "./text.js";
import { pick, ui } from "./words.js";

/** The card before the first event. */
export function primerHtml(player, run, label) {
  const { primer, pools } = run.log;
  const title = `<div class="v">${label}${ui(player, primer ? "how" : "why")}</div>`;
  if (!primer) return `${title}<div class="empty">${ui(player, "no_card")}</div>`;
  // What a run is about would give its answers away.
  const told = run.log.about && player.mode !== "predict";
  const about = told ? `<p class="about">${esc(plain(pick(player, run.log.about), 300))}</p>` : "";
  const panes = primer.panes.map((words) => `<p>${esc(pick(player, words))}</p>`);
  const states = Object.entries(primer.states)
    .filter(([state]) => pools[1] || !["host_only", "in_flight"].includes(state))
    .map(
      ([state, words]) =>
        `<dt>${swatch(player, state)} ${esc(stateName(player, state))}</dt><dd>${esc(pick(player, words))}</dd>`,
    );
  const keys = primer.keys.map(
    ([key, words]) =>
      `<dt><kbd>${esc(key)}</kbd></dt><dd>${esc(pick(player, words))}</dd>`,
  );
  return `${title}<div class="primer">${about}${panes.join("")}<dl>${keys.join("")}</dl><dl>${states.join("")}</dl></div>`;
}

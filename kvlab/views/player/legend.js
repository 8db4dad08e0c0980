// What does each pattern mean, and each mark that lies on one?
//
// Patterns by their states, as the engine calls them; marks with a small sample.
// Left out: the words (primer.py), where it stands (primer.js, panel.js).

import { termName } from "./account.js";
import { box, swatch } from "./looks.js";
import { lockSvg } from "./node.js";
import { esc } from "./text.js";
import { pick } from "./words.js";

const OF_L2 = ["host_only", "copy", "in_flight", "left", "twin", "host_lock"];

/** Every pattern and mark of a run with what it says, as the rows of a list. */
export function legendHtml(player, run) {
  const { primer, pools } = run.log;
  const row = (sample, name, words) =>
    `<dt>${sample} ${esc(name)}</dt><dd>${esc(pick(player, words))}</dd>`;
  const shown = ([name]) => pools[1] || !OF_L2.includes(name);
  const states = Object.entries(primer.states)
    .filter(shown)
    .map(([state, words]) => row(swatch(player, state), termName(player, state), words));
  const marks = Object.entries(primer.marks)
    .filter(shown)
    .map(([mark, [name, says]]) => row(markSample(player, mark), pick(player, name), says));
  return [...states, ...marks].join("");
}

/** A small sample of a mark; nothing for what is none. */
export function markSample(player, mark) {
  const k = player.colour;
  const frame = (ink, wide, more = "") =>
    `<rect x="1.5" y="1.5" width="13" height="9" rx="1.5" fill="none" stroke="${ink}" stroke-width="${wide}" ${more}/>`;
  const samples = {
    ring: () => frame(k.ink, 1.75),
    chosen: () => frame(k.link, 2.5),
    over: () => frame(k.ink, 3, 'stroke-dasharray="4 3"'),
    twin: () =>
      `${box(player, 0, 0, 16, 12, "used")}<rect x="1" y="8.5" width="14" height="3" fill="${k.host_only}"/>`,
    lock: () => lockSvg(4, 1, k.ink),
    host_lock: () =>
      `${box(player, 0, 2, 16, 8, "host_only")}<rect x="3.5" y="3" width="9" height="6" fill="${k.bg}"/>${lockSvg(5.3, 2.9, k.ink, 0.66)}`,
    named: () =>
      `${box(player, 0, 0, 16, 12, "used")}<path d="M2.5 9.5h11" stroke="${k.bg}" stroke-width="2"/>`,
    order: () =>
      `<circle cx="8" cy="6" r="5.7" fill="${k.ink}"/><text x="8" y="9.4" text-anchor="middle" font-size="9.5" font-weight="600" fill="${k.bg}">1</text>`,
  };
  const drawn = samples[mark]?.();
  return drawn ? `<svg width="16" height="12" aria-hidden="true">${drawn}</svg>` : "";
}

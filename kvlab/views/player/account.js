// What does each pool's account come to?
//
// A bar of states and the sum under it; the counters come from the engine's events.
// Left out: the slots themselves (slots.js).

import { GUT, WIDE } from "./grid.js";
import { box, stateName, swatch } from "./looks.js";
import { esc, num } from "./text.js";
import { ui } from "./words.js";

export function accountHtml(player, run, tier) {
  const { total, terms } = run.account(tier),
    high = tier === 1 ? 14 : 8;
  let x = 0,
    bars = "",
    sum = 0,
    sound = true;
  const loading = tier === 1 ? loadingTokens(run) : 0;
  for (const [state, n] of terms) {
    sum += n;
    sound &&= n >= 0;
    const w = total ? (n / total) * WIDE : 0;
    if (w > 0) {
      const part = state === "used" && loading ? Math.min(1, loading / n) * w : 0;
      if (w > part) bars += box(player, x, 0, w - part, high, state);
      if (part) bars += box(player, x + w - part, 0, part, high, "in_flight");
    }
    x += Math.max(0, w);
  }
  const shown = terms.filter(
    ([state, n, moved]) => tier === 1 || state !== "held" || n || moved,
  );
  const eq = shown
    .map(([state, n, moved], i) => {
      const name =
        tier === 2 && state === "held"
          ? ui(player, "outside")
          : stateName(player, state);
      const note =
        state === "used" && loading
          ? ` · ${ui(player, "loading", { n: num(loading) })}`
          : "";
      return `${i ? '<span class="op">+</span>' : ""}<span class="term ${n ? "" : "z"} ${player.state === state ? "hov" : ""}" data-state="${state}" tabindex="0"><span class="l">${swatch(player, state)}${esc(name)}${note}</span><span><span class="n">${num(n)}</span>${moved ? `<span class="d">${moved > 0 ? "+" : "−"}${num(Math.abs(moved))}</span>` : ""}</span></span>`;
    })
    .join("");
  const right = sound && sum === total;
  return `<div style="padding-left:${GUT}px"><svg class="bar" width="${WIDE}" height="${high}" aria-hidden="true">${bars}</svg><div class="acct">${eq}<span class="op">=</span><span class="term"><span class="l">${ui(player, "slots")}</span><span><span class="n">${num(total)}</span> <span class="${right ? "ok" : "bad"}">${right ? "✓" : "!"}</span></span></span></div></div>`;
}

function loadingTokens(run) {
  const { c } = run;
  const coming = run.alive.filter((n) => c.l1[n] === 2 && c.lock[n]);
  return coming.reduce((sum, n) => sum + c.len[n], 0);
}

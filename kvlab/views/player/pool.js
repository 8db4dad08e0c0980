// What does the memory pane hold?
//
// Title, two accounts, one canvas of both pools.
// Left out: the drawing of the canvas (slots.js), the accounts (account.js).

import { accountHtml } from "./account.js";
import { penOf } from "./canvas.js";
import { GUT, WIDE, gridOf, stretchesOf } from "./grid.js";
import { stateName } from "./looks.js";
import { drawPools } from "./slots.js";
import { num, plain, put } from "./text.js";
import { ui } from "./words.js";

export function drawPool(player, pane, run, label) {
  const page = player.log.page;
  put(
    pane.querySelector(".t"),
    `<h3>${label}${ui(player, "memory")}<small>${page === 1 ? ui(player, "cell") : ui(player, "cell_page", { n: num(page) })}</small></h3>`,
  );
  put(pane.querySelector(".a1"), accountHtml(player, run, 1));
  if (player.log.pools[1]) put(pane.querySelector(".a2"), accountHtml(player, run, 2));
  pane.querySelector("canvas").setAttribute("aria-label", poolWords(player, run));
}

export function drawPoolCanvas(player, pane, run) {
  const g = gridOf(player),
    [t1, t2] = g.tiers;
  if (!pane.querySelector("canvas"))
    pane.innerHTML = `<div class="t"></div><div class="a1"></div><div class="pl"><canvas tabindex="0" role="img"></canvas></div><div class="a2"></div>`;
  const canvas = pane.querySelector("canvas");
  canvas.run = run;
  drawPools(
    player,
    penOf(player, canvas, GUT + WIDE + 2, (t2.n ? t2.y + t2.high : t1.high) + 3),
    run,
    g,
  );
}

function poolWords(player, run) {
  return [1, 2]
    .map((tier) => {
      const list = stretchesOf(player, run, tier, 31);
      const said = list.slice(0, 30).map(([first, length, owner]) => {
        const who =
          owner < 2
            ? ""
            : owner & 1
              ? plain(run.log.requests[(owner - 3) / 2], 12)
              : `n${(owner - 2) / 2}`;
        return `${first}–${first + length - 1} ${who} ${stateName(player, run.slotLook(tier, owner))}`;
      });
      return list.length
        ? `L${tier}: ${said.join("; ")}${list.length > 30 ? " …" : ""}`
        : "";
    })
    .join(". ");
}

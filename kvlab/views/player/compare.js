// How do two runs stand side by side?
//
// Left out: running the second one (the engine, through a hook).

import { layout } from "./layout.js";
import { show } from "./move.js";
import { plain } from "./text.js";
import { differsWords, ui } from "./words.js";

export async function forkRun(player) {
  const knobs = {};
  for (const field of player.root.querySelectorAll("[data-knob]")) {
    const name = field.dataset.knob,
      value = field.tagName === "SELECT" ? field.value : Number(field.value);
    const was =
      name === "host_tokens"
        ? player.log.pools[1] * player.log.page
        : player.log.settings[name];
    if (value !== was && value === value) knobs[name] = value;
  }
  player.$(".forked").textContent = ui(player, "fork_run");
  player.hooks.fork?.(knobs, player.run.at);
}

/** Show B beside A and go to the first difference. */
export function compareWith(player, run, difference) {
  player.b = run;
  player.difference = difference;
  player.other = difference.index == null ? null : run;
  player.mode = "watch";
  player.hooks.mode?.("watch");
  player.panel = "";
  player.$(".panel").innerHTML = "";
  layout(player);
  show(player, difference.index == null ? player.run.at : difference.index + 1);
  player.live.textContent = differsWords(player);
}

export function forkFailed(player, text) {
  const at = player.$(".forked");
  if (at) at.textContent = plain(text, 200);
}

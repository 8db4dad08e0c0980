// Is the page around the player dark?
//
// JupyterLab says it on its body, another page by what the reader prefers. The player
// follows either until somebody chooses.
// Left out: the colours (theme.py), setting them (layout.js).

import { layout } from "./layout.js";

const DARK = "(prefers-color-scheme: dark)";

function isDark() {
  const lab = document.body.dataset.jpThemeLight;
  return lab ? lab === "false" : matchMedia(DARK).matches;
}

/** Be dark as `chosen`, or else as the page is, now and whenever it changes. */
export function followTheme(player, chosen) {
  player.dark = chosen ?? isDark();
  player.unfollow = () => {};
  if (chosen !== undefined) return;
  const turn = () => {
    if (player.dark === isDark()) return;
    player.dark = !player.dark;
    layout(player);
  };
  const lab = new MutationObserver(turn);
  lab.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  const media = matchMedia(DARK);
  media.addEventListener("change", turn);
  player.unfollow = () => {
    lab.disconnect();
    media.removeEventListener("change", turn);
  };
}

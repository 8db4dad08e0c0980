// Which elements hold the player, for as long as it lives?
//
// Left out: what is drawn in them (draw.js).

import { layout } from "./layout.js";
import { click, hover, seekTo, turnWheel } from "./hands.js";
import { onKey } from "./keys.js";
import { stop } from "./move.js";
import { change } from "./perform.js";
import { STYLE } from "./style.js";

export function buildFrame(player) {
  const { root } = player;
  root.classList.add("kv");
  root.tabIndex = 0;
  root.dataset.lmSuppressShortcuts = "true";
  root.setAttribute("role", "application");
  root.innerHTML = `<style>${STYLE}</style><div class="defs"></div><button class="skip" data-do="skip" hidden></button><div class="top"></div><div class="notes" id="${player.id}-notes"></div>
      <div class="head"><span class="glyph"></span><div><div class="kind"></div><h2></h2></div></div><div class="caption" hidden></div><div class="sr" role="status" aria-live="polite"></div>
      <div class="body"></div><div class="tl"><canvas></canvas><canvas class="over" tabindex="-1" role="img"></canvas></div><div class="foot"><div class="ctl"></div><div class="panel" role="document"></div></div>`;
  player.$ = (s) => root.querySelector(s);
  player.live = player.$(".sr");
  root.addEventListener("keydown", (event) => onKey(player, event));
  root.addEventListener("click", (event) => click(player, event));
  root.addEventListener("change", (event) => change(player, event));
  const over = (event) => hover(player, event);
  root.addEventListener("pointerover", over);
  root.addEventListener("focusin", over);
  player.tl = [...root.querySelectorAll(".tl canvas")];
  const line = player.tl[1];
  line.addEventListener("pointerdown", (event) => {
    line.setPointerCapture(event.pointerId);
    seekTo(player, event);
  });
  line.addEventListener(
    "pointermove",
    (event) => event.buttons && seekTo(player, event),
  );
  line.addEventListener("wheel", (event) => turnWheel(player, event), {
    passive: false,
  });
  if (globalThis.ResizeObserver) {
    let wide = 0;
    player.watcher = new ResizeObserver(() => {
      if (root.dataset.ready === "failed") return;
      clearFoot(player);
      if (root.clientWidth !== wide) {
        wide = root.clientWidth;
        layout(player);
      }
    });
    player.watcher.observe(root);
  }
  layout(player);
}

/** In a page what takes the focus, or is scrolled to, comes to lie above the controls. */
function clearFoot({ root, $ }) {
  if (!root.classList.contains("page")) return;
  const { style } = document.documentElement;
  style.scrollPaddingBottom = `${$(".foot").offsetHeight + 8}px`;
}

export function closePlayer(player) {
  stop(player);
  player.watcher?.disconnect();
  player.unfollow();
}

// What does each key do, and which stay the page's?
//
// A key that is used goes no further, so that a notebook never hears it.
// Left out: pointers (hands.js).

import { SPEEDS } from "./controls.js";
import { goToPane, leave, rove, toPlayer } from "./focus.js";
import { click } from "./hands.js";
import { play, show, step, stop } from "./move.js";
import { askNote, bookmark, keepNote, toMark } from "./notes.js";
import { openPanel } from "./panel.js";
import { perform, recolour, setLang } from "./perform.js";
import { commit, predictNow } from "./predict.js";
import { ZOOM, pan, zoom } from "./timeline.js";
import { treeKey } from "./tree_keys.js";
import { concerns, find, jump, search, toDecision, toLoss } from "./watch.js";
import { ui } from "./words.js";

/** In a page of its own the player hears what is pressed where nothing has the focus: as
 *  it opens, and after a press on what takes none. */
export function hearPage(player) {
  player.root.tabIndex = -1; // the whole page is no stop of Tab
  document.addEventListener("keydown", (event) => {
    if (event.target === document.body) onKey(player, event);
  });
}

export function onKey(player, event) {
  const { key, target } = event,
    typing = target.matches("input:not([type=radio]),select,textarea");
  if (event.metaKey || (event.ctrlKey && !key.startsWith("Arrow"))) {
    if (key === "s") passOn(player, event);
    return;
  }
  const done = () => {
    event.preventDefault();
    event.stopPropagation();
  };
  if (key === "Escape") {
    done();
    if (player.panel) {
      openPanel(player, "");
      return toPlayer(player);
    }
    stop(player);
    leave(player);
    return;
  }
  if (typing) {
    if (key === "Enter") {
      done();
      if (target.matches(".at")) {
        toPlayer(player); // the arrows go on from there
        show(player, parseInt(target.value.replace(/\D/g, ""), 10) || 0);
      } else if (player.panel === "filter") search(player);
      else if (player.panel === "note") keepNote(player);
    }
    event.stopPropagation();
    return;
  }
  if (target.matches("[name$=-say]") && /^Arrow(Left|Right)$/.test(key)) {
    done();
    moreSure(player, key === "ArrowLeft" ? -1 : 1);
    return;
  }
  if (target.matches("input[type=radio]") && (key.startsWith("Arrow") || key === " "))
    return event.stopPropagation();
  if (target.matches("button") && (key === "Enter" || key === " "))
    return event.stopPropagation();
  if (event.altKey && /^[1-5]$/.test(key)) {
    done();
    goToPane(player, +key);
    return;
  }
  if (event.altKey) return;
  if (target.closest(".p-tree") && treeKey(player, event)) return done();
  if (rove(event)) return done();
  const by = key === "ArrowLeft" ? -1 : 1;
  const keys = {
    " ": () => play(player),
    Home: () => perform(player, "first"),
    End: () => perform(player, "last"),
    "[": () => faster(player, -1),
    "]": () => faster(player, 1),
    p: () => predictNow(player),
    Enter: () => {
      if (target.dataset?.fold) click(player, event);
      else if (target.dataset?.do)
        perform(player, target.dataset.do, target.dataset.to, target);
      else commit(player);
    },
    w: () => player.$(".p-why").focus(),
    d: () => player.difference?.index != null && jump(player, player.difference.index),
    f: () => player.canFork && openPanel(player, "fork"),
    b: () => bookmark(player),
    n: () => askNote(player),
    ",": () => toMark(player, -1),
    ".": () => toMark(player, 1),
    c: () => recolour(player),
    "/": () => openPanel(player, "filter"),
    l: () => setLang(player, player.lang === "zh" ? "en" : "zh"),
    m: () => {
      player.motion = !player.motion;
      player.live.textContent = ui(player, player.motion ? "motion_on" : "motion_off");
    },
    v: () => player.root.classList.toggle("words"),
    "+": () => zoom(player, 1 / ZOOM),
    "=": () => zoom(player, 1 / ZOOM),
    "-": () => zoom(player, ZOOM),
    0: () => zoom(player, null),
    "<": () => pan(player, -0.5),
    ">": () => pan(player, 0.5),
    "?": () => openPanel(player, player.panel === "help" ? "" : "help"),
  };
  if (key === "ArrowLeft" || key === "ArrowRight") {
    done();
    if (event.ctrlKey) (event.shiftKey ? toLoss : toDecision)(player, by);
    else if (event.shiftKey) {
      const about = (e) => !player.select || concerns(player, e, player.select);
      jump(player, find(player, by, (e) => !player.run.isDecision(e) && about(e)));
    } else step(player, by);
    return;
  }
  const act = keys[key.length === 1 ? key.toLowerCase() : key];
  if (act && !event.ctrlKey) {
    done();
    act();
  }
}

/** From the answers, left and right say how sure one is, as the line below them has it. */
function moreSure(player, by) {
  player.root.querySelectorAll(".p-why [name$=-sure]")[player.sure + by]?.click();
}

/** Let the notebook have a key that the player hides from it: it saves. */
function passOn({ root }, event) {
  if (root.classList.contains("page")) return;
  const again = new KeyboardEvent(event.type, event);
  if (!root.parentElement.dispatchEvent(again)) event.preventDefault();
}

function faster(player, by) {
  player.speed = Math.max(0, Math.min(SPEEDS.length - 1, player.speed + by));
  player.$(".speed").value = player.speed;
}

// What does each button do?
//
// Left out: how it is drawn (controls.js, panel.js).

import { forkRun } from "./compare.js";
import { spoken } from "./caption.js";
import { otherColouring } from "./contents.js";
import { draw } from "./draw.js";
import { layout } from "./layout.js";
import { play, show, step, stop } from "./move.js";
import { askNote, bookmark, keepNote, toMark } from "./notes.js";
import { openPanel } from "./panel.js";
import { askEvery, commit, lookBack, setMode, toQuestion } from "./predict.js";
import { save } from "./save.js";
import { showNode, turnFolds } from "./unfold.js";
import { found, search, toDecision, toHit, unfind } from "./watch.js";

export function perform(player, what, to, at) {
  const goTo = (moment) => {
    stop(player);
    show(player, moment);
  };
  const act = {
    first: () => goTo(0),
    previous: () => step(player, -1),
    play: () => play(player),
    next: () => step(player, 1),
    decision_before: () => toDecision(player, -1),
    decision_after: () => toDecision(player, 1),
    last: () => goTo(player.run.count),
    go: () => goTo(+to),
    mode: () => setMode(player, to),
    lang: () => setLang(player, to),
    dark: () => {
      player.unfollow();
      player.dark = !player.dark;
      layout(player);
    },
    commit: () => commit(player),
    every: () => askEvery(player, +to),
    skip: () => toQuestion(player),
    saw: () => lookBack(player, +at.dataset.event, to),
    panel: () => openPanel(player, player.panel === to ? "" : to),
    search: () => search(player),
    watch: () => {
      found(player, Array.from(player.log.col[`watch.${to}`]), to);
      toHit(player, 1);
    },
    hit: () => toHit(player, +to),
    nohits: () => unfind(player),
    bookmark: () => bookmark(player),
    mark: () => toMark(player, +to),
    note: () => askNote(player),
    keep: () => keepNote(player),
    colour: () => recolour(player),
    save: () => {
      if (player.panel === "note") keepNote(player); // what is being written goes along
      save(player, to);
    },
    fork: () => forkRun(player),
    unfold: () => turnFolds(player, +to),
    node: () => showNode(player, +to),
    both: () => {
      player.other = player.b;
      layout(player);
      show(player, player.run.at);
    },
    one: () => {
      player.other = null;
      layout(player);
    },
  };
  act[what]?.();
}

export function setLang(player, lang) {
  player.lang = lang;
  layout(player);
  player.hooks.lang?.(lang);
  player.live.textContent = spoken(player);
}

/** Colour the pools the other way, where there is one. */
export function recolour(player) {
  player.colouring = otherColouring(player);
  draw(player);
}

/** Take what was typed or picked. What commits an answer is brought into sight: it may lie
 *  below a low window. */
export function change(player, event) {
  const { target } = event;
  if (target.matches(".at"))
    show(player, parseInt(target.value.replace(/\D/g, ""), 10) || 0);
  if (target.matches(".speed")) player.speed = +target.value;
  if (target.name === `${player.id}-say`) {
    player.picked = target.value;
    const button = player.$('[data-do="commit"]');
    button.disabled = false;
    button.scrollIntoView({ block: "nearest" });
  }
  if (target.name === `${player.id}-sure`) player.sure = +target.value;
}

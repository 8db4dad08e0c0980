// What can be pressed?
//
// Left out: the panels that open (panel.js), what a press does (perform.js).

import { marksShown, noteOf } from "./caption.js";
import { scoreTold } from "./score.js";
import { esc, num, put } from "./text.js";
import { ui } from "./words.js";

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64];

const MARKS = 6; // bookmarks that have a button

const ICONS = {
  first: "M4 3v10M13 3L6 8l7 5z",
  previous: "M11 3L4 8l7 5z",
  play: "M4 3l9 5-9 5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  next: "M5 3l7 5-7 5z",
  last: "M12 3v10M3 3l7 5-7 5z",
  decision_before: "M6 3L1 8l5 5zM11 4L8 8l3 4 3-4z",
  decision_after: "M10 3l5 5-5 5zM5 4L2 8l3 4 3-4z",
};

const icon = (name) =>
  `<svg width="16" height="16" aria-hidden="true"><path d="${ICONS[name]}" fill="currentColor" stroke="currentColor" stroke-width="1.2" stroke-linejoin="round"/></svg>`;

export function drawControls(player) {
  const button = (name) =>
    `<button class="ic ${name === "play" ? "main" : ""}" data-do="${name}" title="${ui(player, name)}" aria-label="${ui(player, name)}">${icon(name)}</button>`;
  player.$(".ctl").innerHTML =
    `${button("first")}${button("decision_before")}${button("previous")}${button("play")}${button("next")}${button("decision_after")}${button("last")}
      <label>${ui(player, "event")} <input class="at" inputmode="numeric" aria-label="${ui(player, "go_to")}"></label><span class="of"></span>
      <select class="speed" aria-label="${ui(player, "speed")}">${SPEEDS.map((s, i) => `<option value="${i}" ${i === player.speed ? "selected" : ""}>${s}×</option>`).join("")}</select>
      <span class="found"></span><span class="marked"></span><span class="sp"></span><span class="score"></span>
      ${player.canFork ? `<button data-do="panel" data-to="fork">${ui(player, "fork")}</button>` : ""}
      <button data-do="panel" data-to="filter">${ui(player, "filter")}</button><button data-do="panel" data-to="watches">${ui(player, "watches")}</button><button data-do="bookmark">${ui(player, "bookmark")}</button><button data-do="note">${ui(player, "note")}</button><button data-do="panel" data-to="export">${ui(player, "export")}</button><button data-do="panel" data-to="help">${ui(player, "help")} ?</button>`;
  drawPlay(player);
  drawPlace(player);
}

/** Show on its button whether it plays: what is pressed or typed meanwhile stays. */
export function drawPlay(player) {
  player.$(".ctl .main").innerHTML = icon(player.timer ? "pause" : "play");
}

export function drawPlace(player) {
  const at = player.$(".ctl .at");
  if (!at) return;
  if (document.activeElement !== at) at.value = num(player.run.at);
  put(
    player.$(".ctl .of"),
    `/ ${num(player.mode === "predict" ? player.limit : player.run.count)}${player.mode === "predict" && player.limit < player.run.count ? " …" : ""}`,
  );
  const hits = player.hits;
  put(
    player.$(".ctl .found"),
    hits
      ? `<button data-do="hit" data-to="-1" aria-label="◀">◀</button>${hitsWords(player)}<button data-do="hit" data-to="1" aria-label="▶">▶</button><button data-do="nohits" aria-label="${ui(player, "close")}">×</button>`
      : "",
  );
  put(player.$(".ctl .marked"), marksHtml(player));
  const right = player.answers.filter((a) => a.right).length;
  const score = player.answers.length
    ? `<button data-do="panel" data-to="score" title="${ui(player, "predictions")}">${ui(player, "score", { a: right, b: player.answers.length })}</button>`
    : "";
  put(player.$(".ctl .score"), score);
  const list = player.$(".panel .score");
  if (list) put(list, scoreTold(player));
}

/** The ways back to the bookmarks: the few that lie around the moment, by their events,
 *  and to the neighbours of the moment. */
function marksHtml(player) {
  const marks = marksShown(player);
  if (!marks.length) return "";
  const before = marks.filter((e) => e < player.run.at).length;
  const first = Math.max(0, Math.min(before - MARKS / 2, marks.length - MARKS));
  const buttons = marks.slice(first, first + MARKS).map((e) => {
    const note = noteOf(player, e);
    const words = esc(`${ui(player, "go_to")} ${num(e + 1)}${note && `: ${note}`}`);
    return `<button data-do="go" data-to="${e + 1}" title="${words}" aria-label="${words}"><span class="flag">${note ? "▤" : "▮"}</span>${num(e + 1)}</button>`;
  });
  const to = (by, words, sign) =>
    `<button data-do="mark" data-to="${by}" title="${ui(player, words)}" aria-label="${ui(player, words)}">${sign}</button>`;
  return `${to(-1, "mark_before", "◀")}${buttons.join("")}${to(1, "mark_after", "▶")}`;
}

/** Which of what was found the moment is, or how much lies before and after it. Behind an
 *  open question nothing is counted, so that none lies there is not said. */
export function hitsWords(player) {
  const { hits, run } = player;
  const e = run.at - 1;
  const before = countBefore(hits, e);
  const here = hits[before] === e;
  const [a, n] = [num(before), num(hits.length)];
  if (here) return ui(player, "hits_of", { a: num(before + 1), n });
  if (!hits.length) return ui(player, "none");
  const after = hits.length - before;
  if (after) return ui(player, "hits_around", { a, b: num(after) });
  return ui(player, player.limit < run.count ? "hits_before" : "hits_behind", { a });
}

/** How many of a rising list lie before `at`. */
export function countBefore(list, at) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

// How did the predictions come out?
//
// One line for each, with the way to its event, and how often "certain" was right.
// Left out: the count under the panes (controls.js), the same from Python (widget.py).

import { passedCount } from "./asked.js";
import { esc, num } from "./text.js";
import { pick, ui } from "./words.js";

/** The list of all predictions; nothing where there are none. */
export function scoreHtml(player) {
  const told = scoreTold(player);
  const words = ui(player, "predictions");
  return told && `<section class="score" aria-label="${words}">${told}</section>`;
}

/** What stands in the list. */
export function scoreTold(player) {
  const { answers, log } = player;
  if (player.mode !== "predict" || player.other || !answers.length) return "";
  const line = (answer) => {
    const [sign, look] = answer.right ? ["✓", "yes"] : ["✗", "bad"];
    const out = ui(player, answer.right ? "right" : "wrong");
    const sure = esc(pick(player, log.confidence[answer.confidence - 1]));
    const name = esc(player.run.named(answer.event - 1));
    return `<li><button data-do="go" data-to="${answer.event}">${ui(player, "event")} ${num(answer.event)} · ${name}</button> <span class="${look}">${sign} ${out}</span> · ${sure}</li>`;
  };
  const right = (list) => list.filter((answer) => answer.right).length;
  const told = [ui(player, "score", { a: right(answers), b: answers.length })];
  const certain = answers.filter(({ confidence }) => confidence === log.confidence.length);
  if (certain.length) {
    const sure = esc(pick(player, log.confidence.at(-1)));
    const counts = { s: sure, a: right(certain), b: certain.length };
    told.push(ui(player, "score_certain", counts));
  }
  const passed = passedCount(player);
  const more = passed
    ? `<div>${ui(player, "passed_all", { n: num(passed) })} ${everyHtml(player, 0)}</div>`
    : "";
  const words = ui(player, "predictions");
  const lines = answers.toSorted((a, b) => a.event - b.event).map(line);
  return `<div class="lab">${words}</div><b>${told.join(" · ")}</b><ol>${lines.join("")}</ol>${more}`;
}

/** A button to be asked about every decision from a moment on. */
export const everyHtml = (player, from) =>
  `<button class="edged" data-do="every" data-to="${from}">${ui(player, "ask_all")}</button>`;

// What is asked before a decision is shown?
//
// The covered event stays out of the page: neither its card nor its sentence is made.
// Left out: answering (predict.js).

import { isPassed, questionOf, waits } from "./asked.js";
import { everyHtml, scoreHtml } from "./score.js";
import { seenHtml } from "./seen.js";
import { agreed, fieldWords } from "./sentence.js";
import { esc, fill, num, put } from "./text.js";
import { pick, ui } from "./words.js";

/** An answer with what tells it from its neighbours in bold, or without. */
const strong = (words) => esc(words).replace(/\*([^*]+)\*/g, "<b>$1</b>");
const even = (words) => words.replaceAll("*", "");

export function drawQuestion(player, pane, e) {
  const { run, log } = player,
    [asks, answers] = questionOf(player, e);
  // The question may name what the event asks, never what it answers.
  const filled = fill(pick(player, asks), (name) => fieldWords(player, run, e, name));
  const text = agreed(player, filled);
  const option = (group, value, words, checked) =>
    `<label><input type="radio" name="${player.id}-${group}" value="${value}" ${checked ? "checked" : ""}><span>${strong(words)}</span></label>`;
  put(
    pane,
    `${toldHtml(player, e - 1)}<div class="lab">${ui(player, "question")} · ${ui(player, "event")} ${num(e + 1)}</div><p class="q">${esc(text)}</p>
      <fieldset class="ans" role="radiogroup" aria-label="${esc(text)}">${Object.entries(
        answers,
      )
        .map(([key, words]) =>
          option("say", key, pick(player, words), player.picked === key),
        )
        .join("")}</fieldset>
      <div class="lab">${ui(player, "sure")}</div><fieldset class="ans conf" role="radiogroup" aria-label="${ui(player, "sure")}">${log.confidence.map((words, i) => option("sure", i, pick(player, words), player.sure === i)).join("")}</fieldset>
      <div style="display:flex;gap:10px;align-items:center;flex-wrap:wrap"><button class="go" data-do="commit" ${player.picked ? "" : "disabled"}>${ui(player, "commit")} ⏎</button><button data-do="mode" data-to="watch">${ui(player, "skip")}</button></div>
      <p class="dim">${ui(player, "withheld")}${ui(player, "may")}</p>`,
  );
}

/** How the prediction of an event came out, and what is to be seen after it. */
export function toldHtml(player, e) {
  const said = player.answered.get(e);
  const passed = isPassed(player, e)
    ? `<div class="dim">${ui(player, "passed")} ${everyHtml(player, e + 1)}</div>`
    : "";
  const next = waits(player)
    ? `<div class="seen"><button class="go" data-do="skip">${ui(player, "next_question")} ⏎</button></div>`
    : "";
  const over = e + 1 === player.run.count ? scoreHtml(player) : "";
  const out = said ? afterwardsHtml(player, e, said) : "";
  const told = out + passed + next + seenHtml(player) + over;
  return told && `<div class="reply">${told}</div>`;
}

/** What was said, and how it came out. */
function afterwardsHtml(player, e, said) {
  const [, answers] = questionOf(player, e);
  const words = (key) => even(pick(player, answers[key]));
  const b = pick(player, player.log.confidence[said.confidence - 1]);
  const verdict = ui(player, said.right ? "right" : "wrong");
  return `<div class="test ${said.right ? "yes" : "bad"}">${said.right ? "✓" : "✗"} ${verdict}</div><div>${esc(ui(player, "you_said", { a: words(said.said), b }))}</div><div>${esc(ui(player, "came_out", { a: words(said.happened) }))}</div>`;
}

// What is asked before a decision is shown?
//
// The covered event stays out of the page: neither its card nor its sentence is made.
// Left out: answering (predict.js).

import { seenHtml } from "./seen.js";
import { agreed, fieldWords } from "./sentence.js";
import { esc, fill, num, put } from "./text.js";
import { pick, ui } from "./words.js";

/** The event that may be shown last: before an open question. */
export function limitOf(player) {
  if (player.mode !== "predict") return player.run.count;
  const from = player.freed ?? 0;
  for (let e = from; e < player.run.count; e++)
    if (isAsked(player, e) && !player.answered.has(e)) {
      player.freed = e;
      return e;
    }
  return player.run.count;
}

export function isAsked(player, e) {
  return (
    e < player.run.count &&
    (player.log.ask?.includes(e + 1) ?? true) &&
    questionOf(player, e) !== undefined
  );
}

/** The question that an event answers, by the answer that is its own. */
function questionOf(player, e) {
  const { variants, questions, col } = player.log;
  const of = (entry) => Object.values(questions).find(([, answers]) => entry in answers);
  player.asks ??= variants.map(of);
  return player.asks[col.variant[e]];
}

/** An answer with what tells it from its neighbours in bold, or without. */
const strong = (words) => esc(words).replace(/\*([^*]+)\*/g, "<b>$1</b>");
const even = (words) => words.replaceAll("*", "");

export function askingOf(player) {
  return !player.reading && isNext(player) ? player.run.at : -1;
}

/** Is the event asked about that comes next? */
const isNext = (player) =>
  player.mode === "predict" &&
  player.run.at === player.limit &&
  isAsked(player, player.run.at);

/** Does the next question wait until the card that answers the last one is read? */
export const waits = (player) => player.reading && isNext(player);

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
  const next = waits(player)
    ? `<div class="seen"><button class="go" data-do="skip">${ui(player, "next_question")} ⏎</button></div>`
    : "";
  return (said ? afterwardsHtml(player, e, said) : "") + next + seenHtml(player);
}

/** What was said, and how it came out. */
function afterwardsHtml(player, e, said) {
  const [, answers] = questionOf(player, e);
  const words = (key) => even(pick(player, answers[key]));
  const b = pick(player, player.log.confidence[said.confidence - 1]);
  const verdict = ui(player, said.right ? "right" : "wrong");
  return `<div class="test ${said.right ? "yes" : "bad"}">${said.right ? "✓" : "✗"} ${verdict}</div><div>${esc(ui(player, "you_said", { a: words(said.said), b }))}</div><div>${esc(ui(player, "came_out", { a: words(said.happened) }))}</div>`;
}

// What is asked before a decision is shown?
//
// The covered event stays out of the page: neither its card nor its sentence is made.
// Left out: answering (predict.js).

import { stateName } from "./looks.js";
import { fieldWords } from "./sentence.js";
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

function isAsked(player, e) {
  return (
    e < player.run.count &&
    (player.log.ask?.includes(e + 1) ?? true) &&
    player.log.questions[player.run.kind(e)]?.[1][player.run.variant(e)] !== undefined
  );
}

export function askingOf(player) {
  return player.mode === "predict" &&
    player.run.at === player.limit &&
    isAsked(player, player.run.at)
    ? player.run.at
    : -1;
}

export function drawQuestion(player, pane, e) {
  const { run, log } = player,
    [asks, answers] = log.questions[run.kind(e)];
  // The question may name what the event asks, never what it answers.
  const text = fill(pick(player, asks), (name) => fieldWords(player, run, e, name));
  const option = (group, value, words, checked) =>
    `<label><input type="radio" name="${player.id}-${group}" value="${value}" ${checked ? "checked" : ""}><span>${esc(words)}</span></label>`;
  put(
    pane,
    `<div class="lab">${ui(player, "question")} · ${ui(player, "event")} ${num(e + 1)}</div><p class="q">${esc(text)}</p>
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

export function afterwardsHtml(player, run, e, said) {
  const answers = player.log.questions[said.kind][1],
    words = (key) => pick(player, answers[key]);
  const head = `<div class="sec"><div class="test ${said.right ? "yes" : "bad"}">${said.right ? "✓" : "✗"} ${ui(player, said.right ? "right" : "wrong")}</div><div>${esc(ui(player, "you_said", { a: words(said.said), b: pick(player, player.log.confidence[said.confidence - 1]) }))}</div><div>${esc(ui(player, "came_out", { a: words(said.happened) }))}</div>`;
  const free = player.log.blocks ? "free" : "available";
  const about = `${said.about === "available" ? "L1" : "L2"} ${stateName(player, said.about === "available" ? free : "free")}`;
  const seen = said.saw
    ? `<div class="${said.saw_right ? "yes" : "bad"}">${ui(player, said.saw_right ? "seen_right" : "seen_wrong", { a: num(said.before), b: num(said.after) })}</div>`
    : `<div style="display:flex;gap:4px">${["rises", "falls", "stays"].map((key) => `<button data-do="saw" data-to="${key}" data-event="${e}" style="border-color:var(--line2)">${ui(player, key)}</button>`).join("")}</div>`;
  return `${head}<div style="margin-top:6px">${esc(ui(player, "see", { a: about }))}</div>${seen}</div>`;
}

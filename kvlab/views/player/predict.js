// What happens with an answer?
//
// It is compared with the run, kept, and told to whoever listens.
// Left out: the question itself (question.js).

import { isAsked, waits } from "./asked.js";
import { draw, settle } from "./draw.js";
import { layout } from "./layout.js";
import { show } from "./move.js";
import { openPanel } from "./panel.js";
import { readAt, sawWords, watchedCounter, watchedTo } from "./seen.js";

export function commit(player) {
  if (waits(player)) return toQuestion(player);
  const e = player.asking;
  if (e < 0 || !player.picked) return;
  const kind = player.run.kind(e),
    answer = {
      event: e + 1,
      kind,
      said: player.picked,
      happened: player.run.variant(e),
      confidence: player.sure + 1,
      about: null,
      saw: null,
      saw_right: null,
    };
  answer.right = answer.said === answer.happened;
  player.answered.set(e, answer);
  player.answers.push(answer);
  answer.until = watchedTo(player.run, e, (to) => isAsked(player, to)) || null;
  if (answer.until) answer.about = watchedCounter(player, e, answer.until);
  player.picked = null;
  player.sure = 1;
  closeScore(player);
  player.hooks.answers?.(player.answers);
  show(player, e + 1, true, false, true);
  settle(player);
  player.$(".p-why").focus();
}

export function lookBack(player, e, key) {
  const said = player.answered.get(e);
  said.before = readAt(player, e, said.about);
  said.after = readAt(player, said.until, said.about);
  said.saw = key;
  player.lookedAt = player.run.at;
  said.saw_right =
    key ===
    (said.after > said.before ? "rises" : said.after < said.before ? "falls" : "stays");
  player.hooks.answers?.(player.answers);
  draw(player);
  player.live.textContent = sawWords(player, said);
}

/** To the open question, where there is one; else into predict mode, or out of it. */
export function predictNow(player) {
  if (toQuestion(player)) return;
  setMode(player, player.mode === "predict" ? "watch" : "predict");
}

/** Put the keyboard on the answers of the open question, which may wait until the card
 *  before it is read; false if none is open. */
export function toQuestion(player) {
  if (player.reading) player.show(player.run.at);
  const answers = player.asking >= 0 && player.$(".p-why .ans");
  if (!answers) return false;
  answers.querySelector("input:checked, input").focus();
  return true;
}

export function setMode(player, mode) {
  player.mode = mode;
  player.freed = player.every ?? 0;
  layout(player);
  show(player, player.run.at);
  player.hooks.mode?.(mode);
}

/** The list of the predictions is closed where it no longer holds all of them. */
function closeScore(player) {
  if (player.panel === "score") openPanel(player, "");
}

/** Ask about every decision from a moment on, also where the reader was right often. */
export function askEvery(player, from) {
  player.hooks.every?.(from);
  takeEvery(player, from);
  toQuestion(player);
}

/** The same as Python, or another view, holds it: null asks what is not mastered. */
export function takeEvery(player, from) {
  player.every = from;
  player.freed = from ?? 0;
  closeScore(player);
  show(player, player.run.at);
  settle(player);
}

/** Take the answers as Python, or another view, holds them. */
export function takeAnswers(player, list) {
  if (JSON.stringify(list) === JSON.stringify(player.answers)) return;
  const answersTo = (kind) => player.log.questions[kind]?.[1] ?? {};
  player.answers = list
    .filter(({ kind, said, happened }) => said in answersTo(kind) && happened in answersTo(kind))
    .map((answer) => ({ ...answer }));
  player.answered = new Map(player.answers.map((answer) => [answer.event - 1, answer]));
  player.freed = player.every ?? 0;
  show(player, player.run.at);
  settle(player);
}

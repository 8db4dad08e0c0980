// What was seen after a decision?
//
// Asked once all that it is about has been on show: at the end of the stretch of events
// that follows the decision, up to the next one or the next question.
// Left out: the prediction itself (question.js, predict.js).

import { stateName } from "./looks.js";
import { esc, num } from "./text.js";
import { ui } from "./words.js";

/** The moment up to which the changes after a decision are watched; 0 if none of them
 *  comes before the next question. */
export function watchedTo(run, e, isAsked) {
  let changed = false;
  for (let to = e + 1; to < run.count; to++) {
    if (changed ? run.isDecision(to) : isAsked(to)) return changed ? to : 0;
    changed ||= !run.isDecision(to);
  }
  return changed ? run.count : 0;
}

/** The prediction after which the moment's changes are watched, if there is one. */
function watching(player) {
  const { at } = player.run;
  const here = ({ event, until }) => event <= at && at <= until;
  return player.mode === "predict" && !player.other ? player.answers.find(here) : null;
}

/** The moment at which the player stops by itself: where it has something to ask. */
export function stopOf(player) {
  const said = watching(player);
  const due = said && !said.saw && player.run.at < said.until;
  return due ? said.until : player.limit;
}

/** The counter that is watched, in the words of the accounts. */
function counter(player, { about }) {
  const l1 = about === "available";
  const state = l1 && !player.log.blocks ? "available" : "free";
  return `L${l1 ? 1 : 2} ${stateName(player, state)}`;
}

/** What is asked at the moment, in words; "" for nothing. */
export function seenWords(player) {
  const said = watching(player);
  if (!said || said.saw || player.run.at < said.until) return "";
  const { event, until } = said;
  return ui(player, "see", { a: counter(player, said), e: num(event), n: num(until) });
}

/** What is to be watched, asked, or has come out; nothing at other moments. */
export function seenHtml(player) {
  const said = watching(player);
  if (!said) return "";
  const { event, until, before, after } = said;
  const what = counter(player, said);
  const inside = () => {
    if (said.saw) {
      const words = ui(player, said.saw_right ? "seen_right" : "seen_wrong", {
        w: what,
        a: num(before),
        b: num(after),
      });
      return `<span class="${said.saw_right ? "yes" : "bad"}">${esc(words)}</span>`;
    }
    const button = (act, to, words) =>
      `<button class="edged" data-do="${act}" data-to="${to}" data-event="${event - 1}">${words}</button>`;
    const asked = seenWords(player);
    if (!asked) {
      const n = num(until);
      return `<div>${esc(ui(player, "look", { a: what, n }))}</div>${button("play", "", `▶ ${ui(player, "event")} ${n}`)}`;
    }
    const answers = ["rises", "falls", "stays"].map((key) =>
      button("saw", key, ui(player, key)),
    );
    const again = button("go", event, `◀ ${ui(player, "event")} ${num(event)}`);
    return `<div>${esc(asked)}</div>${answers.join("")}${again}`;
  };
  return `<div class="seen">${inside()}</div>`;
}

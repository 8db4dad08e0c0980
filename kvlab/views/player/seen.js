// What was seen after a decision?
//
// Asked once all that it is about has been on show: from the end of the stretch of events
// that follows the decision, up to the next one or the next question, until it is answered
// or the next prediction is made. How that came out stands there as long as the moment does.
// Left out: the prediction itself (question.js, predict.js).

import { termName } from "./account.js";
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

/** The counters of the moment as they stand on the page, each by its name: what is free
 *  first, and the tier `first` before the other. */
function countersOf({ run, log }, first = 1) {
  const tiers = log.pools[1] ? [first, 3 - first] : [1];
  const named = (tier) => ([state, n]) => [`L${tier} ${state}`, n];
  return tiers.flatMap((tier) => run.account(tier).terms.map(named(tier)).reverse());
}

/** What one counter was at a moment. */
export function readAt(player, moment, about) {
  const { at } = player.run;
  player.run.seek(moment);
  const found = countersOf(player).find(([name]) => name === about);
  player.run.seek(at);
  return found?.[1];
}

/** What a decision's rule counts, or what its outcomes tell apart, by the kind of event. */
const RULED = {
  admit: ["L1 available", "L1 evictable"],
  decoderoom: ["L1 available", "L1 evictable"],
  evicted: ["L1 available", "L2 free"],
  loadback: ["L1 available", "L1 evictable"],
  pickvictim: ["L1 used"],
  slots: ["L1 available", "L1 evictable"],
  trybackup: ["L2 free"],
  victim: ["L1 evictable", "L2 host_only"],
};

/** The counter to watch from a decision to another moment: of those that its rule counts,
 *  or, if none of them changes, of all, the one that changes most. Of equals the tiers
 *  take turns; where none changes, that is to be seen too. */
export function watchedCounter(player, from, to) {
  const { at } = player.run;
  const read = (moment) => {
    player.run.seek(moment);
    return countersOf(player, from % 4 < 2 ? 1 : 2);
  };
  const [before, after] = [read(from), read(to)];
  player.run.seek(at);
  const moved = before.map(([, n], i) => Math.abs(after[i][1] - n));
  const ruled = RULED[player.run.kind(from)] ?? [];
  const told = moved.map((n, i) => (ruled.includes(before[i][0]) ? n : 0));
  const sizes = Math.max(...told) ? told : moved;
  return before[sizes.indexOf(Math.max(...sizes))][0];
}

/** The prediction after which the moment's changes are watched, if there is one. */
function watching(player) {
  if (player.mode !== "predict" || player.other) return null;
  const { at } = player.run;
  const before = player.answers.filter(({ event }) => event <= at);
  const said = before.length && before.reduce((a, b) => (b.event > a.event ? b : a));
  const here = at <= said.until || !said.saw || at === player.lookedAt;
  return said && said.until && here ? said : null;
}

/** The moment at which the player stops by itself: where it has something to ask. */
export function stopOf(player) {
  const said = watching(player);
  const due = said && !said.saw && player.run.at < said.until;
  return due ? said.until : player.limit;
}

/** The counter that is watched, in the words of the accounts. */
function counter(player, { about }) {
  const [tier, state] = about.split(" ");
  const outside = tier === "L2" && state === "held";
  return `${tier} ${outside ? ui(player, "outside") : termName(player, state)}`;
}

/** What is asked at the moment, in words; "" for nothing. */
export function seenWords(player) {
  const said = watching(player);
  if (!said || said.saw || player.run.at < said.until) return "";
  const { event, until } = said;
  return ui(player, "see", { a: counter(player, said), e: num(event), n: num(until) });
}

/** How the counter changed, and whether that was what was seen. */
export function sawWords(player, said) {
  const values = { w: counter(player, said), a: num(said.before), b: num(said.after) };
  return ui(player, said.saw_right ? "seen_right" : "seen_wrong", values);
}

/** What is to be watched, asked, or has come out; nothing at other moments. */
export function seenHtml(player) {
  const said = watching(player);
  if (!said) return "";
  const { event, until } = said;
  const inside = () => {
    if (said.saw)
      return `<span class="${said.saw_right ? "yes" : "bad"}">${esc(sawWords(player, said))}</span>`;
    const button = (act, to, words) =>
      `<button class="edged" data-do="${act}" data-to="${to}" data-event="${event - 1}">${words}</button>`;
    const asked = seenWords(player);
    if (!asked) {
      const n = num(until);
      return `<div>${esc(ui(player, "look", { a: counter(player, said), n }))}</div>${button("play", "", `▶ ${ui(player, "event")} ${n}`)}`;
    }
    const answers = ["rises", "falls", "stays"].map((key) =>
      button("saw", key, ui(player, key)),
    );
    const again = button("go", event, `◀ ${ui(player, "event")} ${num(event)}`);
    return `<div>${esc(asked)}</div>${answers.join("")}${again}`;
  };
  return `<div class="seen">${inside()}</div>`;
}

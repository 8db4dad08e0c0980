// What does each pool's account come to?
//
// A bar of states and the sum under it; the counters come from the engine's events.
// Left out: the slots themselves (slots.js).

import { GUT, WIDE } from "./grid.js";
import { box, stateName, swatch } from "./looks.js";
import { lockSample } from "./node.js";
import { patch } from "./patch.js";
import { promisedPages } from "./promised.js";
import { esc, num, put } from "./text.js";
import { otherHtml, ownWord, ui } from "./words.js";

/** The terms of a tier's account: `moved` by the last event; `coming`: so much of them is
 *  promised to a load, and looks so; `locked`: so much of L2 is kept for one that reads it.
 *  A host pool says `outside` only if need be. */
export function termsOf(player, run, tier) {
  const { total, terms } = run.account(tier);
  const { blocks } = run.log;
  const coming = tier === 1 && !blocks ? comingTokens(run) : {};
  const locked = tier === 2 && !blocks ? lockedTokens(run) : {};
  const all = terms.map(([state, tokens, moved]) => {
    const outside = tier === 2 && state === "held";
    const name = outside ? ui(player, "outside") : termName(player, state);
    const [due, kept] = [coming[state] ?? 0, locked[state] ?? 0];
    return { state, tokens, moved, name, coming: due, locked: kept };
  });
  const shown = all.filter(
    (t) => tier === 1 || t.state !== "held" || t.tokens || t.moved,
  );
  const noted = shown.filter((t) => t.coming || t.locked);
  for (const t of noted.slice(1)) t.again = true; // the first says the word
  const sum = all.reduce((so, { tokens }) => so + tokens, 0);
  const over = all.reduce((so, { tokens }) => so + Math.max(0, -tokens), 0);
  return { total, terms: shown, sound: sum === total && !over, over };
}

/** A term under the engine's own word, where that is another than its state's. */
export const termName = (player, state) =>
  (player.log.blocks ? ownWord(player, state) : null) ?? stateName(player, state);

/** Tokens promised to loads, by the term that counts them: no node's are held. */
function comingTokens(run) {
  const { c } = run;
  const sums = { used: 0, held: promisedPages(run).size * run.log.page, evictable: 0 };
  for (const n of run.alive)
    if (c.l1[n] === 2) sums[c.lock[n] ? "used" : "evictable"] += c.len[n];
  return sums;
}

/** Tokens of host copies that are locked, by the term that counts them. */
function lockedTokens(run) {
  const { c } = run;
  const sums = { host_only: 0, copy: 0 };
  for (const n of run.alive)
    if (c.host_lock[n]) sums[c.l1[n] === 1 ? "copy" : "host_only"] += c.len[n];
  return sums;
}

const [TERM_LETTER, TERM_SIGN, TERM_DIGIT] = [5.8, 11, 8.4]; // pixels
const BETWEEN = 26; // pixels of an operator and its gaps

/** Whether an account is written smaller, because its sum would be cut. */
function isLong(player, { terms, total }) {
  const wide = (words, letter) => {
    const signs = words.match(/[\u2e80-\uffef]/g)?.length ?? 0;
    return letter * (words.length - signs) + TERM_SIGN * signs;
  };
  const room = ({ tokens, moved, name, ...term }) => {
    const said = name + notesOn(player, term).join("");
    const by = moved ? 4 + 6.6 * (1 + num(Math.abs(moved)).length) : 0;
    const samples = 16 + 12 * ((term.coming > 0) + (term.locked > 0));
    return Math.max(samples + wide(said, TERM_LETTER), wide(num(tokens), TERM_DIGIT) + by);
  };
  const sum = terms.reduce((all, term) => all + room(term) + BETWEEN, 0);
  return sum + wide(num(total), TERM_DIGIT) + 14 > WIDE;
}

const TURN = { duration: 240, easing: "cubic-bezier(.2,0,0,1)" };

/** Write a tier's account into its place: what stands there, where the same terms do.
 *  After a single step its bar slides from where it was; whatever is written next ends
 *  that, so no key waits for it. */
export function putAccount(player, at, run, tier) {
  const account = termsOf(player, run, tier);
  const bar = barOf(player, account, tier === 1 ? 14 : 8);
  const moves = at.bar !== bar;
  const then = new Map(moves && player.tweens ? segmentsOf(at).map(stretchAt) : []);
  if (moves) for (const slide of at.slides ?? []) slide.cancel();
  account.long = isLong(player, account);
  const sign = `${account.over} ${account.long} ${account.terms.map((term) => term.state + termClass(term))}`;
  if (at.sign === sign) {
    if (moves) patch(at.querySelector(".bar"), bar);
    const terms = at.querySelectorAll(".term");
    account.terms.forEach((term, i) => put(terms[i], insideOf(player, term)));
    at.put = null;
  } else put(at, accountHtml(player, account, bar, tier));
  Object.assign(at, { sign, bar });
  if (moves) at.slides = slidesOf(at, then);
}

const segmentsOf = (at) => [...at.querySelectorAll(".bar rect[data-part]")];
const stretchAt = (rect) => [
  rect.dataset.part,
  [rect.getAttribute("x"), rect.getAttribute("width")],
];

/** Let the parts of a bar slide from where they were then. */
function slidesOf(at, then) {
  const slides = [];
  for (const rect of then.size ? segmentsOf(at) : []) {
    const [part, [x, wide]] = stretchAt(rect);
    const [x0, wide0] = then.get(part) ?? [x, 0];
    if (x === x0 && wide === wide0) continue;
    const frames = [
      { x: `${x0}px`, width: `${wide0}px` },
      { x: `${x}px`, width: `${wide}px` },
    ];
    slides.push(rect.animate(frames, TURN));
  }
  return slides;
}

/** The bar of an account. */
export function barOf(player, { terms, total }, high) {
  let x = 0;
  const part = (name) => `data-part="${name}"`;
  const parts = terms.map(({ state, tokens, coming }) => {
    const wide = total ? (Math.max(0, tokens) / total) * WIDE : 0;
    const late = tokens > 0 ? (Math.min(coming, tokens) / tokens) * wide : 0;
    const here = wide > late ? box(player, x, 0, wide - late, high, state, part(state)) : "";
    x += wide;
    return here + (late ? box(player, x - late, 0, late, high, "promised", part(`${state}+`)) : "");
  });
  return parts.join("");
}

/** Bar and sum of a tier. */
function accountHtml(player, account, bar, tier) {
  const high = tier === 1 ? 14 : 8;
  const sum = account.terms.map((term) => termOf(player, term));
  const mark = account.sound
    ? '<span class="ok">✓</span>'
    : '<span class="bad">!</span>';
  const why = account.sound
    ? ""
    : `<div class="bad unsound">! ${ui(player, "unsound", { n: num(account.over) })}</div>`;
  const op = (sign) => `<span class="op">${sign}</span>`;
  const slots = `<span class="term"><span class="l">${ui(player, "slots")}</span><span><span class="n">${num(account.total)}</span> ${mark}</span></span>`;
  return `<div style="padding-left:${GUT}px"><svg class="bar" width="${WIDE}" height="${high}" aria-hidden="true">${bar}</svg><div class="acct${account.long ? " long" : ""}" tabindex="0" role="listbox" aria-label="L${tier}: ${num(account.total)} ${ui(player, "slots")}">${sum.join(op("+"))}${op("=")}${slots}</div>${why}</div>`;
}

const termClass = ({ tokens }) => (tokens ? "term" : "term z");

function termOf(player, term) {
  const [title] = otherHtml(player, term.state) || [""];
  return `<span class="${termClass(term)}" data-state="${term.state}" role="option" tabindex="-1"${title}>${insideOf(player, term)}</span>`;
}

/** How much of a term is promised, and how much locked, in words; "" for none. */
export function notesOn(player, { coming, locked, again }) {
  const part = (n, word) => (again ? num(n) : ui(player, word, { n: num(n) }));
  return [coming && part(coming, "promised_of"), locked && part(locked, "locked_of")].map(
    (words) => words || "",
  );
}

/** What a term says: its name, its tokens, by how much the last event moved them. */
function insideOf(player, { state, tokens, moved, name, coming, locked, again }) {
  const [due, kept] = notesOn(player, { coming, locked, again });
  const note =
    (due && ` · ${swatch(player, "promised")}${due}`) +
    (kept && ` · ${lockSample(player)}${kept}`);
  const delta = `${moved > 0 ? "+" : "−"}${num(Math.abs(moved))}`;
  const by = moved ? `<span class="d">${delta}</span>` : "";
  const [, also] = otherHtml(player, state) || ["", ""];
  return `<span class="l">${swatch(player, state)}${esc(name)}${note}</span>${also}<span><span class="n">${num(tokens)}</span>${by}</span>`;
}

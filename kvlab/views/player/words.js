// Which words does the player say around the run?
//
// All come from player_words.py, in both languages.
// Left out: sentences of events (sentence.js).

import { esc, fill, num } from "./text.js";

export function ui(player, key, values = {}) {
  const words = player.log.ui[key];
  return fill(words ? pick(player, words) : key, (name) => values[name]);
}

export function pick(player, words) {
  return words[player.lang === "zh" ? 1 : 0];
}

/** What the other engine calls a term of the glossary; empty if it has the same word, or
 *  none, or the term is not in the glossary. */
export function otherWord(player, key) {
  const [own, other] = player.log.terms[player.log.inGlossary[key] ?? key] ?? [];
  return !other || other === own ? "" : ui(player, "also", { a: other });
}

/** What the run's engine calls a term of the glossary, in Chinese where that is spoken;
 *  undefined if it is not in the glossary. */
export function ownWord(player, key) {
  const [own, , zh] = player.log.terms[key] ?? [];
  return player.lang === "zh" ? zh : own;
}

/** The same as a title, and as text that key V shows. */
export function otherHtml(player, key) {
  const words = esc(otherWord(player, key));
  return words && [` title="${words}"`, `<span class="also">${words}</span>`];
}

export function nodeName(player, n) {
  return n ? `n${n}` : player.lang === "zh" ? "根" : "the root";
}

export function differsWords(player) {
  const d = player.difference;
  if (d.index == null)
    return ui(player, "same", { n: num(d.events) }) + (d.knobs ? ` · ${d.knobs}` : "");
  const knobs = d.knobs && ui(player, "only_knob", { k: d.knobs });
  return `${ui(player, "differ", { n: num(d.index + 1) })}${ui(player, "identical", { n: num(d.index) })}${knobs}`;
}

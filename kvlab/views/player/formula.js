// How is a card's formula drawn?
//
// Two bars on one scale, each name above its number, the test and its verdict.
// Left out: what the terms are (sums.js), the rest of the card (card.js).

import { markSample } from "./legend.js";
import { box, swatch } from "./looks.js";
import { holds } from "./sums.js";
import { esc, num, plain } from "./text.js";
import { otherHtml, pick, ui } from "./words.js";

/** A term's number as a card shows it; of a literal, the literal. */
function numberOf(player, name, terms) {
  const value = name in terms ? terms[name] : name;
  if (typeof value === "string") return plain(value);
  return num(value, player.log.digits[name]);
}

function termHtml(player, name, terms) {
  if (!(name in terms)) return `<span class="op">${esc(name)}</span>`;
  const value = terms[name];
  if (value === null || value === undefined) return "";
  const state = player.log.swatches[name];
  const text = numberOf(player, name, terms);
  const [title, also] = otherHtml(player, name) || ["", ""];
  const said = esc(player.log.labels[name] ?? name);
  return `<span class="t"${title}><span class="l">${state ? swatch(player, state) : markSample(player, name)}${said}</span>${also}<span class="n">${esc(text)}</span></span>`;
}

export function testHtml(player, test, terms) {
  const verdict = holds(test, terms),
    asks = test.asks ? `<div class="lab">${esc(pick(player, test.asks))}</div>` : "";
  if (test.unless && terms[test.unless] == null)
    return test.untested
      ? `<div class="off">${esc(pick(player, test.untested))}</div>`
      : "";
  if (test.told) {
    const words = player.log.lines[terms[test.told]];
    return words ? `<div class="dim">${esc(pick(player, words))}</div>` : "";
  }
  if (test.fact)
    return `${asks}<div class="test ${verdict ? "yes" : "bad"}">${verdict ? "✓" : "✗"} ${ui(player, verdict ? "yes" : "no")}</div>`;
  const [left, sign, right] = test.test ? test.test.split(" ") : [];
  const term = (name) => termHtml(player, name, terms);
  const row = (words) => `<div class="eq">${words}</div>`;
  const op = (said) => `<span class="op">${said}</span>`;
  let rows = "";
  if (test.rows.some((words) => words.includes(" ")))
    rows = test.rows.map((words) => row(words.split(" ").map(term).join(""))).join("");
  else if (test.test) rows = row(term(left) + op(esc(SHOWN[sign])) + term(right));
  else rows = row(test.rows.map(term).filter(Boolean).join(op("")));
  const show = (name) => numberOf(player, name, terms);
  return (
    asks +
    rows +
    (test.test
      ? `<div class="test">${show(left)} ${esc(SHOWN[sign])} ${show(right)} <span class="${verdict ? "yes" : "bad"}">${verdict ? "✓" : "✗"} ${ui(player, verdict ? "true" : "false")}</span></div>`
      : "")
  );
}

/** A test as lines of text, the last of them its outcome (cards.card_text). */
export function testLines(player, test, terms) {
  const { log } = player;
  if (test.unless && terms[test.unless] == null)
    return { said: test.untested ? [pick(player, test.untested)] : [] };
  if (test.told) {
    const words = log.lines[terms[test.told]];
    return { said: words ? [pick(player, words)] : [] };
  }
  const said = test.asks ? [pick(player, test.asks)] : [];
  const verdict = holds(test, terms);
  const outcome = (numbers, words) => `${numbers} ${verdict ? "✓" : "✗"} ${ui(player, words)}`;
  if (test.fact) return { said, outcome: outcome("", verdict ? "yes" : "no").trim() };
  const word = (name) =>
    name in terms ? `${log.labels[name] ?? name} ${numberOf(player, name, terms)}` : name;
  const plainRows = test.rows.every((row) => !row.includes(" "));
  const [left, sign, right] = test.test ? test.test.split(" ") : [];
  const shown = test.rows.filter((name) => !(name in terms) || terms[name] != null);
  const row = test.test ? [word(left), SHOWN[sign], word(right)] : shown.map(word);
  if (plainRows) said.push(row.join(" "));
  else said.push(...test.rows.map((one) => one.split(" ").map(word).join(" ")));
  if (!test.test || verdict === null) return { said };
  const [a, b] = [left, right].map((name) => numberOf(player, name, terms));
  return { said, outcome: outcome(`${a} ${SHOWN[sign]} ${b}`, `${verdict}`) };
}

const [NAME_WIDE, WHOLE_WIDE] = [46, 324]; // pixels of a side's name, of all
const STEP_DOWN = 24;

/** Both sides on one scale; what exceeds the room is outlined (why_bars.py). */
export function barsSvg(player, why, terms) {
  const size = (bar) =>
    bar.parts.reduce((sum, part) => sum + Math.max(0, terms[part] ?? 0), 0);
  const net = (bar) =>
    bar.parts.reduce((sum, part) => sum + (terms[part] ?? 0), 0) -
    (bar.minus ? terms[bar.minus] : 0);
  const digits = Math.max(...why.bars.map((bar) => num(net(bar)).length));
  const u =
    (WHOLE_WIDE - NAME_WIDE - 6 - 7.8 * Math.max(3, digits)) /
    Math.max(1, ...why.bars.map(size));
  const sides = why.bars.map((bar, i) =>
    sideSvg(player, bar, terms, u, i * STEP_DOWN, net(bar), size(bar)),
  );
  const [need, room] = why.bars.map(net);
  const failed = why.tests.find((t) => t.test && holds(t, terms) === false);
  const short = why.bars.length === 2 && failed && need > room;
  const high = STEP_DOWN * sides.length;
  const gap = short ? gapSvg(player, need, room, u, high, beyondOf(failed)) : "";
  const drawn = sides.map((side) => side.bar).join("");
  const told = sides.map((side) => side.told).join("");
  const tall = high + (short ? 15 : -4);
  return `<svg viewBox="0 0 ${WHOLE_WIDE} ${tall}" width="${WHOLE_WIDE}" height="${tall}" style="max-width:100%;overflow:visible" aria-hidden="true">${drawn}${gap}${told}</svg>`;
}

/** One side: its name, a segment for each part, as long as what is left of it, what is
 *  set aside as a low strip, the sum; `told` lies above all: the parts of a sum. */
function sideSvg(player, bar, terms, u, y, net, whole) {
  const k = player.colour;
  let [x, drawn, told] = [NAME_WIDE, "", ""];
  const less = (whole - Math.max(0, net)) * u;
  let left = Math.max(0, net);
  for (const part of bar.parts) {
    const size = Math.min(Math.max(0, terms[part] ?? 0), left);
    const w = size * u;
    if (w <= 0) continue;
    left -= size;
    const state = player.log.swatches[part];
    drawn += state
      ? box(player, x, y, w, 18, state)
      : `<rect x="${x + 0.7}" y="${y + 0.7}" width="${Math.max(1, w - 1.6)}" height="16.6" rx="1.5" fill="${k.bg}" stroke="${k.ink}" stroke-width="1.4"/>`;
    if (size === terms[part] && size !== net) told += plateSvg(k, x, y, w, num(size));
    x += w;
  }
  if (less > 0) {
    drawn += box(player, x, y + 3, less, 12, "promised");
    if (bar.minus) told += plateSvg(k, x, y, less, `−${num(terms[bar.minus])}`);
    x += less;
  }
  const name = `<text x="0" y="${y + 13}" font-size="12" fill="${k.ink2}">${esc(pick(player, bar.name))}</text>`;
  const sum = `<text x="${x + 5}" y="${y + 14}" font-size="13" font-weight="700" fill="${k.ink}">${num(net)}</text>`;
  return { bar: name + drawn + sum, told };
}

function plateSvg(k, x, y, w, text) {
  const wide = text.length * 6.6 + 6;
  if (w <= wide + 4) return "";
  return `<rect x="${x + w / 2 - wide / 2}" y="${y + 3}" width="${wide}" height="12" fill="${k.bg}"/><text x="${x + w / 2}" y="${y + 13}" text-anchor="middle" font-size="11" font-weight="600" fill="${k.ink}">${text}</text>`;
}

/** The word for what is beyond the room: so much more would do, if equal sides do. */
const beyondOf = ({ test }) => (test.includes("=") ? "short_of" : "exceeds");

/** What is needed beyond the room: it grows from where the room ends. */
function gapSvg(player, need, room, u, high, beyond) {
  const k = player.colour;
  const at = NAME_WIDE + Math.max(0, room) * u;
  const wide = Math.max(2, (need - Math.max(0, room)) * u);
  const left = at < NAME_WIDE + 60; // no room for words before it
  const words = esc(ui(player, beyond, { n: num(need - room) }));
  return `<rect class="gap" x="${at}" y="-1" width="${wide}" height="20" fill="${k["refused-ground"]}" fill-opacity=".6" stroke="${k.refused}" stroke-width="2"/><path d="M${at} -3V${high + 2}" stroke="${k.refused}" stroke-width="2"/><text x="${at + (left ? 5 : -5)}" y="${high + 11}" text-anchor="${left ? "start" : "end"}" font-size="12" font-weight="600" fill="${k.alert}">${words}</text>`;
}

const SHOWN = { "<": "<", "<=": "≤", ">": ">", ">=": "≥" };

// How is a card's formula drawn?
//
// Two bars on one scale, each name above its number, the test and its verdict.
// Left out: what the terms are (sums.js), the rest of the card (card.js).

import { box, swatch } from "./looks.js";
import { SIGNS, holds } from "./sums.js";
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
  return `<span class="t"${title}><span class="l">${state ? swatch(player, state) : ""}${said}</span>${also}<span class="n">${esc(text)}</span></span>`;
}

export function testHtml(player, test, terms) {
  const verdict = holds(test, terms),
    asks = test.asks ? `<div class="lab">${esc(pick(player, test.asks))}</div>` : "";
  if (test.unless && verdict === null)
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
  const plainRows = test.rows.every((row) => !row.includes(" "));
  let rows = "";
  if (plainRows && test.test)
    rows = `<div class="eq">${termHtml(player, left, terms)}<span class="op">${esc(SHOWN[sign])}</span>${termHtml(player, right, terms)}</div>`;
  else
    rows = test.rows
      .map(
        (row) =>
          `<div class="eq">${row
            .split(" ")
            .map((word) =>
              word in SIGNS || word === "="
                ? `<span class="op">${word}</span>`
                : termHtml(player, word, terms),
            )
            .join("")}</div>`,
      )
      .join("");
  if (plainRows && !test.test)
    rows = `<div class="eq">${test.rows
      .map((row) => termHtml(player, row, terms))
      .filter(Boolean)
      .join('<span class="op"></span>')}</div>`;
  const show = (name) => numberOf(player, name, terms);
  return (
    asks +
    rows +
    (test.test
      ? `<div class="test">${show(left)} ${esc(SHOWN[sign])} ${show(right)} <span class="${verdict ? "yes" : "bad"}">${verdict ? "✓" : "✗"} ${ui(player, verdict ? "true" : "false")}</span></div>`
      : "")
  );
}

/** A test in one line: what it asks, its numbers, whether it holds. */
export function testWords(player, test, terms) {
  const verdict = holds(test, terms);
  if (verdict === null || (!test.test && !test.fact)) return null;
  const asks = test.asks ? `${pick(player, test.asks)} ` : "";
  const mark = verdict ? "✓" : "✗";
  if (test.fact) return `${asks}${mark} ${ui(player, verdict ? "yes" : "no")}`;
  const [left, sign, right] = test.test.split(" ");
  const [a, b] = [left, right].map((name) => numberOf(player, name, terms));
  return `${asks}${a} ${SHOWN[sign]} ${b} ${mark} ${ui(player, verdict ? "true" : "false")}`;
}

/** Both sides on one scale; what the smaller lacks is outlined. */
export function barsSvg(player, why, terms) {
  const k = player.colour,
    x0 = 46,
    wide = 250;
  const size = (bar) =>
    bar.parts.reduce((sum, part) => sum + Math.max(0, terms[part] ?? 0), 0);
  const net = (bar) => size(bar) - (bar.minus ? terms[bar.minus] : 0);
  const most = Math.max(1, ...why.bars.map(size)),
    u = wide / most;
  let s = "",
    y = 0;
  for (const bar of why.bars) {
    let x = x0;
    s += `<text x="0" y="${y + 13}" font-size="12" fill="${k.ink2}">${esc(pick(player, bar.name))}</text>`;
    for (const part of bar.parts) {
      const w = Math.max(0, terms[part] ?? 0) * u,
        state = player.log.swatches[part];
      if (w <= 0) continue;
      s += state
        ? box(player, x, y, w, 18, state)
        : `<rect x="${x + 0.7}" y="${y + 0.7}" width="${Math.max(1, w - 1.6)}" height="16.6" rx="1.5" fill="${k.bg}" stroke="${k.ink}" stroke-width="1.4"/>`;
      const t = num(terms[part]),
        tw = t.length * 6.6 + 6;
      if (w > tw + 4)
        s += `<rect x="${x + w / 2 - tw / 2}" y="${y + 3}" width="${tw}" height="12" fill="${k.bg}"/><text x="${x + w / 2}" y="${y + 13}" text-anchor="middle" font-size="11" font-weight="600" fill="${k.ink}">${t}</text>`;
      x += w;
    }
    if (bar.minus && terms[bar.minus] > 0) {
      const w = Math.min(terms[bar.minus] * u, x - x0);
      s += box(player, x - w, y, w, 18, "promised");
    }
    s += `<text x="${x + 5}" y="${y + 14}" font-size="13" font-weight="700" fill="${k.ink}">${num(net(bar))}</text>`;
    y += 24;
  }
  if (why.bars.length === 2) {
    const [need, room] = why.bars.map(net),
      fails = why.tests.some((t) => holds(t, terms) === false && t.test);
    const at = x0 + Math.max(0, Math.min(room, need)) * u;
    if (fails && need > room)
      s += `<rect x="${at}" y="-1" width="${Math.max(2, (need - Math.max(0, room)) * u)}" height="20" fill="${k["refused-ground"]}" fill-opacity=".6" stroke="${k.refused}" stroke-width="2"/><path d="M${at} -3V${y + 2}" stroke="${k.refused}" stroke-width="2"/><text x="${Math.max(at - 5, x0 + 60)}" y="${y + 11}" text-anchor="end" font-size="12" font-weight="600" fill="${k.alert}">${esc(ui(player, "short", { n: num(need - room) }))}</text>`;
  }
  return `<svg width="324" height="${y + (why.bars.length === 2 ? 15 : 0)}" style="overflow:visible" aria-hidden="true">${s}</svg>`;
}

const SHOWN = { "<": "<", "<=": "≤", ">": ">", ">=": "≥" };

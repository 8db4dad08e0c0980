// How does a moment become one picture?
//
// Sentence, tree or block tables, pools with their accounts and the card of what was
// decided, side by side in one SVG that needs nothing else. A film is several of them,
// without cards.
// Left out: writing files (save.js).

import { barOf, notesOn, termsOf } from "./account.js";
import { mapPlan, mapStill } from "./block_map.js";
import { tablesStill } from "./block_tables.js";
import { trainStill } from "./block_train.js";
import { ACROSS, gateWords } from "./blocks.js";
import { UI } from "./canvas.js";
import { noteOf } from "./caption.js";
import { CARD, cardStill } from "./card_still.js";
import { GUT, WIDE, gridOf } from "./grid.js";
import { box, patterns, signOf, signSvg } from "./looks.js";
import { engineOf } from "./layout.js";
import { lockSvg } from "./node.js";
import { drawRibbons } from "./ribbons.js";
import { drawRings } from "./rings.js";
import { sentence } from "./sentence.js";
import { drawSlots } from "./slots.js";
import { svgCanvas } from "./svg_pen.js";
import { esc, lines, num, plain } from "./text.js";
import { drawTree } from "./tree.js";
import { ui } from "./words.js";

const TREE = 340; // pixels of the tree
const HEAD = 56; // pixels above the panes, with one line of the sentence
const LETTER = 9.5; // pixels of a letter of it
const HEAD_SIGN = 28; // of its sign
const NOTE_LETTER = 7.5; // of its note
const PAD = 16;
const POOL = GUT + WIDE + 2;

/** The moment as an SVG document. */
export function stillSvg(player) {
  const { run } = player;
  const parts = partsOf(player, run);
  const card = cardStill(player, run);
  const wide = PAD + TREE + PAD + POOL + PAD + (card.high ? CARD + PAD : 0);
  const head = headPart(player, run, wide);
  const tall = Math.max(parts[0].high, parts[1].high, card.high);
  const high = head.high + tall + PAD;
  const body =
    head.markup +
    shift(PAD, head.high, parts[0].markup) +
    shift(PAD + TREE + PAD, head.high, parts[1].markup) +
    shift(PAD + TREE + PAD + POOL + PAD, head.high, card.markup);
  return documentOf(player, wide, high, body);
}

/** The moments after `first` to `last` events, one below the other, as an SVG document.
 *  Changes: nothing; the run stands where it stood. */
export function filmSvg(player, first, last) {
  const { run } = player;
  const at = run.at;
  const wide = PAD + TREE + PAD + POOL + PAD;
  let y = 0;
  const frames = [];
  for (let moment = first; moment <= last; moment++) {
    run.seek(moment);
    const [tree, pool] = partsOf(player, run);
    const head = headPart(player, run, wide);
    const both =
      shift(PAD, head.high, tree.markup) +
      shift(PAD + TREE + PAD, head.high, pool.markup);
    frames.push(shift(0, y, head.markup + both));
    y += head.high + Math.max(tree.high, pool.high) + PAD;
    frames.push(`<path d="M0 ${y}H${wide}" stroke="${player.colour.line2}"/>`);
  }
  run.seek(at);
  return documentOf(player, wide, y, frames.join(""));
}

function documentOf(player, wide, high, body) {
  const title = esc(`${player.log.name || "kvlab"}: ${sentence(player)}`);
  const style = `text{font-family:${UI}}.m{font-family:monospace}svg{overflow:visible}`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}" role="img">` +
    `<title>${title}</title><style>${style}</style><defs>${patterns(player)}</defs>` +
    `<rect width="${wide}" height="${high}" fill="${player.colour.bg}"/>${body}</svg>`
  );
}

const shift = (x, y, markup) => `<g transform="translate(${x},${y})">${markup}</g>`;

function text(x, y, words, fill, size, weight = 400) {
  return `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${fill}">${esc(words)}</text>`;
}

/** About how wide words are, `letter` pixels a letter and twice that a Chinese sign. */
const wideOf = (words, letter) =>
  letter * (words.length + (words.match(/[\u2e80-\uffef]/g)?.length ?? 0));

/** How much of a term is promised and locked, behind its name. */
function noteSvg(player, x, [due, kept]) {
  const k = player.colour;
  const after = x + (due ? 18 + wideOf(due, 6) : 0);
  return (
    (due && box(player, x + 3, 16, 11, 11, "promised") + text(x + 17, 25, due, k.ink2, 11)) +
    (kept && lockSvg(after + 4, 16, k.ink) + text(after + 15, 25, kept, k.ink2, 11))
  );
}

/** Run and engine; sign, number, kind, sentence and note of the event, as many lines as
 *  they need. */
function headPart(player, run, wide) {
  const k = player.colour;
  const e = run.at - 1;
  const kind =
    e < 0
      ? ui(player, "start")
      : `${ui(player, "event")} ${num(e + 1)} · ${run.named(e)}`;
  const said = lines(sentence(player, run), (wide - 2 * PAD - HEAD_SIGN) / LETTER);
  const told = said.map((line, i) =>
    text(PAD + HEAD_SIGN, 42 + 24 * i, line, k.ink, 18, 600),
  );
  const sign = shift(PAD, 26, signSvg(player, e < 0 ? "note" : signOf(run, e)));
  const from = [plain(player.log.name || "–", 60), ...engineOf(player.log)].join(" · ");
  const high = HEAD + 24 * (said.length - 1);
  const note = noteOf(player, e);
  const noted = note ? lines(note, (wide - 2 * PAD) / NOTE_LETTER) : [];
  const below = noted.map((line, i) => text(PAD, high + 6 + 20 * i, line, k.ink, 14));
  const markup = text(PAD, 20, `${from} · ${kind}`, k.ink2, 12) + sign + told.join("") + below.join("");
  return { markup, high: high + 20 * noted.length };
}

/** What is kept, and where it lies: each as its markup and height. */
function partsOf(player, run) {
  if (run.log.blocks) return [tablesStill(player, run, TREE), blocksPart(player, run)];
  return [treePart(player, run), poolPart(player, run)];
}

/** The tree, drawn into a pane of its own; what only a page needs is taken out. */
function treePart(player, run) {
  const pane = document.createElement("section");
  pane.wide = TREE;
  drawTree(player, pane, run, "");
  const { svg } = pane.parts;
  for (const at of svg.querySelectorAll("*"))
    for (const name of ["id", "role", "tabindex", "style", "data-node", "data-fold"])
      at.removeAttribute(name);
  const high = Number(svg.getAttribute("height") ?? 40);
  const drawn = pane.empty
    ? text(0, 16, ui(player, "empty_tree"), player.colour.ink3, 12)
    : new XMLSerializer().serializeToString(svg);
  return { markup: drawn, high };
}

/** Both pools between their accounts. */
function poolPart(player, run) {
  const g = gridOf(player);
  const layers = [drawRibbons, drawSlots, drawRings].map((drawn) => {
    const canvas = svgCanvas(player);
    drawn(player, canvas, run);
    return canvas.markup();
  });
  const below = 56 + g.high + 10;
  const host = player.log.pools[1]
    ? shift(GUT, below, accountPart(player, run, 2))
    : "";
  return {
    markup:
      shift(GUT, 0, accountPart(player, run, 1)) + shift(0, 56, layers.join("")) + host,
    high: below + (host ? 48 : 0),
  };
}

/** Account, gate, map and free queue of vLLM's blocks; account and map of its L2. */
function blocksPart(player, run) {
  const parts = [];
  let y = 0;
  const add = (markup, high) => {
    parts.push(shift(0, y, markup));
    y += high;
  };
  const words = (said) => text(0, 12, said, player.colour.ink2, 11);
  const tier = (number) => {
    const { n, high } = mapPlan(run, number);
    const name = text(0, 12, `L${number}`, player.colour.ink, 13, 600);
    if (n) add(shift(GUT, 0, accountPart(player, run, number)), 56);
    if (n) add(name + mapStill(player, run, number, svgCanvas), high + 14);
  };
  tier(1);
  add(words(gateWords(player, run)), 28);
  add(words(ui(player, "train")), 18);
  const train = trainStill(player, run, ACROSS);
  if (train.said) add(train.markup, train.high + 8);
  else add(words(ui(player, "no_free")), 28);
  tier(2);
  return { markup: parts.join(""), high: y };
}

function accountPart(player, run, tier) {
  const account = termsOf(player, run, tier);
  const k = player.colour;
  const sum = `= ${num(account.total)} ${account.sound ? "✓" : "!"}`;
  const notes = account.terms.map((term) => notesOn(player, term));
  const rooms = account.terms.map(({ tokens, name }, i) => {
    const words = notes[i].filter(Boolean).map((note) => 18 + wideOf(note, 6));
    const said = words.reduce((all, wide) => all + wide, 15 + wideOf(name, 6));
    return Math.max(said, wideOf(`+ ${num(tokens)}`, 8));
  });
  const free = WIDE - rooms.reduce((a, b) => a + b, 0) - wideOf(sum, 8);
  const gap = Math.max(4, free / account.terms.length);
  let x = 0;
  const said = account.terms.map(({ state, tokens, name }, i) => {
    const at = x;
    x += rooms[i] + gap;
    return (
      box(player, at, 16, 11, 11, state) +
      text(at + 15, 25, name, k.ink2, 11) +
      noteSvg(player, at + 15 + wideOf(name, 6), notes[i]) +
      text(at, 42, `${i ? "+ " : ""}${num(tokens)}`, k.ink, 14, 600)
    );
  });
  return barOf(player, account, 10) + said.join("") + text(x, 42, sum, k.ink, 14, 600);
}

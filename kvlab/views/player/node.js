// What is said about one node?
//
// Its label in the tree, its words for a screen reader, the line below the tree.
// Left out: its strip (strip.js).

import { stateName } from "./looks.js";
import { esc, num, plain } from "./text.js";
import { nodeName, ui } from "./words.js";

const Y = 11; // the label's base line within the node's row

/** A padlock, 8 x 9 pixels, at a place. */
export const lockSvg = (x, y, ink, scale = 1) =>
  `<g transform="translate(${x},${y}) scale(${scale})" fill="none" stroke="${ink}" stroke-width="1.3"><path d="M2 4.5V3a2 2 0 0 1 4 0v1.5"/><rect x="1" y="4.5" width="6" height="4.5" rx=".8" fill="${ink}" stroke="none"/></g>`;

/** The same beside words. */
export const lockSample = (player) =>
  `<svg width="9" height="10" aria-hidden="true">${lockSvg(0, 0.5, player.colour.ink)}</svg>`;

/** Name, lock, hits and range, as far as they fit above the strip. `ends` holds where the
 *  last label of each row ends. */
export function labelOf(player, run, n, { x, w }, ends) {
  const { c, log } = run;
  const row = log.col.rows[n - 1];
  const k = player.colour;
  const id = `n${n}`;
  const wide = id.length * 6.8;
  if (x < (ends.get(row) ?? -9) || (w < wide - 6 && w < 14)) return "";
  const text = (at, words, fill, more = "") =>
    `<text x="${at}" y="${Y}" font-size="11" fill="${fill}" ${more}>${words}</text>`;
  const parts = [text(x, id, k.ink, 'font-weight="600" class="m"')];
  let [from, to] = [x + wide + 4, x + w];
  if (c.lock[n]) {
    const size = num(c.lock[n]).length * 6.5 + 12;
    const at = to - from > size ? to - size : from;
    parts.push(
      lockSvg(at, Y - 9, k.ink),
      text(at + 10, num(c.lock[n]), k.ink, 'font-weight="600"'),
    );
    if (at === from) from += size;
    else to -= size;
  }
  const hits = `×${num(c.hits[n])}`;
  const size = hits.length * 6.5 + 6;
  if (to - from > size) {
    parts.push(text(to - 2, hits, k.ink3, 'text-anchor="end"'));
    to -= size;
  }
  const cut = c.life[n] === 2;
  const said = cut ? ui(player, "orphan") : rangeOf(c, n);
  const letter = /[\u2e80-\uffef]/.test(said) ? 12 : 6.4;
  if (to - from > said.length * letter)
    parts.push(text(from, esc(said), cut ? k.alert : k.ink3));
  ends.set(row, from);
  return parts.join("");
}

/** Token positions as a slice: from 0, without the end (theme.token_range). */
const rangeOf = (c, n) => `${num(c.start[n])}:${num(c.start[n] + c.len[n])}`;

/** Of a node whose host copy is locked: by how many. */
const hostLock = (c, n) => (c.host_lock[n] ? `, host_lock_ref ${c.host_lock[n]}` : "");

/** The node in words. */
export function nodeWords(player, run, n) {
  const { c } = run;
  const looks = run.looks(n).map((look, i) => {
    return look && `L${i + 1} ${stateName(player, look)}`;
  });
  const said = [
    `n${n}`,
    `${ui(player, "tokens")} ${rangeOf(c, n)}`,
    `${ui(player, "lock")} ${c.lock[n]}${hostLock(c, n)}`,
    `${ui(player, "hits")} ${c.hits[n]}`,
    ...looks,
    c.life[n] === 2 && ui(player, "orphan"),
  ];
  return said.filter(Boolean).join(", ");
}

/** The line below the tree: what is pointed at, or chosen, or in the event. */
export function inspectHtml(player, run) {
  const [first] = run.hot;
  const at =
    player.hover ?? player.select ?? (first ? { node: first, request: -1 } : null);
  if (!at) return "";
  return at.request >= 0
    ? requestHtml(player, run, at.request)
    : nodeHtml(player, run, at.node);
}

function requestHtml(player, run, r) {
  const { c } = run;
  const max = num(c.max_new[r]);
  const lengths = c.max_new[r]
    ? [
        ui(player, "in_out", { a: num(c.prompt[r]), b: max }),
        ui(player, "out_of", { a: num(c.outputs[r]), b: max }),
      ]
    : [ui(player, "only_in", { a: num(c.prompt[r]) })];
  const words = [...lengths, ui(player, "kv_of", { n: `<b>${num(c.kv[r])}</b>` })];
  if (c.locks[r]) words.push(`last_node <b>n${c.locks[r]}</b>`);
  return `<b><bdi>${esc(plain(run.log.requests[r]))}</bdi></b>${spans(words)}`;
}

function nodeHtml(player, run, n) {
  const { c } = run;
  const words = [
    `${ui(player, "tokens")} <b>${rangeOf(c, n)}</b>`,
    c.life[n] === 2
      ? `<b>${ui(player, "orphan")}</b>`
      : `${ui(player, "under")} <b>${esc(nodeName(player, c.parent[n]))}</b>`,
    `lock_ref <b>${c.lock[n]}</b>`,
    ...(c.host_lock[n] ? [`host_lock_ref <b>${c.host_lock[n]}</b>`] : []),
    `${ui(player, "hits")} <b>${c.hits[n]}</b>`,
    ...[1, 2].map((tier) => {
      const unit = ui(player, run.log.page > 1 ? "pages_of" : "slots_of", { n: tier });
      return `${unit} <b>${pagesOf(run, tier, 2 + 2 * n)}</b>`;
    }),
  ];
  return `<b>n${n}</b>${spans(words)}`;
}

const spans = (words) => words.map((text) => `<span>${text}</span>`).join("");

const RANGES = 4; // of a node's pages, as many as are told

/** The pages of an owner, as a few ranges. */
function pagesOf(run, tier, owner) {
  const found = run.places[tier]?.of(owner, RANGES + 1) ?? [];
  const told = found
    .slice(0, RANGES)
    .map(([first, end]) => (end === first + 1 ? num(first) : `${num(first)}–${num(end - 1)}`));
  if (found.length > RANGES) told.push("…");
  return told.join(", ").replace(", …", " …") || "–";
}

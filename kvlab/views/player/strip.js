// How is one node of the tree drawn?
//
// As a strip as long as its tokens, with two decks: above on the device, below on the
// host. Left out: where it lies (tree.js), its label and words (node.js).

import { box, paint } from "./looks.js";
import { labelOf, lockSvg, nodeWords } from "./node.js";
import { esc } from "./text.js";
import { ui } from "./words.js";

/** A node as [sign, markup()]: as long as the sign is the same, so is the markup. */
export function stripOf(player, run, n, plan, state, ends) {
  const { c } = run;
  const m = measure(run, n, plan);
  const label = plan.pitch > 30 ? labelOf(player, run, n, m, ends) : "";
  const left = plan.kind === "demote" && run.raw(run.at - 1, "node") === n;
  const [one, two] = state.gone ? ["lost", "lost"] : run.looks(n);
  m.named = m.big ? "" : nameAt(run, n, plan, m, state);
  m.decks = [one ?? (left ? "left" : "available"), two ?? "available"];
  const sign =
    `${m.x} ${m.w} ${m.up} ${m.cut} ${m.decks} ${state.hot} ${state.order} ${state.next} ${state.picked} ${m.named} ${state.open} ` +
    `${c.lock[n]} ${c.host_lock[n]} ${c.hits[n]} ${c.len[n]} ${c.parent[n]} ${levelOf(run, n)} ${plan.pitch} ${label.length}`;
  return [sign, () => markup(player, run, n, plan, m, state, label)];
}

/** Where the name of a node stands that the event, its card or the reader names: "behind"
 *  it, if nothing lies there, or "on" it, if it is wide enough; that of an opened subtree
 *  else "over" what lies behind. Of an event's path the last node of a row says it. */
function nameAt(run, n, { starts, rowOf, wide }, { x, w }, { hot, picked, told, open }) {
  const asked = picked || told || open;
  if (!hot && !asked) return "";
  const { start, len } = run.c;
  const size = 6.4 * `n${n}`.length + 4;
  const free = !starts.has(`${rowOf(n)} ${start[n] + len[n]}`);
  if (free && x + w + size <= wide) return "behind";
  if ((asked || free) && w >= size) return "on";
  return open ? "over" : "";
}

/** The name of a narrow opened subtree, for above all strips; "" for any other node. */
export function nameOver(player, run, n, plan) {
  const m = measure(run, n, plan);
  m.named = m.big ? "" : nameAt(run, n, plan, m, { open: true });
  const at = `translate(0,${plan.Y.get(plan.rowOf(n))})`;
  return m.named === "over"
    ? `<g transform="${at}" pointer-events="none">${nameSvg(player.colour, n, plan, m)}</g>`
    : "";
}

/** Its place within its row: `up` is where its parent's row lies, from here. */
function measure(run, n, plan) {
  const { c } = run;
  const { T, X0, pitch, Y, rowOf } = plan;
  const parent = c.parent[n];
  const big = pitch > 30;
  const elsewhere = parent && rowOf(parent) !== rowOf(n) && Y.has(rowOf(parent));
  return {
    big,
    parent,
    cut: c.life[n] === 2,
    x: X0 + c.start[n] * T,
    w: Math.max(1.2, c.len[n] * T - (big ? 2 : 1)),
    y: big ? 15 : 1.5,
    h1: big ? 15 : pitch > 10 ? 7 : 5,
    h2: !run.log.pools[1] ? 0 : big ? 8 : pitch > 10 ? 4 : 3,
    up: elsewhere ? Y.get(rowOf(parent)) - Y.get(rowOf(n)) + (big ? 39 : 5) : null,
  };
}

function markup(player, run, n, plan, m, state, label) {
  const { x, w, y, h1, h2, big } = m;
  const k = player.colour;
  const parts = [...decks(player, plan, m), label];
  if (big && plan.T >= 6) parts.push(cells(k, run.c.len[n], plan.T, m));
  if (run.c.host_lock[n] && big && w >= 14) parts.push(hostLockSvg(player, run, n, m));
  if (state.gone)
    parts.push(
      `<path d="M${x} ${y}L${x + w} ${y + h1 + h2}M${x} ${y + h1 + h2}L${x + w} ${y}" stroke="${k.lost}" stroke-width="2"/>`,
    );
  if (state.hot) parts.push(ring(m, 2, 3, k.ink, 1.75));
  if (m.named && m.named !== "over") parts.push(nameSvg(k, n, plan, m));
  if (state.order && w > 18) parts.push(orderMark(k, m, state.order));
  if (state.next && w > 18) parts.push(orderMark(k, m, state.next, true));
  if (state.picked) parts.push(ring(m, 3, 4, k.link, 2.5));
  const fold = state.open ? openMark(player, n, plan) : "";
  return `${fold}${edge(k, plan, m)}<g id="${player.id}-n${n}" role="treeitem" aria-level="${levelOf(run, n)}" aria-label="${esc(nodeWords(player, run, n))}" data-node="${n}" style="cursor:pointer">${parts.join("")}</g>`;
}

/** How deep a node lies below the root: found once for each shape of the tree. */
export function levelOf(run, n) {
  const { shape, c } = run;
  if (run.levels?.shape !== shape) run.levels = { shape, of: new Map([[0, 0]]) };
  const { of } = run.levels;
  const way = [];
  for (let up = n; !of.has(up); up = c.parent[up]) way.push(up);
  for (const at of way.reverse()) of.set(at, of.get(c.parent[at]) + 1);
  return of.get(n);
}

/** Its name, on a ground of its own where it lies on the strip. */
function nameSvg(k, n, { pitch }, { x, w, named }) {
  const wide = 6.4 * `n${n}`.length;
  const at = named === "behind" ? x + w + 4 : x + 2;
  const high = Math.min(11, pitch - 1);
  const ground = `<rect x="${at - 1}" y=".5" width="${wide + 2}" height="${high}" fill="${k.bg}"/>`;
  return `${named === "behind" ? "" : ground}<text x="${at}" y="${high - 1}" font-size="10.5" font-weight="600" class="m" fill="${k.ink}">n${n}</text>`;
}

/** What folds an opened subtree again, left of its top. */
function openMark(player, n, { X0, pitch }) {
  const label = `n${n}: ${ui(player, "fold")}`;
  return `<g data-fold="${n}" tabindex="-1" role="treeitem" aria-expanded="true" aria-label="${label}" style="cursor:pointer"><title>${label}</title><rect width="${X0 - 2}" height="${pitch - 1}" fill="transparent"/><text x="3" y="${Math.min(11, pitch - 1)}" font-size="12" fill="${player.colour.ink}">▾</text></g>`;
}

/** The line to its parent: no part of the node, which is outlined without it. */
function edge(k, plan, { x, y, h1, up, parent, cut }) {
  if (cut) return ""; // it left the tree while its load was on its way
  const middle = y + h1 / 2;
  if (!parent)
    return `<path d="M${plan.X0 - 9} ${middle}H${plan.X0}" stroke="${k.ink2}"/>`;
  if (up === null) return "";
  const colour = plan.pitch > 10 ? k.ink2 : k.line2;
  return `<path d="M${x - 4} ${up}V${middle}H${x}" fill="none" stroke="${colour}"/>`;
}

function decks(player, plan, { x, y, w, h1, h2, decks: [one, two] }) {
  const gap = plan.pitch > 10 ? 1 : 0;
  return [
    [y, h1, one, 'class="d1"'],
    ...(h2 ? [[y + h1 + gap, h2, two, 'class="d2"']] : []),
  ].map(([top, high, state, deck]) => {
    if (plan.pitch > 10) return box(player, x, top, w, high, state, deck);
    const fill = state === "available" ? player.colour.line : paint(player, state);
    return `<rect x="${x}" y="${top}" width="${w}" height="${high}" fill="${fill}" ${deck}/>`;
  });
}

function cells(k, tokens, T, { x, y, h1, decks: [one] }) {
  let d = "";
  for (let t = 1; t < tokens; t++) d += `M${x + t * T} ${y + 1}v${h1 - 2}`;
  return `<path d="${d}" stroke="${one === "used" ? "#fff" : k.bg}" opacity=".45"/>`;
}

/** The lock on a host copy, within the edges of its deck. */
function hostLockSvg(player, run, n, { x, y, w, h1 }) {
  const k = player.colour;
  const [right, top] = [x + w - 2, y + h1 + 2];
  const title = esc(`host_lock_ref ${run.c.host_lock[n]}: ${ui(player, "host_locked")}`);
  return `<g><title>${title}</title><rect x="${right - 9}" y="${top}" width="9" height="6" fill="${k.bg}"/>${lockSvg(right - 7.2, top - 0.1, k.ink, 0.66)}</g>`;
}

function ring({ x, y, w, h1, h2 }, out, round, colour, wide) {
  return `<rect x="${x - out}" y="${y - out}" width="${w + 2 * out}" height="${h1 + h2 + 2 * out + 1}" rx="${round}" fill="none" stroke="${colour}" stroke-width="${wide}"/>`;
}

/** A number on a node: where it stands in a chain, or, `soft`, where it would. */
function orderMark(k, { x, y, w, h1 }, order, soft = false) {
  const [cx, cy] = [x + w / 2, y + h1 / 2];
  return `<circle cx="${cx}" cy="${cy}" r="7.5" fill="${soft ? k.bg : k.ink}" stroke="${k.ink}" stroke-dasharray="${soft ? "2 2" : ""}"/><text x="${cx}" y="${cy + 4}" text-anchor="middle" font-size="11" font-weight="600" fill="${soft ? k.ink : k.bg}">${order}</text>`;
}

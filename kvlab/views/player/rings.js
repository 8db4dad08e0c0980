// Which slots are outlined?
//
// Black: in this event. Blue: selected, dashed where only pointed at. Outlines lie on a
// canvas of their own, so that pointing draws no slot anew. Blue lies on a ground of the
// page's, as used slots are blue too.
// Left out: outlines in the tree (strip.js).

import { penOf } from "./canvas.js";
import { chosenNodes } from "./chosen.js";
import { repainted } from "./colouring.js";
import { gridOf, piecesOf, tiersOf } from "./grid.js";

/** Outlines of one event; more than these are not told apart. */
export const MOST_RINGS = 200;

/** Draw all outlines on this canvas anew. */
export function drawRings(player, canvas, run) {
  const g = gridOf(player);
  const pen = penOf(canvas, g.wide, g.high, player.version);
  if (!pen.fresh && canvas.used) pen.clearRect(0, 0, g.wide, g.high);
  const touched = repainted(run);
  canvas.used = false;
  tiersOf(player, run).forEach((t, i) => {
    if (!t.n) return;
    const rings = ringsOf(player, run, i + 1, t, touched[i]);
    for (const [first, size] of overshoot(run, i + 1))
      rings.push([first, size, player.colour.ink, 3, [6, 4]]);
    const halos = rings.filter(([, , colour]) => colour === player.colour.link);
    const grounds = halos.map(([first, n, , wide]) => [first, n, player.colour.bg, wide + 2.5, []]);
    for (const [first, length, colour, wide, dash] of [...grounds, ...rings]) {
      pen.strokeStyle = colour;
      pen.lineWidth = wide;
      pen.setLineDash(dash);
      for (const [x, y, w, high] of blocksOf(piecesOf(t, first, length, g), t.row))
        pen.strokeRect(x - 0.5, y - 0.5, Math.max(2, w + 1), high + 1);
    }
    canvas.used ||= rings.length > 0;
  });
}

/** Pieces as blocks [x, y, width, height]: whole rows, one under the other, are one. */
function blocksOf(pieces, row) {
  const blocks = [];
  for (const [x, y, w] of pieces) {
    const last = blocks.at(-1);
    if (last && last[0] === x && last[2] === w) last[3] = y + row - last[1];
    else blocks.push([x, y, w, row]);
  }
  return blocks;
}

/** Every outline of a tier: [first page, pages, colour, width, dashes]. */
function ringsOf(player, run, tier, { first, n }, touched) {
  const k = player.colour;
  const wanted = wantedOwners(player, run);
  const rings = [];
  const late = touched.slice(0, MOST_RINGS).map(([a, m]) => [a, m, k.ink, 1.75, []]);
  const term = player.tier === tier && player.state;
  if (!wanted.size && !term) return late;
  const counts = (owner) => term && run.termOf(tier, owner) === term;
  const asks = (owner) => counts(owner) || wanted.has(owner);
  let joined; // neighbours that count are outlined as one
  run.places[tier].stretches(asks, (from, end, owner) => {
    const [at, size] = [Math.max(from, first), Math.min(end, first + n)];
    for (const style of wanted.get(owner) ?? []) rings.push([at, size - at, ...style]);
    if (!counts(owner)) return;
    if (joined && joined[0] + joined[1] === at) joined[1] += size - at;
    else late.push((joined = [at, size - at, k.link, 2, [4, 3]]));
  });
  return [...rings, ...late];
}

/** Owners that are outlined, each with its styles. */
function wantedOwners(player, run) {
  const k = player.colour;
  const wanted = new Map();
  const add = (at, style) => {
    const request = at.request >= 0 ? [3 + 2 * at.request] : [];
    for (const owner of [...request, ...chosenNodes(run, at).map((n) => 2 + 2 * n)])
      put(owner, style);
  };
  const put = (owner, style) =>
    wanted.set(owner, [...(wanted.get(owner) ?? []), style]);
  for (const node of run.hot) put(2 + 2 * node, [k.ink, 1.75, []]);
  if (player.select) add(player.select, [k.link, 2.5, []]);
  if (player.hover) add(player.hover, [k.link, 2, [4, 3]]);
  return wanted;
}

/** Of an eviction that ended: the pages it freed beyond what was asked, because leaves go
 *  whole. The last that were freed are those. */
function overshoot(run, tier) {
  const e = run.at - 1;
  if (e < 0 || run.kind(e) !== "evicted" || run.raw(e, "tier") !== `L${tier}`)
    return [];
  let over = Math.floor((run.raw(e, "freed") - run.raw(e, "ask")) / run.log.page);
  const column = run.log.columns.indexOf(`owner${tier}`);
  const owners = run.c[`owner${tier}`];
  const pages = [];
  const take = (first, size) => {
    if (owners[first] !== 0 || over <= 0) return;
    const some = Math.min(size, over);
    pages.push([first + size - some, some]);
    over -= some;
  };
  for (let i = e - 1; i > run.cause(e) && over > 0; i--)
    for (let p = run.end[i + 1] - 1; p >= run.end[i]; p--)
      if (run.op.column[p] === column) run.rowsOf(p, take);
  return pages;
}

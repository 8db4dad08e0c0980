// What does a tree show that is too large to show?
//
// The event's own path and what the reader opened; the rest as one row a subtree.
// Left out: drawing nodes (tree.js).

import { box } from "./looks.js";
import { esc, num } from "./text.js";
import { ui } from "./words.js";

/** Beyond so many nodes the tree folds. */
export const BIG_TREE = 300;

/** How many folded rows are shown at a time. */
export const PART = 40;

/** Over BIG_TREE nodes: what the event, the selection and the reader opened stays; the
 *  rest is one row a subtree of the root. */
export function foldTree(player, run, nodes, hot) {
  const { c } = run,
    kids = new Map(),
    groups = new Map(),
    path = new Set(),
    lead = [];
  for (const n of nodes) {
    const up = c.life[c.parent[n]] ? c.parent[n] : 0;
    kids.has(up) ? kids.get(up).push(n) : kids.set(up, [n]);
  }
  const below = (n) => {
    const all = [n];
    for (let i = 0; i < all.length; i++) all.push(...(kids.get(all[i]) ?? []));
    return all;
  };
  for (const n of kids.get(0) ?? []) groups.set(n, below(n));
  // A prefix that nearly all share would fold everything into one row: show it, and
  // fold what lies below it.
  for (let i = 0; i < 8; i++) {
    const [top, group] = [...groups].reduce(
      (most, g) => (g[1].length > most[1].length ? g : most),
      [0, []],
    );
    if (group.length <= BIG_TREE || player.open.has(top)) break;
    groups.delete(top);
    lead.push(top);
    for (const n of kids.get(top) ?? []) groups.set(n, below(n));
  }
  for (const n of nodes)
    if (hot(n) || n === player.select?.node) for (const up of run.path(n)) path.add(up);
  const shown = [...lead],
    folds = [];
  for (const [t, group] of [...groups].sort(
    (a, b) => run.log.col.rows[a[0] - 1] - run.log.col.rows[b[0] - 1],
  )) {
    if (player.open.has(t)) shown.push(...group.slice(0, 400));
    else {
      const kept = group.filter((n) => path.has(n));
      shown.push(...kept);
      if (kept.length < group.length) folds.push([t, group]);
    }
  }
  const from = player.folded % Math.max(1, folds.length),
    page = folds.slice(from, from + PART);
  player.moreFolds = folds.length - page.length;
  return [shown, page];
}

export function foldRow(player, run, [top, group], x0, wide) {
  const { c } = run,
    sums = {};
  let all = 0;
  for (const n of group) {
    const look = run.looks(n)[0] ?? "host_only";
    sums[look] = (sums[look] ?? 0) + c.len[n];
    all += c.len[n];
  }
  const w = Math.min(wide - x0 - 190, 60 + Math.sqrt(all)),
    s = [];
  let x = x0;
  for (const look of ["used", "in_flight", "evictable", "host_only"])
    if (sums[look]) {
      const part = (sums[look] / all) * w;
      s.push(box(player, x, 2, part, 12, look));
      x += part;
    }
  return `<g data-fold="${top}" tabindex="0" role="treeitem" aria-expanded="false" aria-label="n${top}: ${esc(ui(player, "folded", { a: num(group.length), b: num(all) }))}" style="cursor:pointer"><rect x="0" y="0" width="${wide}" height="17" fill="transparent"/><text x="4" y="12" font-size="11" fill="${player.colour.ink2}">▸</text>${s.join("")}<text x="${x + 6}" y="12" font-size="11" fill="${player.colour.ink2}">n${top} · ${esc(ui(player, "folded", { a: num(group.length), b: num(all) }))}</text></g>`;
}

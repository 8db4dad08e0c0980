// What does a tree show that is too large to show?
//
// The event's own path and what the reader opened; the rest as one row a subtree.
// Left out: drawing nodes (strip.js).

import { chosenNodes } from "./chosen.js";
import { box, stateName } from "./looks.js";
import { levelOf } from "./strip.js";
import { esc, num } from "./text.js";
import { ui } from "./words.js";

/** Beyond so many nodes the tree folds. */
export const BIG_TREE = 300;

/** Pixels of a folded row: a line of words and its bar. */
export const FOLD_ROW = 21;

/** How many folded rows are shown at a time. */
export const PART = 40;

const OPENED = 400; // nodes of an opened subtree that are shown
const [FOLD_LETTER, FOLD_SIGN] = [5.2, 11]; // pixels of a letter and of a Chinese sign
const LOOKS = ["used", "promised", "evictable", "host_only"];

/** The nodes to show; the subtrees to fold, as [top, nodes], of which one page is on
 *  show, and how many stand `before` and `after` it; which subtrees are `open`. `gone`
 *  left the tree. */
export function foldTree(player, run, gone) {
  const { lead, groups } = groupsOf(player, run);
  const paths = pathsOf(player, run, gone, groups);
  const shown = [...lead];
  const folds = [];
  const open = new Set();
  for (const [top, group] of groups) {
    if (player.open.has(top)) {
      shown.push(...group.slice(0, OPENED));
      open.add(top);
      continue;
    }
    const kept = paths.get(top) ?? [];
    shown.push(...kept);
    if (kept.length < group.length) folds.push([top, group]);
  }
  shown.push(...gone);
  const last = Math.max(0, Math.ceil(folds.length / PART) - 1);
  const before = PART * Math.min(last, Math.floor(player.folded / PART));
  const page = folds.slice(before, before + PART);
  return { shown, folds: page, before, after: folds.length - before - page.length, open };
}

/** The nodes on the way to what the event touches or the reader chose, by the top of the
 *  subtree that they are in. */
function pathsOf(player, run, gone, groups) {
  const { life } = run.c;
  const wanted = [...run.hot, ...gone, ...chosenNodes(run, player.select)];
  const found = new Map();
  const seen = new Set();
  for (const n of wanted) {
    const path = run.path(n);
    const top = path.findIndex((up) => groups.has(up));
    if (top < 0 || !(life[n] || gone.includes(n))) continue;
    const kept = found.get(path[top]) ?? found.set(path[top], []).get(path[top]);
    for (const up of path.slice(0, top + 1)) {
      if (life[up] && !seen.has(up)) kept.push(up);
      seen.add(up);
    }
  }
  return found;
}

/** The subtrees below the root, in the order of their rows. A prefix that nearly all
 *  share would fold everything into one row: it is in `lead`, and what lies below it is
 *  folded. Found once for each shape of the tree. */
function groupsOf(player, run) {
  const key = `${run.shape} ${[...player.open]}`;
  if (run.groups?.key === key) return run.groups;
  const kids = new Map();
  for (const n of run.alive) {
    const up = run.c.parent[n];
    kids.has(up) ? kids.get(up).push(n) : kids.set(up, [n]);
  }
  const below = (n) => {
    const all = [n];
    for (let i = 0; i < all.length; i++) all.push(...(kids.get(all[i]) ?? []));
    return all;
  };
  const groups = new Map((kids.get(0) ?? []).map((n) => [n, below(n)]));
  const lead = [];
  for (let i = 0; i < 8; i++) {
    let [top, group] = [0, []];
    for (const g of groups) if (g[1].length > group.length) [top, group] = g;
    if (group.length <= BIG_TREE || player.open.has(top)) break;
    groups.delete(top);
    lead.push(top);
    for (const n of kids.get(top) ?? []) groups.set(n, below(n));
  }
  const { rows } = run.log.col;
  const sorted = [...groups].sort((a, b) => rows[a[0] - 1] - rows[b[0] - 1]);
  return (run.groups = { key, lead, groups: new Map(sorted) });
}

/** One row for a subtree, how many nodes and tokens, and how much of it is what, as
 *  [sign, markup()]. It lies on the positions that its longest path has, `T` pixels a
 *  token. */
export function foldRow(player, run, [top, group], { X0, T }, wide) {
  const { l1, lock, len, start } = run.c;
  const sums = [0, 0, 0, 0]; // tokens of each of LOOKS
  let end = 0;
  for (const n of group) {
    const held = lock[n] ? 0 : 2;
    sums[l1[n] === 2 ? 1 : l1[n] ? held : 3] += len[n];
    end = Math.max(end, start[n] + len[n]);
  }
  const x = X0 + start[top] * T;
  const room = Math.max(3, (end - start[top]) * T);
  const level = levelOf(run, top);
  const sign = `${group.length} ${sums} ${x} ${room} ${level}`;
  const markup = () => foldMarkup(player, top, group.length, sums, [X0, x, room, wide], level);
  return [sign, markup];
}

/** The words stand above the bar, moved left where they would end beyond the pane. */
function foldMarkup(player, top, nodes, sums, [X0, from, room, wide], level) {
  const all = sums.reduce((sum, tokens) => sum + tokens, 0);
  const there = LOOKS.map((look, i) => [look, sums[i]]).filter(([, tokens]) => tokens);
  let x = from;
  const bars = there.map(([look, tokens]) => {
    const part = (tokens / all) * room;
    x += part;
    return box(player, x - part, 13, part, 6, look);
  });
  const key = nodes === 1 ? "folded_one" : "folded";
  const words = ui(player, key, { a: num(nodes), b: num(all) });
  const said = there.map(([look, n]) => `${num(n)} ${stateName(player, look)}`);
  const label = esc(`n${top}: ${words}: ${said.join(", ")}`);
  const ink = player.colour.ink2;
  const text = `n${top} · ${words}`;
  const signs = text.match(/[\u2e80-\uffef]/g)?.length ?? 0;
  const long = FOLD_LETTER * (text.length - signs) + FOLD_SIGN * signs;
  const at = Math.max(X0, Math.min(from, wide - long)); // above its bar
  return `<g data-fold="${top}" tabindex="-1" role="treeitem" aria-level="${level}" aria-expanded="false" aria-label="${label}" style="cursor:pointer"><title>${label}</title><rect x="0" y="0" width="${wide}" height="${FOLD_ROW - 1}" fill="transparent"/><text x="4" y="13" font-size="11" fill="${ink}">▸</text>${bars.join("")}<text x="${at}" y="10" font-size="11" fill="${ink}">${esc(text)}</text></g>`;
}

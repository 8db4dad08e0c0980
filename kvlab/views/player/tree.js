// How is the tree drawn?
//
// As a map of prefixes: x is the token's position, a node is a strip with two decks. Rows
// come from the log, so nothing jumps. Left out: folding (fold.js), one node (strip.js).

import { nextOf, orderOf } from "./chain.js";
import { chosenNodes } from "./chosen.js";
import { BIG_TREE, FOLD_ROW, PART, foldRow, foldTree } from "./fold.js";
import { box } from "./looks.js";
import { inspectHtml } from "./node.js";
import { patch } from "./patch.js";
import { nameOver, stripOf } from "./strip.js";
import { esc, num, put } from "./text.js";
import { ui } from "./words.js";

const X0 = 26; // pixels before the first token
const MOST_WIDE = 30; // pixels of a token
const SHADE = 12; // pixels at an edge below which more is

/** Draw the tree into its pane, touching only what differs from what is there. */
export function drawTree(player, pane, run, label) {
  const parts = (pane.parts ??= paneParts(player, pane, label));
  const gone = goneNodes(run);
  const empty = !run.alive.length && !gone.length;
  if (pane.empty !== empty) {
    pane.empty = empty;
    parts.empty.style.display = empty ? "" : "none";
    parts.svg.style.display = parts.tall.style.display = empty ? "none" : "";
  }
  if (!empty) drawRows(player, run, parts, gone);
  put(parts.insp, inspectHtml(player, run));
}

/** Scroll the pane, not the page, once an event, to the rows that it touches. */
export function followEvent(parts, at) {
  if (parts.followed === at || !parts.touched) return;
  parts.followed = at;
  const [top, bottom] = parts.touched;
  const { scroll } = parts;
  const low = bottom - scroll.clientHeight; // scrolled so far, the last row is just in view
  if (top < scroll.scrollTop) scroll.scrollTop = top - SHADE;
  else if (low > scroll.scrollTop) scroll.scrollTop = Math.min(top - SHADE, low + SHADE);
}

function paneParts(player, pane, label) {
  const wide = pane.wide ?? Math.max(200, pane.clientWidth - 32);
  pane.innerHTML = `<h3>${label}${ui(player, "tree")}<small>${ui(player, player.log.pools[1] ? "tree_note" : "tree_note_one")}</small></h3>
    <div class="scroll" role="tree" tabindex="0" aria-label="${ui(player, "tree")}"><div class="tall"></div><svg width="${wide}" height="1" role="none"><g class="back" aria-hidden="true"></g><g class="rows" role="none"></g><g class="names" aria-hidden="true"></g><g class="folds" role="none"></g></svg>
    <div class="empty" role="treeitem">${ui(player, "empty_tree")}</div></div><div class="insp"></div>`;
  pane.tabIndex = -1; // the tree in it is what the keyboard stops at
  const q = (x) => pane.querySelector(x);
  const [svg, back, rows, names, folds] = ["svg", ".back", ".rows", ".names", ".folds"].map(q);
  return {
    svg,
    scroll: q(".scroll"),
    tall: q(".tall"),
    back,
    rows,
    names,
    folds,
    empty: q(".empty"),
    insp: q(".insp"),
    wide,
    held: new Map(),
    folded: new Map(),
  };
}

/** Nodes that the last event took out of the tree: shown crossed out, this once. */
function goneNodes(run) {
  const e = run.at - 1;
  if (e < 0 || !["delete", "evicthost"].includes(run.kind(e))) return [];
  const node = run.raw(e, "node");
  return run.c.life[node] ? [] : [node];
}

/** The nodes that stand in a line of the event's card, or of its decision's. */
function toldNodes(run) {
  const cards = [run.at - 1, run.behind(run.at - 1)];
  const lines = cards.flatMap((e) => run.log.behind?.[e] ?? []);
  return new Set(lines.flat().map(([n]) => n));
}

/** Draw every shown node as one group with its own row's place, and the ground. It scrolls
 *  to the last row that holds something: those of later events are empty yet. */
function drawRows(player, run, parts, gone) {
  const { c } = run;
  const nodes = gone.length ? [...run.alive, ...gone] : run.alive;
  const hot = (n) => run.hot.has(n) || gone.includes(n);
  const whole = { shown: nodes, folds: [], before: 0, after: 0, open: new Set() };
  const folding = nodes.length > BIG_TREE ? foldTree(player, run, gone) : whole;
  const { shown: some, open } = folding;
  const plan = planOf(player, run, some, parts.wide);
  const { rowOf } = plan;
  const shown = [...some].sort(
    (a, b) => rowOf(a) - rowOf(b) || c.start[a] - c.start[b],
  );
  const groups = new Map();
  const ends = new Map();
  const order = orderOf(run);
  const next = nextOf(run);
  const chosen = new Set(chosenNodes(run, player.select));
  const told = toldNodes(run);
  for (const n of shown) {
    const state = {
      hot: hot(n),
      gone: gone.includes(n),
      order: order.get(n) ?? 0,
      next: next.get(n) ?? 0,
      open: open.has(n),
      picked: chosen.has(n),
      told: told.has(n),
    };
    groups.set(n, [
      plan.Y.get(rowOf(n)),
      ...stripOf(player, run, n, plan, state, ends),
    ]);
  }
  const touched = shown.filter(hot).map((n) => plan.Y.get(rowOf(n)));
  parts.touched = touched.length
    ? [plan.asked ? 0 : Math.min(...touched), Math.max(...touched) + plan.pitch]
    : null;
  const below = foldRows(player, run, folding, plan, parts.wide);
  const end = below.size
    ? plan.bottom + FOLD_ROW * below.size
    : plan.Y.get(rowOf(shown.at(-1))) + plan.pitch;
  placeFolds(parts, plan.bottom, end + 4);
  const back = backOf(player, run, shown, plan, parts.wide);
  put(parts.back, back);
  const inOrder = rootFirst(run, shown).map((n) => [`n${n}`, groups.get(n)]);
  keyed(parts.rows, parts.held, new Map(inOrder), player.tweens);
  put(parts.names, [...open].map((n) => nameOver(player, run, n, plan)).join(""));
  keyed(parts.folds, parts.folded, below, player.tweens);
}

/** The nodes as they are read aloud: each before what lies below it. */
function rootFirst({ c }, shown) {
  const here = new Set(shown);
  const below = new Map([[0, []]]);
  for (const n of shown) {
    const up = here.has(c.parent[n]) ? c.parent[n] : 0;
    below.has(up) ? below.get(up).push(n) : below.set(up, [n]);
  }
  const order = [];
  const left = below.get(0).reverse();
  while (left.length) {
    const n = left.pop();
    order.push(n);
    left.push(...(below.get(n) ?? []).reverse());
  }
  return order;
}

/** Put what is folded below the rows: all of it moves as one. What scrolls is `tall`: an
 *  SVG of another height would be laid out whole, with every text in it. */
function placeFolds(parts, bottom, high) {
  if (parts.high !== high) parts.tall.style.height = `${(parts.high = high)}px`;
  if (parts.bottom === bottom) return;
  parts.folds.setAttribute("transform", `translate(0,${(parts.bottom = bottom)})`);
}

/** One row for each folded subtree, to the scale of `plan`; above and below them the ways
 *  to the pages before and after. */
function foldRows(player, run, { folds, before, after }, plan, wide) {
  const rows = folds.map((fold) => [
    `f${fold[0]}`,
    foldRow(player, run, fold, plan, wide),
  ]);
  if (before) rows.unshift(["before", turnRow(player, "subtrees_before", before, before - PART)]);
  if (after) rows.push(["after", turnRow(player, "subtrees", after, before + PART)]);
  return new Map(rows.map(([key, row], i) => [key, [i * FOLD_ROW, ...row]]));
}

/** The row that turns to the page of folded subtrees from number `to` on. */
function turnRow(player, key, n, to) {
  const words = ui(player, key, { n: num(n) });
  const markup = `<text x="${X0}" y="12" font-size="11" fill="${player.colour.link}" data-do="unfold" data-to="${to}" style="cursor:pointer" tabindex="-1" role="treeitem">${words}</text>`;
  return [markup, () => markup];
}

/** Where everything lies: the row's height, each row's y, the width of a token. */
function planOf(player, run, shown, wide) {
  const { log } = run;
  const [rows, depth] = log.col.tree;
  const rowOf = (n) => log.col.rows[n - 1];
  const e = run.at - 1;
  const kind = e >= 0 ? run.kind(e) : "";
  const asked = kind === "match" ? run.terms(e) : null;
  // Every row that is ever used keeps its place, unless they are too many to show.
  const used =
    rows <= 40
      ? [...Array(rows).keys()]
      : [...new Set(shown.map(rowOf))].sort((a, b) => a - b);
  const pitch = rows <= 8 ? 42 : used.length <= 26 ? 15 : 10;
  const Y = new Map();
  let y = rows <= 8 || asked ? 46 : 20;
  for (const row of used) {
    Y.set(row, y);
    y += pitch;
  }
  const T = Math.min(MOST_WIDE, (wide - X0 - 10) / Math.max(depth, 8));
  const starts = new Set(shown.map((n) => `${rowOf(n)} ${run.c.start[n]}`));
  return { X0, wide, starts, T, pitch, Y, rowOf, depth, asked, kind, bottom: y };
}

/** The ground: positions, the spine, and a request that is being matched. */
function backOf(player, run, shown, plan, wide) {
  const { T, Y, rowOf, depth, asked, bottom, pitch } = plan;
  const k = player.colour;
  const s = [];
  const text = (x, anchor, n) =>
    `<text x="${x}" y="11" text-anchor="${anchor}" font-size="11" fill="${k.ink3}">${num(n)}</text>`;
  const wideLabel = 6.6 * num(depth).length + 12;
  let stride = 8;
  while (stride * T < Math.max(46, wideLabel)) stride *= 2;
  for (let t = 0; t <= depth && (t === 0 || (depth - t) * T > wideLabel); t += stride) {
    const x = X0 + t * T;
    s.push(
      `<path d="M${x} 15V${bottom - 4}" stroke="${k.line}"/>${text(x, "middle", t)}`,
    );
  }
  s.push(text(Math.min(wide, X0 + depth * T + 10), "end", depth));
  if (asked) s.push(askedBar(player, asked, T));
  const spine = shown
    .filter((n) => !run.c.parent[n] && run.c.life[n] !== 2)
    .map((n) => Y.get(rowOf(n)) + (pitch > 30 ? 22 : 5));
  if (spine.length)
    s.push(
      `<path d="M${X0 - 9} ${Math.min(...spine)}V${Math.max(...spine)}" stroke="${k.ink2}" stroke-width="1.5"/>`,
    );
  return s.join("");
}

/** A request being matched, above the tree: on L1, on L2, in no cache. */
function askedBar(player, t, T) {
  const parts = [
    ["used", t.device, ui(player, "on_l1")],
    ["host_only", t.host, ui(player, "on_l2")],
    ["available", t.asked - t.device - t.host, ui(player, "in_none")],
  ].filter(([, n]) => n);
  let at = 0;
  const bars = parts.map(([state, n]) => {
    at += n;
    return box(player, X0 + (at - n) * T, 20, n * T, 12, state);
  });
  const said = parts.map(([, n, words]) => `${num(n)} ${words}`).join(" · ");
  return `${bars.join("")}<text x="${X0}" y="42" font-size="10.5" fill="${player.colour.ink2}">${esc(said)}</text>`;
}

/** Make a group hold exactly these parts, {key: [y, sign, markup()]}, in their order: one
 *  whose sign is the same is left alone; with `tweens`, a new one fades in. */
function keyed(group, held, parts, tweens) {
  // Those that go first: else all behind them would be out of place.
  for (const [key, { g }] of held)
    if (!parts.has(key)) {
      g.remove();
      held.delete(key);
    }
  let next = group.firstChild;
  for (const [key, [y, sign, markup]] of parts) {
    let part = held.get(key);
    const isNew = !part;
    if (isNew) {
      const g = document.createElementNS("http://www.w3.org/2000/svg", "g");
      g.setAttribute("role", "none"); // nothing stands between the tree and its items
      held.set(key, (part = { g, y: NaN, sign: null }));
    }
    const { g } = part;
    if (g === next) next = g.nextSibling;
    else group.insertBefore(g, next);
    if (isNew && tweens) g.animate([{ opacity: 0 }, { opacity: 1 }], 120);
    if (part.sign !== sign) {
      patch(g, markup());
      part.sign = sign;
    }
    if (part.y !== y) g.setAttribute("transform", `translate(0,${(part.y = y)})`);
  }
}

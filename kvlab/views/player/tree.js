// How is the tree drawn?
//
// As a map of prefixes: x is the token's position, a node is a strip with two decks. Rows
// come from the log, so nothing jumps. Left out: folding (fold.js), labels (node.js).

import { BIG_TREE, foldRow, foldTree } from "./fold.js";
import { box, paint } from "./looks.js";
import { inspectHtml, nodeLabel, nodeWords } from "./node.js";
import { esc, num } from "./text.js";
import { ui } from "./words.js";

export function drawTree(player, pane, run, label) {
  const { c, log } = run,
    alive = [];
  for (let n = 1; n < c.life.length; n++) if (c.life[n]) alive.push(n);
  const gone = goneNodes(player, run);
  const note = `<h3>${label}${ui(player, "tree")}<small>${ui(player, "tree_note")}</small></h3>`;
  const wide = (player.treeWide ??= Math.max(200, pane.clientWidth - 32));
  if (!pane.querySelector(".scroll"))
    pane.innerHTML = `${note}<div class="scroll" role="tree" aria-label="${ui(player, "tree")}"><svg width="${wide}"><g class="back"></g><g class="rows"></g></svg><div class="empty"></div></div><div class="insp"></div>`;
  const empty = !alive.length && !gone.length,
    q = (x) => pane.querySelector(x);
  q(".empty").textContent = ui(player, "empty_tree");
  q(".empty").style.display = empty ? "" : "none";
  q(".scroll svg").style.display = empty ? "none" : "";
  if (!empty) {
    const { high, back, parts } = treeParts(
      player,
      run,
      [...alive, ...gone],
      new Set(gone),
      wide,
    );
    q("svg").setAttribute("height", high);
    if (pane.back !== back) q(".back").innerHTML = pane.back = back;
    keyed(q(".rows"), parts);
  }
  if (pane.insp !== (pane.insp = inspectHtml(player, run)))
    q(".insp").outerHTML = pane.insp;
  if (log) player.nodes = alive;
}

/** Nodes that the last event took out of the tree: shown crossed out, this once. */
function goneNodes(player, run) {
  const e = run.at - 1;
  if (e < 0 || !["delete", "evicthost"].includes(run.kind(e))) return [];
  const node = run.raw(e, "node");
  return run.c.life[node] ? [] : [node];
}

/** The tree as a ground and, by key, one group a node, each drawn from its own row
 *  down, so that what has not changed is not touched. */
function treeParts(player, run, nodes, gone, wide) {
  const { c, log } = run,
    rowOf = (n) => log.col.rows[n - 1],
    [rows, depth] = log.col.tree;
  const x0 = 26,
    T = Math.min(15, (wide - x0 - 10) / Math.max(depth, 8));
  const hot = (n) => player.hot.has(n) || gone.has(n);
  const e = run.at - 1,
    asked = e >= 0 && run.kind(e) === "match" ? run.terms(e) : null;
  let shown = nodes,
    folds = [];
  if (nodes.length > BIG_TREE) [shown, folds] = foldTree(player, run, nodes, hot);
  shown = [...shown].sort((a, b) => rowOf(a) - rowOf(b) || c.start[a] - c.start[b]);
  // Every row that is ever used keeps its place, unless they are too many to show.
  const used =
    rows <= 40
      ? [...Array(rows).keys()]
      : [...new Set(shown.map(rowOf))].sort((a, b) => a - b);
  const pitch = rows <= 8 ? 42 : used.length <= 26 ? 15 : 10,
    high = () => pitch;
  const Y = new Map();
  let y = rows <= 8 || asked ? 46 : 20;
  const top = y,
    parts = new Map();
  for (const row of used) {
    Y.set(row, y);
    y += high(row);
  }
  const s = [],
    k = player.colour;
  let stride = 8;
  while (stride * T < 46) stride *= 2;
  for (let t = 0; t <= depth && (t === 0 || (depth - t) * T > 24); t += stride)
    s.push(
      `<path d="M${x0 + t * T} 15V${y - 4}" stroke="${k.line}"/><text x="${x0 + t * T}" y="11" text-anchor="middle" font-size="11" fill="${k.ink3}">${num(t)}</text>`,
    );
  s.push(
    `<text x="${Math.min(wide, x0 + depth * T + 10)}" y="11" text-anchor="end" font-size="11" fill="${k.ink3}">${num(depth)}</text>`,
  );
  if (asked) s.push(askedBar(player, asked, x0, T));
  const spine = shown
    .filter((n) => !c.parent[n])
    .map((n) => Y.get(rowOf(n)) + (high(rowOf(n)) > 30 ? 22 : 5));
  if (spine.length)
    s.push(
      `<path d="M${x0 - 9} ${Math.min(...spine)}V${Math.max(...spine)}" stroke="${k.ink2}" stroke-width="1.5"/>`,
    );
  let order = 0;
  const kind = e >= 0 ? run.kind(e) : "";
  const ends = new Map(),
    inOrder = ["load", "loadback", "loaddone", "backup"].includes(kind);
  for (const n of shown) {
    const row = rowOf(n),
      h = high(row),
      big = h > 30,
      base = Y.get(row),
      yy = big ? 15 : 1.5;
    const lv = big ? 15 : h > 10 ? 7 : 5,
      l2 = big ? 8 : h > 10 ? 4 : 3;
    const x = x0 + c.start[n] * T,
      w = Math.max(1.2, c.len[n] * T - (big ? 2 : 1));
    const [one, two] = gone.has(n) ? ["lost", "lost"] : run.looks(n),
      parent = c.parent[n];
    const g = [];
    if (!parent)
      g.push(`<path d="M${x0 - 9} ${yy + lv / 2}H${x0}" stroke="${k.ink2}"/>`);
    else if (Y.has(rowOf(parent)) && rowOf(parent) !== row) {
      const py = Y.get(rowOf(parent)) - base + (big ? 39 : 5);
      g.push(
        `<path d="M${x - 4} ${py}V${yy + lv / 2}H${x}" fill="none" stroke="${h > 10 ? k.ink2 : k.line2}"/>`,
      );
    }
    const left = kind === "demote" && run.raw(e, "node") === n;
    const decks = [
      [yy, lv, one ?? (left ? "left" : "available")],
      [yy + lv + (h > 10 ? 1 : 0), l2, two ?? "available"],
    ];
    for (const [dy, dh, state] of decks)
      g.push(
        h > 10
          ? box(player, x, dy, w, dh, state)
          : `<rect x="${x}" y="${dy}" width="${w}" height="${dh}" fill="${state === "available" ? k.line : paint(player, state)}"/>`,
      );
    if (big && T >= 6) {
      let cells = "";
      for (let t = 1; t < c.len[n]; t++) cells += `M${x + t * T} ${yy + 1}v${lv - 2}`;
      g.push(
        `<path d="${cells}" stroke="${one === "used" ? "#fff" : k.bg}" opacity=".45"/>`,
      );
    }
    if (gone.has(n))
      g.push(
        `<path d="M${x} ${yy}L${x + w} ${yy + lv + l2}M${x} ${yy + lv + l2}L${x + w} ${yy}" stroke="${k.lost}" stroke-width="2"/>`,
      );
    if (big) g.push(nodeLabel(player, run, n, x, 11, w, row, ends));
    if (hot(n))
      g.push(
        `<rect x="${x - 2}" y="${yy - 2}" width="${w + 4}" height="${lv + l2 + 5}" rx="3" fill="none" stroke="${k.ink}" stroke-width="1.75"/>`,
      );
    if (!big && hot(n) && h > 12)
      g.push(
        `<text x="${x + w + 4}" y="10" font-size="10.5" font-weight="600" style="font-family:var(--mono)" fill="${k.ink}">n${n}</text>`,
      );
    if (inOrder && hot(n) && player.hot.size > 1 && w > 18)
      g.push(
        `<circle cx="${x + w / 2}" cy="${yy + lv / 2}" r="7.5" fill="${k.ink}"/><text x="${x + w / 2}" y="${yy + lv / 2 + 4}" text-anchor="middle" font-size="11" font-weight="600" fill="${k.bg}">${++order}</text>`,
      );
    if (player.select?.node === n || player.hover?.node === n)
      g.push(
        `<rect x="${x - 3}" y="${yy - 3}" width="${w + 6}" height="${lv + l2 + 7}" rx="4" fill="none" stroke="${k.link}" stroke-width="2.5" ${player.select?.node === n ? "" : 'stroke-dasharray="4 3"'}/>`,
      );
    parts.set(`n${n}`, [
      base,
      `<g id="${player.id}-n${n}" role="treeitem" aria-level="${run.path(n).length}" aria-label="${esc(nodeWords(player, run, n))}" data-node="${n}" style="cursor:pointer">${g.join("")}</g>`,
    ]);
  }
  for (const fold of folds) {
    parts.set(`f${fold[0]}`, [y, foldRow(player, run, fold, x0, wide)]);
    y += 18;
  }
  if (player.moreFolds) {
    parts.set("more", [
      y,
      `<text x="${x0}" y="12" font-size="11" fill="${k.link}" data-do="unfold" style="cursor:pointer" tabindex="0" role="button">${ui(player, "subtrees", { n: num(player.moreFolds) })}</text>`,
    ]);
    y += 18;
  }
  return { high: Math.max(y, top) + 4, back: s.join(""), parts };
}

function askedBar(player, t, x0, T) {
  const s = [],
    late = [],
    parts = [
      ["used", t.device, ui(player, "on_l1")],
      ["host_only", t.host, ui(player, "on_l2")],
      ["available", t.asked - t.device - t.host, "–"],
    ];
  let at = 0;
  for (const [state, n, words] of parts)
    if (n) {
      s.push(box(player, x0 + at * T, 20, n * T, 12, state));
      late.push(`${num(n)} ${words}`);
      at += n;
    }
  return (
    s.join("") +
    `<text x="${x0}" y="42" font-size="10.5" fill="${player.colour.ink2}">${esc(late.join(" · "))}</text>`
  );
}

/** Make a group hold exactly these parts, {key: [y, markup]}, touching only what differs. */
function keyed(group, parts) {
  const held = (group.held ??= new Map());
  for (const [key, [y, markup]] of parts) {
    let part = held.get(key);
    if (!part) {
      const g = document.createElementNS("http://www.w3.org/2000/svg", "g");
      held.set(key, (part = { g, y: NaN, markup: null }));
      group.append(g);
    }
    if (part.markup !== markup) part.g.innerHTML = part.markup = markup;
    if (part.y !== y) part.g.setAttribute("transform", `translate(0,${(part.y = y)})`);
  }
  for (const [key, part] of held)
    if (!parts.has(key)) {
      part.g.remove();
      held.delete(key);
    }
}

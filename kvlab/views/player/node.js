// What is said about one node?
//
// Its label in the tree, its words for a screen reader, the line below the tree.
// Left out: its strip (tree.js).

import { stateName } from "./looks.js";
import { esc, num, plain } from "./text.js";
import { nodeName, ui } from "./words.js";

export function nodeLabel(player, run, n, x, y, w, row, ends) {
  const { c } = run,
    k = player.colour,
    id = `n${n}`,
    wid = id.length * 6.8;
  if (x < (ends.get(row) ?? -9) || (w < wid - 6 && w < 14)) return "";
  let s = `<text x="${x}" y="${y}" font-size="11" font-weight="600" style="font-family:var(--mono)" fill="${k.ink}">${id}</text>`;
  let from = x + wid + 4,
    to = x + w;
  if (c.lock[n]) {
    const t = num(c.lock[n]),
      wide = t.length * 6.5 + 12;
    const at = to - from > wide ? to - wide : from;
    s += `<g transform="translate(${at},${y - 9})" fill="none" stroke="${k.ink}" stroke-width="1.3"><path d="M2 4.5V3a2 2 0 0 1 4 0v1.5"/><rect x="1" y="4.5" width="6" height="4.5" rx=".8" fill="${k.ink}" stroke="none"/></g><text x="${at + 10}" y="${y}" font-size="11" font-weight="600" fill="${k.ink}">${t}</text>`;
    if (at === from) from += wide;
    else to -= wide;
  }
  const hits = `×${num(c.hits[n])}`;
  if (to - from > hits.length * 6.5 + 6) {
    s += `<text x="${to - 2}" y="${y}" text-anchor="end" font-size="11" fill="${k.ink3}">${hits}</text>`;
    to -= hits.length * 6.5 + 6;
  }
  const range = `${num(c.start[n])}–${num(c.start[n] + c.len[n] - 1)}`;
  if (to - from > range.length * 6.4)
    s += `<text x="${from}" y="${y}" font-size="11" fill="${k.ink3}">${range}</text>`;
  ends.set(row, from);
  return s;
}

export function nodeWords(player, run, n) {
  const { c } = run,
    [one, two] = run.looks(n);
  return `n${n}, ${num(c.len[n])} ${ui(player, "tokens")}, ${ui(player, "lock")} ${c.lock[n]}, ${one ? `L1 ${stateName(player, one)}` : ""} ${two ? `L2 ${stateName(player, two)}` : ""}`;
}

export function inspectHtml(player, run) {
  const first = [...player.hot][0],
    { c } = run;
  const at =
    player.hover ?? player.select ?? (first ? { node: first, request: -1 } : null);
  if (!at) return `<div class="insp" style="visibility:hidden"></div>`;
  if (at.request >= 0) {
    const r = at.request;
    return `<div class="insp"><b><bdi>${esc(plain(run.log.requests[r]))}</bdi></b><span>${ui(player, "in_out", { a: num(c.prompt[r]), b: num(c.max_new[r]) })}</span><span>${ui(player, "out_of", { a: num(c.outputs[r]), b: num(c.max_new[r]) })}</span><span>kv <b>${num(c.kv[r])}</b></span></div>`;
  }
  const n = at.node,
    pages = (tier) => pagesOf(player, run, tier, 2 + 2 * n);
  return `<div class="insp"><b>n${n}</b><span>${ui(player, "tokens")} <b>${num(c.start[n])}–${num(c.start[n] + c.len[n] - 1)}</b></span><span>${ui(player, "under")} <b>${esc(nodeName(player, c.parent[n]))}</b></span><span>lock_ref <b>${c.lock[n]}</b></span><span>${ui(player, "hits")} <b>${c.hits[n]}</b></span><span>L1 <b>${pages(1)}</b></span><span>L2 <b>${pages(2)}</b></span></div>`;
}

function pagesOf(player, run, tier, owner) {
  const rows = run.c[`owner${tier}`],
    out = [];
  for (let i = 0; i < rows.length && out.length < 5; i++)
    if (rows[i] === owner) {
      const first = i;
      while (rows[i + 1] === owner) i++;
      out.push(first === i ? num(i) : `${num(first)}–${num(i)}`);
    }
  return out.length > 4 ? `${out.slice(0, 4).join(", ")} …` : out.join(", ") || "–";
}

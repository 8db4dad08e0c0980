// How does a run of vLLM's blocks look?
//
// Left the requests with their block tables; in the middle the account, the gate, every
// block in its place, and the free queue as a train whose head is taken first.
// Left out: the card, the timeline, the lanes: they are the same for every engine.

import { freeQueue, blockAccount, blockLook } from "./blocksum.js";
import { lanesOf, movedBlocks, tableOf } from "./blocksum.js";
import { box, stateName, swatch } from "./looks.js";
import { esc, num, plain, put } from "./text.js";
import { otherHtml, ownWord, ui } from "./words.js";

const ACROSS = 508;
const CAR = 42; // pixels of a car, its coupling included
const ENDS = 22; // cars shown at each end of a long train
const TABLE = 24; // blocks shown of a table

/** The panes of one run: requests, blocks. */
export function drawBlocks(player, pane, run, label) {
  put(pane.tree, tablesHtml(player, run, label));
  put(pane.pool, poolHtml(player, run, label));
}

// ---- requests and their tables

function tablesHtml(player, run, label) {
  const lanes = lanesOf(run),
    touched = movedBlocks(run, 1);
  const now = run.at ? run.request(run.at - 1) : -1;
  const rows = Object.entries(lanes)
    .filter(([name, all]) => all.length || name !== "deferred")
    .map(([name, all]) => {
      const list = all.slice(0, 40).map((r) => rowHtml(player, run, r, now, touched));
      const more =
        all.length > 40 ? `<div class="none">+ ${num(all.length - 40)}</div>` : "";
      return `<div class="lab">${ui(player, name)}</div>${list.join("") || '<div class="none">–</div>'}${more}`;
    });
  return `<h3>${label}${ui(player, "tree")}<small>${ui(player, "tree_note")}</small></h3><div class="scroll">${rows.join("")}</div>`;
}

function rowHtml(player, run, r, now, touched) {
  const { c, log } = run,
    held = tableOf(run, r);
  const marks = [r === now ? "hot" : "", player.select?.request === r ? "sel" : ""];
  const cells = held
    .slice(0, TABLE)
    .map((block, i) => cellSvg(player, run, block, i * 26, touched.has(block)));
  const more = held.length > TABLE ? ` +${num(held.length - TABLE)}` : "";
  const known = num(c.prompt[r] + c.outputs[r]);
  const back = c.retracted[r] ? ` · ${ui(player, "back", { n: c.retracted[r] })}` : "";
  const table = held.length
    ? `<svg width="${Math.min(held.length, TABLE) * 26}" height="22" role="img" aria-label="${ui(player, "blocks_of", { n: held.length })}: ${held.slice(0, TABLE).join(", ")}">${cells.join("")}</svg>${more}`
    : "";
  return `<div style="display:flex;gap:8px;align-items:center;min-height:26px"><button class="chip ${marks.join(" ")}" data-request="${r}"><b><bdi>${esc(plain(log.requests[r], 14))}</bdi></b><small>${num(c.kv[r])} / ${known}${esc(back)}</small></button>${table}</div>`;
}

function cellSvg(player, run, block, x, ring) {
  const named = run.c.name1[block],
    k = player.colour;
  return `<g><title>${block} · ref_cnt ${run.c.ref1[block]} · ${esc(run.log.hashes[named] || "–")}</title>${box(player, x, 1, 24, 20, "used")}${plate(player, x + 12, 11, block)}${named ? `<path d="M${x + 2} 19h20" stroke="${k["evictable-edge"]}" stroke-width="2"/>` : ""}${ring ? outline(k.ink, x, 1, 24, 20) : ""}</g>`;
}

const outline = (colour, x, y, w, h) =>
  `<rect x="${x - 0.5}" y="${y - 0.5}" width="${w + 1}" height="${h + 1}" rx="3" fill="none" stroke="${colour}" stroke-width="1.75"/>`;

/** A label on a plate, centred: text never lies on a pattern. */
function plate(player, x, y, text, size = 10) {
  const k = player.colour,
    w = `${text}`.length * size * 0.62 + 4;
  return `<rect x="${x - w / 2}" y="${y - size / 2 - 1}" width="${w}" height="${size + 2}" rx="2" fill="${k.bg}"/><text x="${x}" y="${y + size * 0.36}" text-anchor="middle" font-size="${size}" font-weight="600" style="font-family:var(--mono)" fill="${k.ink}">${esc(text)}</text>`;
}

// ---- account, gate, map, train

function poolHtml(player, run, label) {
  const { log } = player;
  const note = ui(player, "cell_block", { n: num(log.facts.block_size) });
  const parts = [
    `<h3>${label}${ui(player, "memory")}<small>${note}</small></h3>`,
    sumHtml(player, run, 1),
    gateHtml(player, run),
    mapSvg(player, run, 1),
    trainHtml(player, run),
  ];
  if (log.pools[1])
    parts.push(
      `<h3 style="margin-top:10px">${ui(player, "l2")}</h3>`,
      sumHtml(player, run, 2),
      mapSvg(player, run, 2),
    );
  return parts.join("");
}

/** Each state under vLLM's word, SGLang's in its title. */
function sumHtml(player, run, tier) {
  const { total, terms } = blockAccount(run, tier),
    high = tier === 1 ? 14 : 8;
  let x = 0,
    bars = "";
  for (const [state, n] of terms) {
    const w = total ? (n / total) * ACROSS : 0;
    if (w > 0) bars += box(player, x, 0, w, high, state);
    x += w;
  }
  const told = terms.map(([state, n, moved], i) => {
    const own = ownWord(player, state) ?? stateName(player, state);
    const [title, also] = otherHtml(player, state) || ["", ""];
    const by = moved
      ? `<span class="d">${moved > 0 ? "+" : "−"}${num(Math.abs(moved))}</span>`
      : "";
    return `${i ? '<span class="op">+</span>' : ""}<span class="term ${n ? "" : "z"}" tabindex="0"${title}><span class="l">${swatch(player, state)}${esc(own)}</span>${also}<span><span class="n">${num(n)}</span>${by}</span></span>`;
  });
  const right = terms.reduce((sum, term) => sum + term[1], 0) === total;
  return `<svg class="bar" width="${ACROSS}" height="${high}" aria-hidden="true">${bars}</svg><div class="acct">${told.join("")}<span class="op">=</span><span class="term"><span class="l">${ui(player, "slots")}</span><span><span class="n">${num(total)}</span> <span class="${right ? "ok" : "bad"}">${right ? "✓" : "!"}</span></span></span></div>`;
}

function gateHtml(player, run) {
  const { facts, pools } = player.log,
    free = run.c.account[0];
  const usage = pools[0] ? (1 - free / pools[0]).toFixed(3) : "0";
  const gate = facts.kept ? ` · ${ui(player, "gate", { n: num(facts.kept) })}` : "";
  return `<div class="dim m" style="margin:4px 0 8px">usage = 1 − ${num(free)} / (${num(pools[0] + 1)} − 1) = ${usage}${esc(gate)}</div>`;
}

function mapSvg(player, run, tier) {
  const { c, log } = run,
    n = log.pools[tier - 1],
    k = player.colour;
  const columns = n <= 20 ? Math.max(n, 10) : n <= 60 ? 20 : n <= 240 ? 40 : 80;
  const cell = ACROSS / columns,
    high = columns <= 20 ? 24 : columns <= 40 ? 14 : 7;
  const shown = Math.min(n, columns * 24),
    touched = movedBlocks(run, tier),
    s = [];
  for (let block = 1; block <= shown; block++) {
    const x = ((block - 1) % columns) * cell,
      y = Math.floor((block - 1) / columns) * (high + 2);
    const ref = c[`ref${tier}`][block];
    s.push(box(player, x, y, cell, high, blockLook(run, tier, block)));
    if (columns <= 20)
      s.push(
        plate(
          player,
          x + cell / 2,
          y + high / 2,
          ref > 1 ? `${block}×${ref}` : block,
          9,
        ),
      );
    if (touched.has(block)) s.push(outline(k.ink, x, y, cell, high));
  }
  const rows = Math.ceil(shown / columns);
  const more = n > shown ? `<small>+ ${num(n - shown)}</small>` : "";
  return `<svg width="${ACROSS + 2}" height="${rows * (high + 2)}" role="img" aria-label="L${tier}: ${num(n)} ${ui(player, "slots")}">${s.join("")}</svg>${more}`;
}

function trainHtml(player, run) {
  const free = freeQueue(run, 1),
    long = free.length > 2 * ENDS;
  const shown = long ? [...free.slice(0, ENDS), 0, ...free.slice(-ENDS)] : free;
  const per = Math.floor(ACROSS / CAR),
    touched = movedBlocks(run, 1);
  const cars = shown.map((block, i) => {
    const x = (i % per) * CAR,
      y = Math.floor(i / per) * 42;
    const last = i % per === per - 1 || i === shown.length - 1;
    return block
      ? carSvg(player, run, block, x, y, last, touched.has(block))
      : `<text x="${x}" y="${y + 20}" font-size="9" fill="${player.colour.ink2}">+${num(free.length - 2 * ENDS)}</text>`;
  });
  const rows = Math.max(1, Math.ceil(shown.length / per));
  const empty = free.length
    ? ""
    : `<div class="empty" style="min-height:38px">${ui(player, "no_free")}</div>`;
  const said = shown.map((block) =>
    block ? `${block} ${run.log.hashes[run.c.name1[block]] || "–"}` : "…",
  );
  return `<h3 style="margin-top:10px">${ui(player, "train")}<small>${ui(player, "train_note")}</small></h3>${empty || `<svg class="train" width="${ACROSS}" height="${rows * 42}" role="img" aria-label="${esc(said.join(", "))}">${cars.join("")}</svg>`}`;
}

function carSvg(player, run, block, x, y, last, ring) {
  const k = player.colour,
    hash = run.log.hashes[run.c.name1[block]];
  const coupling = last
    ? ""
    : `<path d="M${x + 37} ${y + 17}h5" stroke="${k.ink2}" stroke-width="2"/>`;
  const label = hash ? plate(player, x + 18.5, y + 25, hash, 8.5) : "";
  return `<g data-block="${block}">${box(player, x, y, 37, 34, blockLook(run, 1, block))}${plate(player, x + 18.5, y + 10, block)}${label}${coupling}${ring ? outline(k.ink, x, y, 37, 34) : ""}</g>`;
}

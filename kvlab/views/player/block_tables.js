// Which requests are there, and which blocks does each hold?
//
// A line for each request of a lane: how far it is computed, and its block table. Only
// lines that changed are written anew.
// Left out: which lane a request stands in (blocksum.js), why it waits (card.js).

import { outline, plate, words } from "./block_parts.js";
import { lanesOf, movedBlocks, hashOf, tableOf } from "./blocksum.js";
import { box } from "./looks.js";
import { esc, num, plain, put } from "./text.js";
import { ui } from "./words.js";

const CELL = 26; // pixels from one block of a table to the next
const LINE = 26; // pixels of a request's line
const TABLE = 24; // blocks shown of a table
const GROUP = 3; // blocks that stay together where a table wraps
const MOST = 40; // requests shown of a lane
const NAME = 100; // pixels of a request's name in a still

/** Draw all lanes into their pane. */
export function drawTables(player, pane, run, label) {
  pane.parts ??= tableParts(player, pane, label);
  const { list, held } = pane.parts;
  const lines = linesOf(player, run);
  const kept = new Set(lines.map(([key]) => key));
  // Those that go first: else all behind them would be out of place.
  for (const [key, line] of held) {
    if (kept.has(key)) continue;
    line.at.remove();
    held.delete(key);
  }
  lines.forEach(([key, first, sign, markup], i) => {
    if (!held.has(key)) held.set(key, emptyLine(key));
    const line = held.get(key);
    put(line.first, first);
    if (line.sign !== sign) put(line.rest, markup());
    line.sign = sign;
    if (list.children[i] !== line.at) list.insertBefore(line.at, list.children[i]);
  });
}

/** A line with a place for what changes at most steps, and one for what seldom does. */
function emptyLine(key) {
  const at = document.createElement("div");
  if (typeof key !== "number") return { at, first: at };
  at.className = "line";
  at.innerHTML = "<span></span><span></span>";
  return { at, first: at.firstChild, rest: at.lastChild };
}

function tableParts(player, pane, label) {
  const title = `${label}${ui(player, "tree")}<small>${ui(player, "tree_note")}</small>`;
  pane.innerHTML = `<h3>${title}</h3><div class="scroll tables" tabindex="0" role="group" aria-label="${ui(player, "tree")}"></div>`;
  pane.tabIndex = -1; // the requests in it are what the keyboard stops at
  return { list: pane.querySelector(".tables"), held: new Map() };
}

/** The lanes that are shown: name, the requests shown of it, how many more there are. */
function lanesShown(run) {
  const lanes = Object.entries(lanesOf(run));
  return lanes
    .filter(([name, all]) => all.length || name !== "deferred")
    .map(([name, all]) => [name, all.slice(0, MOST), Math.max(0, all.length - MOST)]);
}

/** Every line as [key, what stands first]; of a request, by its number, then also sign
 *  and markup() of its table: as long as the sign is the same, so is the markup. */
function linesOf(player, run) {
  const touched = movedBlocks(run, 1);
  return lanesShown(run).flatMap(([name, some, more]) => {
    const lab = `<div class="lab">${ui(player, name)}</div>`;
    const none = some.length ? "" : '<div class="none">–</div>';
    const rest = more ? `<div class="none">+ ${num(more)}</div>` : "";
    return [
      [name, lab + none],
      ...some.map((r) => lineOf(player, run, r, touched)),
      ...(rest ? [[`${name}+`, rest]] : []),
    ];
  });
}

function lineOf(player, run, r, touched) {
  const { c } = run;
  const held = tableOf(run, r);
  const shown = held.subarray(0, TABLE);
  let sign = `${held.length}`;
  for (const block of shown)
    sign += ` ${block}.${c.ref1[block]}.${hashOf(run, block)}${touched.has(block) ? "!" : ""}`;
  return [r, chipHtml(player, run, r), sign, () => tableSvg(player, run, held, touched)];
}

function chipHtml(player, run, r) {
  const { c, log } = run;
  const marks = [run.names(run.at - 1, r) ? "hot" : "", player.select?.request === r ? "sel" : ""];
  const name = `<b><bdi>${esc(plain(log.requests[r], 14))}</bdi></b>`;
  const far = `<small>${esc(farWords(player, run, r))}</small>`;
  return `<button tabindex="-1" class="chip ${marks.join(" ")}" data-request="${r}">${name}${far}</button>`;
}

/** How far a request is: tokens computed and known, and how often it was sent back. */
function farWords(player, { c }, r) {
  const known = num(c.prompt[r] + c.outputs[r]);
  const back = c.retracted[r] ? ` · ${ui(player, "back", { n: c.retracted[r] })}` : "";
  return `${num(c.kv[r])} / ${known}${back}`;
}

function tableSvg(player, run, held, touched) {
  if (!held.length) return "";
  const said = `${ui(player, "blocks_of", { n: num(held.length) })}: ${held.subarray(0, TABLE).join(", ")}`;
  const more = held.length > TABLE ? `+${num(held.length - TABLE)}` : "";
  let groups = "";
  for (let at = 0; at < Math.min(held.length, TABLE); at += GROUP) {
    const some = held.subarray(at, Math.min(at + GROUP, TABLE));
    const cells = cellsSvg(player, run, some, touched, GROUP);
    groups += `<svg width="${some.length * CELL}" height="22">${cells}</svg>`;
  }
  return `<span class="held" role="img" aria-label="${said}">${groups}${more}</span>`;
}

function cellsSvg(player, run, held, touched, most) {
  const cells = Array.from(held.subarray(0, most), (block, i) =>
    cellSvg(player, run, block, i * CELL, touched.has(block)),
  );
  return cells.join("");
}

/** One block of a table, underlined if it has a hash. */
function cellSvg(player, run, block, x, ring) {
  const named = run.c.named1[block];
  const title = `${block} · ref_cnt ${run.c.ref1[block]} · ${hashOf(run, block) || "–"}`;
  const line = named
    ? `<path d="M${x + 3} 18.5h18" stroke="${player.colour.bg}" stroke-width="2"/>`
    : "";
  const parts = [
    box(player, x, 1, 24, 20, "used"),
    plate(player, x + 12, 11, block),
    line,
    ring ? outline(player, x, 1, 24, 20) : "",
  ];
  return `<g><title>${esc(title)}</title>${parts.join("")}</g>`;
}

/** The same as SVG that many pixels wide, for a still: its markup and height. */
export function tablesStill(player, run, wide) {
  const touched = movedBlocks(run, 1);
  const most = Math.floor((wide - NAME - 40) / CELL);
  const parts = [];
  let y = 0;
  const line = (markup, high = LINE) => {
    parts.push(`<g transform="translate(0,${y})">${markup}</g>`);
    y += high;
  };
  for (const [name, some, more] of lanesShown(run)) {
    line(words(player, 0, 14, ui(player, name), 11, "ink3"), 20);
    if (!some.length) line(words(player, 0, 12, "–"), 18);
    for (const r of some) line(lineSvg(player, run, r, touched, most));
    if (more) line(words(player, 0, 12, `+ ${num(more)}`), 18);
  }
  return { markup: parts.join(""), high: y };
}

function lineSvg(player, run, r, touched, most) {
  const held = tableOf(run, r);
  const cells = cellsSvg(player, run, held, touched, most);
  const rest = held.length > most ? `+${num(held.length - most)}` : "";
  return (
    words(player, 0, 10, plain(run.log.requests[r], 14), 11, "ink") +
    words(player, 0, 21, farWords(player, run, r), 9.5, "ink3") +
    `<g transform="translate(${NAME},0)">${cells}</g>` +
    words(player, NAME + most * CELL + 4, 15, rest)
  );
}

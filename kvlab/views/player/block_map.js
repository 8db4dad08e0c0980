// Where does every block of a tier lie?
//
// Few blocks are boxes with their number and, if several hold one, how many; many are
// cells of a canvas, drawn as slots are. None is left out, but where a pixel must show
// more than one: then that is said.
// Left out: which look a block has (blocksum.js).

import { outline, plate } from "./block_parts.js";
import { blockLook, movedBlocks } from "./blocksum.js";
import { penOf } from "./canvas.js";
import { GUT, WIDE, piecesOf } from "./grid.js";
import { box } from "./looks.js";
import { drawPixels } from "./pixels.js";
import { Places } from "./places.js";
import { MOST_RINGS } from "./rings.js";
import { Shown } from "./shown.js";
import { num, put } from "./text.js";
import { ui } from "./words.js";

const BOXES = 240; // blocks that are drawn as boxes
const LABELLED = 60; // boxes that are wide enough for their number
const HIGHEST = [150, 60]; // pixels of a map of cells, of each tier
const APART = 4; // pixels a cell needs for a line between it and the next

/** How the blocks of a tier are laid out. */
export function mapPlan(run, tier) {
  const n = run.log.pools[tier - 1];
  if (n <= BOXES) {
    const columns = n <= 20 ? Math.max(n, 10) : n <= LABELLED ? 20 : 40;
    const row = columns <= 20 ? 24 : 14;
    return planFor(n, columns, row, 2, true);
  }
  const highest = HIGHEST[tier - 1];
  const columns = Math.max(40, Math.ceil(WIDE / Math.sqrt((WIDE * highest) / n)));
  const pitch = Math.min(14, highest / Math.ceil(n / columns));
  const gap = pitch > APART ? 1 : 0;
  return planFor(n, columns, pitch - gap, gap, false);
}

function planFor(n, columns, row, gap, boxes) {
  const cell = WIDE / columns;
  const rows = Math.ceil(n / columns);
  const pitch = row + gap;
  return { n, columns, cell, row, pitch, boxes, high: rows * pitch, first: 1, y: 0 };
}

/** Draw a tier's blocks into their place. */
export function drawMap(player, at, run, tier) {
  const plan = mapPlan(run, tier);
  if (plan.boxes) return put(at, boxesHtml(player, run, tier, plan));
  if (!at.layers) {
    const label = `L${tier}: ${num(plan.n)} ${ui(player, "slots")}`;
    at.innerHTML = `<div class="pl" style="height:${plan.high}px"><canvas role="img" aria-label="${label}"></canvas><canvas class="over"></canvas></div>${denseHtml(player, plan)}`;
    at.layers = [...at.querySelectorAll("canvas")];
  }
  drawCells(player, at.layers[0], run, tier);
  drawMoved(player, at.layers[1], run, tier);
}

/** Where a pixel must show more than one block. */
function denseHtml(player, { n, high }) {
  const each = n / (WIDE * high);
  if (each <= 1) return "";
  const says = `1 px = ${num(Math.ceil(each))} ${ui(player, "slots")}`;
  return `<div class="none" style="padding-left:${GUT}px">${says}</div>`;
}

/** Draw the cells that changed on this canvas. */
function drawCells(player, canvas, run, tier) {
  const plan = mapPlan(run, tier);
  const pen = penOf(canvas, GUT + WIDE + 2, plan.high, player.version);
  if (pen.fresh) {
    const size = plan.n + 1;
    canvas.tier = plan;
    canvas.shown = new Shown(plan.n, size + 2);
    // An owner of its own gives a block a line before it.
    const ownerOf = (_, block) => (plan.cell < APART ? 0 : block + 2);
    canvas.places = new Places(Int32Array.from({ length: size }, ownerOf));
    canvas.places.painted = run.places[tier].painted;
  }
  const names = Object.keys(player.log.looks);
  const codes = ["used", "evictable", "available"].map((look) => names.indexOf(look));
  const { [`ref${tier}`]: ref, [`named${tier}`]: named } = run.c;
  const codeOf = (_, block) => codes[ref[block] ? 0 : named[block] ? 1 : 2];
  const { shown, places, tier: t } = canvas;
  const rows = shown.update(places, t, t.columns, codeOf, "painted");
  if (rows.length) drawPixels(player, pen, t, t, shown, rows);
}

/** Outline the blocks that the last event named. */
function drawMoved(player, canvas, run, tier) {
  const plan = mapPlan(run, tier);
  const pen = penOf(canvas, GUT + WIDE + 2, plan.high, player.version);
  if (!pen.fresh && canvas.used) pen.clearRect(0, 0, GUT + WIDE + 2, plan.high);
  const moved = stretches(movedBlocks(run, tier)).slice(0, MOST_RINGS);
  canvas.used = moved.length > 0;
  pen.strokeStyle = player.colour.ink;
  pen.lineWidth = 1.75;
  for (const [first, size] of moved)
    for (const [x, y, w] of piecesOf(plan, first, size, plan))
      pen.strokeRect(x - 0.5, y - 0.5, Math.max(2, w), Math.max(2, plan.row + 1));
}

/** Numbers as [first, how many] wherever they go on. */
function stretches(numbers) {
  const found = [];
  for (const n of [...numbers].sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last && last[0] + last[1] === n) last[1]++;
    else found.push([n, 1]);
  }
  return found;
}

function boxesHtml(player, run, tier, plan) {
  const label = `L${tier}: ${num(plan.n)} ${ui(player, "slots")}`;
  return `<svg style="margin-left:${GUT}px;display:block" width="${WIDE + 2}" height="${plan.high}" role="img" aria-label="${label}">${boxesSvg(player, run, tier, plan)}</svg>`;
}

function boxesSvg(player, run, tier, plan) {
  const { columns, cell, row, pitch, n } = plan;
  const touched = movedBlocks(run, tier);
  const parts = [];
  for (let block = 1; block <= n; block++) {
    const x = ((block - 1) % columns) * cell;
    const y = Math.floor((block - 1) / columns) * pitch;
    parts.push(box(player, x, y, cell, row, blockLook(run, tier, block)));
    const ref = run.c[`ref${tier}`][block];
    const label = ref > 1 ? `${block}×${ref}` : block;
    if (n <= LABELLED) parts.push(plate(player, x + cell / 2, y + row / 2, label, 9));
    if (touched.has(block)) parts.push(outline(player, x, y, cell, row));
  }
  return parts.join("");
}

/** The same as SVG, for a still; `svgCanvas` makes something to draw on. */
export function mapStill(player, run, tier, svgCanvas) {
  const plan = mapPlan(run, tier);
  if (plan.boxes)
    return `<g transform="translate(${GUT},0)">${boxesSvg(player, run, tier, plan)}</g>`;
  const layers = [drawCells, drawMoved].map((drawn) => {
    const canvas = svgCanvas(player);
    drawn(player, canvas, run, tier);
    return canvas.markup();
  });
  return layers.join("");
}

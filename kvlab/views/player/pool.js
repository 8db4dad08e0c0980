// What does the memory pane hold?
//
// Title, two accounts, and between them three canvases that lie on one another.
// Left out: what is drawn on them (ribbons.js, slots.js, rings.js), account.js.

import { putAccount } from "./account.js";
import { blocksHigh } from "./blocks.js";
import {
  colourButton,
  contentsHtml,
  contentsWords,
  hasChecks,
  slotWords,
} from "./contents.js";
import { byState } from "./colouring.js";
import { gridOf, pageAt, stretchesOf } from "./grid.js";
import { stateName } from "./looks.js";
import { drawRibbons } from "./ribbons.js";
import { drawRings } from "./rings.js";
import { drawSlots } from "./slots.js";
import { num, plain, put } from "./text.js";
import { ui } from "./words.js";

const LAYERS = `<div class="t"></div><div class="a1"></div><div class="pl">
<canvas class="under"></canvas><canvas class="slots" tabindex="0" role="img"></canvas>
<canvas class="over"></canvas></div><div class="a2"></div><div class="c"></div>`;
const TOLD = 30; // stretches of slots that are told to a screen reader

/** Pixels that the pane needs: title, accounts and the pools between them. */
export function heightOf(player) {
  const { log } = player;
  if (log.blocks) return blocksHigh(player);
  const contents = hasChecks(log) ? 90 : 0;
  const { high, tiers } = gridOf(player);
  return 132 + high + (tiers[1].n ? 52 : 0) + contents;
}

/** Title and accounts. */
export function drawPool(player, pane, run, label) {
  const { page, pools } = run.log;
  const { cell } = gridOf(player);
  const many = cell < 0.5 ? num(Math.round(page / cell)) : 0;
  const note = many
    ? ui(player, "cell_many", { n: many })
    : ui(player, page === 1 ? "cell" : "cell_page", { n: num(page) });
  put(
    pane.querySelector(".t"),
    `<h3>${label}${ui(player, "memory")}<small>${note}</small>${colourButton(player)}</h3>`,
  );
  put(pane.querySelector(".c"), contentsHtml(player, run));
  putAccount(player, pane.querySelector(".a1"), run, 1);
  if (pools[1]) putAccount(player, pane.querySelector(".a2"), run, 2);
}

/** Both pools and the copies between them. */
export function drawPoolCanvas(player, pane, run) {
  const canvases = layersOf(player, pane);
  canvases[1].run = run;
  drawRibbons(player, canvases[0], run);
  drawSlots(player, canvases[1], run);
  drawRings(player, canvases[2], run);
}

/** The outlines alone: what pointing and choosing changes. */
export function drawOutlines(player, pane, run) {
  drawRings(player, layersOf(player, pane)[2], run);
}

function layersOf(player, pane) {
  if (!pane.layers) {
    pane.innerHTML = LAYERS;
    pane.layers = [...pane.querySelectorAll("canvas")];
    pane.querySelector(".pl").style.height = `${gridOf(player).high}px`;
    pane.layers[1].addEventListener("pointermove", (move) => {
      move.target.title = slotTitle(player, move.target.run, move);
    });
  }
  return pane.layers;
}

/** Tell a screen reader what the canvases show. */
export function describePool(player, pane, run) {
  pane.layers[1].setAttribute("aria-label", poolWords(player, run));
}

/** What is under the pointer: a slot or page, whose it is, its state, a lock on L2. */
function slotTitle(player, run, move) {
  const [tier, page] = pageAt(player, run, move);
  if (!tier) return "";
  const { page: size } = run.log;
  const [from, end] = [page * size, (page + 1) * size - 1];
  const owner = run.c[`owner${tier}`][page];
  const parts = [
    `L${tier} ${num(from)}${size > 1 ? `–${num(end)}` : ""}`,
    ownerName(run, owner),
    stateName(player, byState(run, tier)(owner, page)) + lockWords(run, tier, owner),
  ];
  const wrong = slotWords(player, run, tier, page);
  return (wrong && `${wrong}\n`) + parts.filter(Boolean).join(" · ");
}

/** A node or a request, by its number as an owner; nothing for nobody. */
function ownerName(run, owner) {
  if (owner < 2) return "";
  return owner & 1 ? plain(run.log.requests[(owner - 3) / 2], 12) : `n${(owner - 2) / 2}`;
}

/** Of slots on L2 whose node's host copy is locked: by how many. */
function lockWords(run, tier, owner) {
  const locks = tier === 2 && owner > 1 ? run.c.host_lock[(owner - 2) / 2] : 0;
  return locks ? ` · host_lock_ref ${num(locks)}` : "";
}

function poolWords(player, run) {
  const tierWords = (tier) => {
    const list = stretchesOf(player, run, tier, TOLD + 1);
    const lookAt = byState(run, tier);
    const said = list.slice(0, TOLD).map(([first, length, owner]) => {
      const look = stateName(player, lookAt(owner, first));
      const end = length > 1 ? `–${first + length - 1}` : "";
      return `${first}${end} ${ownerName(run, owner)} ${look}${lockWords(run, tier, owner)}`;
    });
    const more = list.length > TOLD ? " …" : "";
    return list.length ? `L${tier}: ${said.join("; ")}${more}` : "";
  };
  return `${tierWords(1)}. ${tierWords(2)} ${contentsWords(player, run)}`.trim();
}

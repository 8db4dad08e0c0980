// Which block is taken next?
//
// The free queue as a train whose head is taken first: of a long one both ends are shown.
// Left out: where the blocks lie (block_map.js).

import { outline, plate, words } from "./block_parts.js";
import { blockLook, freeEnds, movedBlocks, hashOf } from "./blocksum.js";
import { box } from "./looks.js";
import { esc, num, put } from "./text.js";
import { ui } from "./words.js";

const CAR = 42; // pixels of a car, its coupling included
const [BODY, TALL] = [37, 34]; // of the car itself
const ROW = 42; // pixels from one row of cars to the next
const ENDS = 22; // cars shown at each end of a long train

/** Pixels of a train in a pool of n blocks, across so many. */
export const trainHigh = (n, across) =>
  ROW * Math.ceil(Math.min(n, 2 * ENDS + 1) / Math.floor(across / CAR));

/** Draw the free queue into its place. */
export function drawTrain(player, at, run, across) {
  const { markup, high, said } = trainStill(player, run, across);
  const empty = `<div class="empty" style="min-height:38px">${ui(player, "no_free")}</div>`;
  const svg = `<svg class="train" width="${across}" height="${high}" role="img" aria-label="${esc(said)}">${markup}</svg>`;
  put(at, said ? svg : empty);
}

/** The same as SVG: its markup and height, and what it says in words. */
export function trainStill(player, run, across) {
  const { head, tail, left } = freeEnds(run, ENDS);
  const shown = left ? [...head, 0, ...tail] : [...head, ...tail]; // 0: some left out
  const per = Math.floor(across / CAR);
  const touched = movedBlocks(run, 1);
  const cars = shown.map((block, i) => {
    const [x, y] = [(i % per) * CAR, Math.floor(i / per) * ROW];
    if (!block) return words(player, x, y + 20, `+${num(left)}`, 9);
    const last = i % per === per - 1 || i === shown.length - 1;
    const car = carSvg(player, run, block, last, touched.has(block));
    return `<g data-block="${block}" transform="translate(${x},${y})">${car}</g>`;
  });
  const told = shown.map((block) => (block ? `${block} ${hashOf(run, block) || "–"}` : "…"));
  const high = ROW * Math.max(1, Math.ceil(shown.length / per));
  return { markup: cars.join(""), high, said: told.join(", ") };
}

/** A car, wherever it stands: who moves up stays as it is. */
function carSvg(player, run, block, last, ring) {
  const hash = hashOf(run, block);
  const line = `<path d="M${BODY} 17h5" stroke="${player.colour.ink2}" stroke-width="2"/>`;
  const parts = [
    box(player, 0, 0, BODY, TALL, blockLook(run, 1, block)),
    plate(player, BODY / 2, 10, block),
    hash ? plate(player, BODY / 2, 25, hash, 8.5) : "",
    last ? "" : line,
    ring ? outline(player, 0, 0, BODY, TALL) : "",
  ];
  return parts.join("");
}

// How does a run of vLLM's blocks look?
//
// Left the requests with their block tables; in the middle the account, the gate, every
// block in its place, and the free queue.
// Left out: the card, the timeline, the lanes: they are the same for every engine.

import { putAccount } from "./account.js";
import { drawMap, mapPlan } from "./block_map.js";
import { drawTables } from "./block_tables.js";
import { drawTrain, trainHigh } from "./block_train.js";
import { GUT, WIDE } from "./grid.js";
import { esc, num, put } from "./text.js";
import { ui } from "./words.js";

/** Pixels across a map with what stands before it. */
export const ACROSS = GUT + WIDE + 2;

const SPARE = 24; // pixels between the map and a train beside it
const SHORTEST = 168; // pixels that a train needs to stand beside the map
const LOW = 260; // pixels that such a train may be high, whatever the map
const ABOVE = 120; // pixels of the pool's pane above its map
const PARTS = `<div class="t"></div><div class="pools"><div class="blocks"><div class="a1"></div>
<div class="gate dim m"></div><div class="map"><div class="m1"></div></div></div><div class="queue"><h3></h3>
<div class="q1"></div></div><div class="blocks l2"><h3></h3><div class="a2"></div>
<div class="map"><div class="m2"></div></div></div></div>`;

/** The panes of one run: requests, blocks. */
export function drawBlocks(player, pane, run, label) {
  drawTables(player, pane.tree, run, label);
  const parts = (pane.pool.parts ??= poolParts(player, pane.pool, run, label));
  putAccount(player, parts.a1, run, 1);
  put(parts.gate, esc(gateWords(player, run)));
  drawMap(player, parts.m1, run, 1);
  drawTrain(player, parts.q1, run, parts.across);
  if (!run.log.pools[1]) return;
  putAccount(player, parts.a2, run, 2);
  drawMap(player, parts.m2, run, 2);
}

/** Pixels that the pool's pane needs, without a train beside the map. */
export function blocksHigh(player) {
  const { run, log } = player;
  const train = trainHigh(log.pools[0], ACROSS);
  const host = log.pools[1] ? 96 + mapPlan(run, 2).high : 0;
  return ABOVE + 60 + mapPlan(run, 1).high + train + host;
}

function poolParts(player, pane, run, label) {
  pane.innerHTML = PARTS;
  const at = (name) => pane.querySelector(name);
  const note = ui(player, "cell_block", { n: num(run.log.facts.block_size) });
  at(".t").innerHTML = `<h3>${label}${ui(player, "memory")}<small>${note}</small></h3>`;
  at(".queue h3").innerHTML =
    `${ui(player, "train")}<small>${ui(player, "train_note")}</small>`;
  at(".l2 h3").textContent = ui(player, "l2");
  [at(".m1"), at(".m2")].forEach((map, i) => {
    const words = `<b>L${i + 1}</b> ${i ? "CPU" : "GPU"}`;
    map.insertAdjacentHTML("beforebegin", `<span class="gut">${words}</span>`);
  });
  at(".l2").hidden = !run.log.pools[1];
  const beside = pane.clientWidth - 32 - ACROSS - SPARE;
  const high = beside >= SHORTEST ? trainHigh(run.log.pools[0], beside) : Infinity;
  const low = high <= Math.max(LOW, ABOVE + mapPlan(run, 1).high);
  const across = low ? beside : ACROSS;
  at(".queue").style.width = `${across}px`;
  at(".blocks").style.width = `${ACROSS}px`;
  const named = ["a1", "gate", "m1", "q1", "a2", "m2"].map((name) => [name, at(`.${name}`)]);
  return { ...Object.fromEntries(named), across };
}

/** The usage that vLLM reports, and what its gate keeps free. */
export function gateWords(player, run) {
  const { facts, pools } = run.log;
  const free = run.c.account[0];
  const usage = pools[0] ? (1 - free / pools[0]).toFixed(3) : "0";
  const gate = facts.kept ? ` · ${ui(player, "gate", { n: num(facts.kept) })}` : "";
  return `usage = 1 − ${num(free)} / (${num(pools[0] + 1)} − 1) = ${usage}${gate}`;
}

// What is seen to move when an event passes?
//
// What is drawn is always the moment itself; this lies above it for a quarter of a second:
// copies go from pool to pool, decks drain, arrivals turn solid, a chain one node after
// the other. The next key ends it. Without motion there is none.
// Left out: the order of a chain at rest (chain.js), accounts (account.js).

import { bundle } from "./bundle.js";
import { sidesOf } from "./draw.js";
import { gridOf, piecesOf, tiersOf } from "./grid.js";
import { box } from "./looks.js";
import { movesOf, takenPages } from "./moves.js";

const FURTHEST = 40; // events passed at once, beyond which nothing moves
const MOST_FLYING = 24; // pieces that fly at once
const LARGE = 20000; // pages of a pool in which no copy is seen flying, the tree apart
const [ALONE, EACH, ALL] = [220, 150, 240]; // milliseconds
const EASE = "cubic-bezier(.2,0,0,1)";
const SVG_SPACE = "http://www.w3.org/2000/svg";

/** Let what the events [from, to) moved be seen moving. */
export function fly(player, from, to) {
  if (player.log.blocks || !player.motion || to <= from || to - from > FURTHEST) return;
  for (const { run, pane } of sidesOf(player)) {
    const moves = movesOf(run, from, Math.min(to, run.count));
    const step = Math.min(45, (ALL - EACH) / Math.max(1, moves.length - 1));
    const time = moves.length > 1 ? EACH : ALONE;
    const seen = Math.max(...run.log.pools) <= LARGE;
    moves.forEach((move, i) => {
      const timing = { duration: time, delay: i * step, easing: EASE, fill: "backwards" };
      inTree(player, pane.tree, move, timing);
      if (seen) inPools(player, pane.pool, run, move, timing);
    });
  }
}

/** End all motion: what lies below is the moment. */
export function land(player) {
  for (const { moving, part } of player.flying ?? []) {
    moving.cancel();
    part.remove();
  }
  player.flying = [];
}

/** Put a part above what is drawn, for as long as it moves. */
function above(player, group, markup, frames, timing) {
  const part = document.createElementNS(SVG_SPACE, "g");
  part.innerHTML = markup;
  part.setAttribute("class", "fly");
  group.append(part);
  const moving = part.animate(frames, timing);
  player.flying.push({ moving, part });
  moving.onfinish = () => part.remove();
}

const FADE = [{ opacity: 1 }, { opacity: 0 }];
const drain = (up) => [
  { transform: "none", transformOrigin: up ? "0 0" : "0 100%" },
  { transform: "scaleY(0)", transformOrigin: up ? "0 0" : "0 100%" },
];

/** How a move shows on the decks and slots it leads to: what covers them, and how it
 *  goes away. What arrives on L1 was promised its slots. */
const COVERS = {
  load: ["available", FADE],
  write: ["available", FADE],
  land1: ["promised", FADE],
  land2: ["in_flight", FADE],
  demote: ["evictable", drain(false)],
  reclaim: ["copy", drain(true)],
};

const coverOf = ({ what, tier }) => COVERS[what] ?? COVERS[`${what}${tier}`];

function inTree(player, pane, move, timing) {
  const { node, tier } = move;
  const group = pane.parts?.held.get(`n${node}`)?.g;
  const deck = group?.querySelector(`.d${tier}`);
  if (!deck) return;
  const [x, y, w, h] = ["x", "y", "width", "height"].map((a) => +deck.getAttribute(a));
  const [look, frames] = coverOf(move);
  above(player, group, box(player, x - 0.5, y - 0.5, w + 1, h + 1, look), frames, timing);
}

function inPools(player, pane, run, move, timing) {
  const layer = layerOf(player, pane);
  const [look, frames] = coverOf(move);
  const t = tiersOf(player, run)[move.tier - 1];
  const g = gridOf(player);
  const pieces = takenPages(run, move)
    .slice(0, MOST_FLYING)
    .flatMap(([first, n]) => [...piecesOf(t, first, n, g)]);
  const covers = pieces.map(([x, y, w]) => box(player, x, y, w, t.row, look)).join("");
  above(player, layer, covers, frames, timing);
  if (move.what !== "load" && move.what !== "write") return;
  const strands = pane.layers[0].strands.filter((s) => s.node === move.node);
  for (const ribbon of bundle(strands, MOST_FLYING))
    flight(player, layer, ribbon, g, timing);
}

/** A copy on its way along its ribbon. */
function flight(player, layer, { ax, ay, aw, bx, by, bw, up }, g, timing) {
  const [one, two] = g.tiers;
  const low = { x: ax, y: ay, w: aw, h: two.row };
  const high = { x: bx, y: by - one.row, w: bw, h: one.row };
  const [a, b] = up ? [low, high] : [high, low];
  const away = `translate(${a.x - b.x}px,${a.y - b.y}px) scale(${a.w / b.w},${a.h / b.h})`;
  const frames = [
    { transform: away, transformOrigin: "0 0" },
    { transform: "none", transformOrigin: "0 0" },
  ];
  above(player, layer, box(player, b.x, b.y, b.w, b.h, "in_flight"), frames, timing);
}

/** An SVG above the pools, as large as they are. */
function layerOf(player, pane) {
  const g = gridOf(player);
  let layer = pane.querySelector(".pl > svg");
  if (!layer) {
    layer = document.createElementNS(SVG_SPACE, "svg");
    layer.setAttribute("class", "air");
    layer.setAttribute("aria-hidden", "true");
    pane.querySelector(".pl").append(layer);
  }
  layer.setAttribute("width", g.wide);
  layer.setAttribute("height", g.high);
  return layer;
}

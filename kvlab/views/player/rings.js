// Which slots are outlined?
//
// Black: in this event. Blue: selected, dashed where only pointed at.
// Left out: outlines in the tree (tree.js).

import { piecesOf, stretchesOf } from "./grid.js";

export function drawRings(player, pen, run, tier, g, touched) {
  const t = g.tiers[tier - 1],
    k = player.colour,
    rows = run.c[`owner${tier}`];
  const ring = (first, length, colour, wide, dash = []) => {
    for (const [x, y, w] of piecesOf(player, t, first, length, g)) {
      pen.strokeStyle = colour;
      pen.lineWidth = wide;
      pen.setLineDash(dash);
      pen.strokeRect(x - 0.5, y - 0.5, Math.max(2, w + 1), t.row + 1);
    }
    pen.setLineDash([]);
  };
  const owned = (owner, colour, wide, dash) => {
    for (let i = 0; i < rows.length; i++)
      if (rows[i] === owner) {
        const from = i;
        while (rows[i + 1] === owner) i++;
        ring(from, i - from + 1, colour, wide, dash);
      }
  };
  if (rows.length < 60000) for (const n of player.hot) owned(2 + 2 * n, k.ink, 1.75);
  for (const [first, length] of touched.slice(0, 200)) ring(first, length, k.ink, 1.75);
  const owner = (at) => (at.request >= 0 ? 3 + 2 * at.request : 2 + 2 * at.node);
  if (player.select) owned(owner(player.select), k.link, 2.5);
  if (player.hover) owned(owner(player.hover), k.link, 2, [4, 3]);
  if (player.state)
    for (const [first, length, o] of stretchesOf(player, run, tier))
      if (run.slotLook(tier, o) === player.state)
        ring(first, length, k.link, 2, [4, 3]);
}

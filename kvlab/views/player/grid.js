// Where on the canvas does a slot lie?
//
// Left out: drawing it (slots.js, pixels.js).

/** Pixels: before the slots, between the pools, of a row of slots. */
export const GUT = 60;

export const LANE = 56;

export const WIDE = 448;

export function gridOf(player) {
  const [one, two] = player.log.pools;
  const [columns, row, gap] =
    one <= 48
      ? [Math.max(one, 12), 26, 4]
      : one <= 192
        ? [one <= 128 ? 32 : 48, 22, 3]
        : one <= 1200
          ? [one <= 480 ? 80 : 112, 13, 2]
          : [Math.max(250, Math.ceil(one / 40)), 3, 0];
  const high = (n) => Math.max(0, Math.ceil(n / columns) * (row + gap) - gap);
  const squeeze = Math.min(1, 150 / Math.max(1, high(two))); // a large host pool gets lower rows
  const low = two && squeeze < 1 ? Math.max(1, (row + gap) * squeeze) : row + gap;
  const y2 = high(one) + (two ? LANE : 0);
  return {
    columns,
    cell: WIDE / columns,
    tiers: [
      { first: 1, n: one, y: 0, pitch: row + gap, row, high: high(one) },
      {
        first: 0,
        n: two,
        y: y2,
        pitch: low,
        row: Math.max(1, low - (low > 4 ? gap : 0)),
        high: two ? Math.ceil(two / columns) * low : 0,
      },
    ],
  };
}

/** Stretches of neighbouring pages with one owner: [first, length, owner]. */
export function stretchesOf(player, run, tier, most = Infinity) {
  const rows = run.c[`owner${tier}`],
    { first, n } = gridOf(player).tiers[tier - 1],
    out = [];
  for (let i = first, end = first + n; i < end && out.length < most;) {
    const owner = rows[i],
      from = i;
    while (i < end && rows[i] === owner) i++;
    out.push([from, i - from, owner]);
  }
  return out;
}

export function* piecesOf(player, tier, first, length, g) {
  let at = first - tier.first;
  const end = at + length;
  while (at < end) {
    const row = Math.floor(at / g.columns),
      column = at - row * g.columns,
      count = Math.min(end - at, g.columns - column);
    yield [GUT + column * g.cell, tier.y + row * tier.pitch, count * g.cell, count];
    at += count;
  }
}

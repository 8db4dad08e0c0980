// Where on the canvas does a slot lie?
//
// Left out: drawing it (slots.js, pixels.js).

/** Pixels: before the slots, between the pools, of a row of slots. */
export const GUT = 60;
export const LANE = 56;
export const WIDE = 448;

const LOWEST = 150; // pixels of a large host pool, whose rows are squeezed
const LOWER = 118; // and in a low window

/** How many slots a row has, how large they are, and where each pool begins: for the
 *  larger pool of two runs side by side. */
export function gridOf(player) {
  const beside = player.other;
  if (!player.grid || player.grid.beside !== beside) {
    const pools = player.log.pools.map((n, i) => Math.max(n, beside?.log.pools[i] ?? 0));
    const low = player.root?.classList.contains("low");
    player.grid = { ...gridFor(pools, low ? LOWER : LOWEST), beside };
  }
  return player.grid;
}

/** The tiers of the grid, as many pages as this run has. */
export const tiersOf = (player, run) =>
  gridOf(player).tiers.map((t, i) => ({ ...t, n: Math.min(t.n, run.log.pools[i]) }));

function gridFor([one, two], lowest) {
  const [columns, row, gap] = sizeFor(one);
  const high = (n) => Math.max(0, Math.ceil(n / columns) * (row + gap) - gap);
  const squeeze = Math.min(1, lowest / Math.max(1, high(two)));
  const low = two && squeeze < 1 ? (row + gap) * squeeze : row + gap;
  const cell = WIDE / columns;
  const y = cell < 3 || row < 8 ? 1 : 0; // below the line around what is drawn in pixels
  const first = { first: 1, n: one, y, pitch: row + gap, row, high: high(one) };
  const second = {
    first: 0,
    n: two,
    y: y + first.high + (two ? LANE : 0),
    pitch: low,
    row: Math.max(1, low - (low > 4 ? gap : 0)),
    high: two ? Math.ceil(two / columns) * low : 0,
  };
  for (const tier of [first, second]) tier.tiny = cell < 3 || tier.row < 8;
  const high2 = two ? second.y + second.high : y + first.high;
  return {
    columns,
    cell,
    tiers: [first, second],
    wide: GUT + WIDE + 2,
    high: high2 + 3,
  };
}

/** Slots a row, height of a row, gap between rows. */
function sizeFor(slots) {
  if (slots <= 48) return [Math.max(slots, 12), 26, 4];
  if (slots <= 192) return [slots <= 128 ? 32 : 48, 22, 3];
  if (slots <= 1200) return [slots <= 480 ? 80 : 112, 13, 2];
  return [Math.max(250, Math.ceil(slots / 40)), 3, 0];
}

/** Stretches of neighbouring pages with one owner: [first, length, owner]. */
export function stretchesOf(player, run, tier, most = Infinity) {
  const rows = run.c[`owner${tier}`];
  const { first, n } = tiersOf(player, run)[tier - 1];
  const out = [];
  for (let i = first, end = first + n; i < end && out.length < most;) {
    const owner = rows[i];
    const from = i;
    while (i < end && rows[i] === owner) i++;
    out.push([from, i - from, owner]);
  }
  return out;
}

/** The tier and the page under a pointer on the pools; nothing where none is. */
export function pageAt(player, run, { target, clientX, clientY }) {
  const g = gridOf(player);
  const { left, top } = target.getBoundingClientRect();
  const [x, y] = [clientX - left - GUT, clientY - top];
  const tiers = tiersOf(player, run);
  const here = tiers.findIndex((t) => y >= t.y && y < t.y + t.high);
  if (here < 0 || x < 0 || x >= WIDE) return [];
  const { first, n, y: from, pitch } = tiers[here];
  const at = Math.floor((y - from) / pitch) * g.columns + Math.floor(x / g.cell);
  return at < n ? [here + 1, first + at] : [];
}

/** Where a stretch lies, row by row: [x, y, width, slots]. */
export function* piecesOf(tier, first, length, g) {
  let at = first - tier.first;
  const end = at + length;
  while (at < end) {
    const row = Math.floor(at / g.columns);
    const column = at - row * g.columns;
    const count = Math.min(end - at, g.columns - column);
    yield [GUT + column * g.cell, tier.y + row * tier.pitch, count * g.cell, count];
    at += count;
  }
}

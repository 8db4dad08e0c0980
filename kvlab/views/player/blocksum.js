// What do the columns of a block run say, now?
//
// Sorted seats are the free queue; a block's state follows from its numbers.
// Left out: drawing (blocks.js).

/** The state of a block of a tier, as theme.py names it. */
export function blockLook(run, tier, block) {
  const { c } = run;
  if (c[`ref${tier}`][block]) return "used";
  return c[`named${tier}`][block] ? "evictable" : "available";
}

/** The free blocks of L1: up to `most` of the head, up to `most` of the tail, both head
 *  first, and how many are left out between. What is freed together lies backwards in the
 *  queue, so going backwards for the head few need a place found. */
export function freeEnds(run, most) {
  const free = run.c.account[0];
  const seats = run.c.seat1;
  const head = [];
  let bound = 0; // the lowest seat that may not come in
  for (let block = seats.length - 1; block; block--)
    if (seats[block] > bound)
      bound = keep(head, block, most, 0, (a, b) => seats[b] - seats[a]);
  const tail = [];
  bound = Infinity;
  for (let block = 1; block < seats.length; block++)
    if (seats[block] && seats[block] < bound)
      bound = keep(tail, block, most, Infinity, (a, b) => seats[a] - seats[b]);
  const apart = Math.min(most, free - head.length); // none is in both
  const left = free - head.length - apart;
  return { head, tail: tail.slice(0, apart).reverse(), left };

  function keep(list, block, most, open, order) {
    let at = list.length;
    while (at && order(block, list[at - 1]) < 0) at--;
    list.splice(at, 0, block);
    if (list.length > most) list.pop();
    return list.length < most ? open : seats[list[most - 1]];
  }
}

/** The blocks that a request holds, in order. */
export function tableOf(run, request) {
  const parts = ["turn", "size", "back"].map((name) => run.log.col[`parts.${name}`]);
  const [turn, size, back] = parts;
  const table = new Int32Array(run.c.held[request]);
  let end = table.length;
  for (let part = run.c.table[request]; part;) {
    const at = part - 1;
    let row = (end -= size[at]);
    run.tiers[1].each(turn[at], size[at], (first, count, step) => {
      for (let i = 0; i < count; i++) table[row++] = first + step * i;
    });
    part = back[at] && part - back[at];
  }
  return table;
}

/** How a block's content is named: by a number, or the first digits of its hash. */
export function hashOf(run, block) {
  const name = run.log.col.names[run.c.name1[block] - 1];
  if (!run.c.named1[block]) return "";
  return name < 0 ? (-name).toString(16).padStart(4, "0") : `#${name}`;
}

/** Requests by the lane they stand in, first served first. */
export function lanesOf(run) {
  const { c, log } = run,
    lanes = { running: [], deferred: [], waiting: [] };
  const aside = ["loading", "ready"].map((name) => log.stages.indexOf(name));
  for (let r = 0; r < c.stage.length; r++) {
    if (c.stage[r] === 3) lanes.running.push(r);
    else if (c.stage[r] === 1)
      lanes[aside.includes(c.status[r]) ? "deferred" : "waiting"].push(r);
  }
  for (const lane of Object.values(lanes)) lane.sort((a, b) => c.place[a] - c.place[b]);
  return lanes;
}

/** The account of a tier: [state, blocks, moved], and what they must come to. */
export function blockAccount(run, tier) {
  const { c, log } = run;
  const now = (row) => c.account[row],
    then = (row) => run.was("account", row);
  const rows = (at) =>
    tier === 1
      ? [
          ["used", at(2)],
          ["evictable", at(1)],
          ["available", at(0) - at(1)],
        ]
      : [
          ["used", log.pools[1] - at(4)],
          ["evictable", at(3)],
          ["available", at(4) - at(3)],
        ];
  const before = rows(then);
  const terms = rows(now).map(([state, n], i) => [state, n, n - before[i][1]]);
  return { total: log.pools[tier - 1], terms };
}

/** The blocks of a tier that the last event named, whether or not it moved them. */
export function movedBlocks(run, tier) {
  const columns = ["ref", "named"].map((name) =>
    run.log.columns.indexOf(`${name}${tier}`),
  );
  const moved = new Set();
  run.patches((column, first, count) => {
    if (!columns.includes(column)) return;
    for (let block = first; block < first + count; block++) moved.add(block);
  });
  marked(run, tier, (block) => moved.add(block));
  return moved;
}

/** Call with each block that the last event named and left as it was: of a copy, of a
 *  block table, of what is pinned. */
function marked(run, tier, call) {
  const { "marks.event": events, "marks.tier": tiers, "marks.turn": turns } = run.log.col;
  const e = run.at - 1;
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events[middle] < e) low = middle + 1;
    else high = middle;
  }
  for (let i = low; events[i] === e; i++) {
    if (tiers[i] !== tier) continue;
    run.tiers[tier].each(turns[i], run.log.col["marks.size"][i], (first, count, step) => {
      for (let k = 0; k < count; k++) call(first + step * k);
    });
  }
}

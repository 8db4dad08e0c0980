// What do the columns of a block run say, now?
//
// Sorted ranks are the free queue; a block's state follows from its numbers.
// Left out: drawing (blocks.js).

/** The state of a block of a tier, as theme.py names it. */
export function blockLook(run, tier, block) {
  const { c } = run;
  if (c[`ref${tier}`][block]) return "used";
  return c[`name${tier}`][block] ? "evictable" : "available";
}

/** The free blocks of L1: up to `most` of the head, up to `most` of the tail, both head
 *  first, and how many are left out between. What is freed together lies backwards in the
 *  queue, so going backwards for the head few need a place found. */
export function freeEnds(run, most) {
  const free = run.c.account[0];
  const ranks = run.c.rank1;
  const head = [];
  let bound = Infinity; // the greatest rank that may still come in
  for (let block = ranks.length - 1; block; block--)
    if (ranks[block] && ranks[block] < bound)
      bound = keep(head, block, most, Infinity, (a, b) => ranks[a] - ranks[b]);
  const tail = [];
  bound = 0;
  for (let block = 1; block < ranks.length; block++)
    if (ranks[block] > bound)
      bound = keep(tail, block, most, 0, (a, b) => ranks[b] - ranks[a]);
  const apart = Math.min(most, free - head.length); // none is in both
  const left = free - head.length - apart;
  return { head, tail: tail.slice(0, apart).reverse(), left };

  function keep(list, block, most, open, order) {
    let at = list.length;
    while (at && order(block, list[at - 1]) < 0) at--;
    list.splice(at, 0, block);
    if (list.length > most) list.pop();
    return list.length < most ? open : ranks[list[most - 1]];
  }
}

/** The blocks that a request holds, in order. */
export function tableOf(run, request) {
  const first = run.log.base[request];
  return run.c.table.subarray(first, first + run.c.held[request]);
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
          ["free", at(4)],
        ];
  const before = rows(then);
  const terms = rows(now).map(([state, n], i) => [state, n, n - before[i][1]]);
  return { total: log.pools[tier - 1], terms };
}

/** The blocks of a tier that the last event named. */
export function movedBlocks(run, tier) {
  const columns = ["ref", "name", "rank"].map((name) =>
    run.log.columns.indexOf(`${name}${tier}`),
  );
  const moved = new Set();
  run.patches((column, first) => columns.includes(column) && moved.add(first));
  return moved;
}

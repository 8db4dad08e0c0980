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

/** The free blocks, head first. */
export function freeQueue(run, tier) {
  const ranks = run.c[`rank${tier}`],
    free = [];
  for (let block = 1; block < ranks.length; block++) if (ranks[block]) free.push(block);
  return free.sort((a, b) => ranks[a] - ranks[b]);
}

/** The blocks that a request holds, in order. */
export function tableOf(run, request) {
  const first = run.log.base[request];
  return [...run.c.table.subarray(first, first + run.c.held[request])];
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

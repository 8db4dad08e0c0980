// Which copies set off, arrive or leave while events pass?
//
// Each as one move of one node on one tier, in the order in which the chain goes. Only
// what is still so at the moment counts.
// Left out: how a move looks (fly.js).

const MOVING = {
  load: { what: "load", tier: 1, now: 2 },
  backup: { what: "write", tier: 2, now: 2 },
  loaddone: { what: "land", tier: 1, now: 1 },
  backupdone: { what: "land", tier: 2, now: 1 },
  demote: { what: "demote", tier: 1, now: 0 },
  reclaim: { what: "reclaim", tier: 2, now: 0 },
};
const MOST_MOVES = 60; // moves that are told

/** The moves of the events [from, to), given the run at `to`. */
export function movesOf(run, from, to) {
  const found = [];
  for (let e = from; e < to && found.length < MOST_MOVES; e++) {
    const kind = MOVING[run.kind(e)];
    if (!kind) continue;
    for (const node of nodesOf(run, e, kind)) {
      if (run.c[`l${kind.tier}`][node] !== kind.now) continue;
      const before = found.findIndex((m) => m.node === node && m.tier === kind.tier);
      if (before >= 0) found.splice(before, 1);
      found.push({ ...kind, node, event: e });
    }
  }
  return found;
}

/** The nodes of an event, root first. */
function nodesOf(run, e, { what, tier }) {
  if (what !== "land") return [run.raw(e, "node")];
  const column = run.log.columns.indexOf(`l${tier}`);
  const nodes = [];
  each(run, e, column, (first) => nodes.push(first));
  return nodes.sort((a, b) => run.c.start[a] - run.c.start[b]);
}

/** The pages of a move as [first, count]: those the node has there, or has just left. */
export function takenPages(run, { event, node, tier, now }) {
  if (now) {
    const stretches = run.places[tier].of(2 + 2 * node);
    return stretches.map(([first, end]) => [first, end - first]);
  }
  const column = run.log.columns.indexOf(`owner${tier}`);
  const pages = [];
  each(run, event, column, (first, count) => pages.push([first, count]));
  return pages;
}

/** Call with the rows of a column that an event's patches touch. */
function each(run, e, column, call) {
  for (let p = run.end[e]; p < run.end[e + 1]; p++)
    if (run.op.column[p] === column) run.rowsOf(p, call);
}

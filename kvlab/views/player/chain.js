// In which order do nodes come and go?
//
// A load or a backup goes from the root to the leaf, an eviction from the leaf to the
// root: the tree numbers the nodes of such a chain, up to the moment and no further.
// Left out: how it is seen to move (fly.js).

const WHOLE = ["loadback", "loaddone"]; // events that concern the chain at once
const ON_THE_WAY = { load: "l1", backup: "l2" };
const MOST_VICTIMS = 99; // victims that are numbered

/** The nodes whose order is the story of the last event, each with its number from 1. */
export function orderOf(run) {
  const e = run.at - 1;
  if (e < 0) return new Map();
  const kind = run.kind(e);
  if (WHOLE.includes(kind)) return numbered(fromRoot(run, [...run.hot]));
  const column = ON_THE_WAY[kind];
  if (column) {
    const path = run.path(run.raw(e, "node"));
    return numbered(path.filter((n) => run.c[column][n] === 2).reverse());
  }
  return numbered(victimsOf(run, e), 1);
}

/** The nodes that would follow the last event's victim, each with its number after it. */
export function nextOf(run) {
  const e = run.at - 1;
  const [then] = (e >= 0 && run.log.behind?.[e]) || [[]];
  const gone = orderOf(run).size;
  return new Map(then.map(([node], i) => [node, gone + i + 1]));
}

const fromRoot = (run, nodes) => nodes.sort((a, b) => run.c.start[a] - run.c.start[b]);

const numbered = (nodes, least = 2) =>
  new Map(nodes.length < least ? [] : nodes.map((n, i) => [n, i + 1]));

/** The victims of the eviction that this event belongs to, the first one first. */
function victimsOf(run, e) {
  const evict = evictionOf(run, e);
  const victims = [];
  for (let i = evict + 1; evict >= 0 && i <= e && victims.length < MOST_VICTIMS; i++)
    if (run.kind(i) === "victim" && run.cause(i) === evict)
      victims.push(run.raw(i, "node"));
  return [...new Set(victims)]; // one that cannot be written is a victim twice
}

/** The `evict` among an event's causes, -1 for none. */
function evictionOf(run, e) {
  while (e >= 0 && run.kind(e) !== "evict") e = run.cause(e);
  return e;
}

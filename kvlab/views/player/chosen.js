// Which nodes is a selection about?
//
// Left out: how they look (strip.js, rings.js).

/** The node itself; of a request, the path down to its `last_node`, while it holds one. */
export function chosenNodes(run, at) {
  if (!at) return [];
  if (at.request >= 0) return run.path(run.c.locks[at.request]);
  return at.node ? [at.node] : [];
}

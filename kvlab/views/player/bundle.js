// How are more copies drawn than an eye can follow?
//
// Strands that touch become one ribbon; where that is not enough, each node has one, and
// at last each direction. A ribbon says how many pieces it holds.
// Left out: where a strand begins and ends (ribbons.js).

const CLOSE = 6; // pixels between strands that are joined as neighbours

/** At most about `most` ribbons that cover all strands: each with its own ends, `aw` and
 *  `bw` wide, of `pieces` strands that fill the part `full` of it; `rows` if they come
 *  from several rows. */
export function bundle(strands, most) {
  const single = strands.map((s) => ({ ...s, aw: s.w, bw: s.w, pieces: 1, full: 1 }));
  if (single.length <= most) return single;
  single.sort((a, b) => a.ax - b.ax || a.ay - b.ay);
  for (const [apart, gap] of STEPS) {
    const found = joined(single, apart, gap);
    if (found.length <= most) return found;
  }
  return joined(single, sameWay, Infinity);
}

const sameWay = (s) => `${s.up}`;
const sameNode = (s) => `${s.up} ${s.node}`;
const sameRows = (s) => `${s.up} ${s.node} ${s.ay} ${s.by}`;
const STEPS = [
  [sameRows, 0],
  [sameRows, CLOSE],
  [sameNode, Infinity],
];

/** Join what has the same `key` and lies within `gap` of its neighbour at both ends. */
function joined(strands, key, gap) {
  const groups = new Map();
  for (const s of strands) {
    const name = key(s);
    (groups.get(name) ?? groups.set(name, []).get(name)).push(s);
  }
  return [...groups.values()].flatMap((group) => joinGroup(group, gap));
}

function joinGroup(group, gap) {
  const out = [];
  let last = null;
  for (const s of group) {
    if (last && near(last, s, gap)) cover(last, s);
    else out.push((last = { ...s, slots: s.w }));
  }
  for (const b of out) b.full = Math.min(1, b.slots / Math.max(1, b.aw, b.bw));
  return out;
}

const between = (x, w, y, v) => Math.max(y - x - w, x - y - v, 0);

function near(a, b, gap) {
  return (
    between(a.ax, a.aw, b.ax, b.aw) <= gap && between(a.bx, a.bw, b.bx, b.bw) <= gap
  );
}

/** Widen a ribbon until it covers another. */
function cover(a, b) {
  for (const [x, w] of [
    ["ax", "aw"],
    ["bx", "bw"],
  ]) {
    const end = Math.max(a[x] + a[w], b[x] + b[w]);
    a[x] = Math.min(a[x], b[x]);
    a[w] = end - a[x];
  }
  a.rows = a.rows || b.rows || a.ay !== b.ay || a.by !== b.by;
  a.ay = Math.min(a.ay, b.ay);
  a.by = Math.max(a.by, b.by);
  a.slots += b.w;
  a.pieces += b.pieces;
}

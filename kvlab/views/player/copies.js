// From when to when did a copy take?
//
// Spans from submit to acknowledgement, paired once for the run.
// Left out: copies in the pools (ribbons.js).

import { tileOf } from "./canvas.js";

const SPAN_TOP = 76;
const SPAN_HIGH = 8;
const MOST_SPANS = 600; // copies that are drawn one by one

/** Draw the copies that overlap a stretch; where they are too many, how many at a time. */
export function drawCopies(player, pen, at) {
  const spans = (player.spans ??= spansOf(player.run, player.log.copies));
  const end = Math.min(at.end, at.limit);
  const low = firstFrom(spans, at.from - spans.longest);
  const seen = [];
  for (let i = low; i < spans.length && spans[i][0] < end; i++)
    if (spans[i][1] >= at.from) seen.push(spans[i]);
  pen.fillStyle = tileOf(player, pen, "in_flight");
  pen.strokeStyle = player.colour["in_flight-edge"];
  pen.lineWidth = 1;
  if (seen.length > MOST_SPANS) return drawMany(player, pen, at, seen, end);
  for (const [a, b] of seen) {
    const from = Math.max(at.x(a), at.x0);
    const to = Math.min(at.x(Math.min(b, at.limit - 1)), at.x(at.end - 1));
    pen.fillRect(from, SPAN_TOP, Math.max(4, to - from), SPAN_HIGH);
    pen.strokeRect(from, SPAN_TOP, Math.max(4, to - from), SPAN_HIGH);
  }
}

/** As an area: how many copies are on their way at each pixel. */
function drawMany(player, pen, at, seen, end) {
  const W = Math.ceil(at.W);
  const steps = new Int32Array(W + 2);
  const pixel = (e) => Math.max(0, Math.min(W, Math.floor((e - at.from) * at.cw)));
  for (const [a, b] of seen) {
    steps[pixel(a)]++;
    steps[pixel(Math.min(b, end)) + 1]--;
  }
  for (let i = 1; i <= W; i++) steps[i] += steps[i - 1];
  const most = steps.reduce((a, b) => Math.max(a, b), 1);
  pen.fillStyle = player.colour["in_flight-edge"];
  for (let i = 0; i < W; i++) {
    const tall = steps[i] && Math.max(1, (steps[i] / most) * (SPAN_HIGH + 2));
    if (tall) pen.fillRect(at.x0 + i, SPAN_TOP + SPAN_HIGH - tall, 1, tall);
  }
}

/** The first span that begins at `e` or later. */
function firstFrom(spans, e) {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle][0] < e) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** All copies of a run as [submitted, acknowledged], by their begin; `longest` of them. */
function spansOf(run, copies) {
  const { variant } = run.log.col;
  const opens = new Map(Object.values(copies).map((end) => [end, new Map()]));
  const parts = run.kinds.map((kind) => {
    const open = opens.get(copies[kind] ?? kind);
    const fields = run.fields[kind];
    const { job = fields.request } = fields; // whose copy it is, in a run of blocks
    const nodes = (fields[kind === "load" ? "end" : "node"] ?? job)?.at;
    return open && { open, nodes, begins: kind in copies };
  });
  const spans = [];
  for (let e = 0; e < run.count; e++) {
    const part = parts[variant[e]];
    if (!part) continue;
    const { open, begins, nodes } = part;
    const node = nodes[run.rank[e]];
    if (begins && !open.has(node)) open.set(node, e);
    if (begins || !open.has(node)) continue;
    spans.push([open.get(node), e]);
    open.delete(node);
  }
  for (const open of opens.values())
    for (const e of open.values()) spans.push([e, run.count]);
  spans.sort((a, b) => a[0] - b[0]);
  spans.longest = spans.reduce((most, [a, b]) => Math.max(most, b - a), 0);
  return spans;
}

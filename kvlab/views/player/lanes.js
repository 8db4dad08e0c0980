// Which marks have events on the timeline?
//
// Decisions are diamonds, half filled where they refuse; changes rise where they fill L1
// and fall where they free it; a loss is an octagon with a cross in either lane. Where a
// pixel holds more than one event, bars count them.
// Left out: copies, which take time (copies.js).

import { tileOf } from "./canvas.js";

/** The lanes, each with the y of its line. */
export const LANES = [
  ["decide", 50],
  ["change", 65],
  ["copy", 80],
];

const GLYPH = 5; // pixels an event needs to have a mark of its own
const [OTHER, DECIDES, REFUSES, RISES, FALLS, LOSES, LOST] = [0, 1, 2, 3, 4, 5, 6];

/** What each event is to the timeline, one byte an event; found once. */
function classesOf(player) {
  if (player.classes) return player.classes;
  const { run, log } = player;
  const { variant } = log.col;
  const known = log.variants.map(() => -1);
  const classes = new Uint8Array(run.count);
  for (let e = 0; e < run.count; e++) {
    const at = variant[e];
    if (known[at] < 0) known[at] = classOf(run, log, e);
    classes[e] = known[at];
  }
  const last = run.count - 1;
  if (run.stops(last)) classes[last] = classOf(run, log, last);
  return (player.classes = classes);
}

/** One class for all events of a variant, of which `e` is one. */
function classOf(run, log, e) {
  const kind = run.kind(e);
  const decides = run.isDecision(e);
  const grade = run.grade(e);
  if (grade === "loss") return decides ? LOSES : LOST;
  if (decides) return grade ? REFUSES : DECIDES;
  if (log.rise.includes(kind)) return RISES;
  return log.fall.includes(kind) ? FALLS : OTHER;
}

/** Draw the events of a stretch, up to the limit. */
export function drawMarks(player, pen, at) {
  const classes = classesOf(player);
  const end = Math.min(at.end, at.limit);
  if (at.cw < GLYPH) return drawCounts(player, pen, at, classes, end);
  for (let e = at.from; e < end; e++) drawMark(player, pen, classes[e], at.x(e));
}

function drawMark(player, pen, what, x) {
  const k = player.colour;
  if (what === DECIDES || what === REFUSES) return drawDiamond(pen, k, x, what);
  if (what === LOSES || what === LOST) return drawLoss(pen, k, x, what === LOST ? 65 : 50);
  if (what === RISES) {
    pen.fillStyle = k["used-edge"];
    pen.fillRect(x - 2, 58, 4, 7);
  } else if (what === FALLS) {
    pen.fillStyle = tileOf(player, pen, "evictable");
    pen.fillRect(x - 2, 66, 4, 7);
    pen.strokeStyle = k["evictable-edge"];
    pen.lineWidth = 0.8;
    pen.strokeRect(x - 2, 66, 4, 7);
  } else {
    pen.fillStyle = k.ink3;
    pen.fillRect(x - 0.75, 63, 1.5, 5);
  }
}

function drawDiamond(pen, k, x, what) {
  const edge = what === REFUSES ? k["refused-edge"] : k.ink;
  pen.beginPath();
  pen.moveTo(x, 45);
  pen.lineTo(x + 5, 50);
  pen.lineTo(x, 55);
  pen.lineTo(x - 5, 50);
  pen.closePath();
  pen.fillStyle = k.bg;
  pen.fill();
  pen.strokeStyle = edge;
  pen.lineWidth = 1.3;
  pen.stroke();
  if (what !== REFUSES) return;
  pen.beginPath();
  pen.moveTo(x - 5, 50);
  pen.lineTo(x + 5, 50);
  pen.lineTo(x, 55);
  pen.fillStyle = edge;
  pen.fill();
}

/** The octagon of a loss (looks.js), seven pixels to each side. */
function drawLoss(pen, k, x, y) {
  const [far, near] = [6, 2.7];
  pen.beginPath();
  pen.moveTo(x - near, y - far);
  for (const [dx, dy] of [
    [near, -far],
    [far, -near],
    [far, near],
    [near, far],
    [-near, far],
    [-far, near],
    [-far, -near],
  ])
    pen.lineTo(x + dx, y + dy);
  pen.closePath();
  pen.fillStyle = k.refused;
  pen.fill();
  pen.strokeStyle = "#fff";
  pen.lineWidth = 1.8;
  pen.beginPath();
  pen.moveTo(x - 2.6, y - 2.6);
  pen.lineTo(x + 2.6, y + 2.6);
  pen.moveTo(x + 2.6, y - 2.6);
  pen.lineTo(x - 2.6, y + 2.6);
  pen.stroke();
}

/** Many events a pixel: bars as high as there are events; a refusal is a foot under the
 *  bar of its decision, a loss goes through the line of its lane. */
function drawCounts(player, pen, at, classes, end) {
  const k = player.colour;
  const W = Math.ceil(at.W);
  const counts = Array.from({ length: 7 }, () => new Uint32Array(W + 1));
  for (let e = at.from; e < end; e++) {
    const i = Math.min(W, Math.floor((e - at.from) * at.cw));
    counts[classes[e]][i]++;
    if (classes[e] === REFUSES) counts[DECIDES][i]++;
  }
  const most = (list) => list.reduce((a, b) => Math.max(a, b), 1);
  const bars = (list, y, high, colour, full = 0) => {
    const top = most(list);
    pen.fillStyle = colour;
    const wide = Math.max(1, at.cw);
    list.forEach((n, i) => {
      const tall = n && Math.max(full, 2, Math.round((n / top) * Math.abs(high)));
      if (n) pen.fillRect(at.x0 + i, high < 0 ? y - tall : y, wide, tall);
    });
  };
  bars(counts[DECIDES], 55, -9, k.ink2);
  bars(counts[REFUSES], 55, 3, k.refused, 3);
  bars(counts[OTHER], 65, -2, k.ink3);
  bars(counts[RISES], 65, -7, k["used-edge"]);
  bars(counts[FALLS], 66, 7, k["evictable-edge"]);
  bars(counts[LOSES], 58, -14, k.refused, 14);
  bars(counts[LOST], 73, -14, k.refused, 14);
}

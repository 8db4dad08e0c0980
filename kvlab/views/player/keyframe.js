// How is a column kept in little room?
//
// As stretches that rise or fall by the same step from row to row: of a pool of millions
// of slots most lie beside others of their owner. Where that saves nothing, as a copy.
// Left out: when it is kept, and which one is taken (states.js).

const SMALL = 65536; // rows that are copied without a look at them
const FEWER = 6; // rows of a stretch, on average, that make it worth the while
const FILLED = 0.3; // what a row costs that is written again, beside one of a patch
const COPIED = 0.05; // the same of a copy

/** A column as it is now: to be given back by `restore`. `work` is what that costs, in
 *  rows that a patch paints. */
export function keep(rows) {
  let end = rows.length;
  while (end && !rows[end - 1]) end--; // most nodes are not yet born
  return (end > SMALL && evenOf(rows, end)) || copyOf(rows, end);
}

function copyOf(rows, end) {
  const copy = rows.slice(0, end);
  return { copy, end, bytes: copy.byteLength, work: COPIED * rows.length };
}

/** Size, first value and step of every stretch; null if there are too many. */
function evenOf(rows, end) {
  const found = [];
  const most = (3 * end) / FEWER;
  for (let row = 0; row < end;) {
    const first = rows[row];
    const from = row++;
    const step = row < end ? rows[row] - first : 0;
    let value = first;
    while (row < end && rows[row] === value + step) {
      value += step;
      row++;
    }
    found.push(row - from, first, step);
    if (found.length > most) return null;
  }
  const stretches = Int32Array.from(found);
  return { stretches, end, bytes: stretches.byteLength, work: FILLED * rows.length };
}

/** Make a column what it was when it was kept. */
export function restore(rows, { copy, stretches, end }) {
  rows.fill(0, end);
  if (copy) return rows.set(copy);
  let row = 0;
  for (let i = 0; i < stretches.length; i += 3) {
    const to = row + stretches[i];
    const step = stretches[i + 2];
    let value = stretches[i + 1];
    if (!step) rows.fill(value, row, to);
    else for (let at = row; at < to; at++, value += step) rows[at] = value;
    row = to;
  }
}

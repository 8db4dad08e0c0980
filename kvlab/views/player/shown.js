// Which rows of a pool differ from what the canvas shows?
//
// Owner and look of every page are remembered, so that a step draws the rows it changed
// and no others, wherever the step came from.
// Left out: drawing rows (slots.js, pixels.js).

/** What a canvas shows of one tier. */
export class Shown {
  constructor(pages, owners) {
    this.owners = new Int32Array(pages).fill(-1);
    this.codes = new Uint8Array(pages);
    this.known = new Uint16Array(owners); // one more than the code of each owner
  }

  /** Remember the tier as it is now; return the rows of `columns` pages that differ.
   *  `codeOf(owner, page)` numbers what else a page shows; with `each`, pages of one
   *  owner may differ. */
  update(rows, { first, n }, columns, codeOf, each) {
    const { owners, codes, known } = this;
    known.fill(0);
    const changed = [];
    let last = -1;
    for (let i = 0; i < n; i++) {
      const owner = rows[first + i];
      const alone = each || owner === 1;
      if (alone || !known[owner]) known[owner] = 1 + codeOf(owner, first + i);
      const code = known[owner] - 1;
      if (owners[i] === owner && codes[i] === code) continue;
      owners[i] = owner;
      codes[i] = code;
      const row = Math.floor(i / columns);
      if (row !== last) changed.push((last = row));
    }
    return changed;
  }
}

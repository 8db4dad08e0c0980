// Which rows of a pool differ from what the canvas shows?
//
// Owner and look of every page are remembered, so that a step draws the rows it changed
// and no others, wherever the step came from. Of the pool it looks at the blocks that were
// painted since, or that hold an owner with another look.
// Left out: drawing rows (slots.js, pixels.js).

/** What a canvas shows of one tier; `long`: of codes beyond 255. */
export class Shown {
  constructor(pages, owners, long = false) {
    this.owners = new Int32Array(pages).fill(-1);
    this.codes = new (long ? Uint16Array : Uint8Array)(pages);
    this.known = new Uint16Array(owners); // one more than the code of each owner
    this.before = new Uint16Array(owners); // the same when it was last drawn
  }

  /** Remember the tier as it is now; return the rows of `columns` pages that differ.
   *  `codeOf(owner, page)` numbers what else a page shows; with `each`, pages of one
   *  owner may differ, as those of nobody (owner 1) always may: at any moment, or where
   *  it is "painted" only once they were. */
  update(places, { first, n }, columns, codeOf, each) {
    if (this.places !== places) {
      this.places = places;
      this.drawn = new Uint32Array(places.blocks); // of each block, how often painted
      this.mixed = new Uint8Array(places.blocks); // has it pages of nobody that differ
    }
    [this.before, this.known] = [this.known, this.before];
    const { before, known, drawn, mixed } = this;
    known.fill(0);
    const changed = [];
    for (let block = 0; block < places.blocks; block++) {
      let differing = false;
      // To the end, though one would do: #look wants the code of every owner.
      for (const owner of each ? [] : places.owners(block)) {
        known[owner] ||= 1 + codeOf(owner, -1);
        if (known[owner] !== before[owner]) differing = true;
      }
      const painted = drawn[block] !== places.painted[block];
      const calm = each ? each === "painted" : !differing && !mixed[block];
      if (calm && !painted) continue;
      drawn[block] = places.painted[block];
      const [from, end] = places.span(block);
      const rows = [Math.max(from, first), Math.min(end, first + n)];
      mixed[block] = this.#look(places.rows, rows, first, columns, changed, codeOf, each);
    }
    return changed;
  }

  /** Remember the pages from row to row; add to `changed`. Return whether pages of nobody
   *  differ from one another. */
  #look(rows, [from, end], first, columns, changed, codeOf, each) {
    const { owners, codes, known } = this;
    let mixed = 0;
    for (let row = from; row < end; row++) {
      const [owner, i] = [rows[row], row - first];
      let code = known[owner] - 1;
      if (each || owner === 1) {
        const own = codeOf(owner, row);
        if (own !== code) mixed = 1;
        code = own;
      }
      if (owners[i] === owner && codes[i] === code) continue;
      owners[i] = owner;
      codes[i] = code;
      const at = Math.floor(i / columns);
      if (at !== changed.at(-1)) changed.push(at);
    }
    return mixed;
  }
}

// Where in a pool are an owner's pages?
//
// A pool is cut into blocks, and each knows whose pages it holds: a step looks only at
// those that it painted, or that hold somebody it asks for.
// Left out: painting (states.js), what is done with the pages (shown.js, rings.js).

const BLOCK = 2048;

/** The owners in each block of a column of owners. */
export class Places {
  constructor(rows) {
    this.rows = rows;
    this.blocks = Math.ceil(rows.length / BLOCK);
    this.painted = new Uint32Array(this.blocks).fill(1); // how often, ever
    this.listed = new Uint32Array(this.blocks); // ... when its owners were listed
    this.lists = Array(this.blocks);
  }

  /** Rows from `first` to before `end` have other owners; all of them by default. */
  paint(first = 0, end = this.rows.length) {
    const last = Math.floor((end - 1) / BLOCK);
    for (let block = Math.floor(first / BLOCK); block <= last; block++)
      this.painted[block]++;
  }

  /** First row of a block, and the one after its last. */
  span(block) {
    return [block * BLOCK, Math.min((block + 1) * BLOCK, this.rows.length)];
  }

  /** Everybody who owns a row of a block. */
  owners(block) {
    if (this.listed[block] === this.painted[block]) return this.lists[block];
    this.listed[block] = this.painted[block];
    const found = new Set();
    const [first, end] = this.span(block);
    let before = -1;
    for (let row = first; row < end; row++) {
      const owner = this.rows[row];
      if (owner !== before) found.add((before = owner));
    }
    return (this.lists[block] = [...found]);
  }

  /** The stretches of one owner as [first row, end], no more than `most` of them. */
  of(owner, most = Infinity) {
    const { rows } = this;
    const found = [];
    let row = 0;
    for (let block = 0; block < this.blocks && found.length < most; block++) {
      if (!this.owners(block).includes(owner)) continue;
      const [first, end] = this.span(block);
      for (row = Math.max(row, first); row < end && found.length < most; row++) {
        if (rows[row] !== owner) continue;
        const from = row;
        while (rows[row] === owner) row++;
        found.push([from, row]);
      }
    }
    return found;
  }

  /** Call with first row, end and owner of every stretch of one owner, in order, of those
   *  for whom `asks(owner)` is true. */
  stretches(asks, call) {
    const { rows } = this;
    let row = 0;
    for (let block = 0; block < this.blocks; block++) {
      if (!this.owners(block).some(asks)) continue;
      const [first, end] = this.span(block);
      for (row = Math.max(row, first); row < end;) {
        const [owner, from] = [rows[row], row];
        while (row < rows.length && rows[row] === owner) row++;
        if (asks(owner)) call(from, row, owner);
      }
    }
  }
}

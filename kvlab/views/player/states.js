// How does one get to the state after any event?
//
// By adding and subtracting patches from the nearest keyframe; no cache rule is known here.
// Left out: what an event says (run.js).

const KEYFRAME_BYTES = 96e6;
const SHAPE = ["parent", "start", "len", "life"];

/** The state after the first `at` events of a log; `seek` moves it either way. `shape`
 *  is another number whenever the tree may have another shape. */
export class States {
  constructor(log) {
    this.log = log;
    this.count = log.events;
    this.c = {};
    const nodes = log.col.rows.length + 1,
      requests = log.requests.length;
    for (const name of log.columns) {
      const pool = /^(owner|shift)(\d)$/.exec(name);
      const size = pool
        ? log.pools[pool[2] - 1] + 1
        : name === "account"
          ? log.account.length
          : log.columns.indexOf(name) >= log.columns.indexOf("stage")
            ? requests
            : nodes;
      this.c[name] = new Int32Array(size);
    }
    this.columns = log.columns.map((name) => this.c[name]);
    this.shapes = log.columns.map((name) => SHAPE.includes(name));
    this.shape = 0;
    this.#unfold();
  }

  /** Turn "what the row is afterwards" into "what is added", once, and keep keyframes. */
  #unfold() {
    const { log, columns, count } = this,
      n = log.col.column.length;
    this.op = {
      column: log.col.column,
      first: new Int32Array(n),
      count: new Int32Array(n),
      add: new Int32Array(n),
      shift: new Int32Array(n),
    };
    this.end = new Int32Array(count + 1); // patches before the end of event e-1
    const names = [...log.columns, "path", "batch"],
      { op } = this;
    const streams = names.map((name) =>
      ["first", "value", "count", "position"].map((part) => log.col[`${name}.${part}`]),
    );
    const taken = new Int32Array(names.length),
      next = new Int32Array(names.length);
    const deltas = names.map(
      (name) => log.deltas.includes(name) || name === "path" || name === "batch",
    );
    const runs = names.map((name) => log.runs.includes(name));
    const bytes = columns.reduce((sum, column) => sum + 4 * column.length, 0);
    const frames = Math.max(1, Math.min(64, Math.floor(KEYFRAME_BYTES / bytes)));
    this.stretch = Math.max(256, Math.ceil(count / frames));
    this.frames = [];
    this.strip = [];
    let at = 0,
      patch = 0;
    const step = Math.max(1, count / 1200);
    const unfold = (end) => {
      for (; patch < end; patch++) {
        const column = op.column[patch],
          k = taken[column]++;
        const [firsts, values, counts, positions] = streams[column];
        const first = (op.first[patch] = firsts[k]);
        op.count[patch] = 1;
        if (deltas[column]) op.add[patch] = values[k];
        else op.add[patch] = values[k] - columns[column][first];
        if (runs[column]) {
          const length = (op.count[patch] = counts[k]),
            code = positions[k];
          const old = columns[column + 1][first];
          if (code === 1) op.shift[patch] = -old;
          if (code >= 2) {
            const position = code === 2 ? next[column] : code - 3;
            op.shift[patch] = position - first - old;
            next[column] = position + length;
          } else next[column] = -1;
        }
        this.#patch(patch, 1);
      }
    };
    unfold((this.begin = log.col.start[0]));
    this.end[0] = this.begin;
    const total = this.c.account[0] || 1;
    for (let e = 0; e < count; e++) {
      if (e % this.stretch === 0)
        this.frames.push(columns.map((column) => column.slice()));
      unfold((this.end[e + 1] = this.end[e] + log.col.size[e]));
      while (at <= e) {
        this.strip.push(1 - this.c.account[0] / total);
        at += step;
      }
    }
    if (!this.frames.length) this.frames.push(columns.map((column) => column.slice()));
    this.at = count;
  }

  #patch(patch, sign) {
    const { op, columns } = this,
      column = op.column[patch],
      first = op.first[patch];
    const add = sign * op.add[patch];
    if (column === this.log.path) {
      const { parent, lock } = this.c;
      for (let node = first; node; node = parent[node]) lock[node] += add;
      return;
    }
    if (column === this.log.batch) {
      const { stage, kv, outputs } = this.c;
      for (let r = 0; r < stage.length; r++)
        if (stage[r] === 3) {
          kv[r] += add;
          outputs[r] += add;
        }
      return;
    }
    const rows = columns[column],
      length = op.count[patch];
    if (this.shapes[column]) this.shape++;
    if (length === 1) rows[first] += add;
    else for (let row = first; row < first + length; row++) rows[row] += add;
    if (op.shift[patch]) {
      const shift = sign * op.shift[patch],
        beside = columns[column + 1];
      for (let row = first; row < first + length; row++) beside[row] += shift;
    }
  }

  seek(to) {
    to = Math.max(0, Math.min(this.count, to));
    const near = Math.min(this.frames.length - 1, Math.floor(to / this.stretch));
    if (Math.abs(to - this.at) > to - near * this.stretch) {
      this.frames[near].forEach((rows, i) => this.columns[i].set(rows));
      this.shape++;
      this.at = near * this.stretch;
    }
    while (this.at < to) {
      for (let p = this.end[this.at]; p < this.end[this.at + 1]; p++) this.#patch(p, 1);
      this.at++;
    }
    while (this.at > to) {
      this.at--;
      for (let p = this.end[this.at + 1] - 1; p >= this.end[this.at]; p--)
        this.#patch(p, -1);
    }
    return this;
  }

  /** The nodes that are in the tree now, in order. */
  get alive() {
    if (this.found?.shape !== this.shape) {
      const { life } = this.c,
        nodes = [];
      for (let node = 1; node < life.length; node++) if (life[node]) nodes.push(node);
      this.found = { shape: this.shape, nodes };
    }
    return this.found.nodes;
  }

  /** One number for the whole state. */
  hash() {
    let h = 2166136261;
    for (const rows of this.columns)
      for (const value of rows) h = Math.imul(h ^ value, 16777619);
    return h >>> 0;
  }
}

// How does one get to the state after any event?
//
// By adding and subtracting patches from the nearest keyframe; no cache rule is known here.
// Left out: what an event says (run.js).

import { keep, restore } from "./keyframe.js";
import { Places } from "./places.js";

const KEYFRAME_BYTES = 96e6;
const [MOST_KEPT, KEPT_ROWS] = [64, 300e6]; // keyframes, and rows to keep in all
const WORK = 30; // rows that an event costs beside those that it paints
const NEAR = 8; // turns between two that know their run
const SHORT = 32; // pages that are written faster one by one than by a fill
const SHAPE = ["parent", "start", "len", "life"];

/** The pages that a tier handed out, as runs up or down, in order; the k-th page is
 *  turn k. */
class Handed {
  constructor(first, count) {
    const runs = count.length;
    this.first = first;
    this.count = count; // below zero: that many pages down
    this.begin = new Float64Array(runs + 1); // the first turn of each run, and the end
    for (let i = 0; i < runs; i++) this.begin[i + 1] = this.begin[i] + Math.abs(count[i]);
    this.near = new Int32Array(Math.floor(this.begin[runs] / NEAR) + 2); // see find
    for (let i = 0, k = 0; k < this.near.length; k++) {
      while (i < runs - 1 && this.begin[i + 1] <= k * NEAR) i++;
      this.near[k] = i;
    }
  }

  /** The run that holds a turn: `near` tells it of every so many turns. */
  find(turn) {
    const { begin } = this;
    let run = this.near[Math.floor(turn / NEAR)];
    while (begin[run + 1] <= turn) run++;
    return run;
  }

  page(turn) {
    let page = 0;
    this.each(turn, 1, (first) => (page = first));
    return page;
  }

  /** Call with first page, size and step (1 or -1) of every run of `size` turns from
   *  `turn` on. */
  each(turn, size, call) {
    const { first, count, begin } = this;
    for (let run = this.find(turn); size > 0; run++) {
      const within = Math.min(size, begin[run + 1] - turn);
      const step = count[run] < 0 ? -1 : 1;
      call(first[run] + step * (turn - begin[run]), within, step);
      turn += within;
      size -= within;
    }
  }
}

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
      const pool = /^(owner|place)(\d)$/.exec(name);
      const size =
        log.sizes?.[name] ??
        (pool
          ? log.pools[pool[2] - 1] + 1
          : name === "account"
            ? log.account.length
            : log.columns.indexOf(name) >= log.columns.indexOf("stage")
              ? requests
              : nodes);
      this.c[name] = new Int32Array(size);
    }
    this.owners = 4 + 2 * Math.max(nodes, requests); // more than any owner's number
    this.columns = log.columns.map((name) => this.c[name]);
    this.shapes = log.columns.map((name) => SHAPE.includes(name));
    this.shape = 0;
    this.places = {}; // of each tier: where an owner's pages are
    this.tiers = {}; // of each tier: what it handed out
    this.handed = {}; // of each column that covers pages
    this.painted = {};
    for (const name of log.runs) {
      const column = log.columns.indexOf(name),
        tier = name.at(-1),
        [first, count] = ["first", "count"].map((x) => log.col[`handed${tier}.${x}`]);
      this.handed[column] = this.tiers[tier] ??= new Handed(first, count);
      this.painted[column] = this.places[tier] ??= new Places(this.columns[column]);
    }
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
      was: new Int32Array(n), // of pages: one more than the first one's position,
      now: new Int32Array(n), // before and after; 0 for none
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
    const rows = columns.reduce((sum, column) => sum + column.length, 0);
    const frames = Math.max(1, Math.min(MOST_KEPT, Math.floor(KEPT_ROWS / rows)));
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
        const row = runs[column] ? this.handed[column].page(first) : first;
        if (deltas[column]) op.add[patch] = values[k];
        else op.add[patch] = values[k] - columns[column][row];
        if (runs[column]) {
          const length = (op.count[patch] = counts[k]),
            code = positions[k];
          op.was[patch] = op.now[patch] = columns[column + 1][row];
          if (code === 1) op.now[patch] = 0;
          if (code >= 2) {
            op.now[patch] = code === 2 ? next[column] : code - 2;
            next[column] = op.now[patch] + length;
          }
        }
        this.#patch(patch, 1);
      }
    };
    unfold((this.begin = log.col.start[0]));
    this.end[0] = this.begin;
    const total = this.c.account[0] || 1;
    for (let e = 0; e < count; e++) {
      if (e % this.stretch === 0) this.#keep();
      unfold((this.end[e + 1] = this.end[e] + log.col.size[e]));
      while (at <= e) {
        this.strip.push(1 - this.c.account[0] / total);
        at += step;
      }
    }
    if (!this.frames.length) this.#keep();
    this.at = count;
    const painted = op.count.reduce((sum, size) => sum + size, 0);
    this.perEvent = WORK + painted / Math.max(1, count);
  }

  /** Keep the state as it is; where that is too much, every second keyframe goes. */
  #keep() {
    const size = (frame) => frame.reduce((sum, { bytes }) => sum + bytes, 0);
    this.frames.push(this.columns.map(keep));
    const all = () => this.frames.reduce((sum, frame) => sum + size(frame), 0);
    while (this.frames.length > 1 && all() > KEYFRAME_BYTES) {
      this.frames = this.frames.filter((_, i) => i % 2 === 0);
      this.stretch *= 2;
    }
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
    if (this.shapes[column]) this.shape++;
    if (this.handed[column]) this.#paint(patch, sign, add);
    else columns[column][first] += add;
  }

  /** Pages get another owner, and positions that go on from the first one's. */
  #paint(patch, sign, add) {
    const { op, columns } = this,
      column = op.column[patch],
      owners = columns[column],
      places = columns[column + 1];
    const painted = this.painted[column];
    const moved = op.was[patch] !== op.now[patch];
    let place = sign > 0 ? op.now[patch] : op.was[patch];
    const rises = place ? 1 : 0;
    this.handed[column].each(op.first[patch], op.count[patch], (first, size, step) => {
      const end = first + step * size;
      const low = step > 0 ? first : end + 1;
      painted.paint(low, low + size);
      if (size > SHORT) owners.fill(owners[first] + add, low, low + size); // all had one
      else for (let row = first; row !== end; row += step) owners[row] += add;
      if (moved)
        for (let row = first; row !== end; row += step, place += rises) places[row] = place;
    });
  }

  /** Call with the first row and the number of every run of rows that a patch moves. */
  rowsOf(patch, each) {
    const { op } = this,
      handed = this.handed[op.column[patch]];
    if (!handed) return each(op.first[patch], 1);
    handed.each(op.first[patch], op.count[patch], (first, size, step) =>
      each(step > 0 ? first : first - size + 1, size),
    );
  }

  /** The keyframe from which an event is reached soonest, -1 for where the run is. */
  #nearest(to) {
    const { frames, stretch, perEvent } = this;
    const before = Math.min(frames.length - 1, Math.floor(to / stretch));
    let near = -1,
      least = Math.abs(to - this.at) * perEvent;
    for (let i = before; i <= before + 1 && i < frames.length; i++) {
      const work = frames[i].reduce((sum, kept) => sum + kept.work, 0);
      const all = Math.abs(to - i * stretch) * perEvent + work;
      if (all < least) [near, least] = [i, all];
    }
    return near;
  }

  seek(to) {
    to = Math.max(0, Math.min(this.count, to));
    const near = this.#nearest(to);
    if (near >= 0) {
      this.frames[near].forEach((kept, i) => restore(this.columns[i], kept));
      for (const tier in this.places) this.places[tier].paint();
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

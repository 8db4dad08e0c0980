// kvlab player: one file, used three ways: anywidget, standalone page, iframe in a cell.
// It opens a log (log.py), adds and subtracts patches, and draws. It knows no cache rule.

// ---- 1 opening a log

export class LogError extends Error {}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Zigzag varints, `count` of them. Flags: 1 written as differences, 2 over 31 bits. */
function numbers(raw, at, count, flags) {
  const out = new (flags & 2 ? Float64Array : Int32Array)(count), delta = flags & 1;
  let last = 0;
  for (let i = 0; i < count; i++) {
    let byte = raw[at++], value = byte & 127, place = 7;
    while (byte > 127) {
      byte = raw[at++];
      value += (byte & 127) * 2 ** place; // beyond 31 bits a shift would wrap
      place += 7;
    }
    const signed = value % 2 ? -(value + 1) / 2 : value / 2;
    out[i] = last = delta ? last + signed : signed;
  }
  return out;
}

export async function openLog(bytes) {
  const tag = String.fromCharCode(...bytes.subarray(0, 4));
  if (tag !== "KVP1") throw new LogError("no log");
  let raw;
  try {
    raw = await inflate(bytes.subarray(8));
  } catch (problem) {
    throw new LogError(String(problem));
  }
  const view = new DataView(raw.buffer, raw.byteOffset);
  const size = view.getUint32(0, true);
  const log = JSON.parse(new TextDecoder().decode(raw.subarray(4, 4 + size)));
  log.col = {};
  let at = 4 + size;
  for (const [name, length, count, flags] of log.streams) {
    log.col[name] = numbers(raw, at, count, flags);
    at += length;
  }
  return log;
}

// ---- 2 the run: columns, and a way to any event

const KEYFRAME_BYTES = 96e6;

/** The state after the first `at` events of a log; `seek` moves it either way. */
export class Run {
  constructor(log) {
    this.log = log;
    this.count = log.events;
    this.c = {};
    const nodes = log.col.rows.length + 1, requests = log.requests.length;
    for (const name of log.columns) {
      const pool = /^(owner|shift)(\d)$/.exec(name);
      const size = pool ? log.pools[pool[2] - 1] + 1
        : name === "account" ? log.account.length
        : log.columns.indexOf(name) >= log.columns.indexOf("stage") ? requests : nodes;
      this.c[name] = new Int32Array(size);
    }
    this.columns = log.columns.map((name) => this.c[name]);
    this.#unfold();
    this.#rank();
  }

  /** Turn "what the row is afterwards" into "what is added", once, and keep keyframes. */
  #unfold() {
    const { log, columns, count } = this, n = log.col.column.length;
    this.op = { column: log.col.column, first: new Int32Array(n), count: new Int32Array(n),
      add: new Int32Array(n), shift: new Int32Array(n) };
    this.end = new Int32Array(count + 1); // patches before the end of event e-1
    const names = [...log.columns, "path", "batch"], { op } = this;
    const streams = names.map((name) => ["first", "value", "count", "position"].map((part) => log.col[`${name}.${part}`]));
    const taken = new Int32Array(names.length), next = new Int32Array(names.length);
    const deltas = names.map((name) => log.deltas.includes(name) || name === "path" || name === "batch");
    const runs = names.map((name) => log.runs.includes(name));
    const bytes = columns.reduce((sum, column) => sum + 4 * column.length, 0);
    const frames = Math.max(1, Math.min(64, Math.floor(KEYFRAME_BYTES / bytes)));
    this.stretch = Math.max(256, Math.ceil(count / frames));
    this.frames = [];
    this.strip = [];
    let at = 0, patch = 0;
    const step = Math.max(1, count / 1200);
    const unfold = (end) => {
      for (; patch < end; patch++) {
        const column = op.column[patch], k = taken[column]++;
        const [firsts, values, counts, positions] = streams[column];
        const first = (op.first[patch] = firsts[k]);
        op.count[patch] = 1;
        if (deltas[column]) op.add[patch] = values[k];
        else op.add[patch] = values[k] - columns[column][first];
        if (runs[column]) {
          const length = (op.count[patch] = counts[k]), code = positions[k];
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
      if (e % this.stretch === 0) this.frames.push(columns.map((column) => column.slice()));
      unfold((this.end[e + 1] = this.end[e] + log.col.size[e]));
      while (at <= e) {
        this.strip.push(1 - this.c.account[0] / total);
        at += step;
      }
    }
    if (!this.frames.length) this.frames.push(columns.map((column) => column.slice()));
    this.at = count;
  }

  #rank() {
    const { log } = this, count = {}, kinds = log.variants.map((v) => v.split(" ")[0]);
    this.kinds = kinds;
    this.decides = kinds.map((kind) => log.decisions.includes(kind));
    const seen = kinds.map((kind) => (count[kind] ??= { n: 0 }));
    this.rank = new Int32Array(this.count);
    for (let e = 0; e < this.count; e++) this.rank[e] = seen[log.col.variant[e]].n++;
    this.fields = {};
    for (const [kind, fields] of Object.entries(log.fields))
      this.fields[kind] = Object.fromEntries(fields.map(([name, type]) =>
        [name, { type, at: log.col[`${kind}.${name}`] }]));
  }

  #patch(patch, sign) {
    const { op, columns } = this, column = op.column[patch], first = op.first[patch];
    const add = sign * op.add[patch];
    if (column === this.log.path) {
      const { parent, lock } = this.c;
      for (let node = first; node; node = parent[node]) lock[node] += add;
      return;
    }
    if (column === this.log.batch) {
      const { stage, kv, outputs } = this.c;
      for (let r = 0; r < stage.length; r++) if (stage[r] === 3) { kv[r] += add; outputs[r] += add; }
      return;
    }
    const rows = columns[column], length = op.count[patch];
    if (length === 1) rows[first] += add;
    else for (let row = first; row < first + length; row++) rows[row] += add;
    if (op.shift[patch]) {
      const shift = sign * op.shift[patch], beside = columns[column + 1];
      for (let row = first; row < first + length; row++) beside[row] += shift;
    }
  }

  seek(to) {
    to = Math.max(0, Math.min(this.count, to));
    const near = Math.min(this.frames.length - 1, Math.floor(to / this.stretch));
    if (Math.abs(to - this.at) > to - near * this.stretch) {
      this.frames[near].forEach((rows, i) => this.columns[i].set(rows));
      this.at = near * this.stretch;
    }
    while (this.at < to) {
      for (let p = this.end[this.at]; p < this.end[this.at + 1]; p++) this.#patch(p, 1);
      this.at++;
    }
    while (this.at > to) {
      this.at--;
      for (let p = this.end[this.at + 1] - 1; p >= this.end[this.at]; p--) this.#patch(p, -1);
    }
    return this;
  }

  /** One number for the whole state. */
  hash() {
    let h = 2166136261;
    for (const rows of this.columns) for (const value of rows) h = Math.imul(h ^ value, 16777619);
    return h >>> 0;
  }

  // -- what an event says

  variant(e) { return this.log.variants[this.log.col.variant[e]]; }
  kind(e) { return this.kinds[this.log.col.variant[e]]; }
  isDecision(e) { return this.decides[this.log.col.variant[e]]; }
  why(e) { const { whys } = this.log; return whys[this.variant(e)] ?? whys[`${this.kind(e)} ${this.raw(e, "tier")}`] ?? whys[this.kind(e)]; }
  named(e) { return this.log.names[this.kind(e)]; }
  cause(e) { const back = this.log.col.cause[e]; return back ? e - back : -1; }

  chain(e) {
    const links = [e];
    while (this.cause(links[0]) >= 0) links.unshift(this.cause(links[0]));
    return links;
  }

  /** A field: a number or a text; undefined if the kind has none of that name. */
  raw(e, name) {
    const field = this.fields[this.kind(e)][name];
    if (!field) return undefined;
    if (field.type === "k") {
      const [size, a, b] = field.at.subarray(3 * this.rank[e], 3 * this.rank[e] + 3);
      return `(${[a, b].slice(0, size).map(num).join(", ")})`;
    }
    const value = field.at[this.rank[e]];
    if (field.type === "c" || field.type === "i" || field.type === "p" || field.type === "n") return value;
    if (field.type === "r") return this.log.requests[value];
    return field.type === "t" ? this.log.texts[value] : this.log.fractions[value];
  }

  request(e) {
    const field = this.fields[this.kind(e)].request;
    return field ? field.at[this.rank[e]] : -1;
  }

  /** The row of a column before the last event. */
  was(name, row) {
    const column = this.log.columns.indexOf(name);
    let value = this.c[name][row];
    this.patches((c, first, count, add) => {
      if (c === column && row >= first && row < first + count) value -= add;
    });
    return value;
  }

  patches(each) {
    if (this.at) for (let p = this.end[this.at - 1]; p < this.end[this.at]; p++)
      each(this.op.column[p], this.op.first[p], this.op.count[p], this.op.add[p]);
  }

  path(node) {
    const nodes = [];
    for (; node; node = this.c.parent[node]) nodes.push(node);
    return nodes;
  }

  /** The nodes that the last event touches. */
  touched() {
    if (!this.at) return [];
    const e = this.at - 1, kind = this.kind(e), { c, log } = this;
    if (log.paths[kind]) {
      const nodes = log.paths[kind].flatMap((end) => this.path(this.raw(e, end)));
      return kind === "loadback" ? nodes.filter((n) => !c.l1[n]) : [...new Set(nodes)];
    }
    if (kind === "backupdone" || kind === "loaddone") {
      const moved = [], column = log.columns.indexOf(kind === "backupdone" ? "l2" : "l1");
      this.patches((at, first) => at === column && moved.push(first));
      return moved;
    }
    return ["node", "upper"].map((name) => this.raw(e, name)).filter(Boolean);
  }

  /** How a node's copies look: the names of two states. */
  looks(node) {
    const { l1, l2, lock } = this.c;
    return [
      l1[node] === 2 ? "in_flight" : l1[node] ? (lock[node] ? "used" : "evictable") : null,
      l2[node] === 2 ? "in_flight" : l2[node] ? (l1[node] ? "copy" : "host_only") : null,
    ];
  }

  slotLook(tier, owner) {
    if (owner === 0) return "available";
    if (owner === 1 || owner & 1) return "held";
    return this.looks((owner - 2) / 2)[tier - 1] ?? "held";
  }

  /** The account of a tier: [state, tokens, moved], and what they must come to. */
  account(tier) {
    const a = this.c.account, p = (i) => this.was("account", i), { pools, page } = this.log;
    const total = pools[tier - 1] * page;
    const rows = tier === 1
      ? (v) => [["used", v(2)], ["held", total - v(0) - v(1) - v(2)], ["evictable", v(1)], ["available", v(0)]]
      : (v) => [["host_only", v(3)], ["copy", v(5)], ["held", total - v(4) - v(3) - v(5)], ["free", v(4)]];
    const now = rows((i) => a[i]), then = rows(p);
    return { total, terms: now.map(([state, n], i) => [state, n, n - then[i][1]]) };
  }

  /** The terms of an event's card, by name. */
  terms(e) {
    const { log, c } = this, kind = this.kind(e), t = {};
    for (const name of Object.keys(this.fields[kind])) t[name] = this.raw(e, name);
    const node = t.node;
    Object.assign(t, { host_free: c.account[4], page_size: log.page, counted: log.counted });
    if (node) Object.assign(t, { copied: +(this.was("l2", node) > 0 || c.life[node] === 2),
      parent_copied: +(!c.parent[node] || c.l2[c.parent[node]] > 0) });
    return t;
  }
}

// ---- 3 words and numbers

const num = (n) => (typeof n !== "number" ? `${n}`
  : Number.isInteger(n) ? (n > -1000 && n < 1000 ? `${n}` : `${n}`.replace(/\B(?=(\d{3})+$)/g, ",")) : n.toFixed(1));
/** Write markup where it differs from what is there. */
const put = (at, html) => { if (at && at.put !== html) at.innerHTML = at.put = html; };
const short = (n) => (Number.isInteger(n) ? num(n) : String(Number(n.toPrecision(3))));
const CONTROL = /[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g;
const SAID = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
/** Text from a file, on one line, as Python's views write it (markup.plain). */
export const plain = (text, limit = 40) => {
  const line = `${text}`.replace(CONTROL, (x) => SAID[x] ?? (x < "\u0100"
    ? "\\x" + x.charCodeAt(0).toString(16).padStart(2, "0")
    : "\\u" + x.charCodeAt(0).toString(16).padStart(4, "0")));
  const chars = [...line];
  return chars.length <= limit ? line : chars.slice(0, limit - 1).join("") + "…";
};
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const esc = (text) => `${text}`.replace(/[&<>"']/g, (x) => ENTITIES[x]);
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values(name) ?? "–");
const SIGNS = { "+": 1, "−": -1, "→": 1 };

/** A sum of terms, left to right (why.evaluate). */
function evaluate(sum, terms) {
  let total = null, sign = 1;
  for (const word of sum.split(" ")) {
    if (word in SIGNS) { sign = SIGNS[word]; continue; }
    const value = word in terms ? terms[word] : /^\d/.test(word) ? +word : null;
    if (value === null || typeof value === "string") return value;
    total = (total ?? 0) + sign * value;
  }
  return total;
}

function withSums(why, terms) {
  for (const test of why.tests) for (const row of test.rows) {
    const [left, name] = row.split(" = ");
    if (name && !(name in terms)) terms[name] = evaluate(left, terms);
  }
  return terms;
}

function holds(test, terms) {
  if (test.unless && terms[test.unless] == null) return null;
  if (test.fact) return !!terms[test.fact];
  if (!test.test) return null;
  const [a, sign, b] = test.test.split(" ");
  const x = terms[a], y = terms[b];
  return sign === "<" ? x < y : sign === "<=" ? x <= y : x >= y;
}

// ---- 4 looks: one set of patterns for SVG and canvas

const DRAWN = { stripes: [5, 5, 0, "M0 0H3V5H0Z"], hatch: [6, 6, 45, "M0 0H2.6V6H0Z"],
  "thin hatch": [6, 6, 45, "M0 0H1V6H0Z"], bars: [6, 4, 0, "M0 0H6V2H0Z"],
  "thin bars": [6, 4, 0, "M0 0H6V1H0Z"], "cross-hatch": [6, 6, 45, "M0 0H6M0 0V6", 2.2],
  chevrons: [8, 8, 0, "M1 7L4 3L7 7", 1.4] };

let players = 0;

const STYLE = `
.kv{container-type:inline-size;box-sizing:border-box;font:13px/1.4 var(--ui);color:var(--ink);background:var(--bg);border:1px solid var(--line);border-radius:4px;font-variant-numeric:tabular-nums;text-align:left;
--ui:var(--jp-ui-font-family,-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,'PingFang SC','Hiragino Sans GB','Microsoft YaHei','Noto Sans CJK SC',sans-serif);
--mono:var(--jp-code-font-family,ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Noto Sans Mono CJK SC',monospace)}
.kv *{box-sizing:border-box}.kv:focus-visible,.kv .pane:focus-visible,.kv button:focus-visible,.kv select:focus-visible,.kv input:focus-visible{outline:2px solid var(--link);outline-offset:-2px}
.kv svg{display:block}.kv svg text{font-family:var(--ui)}.kv .m{font-family:var(--mono)}
.kv button{font:inherit;color:inherit;background:none;border:1px solid transparent;border-radius:4px;cursor:pointer;padding:2px 7px}.kv button:disabled{opacity:.4;cursor:default}.kv button:not(:disabled):hover{background:var(--well)}
.kv select,.kv input{font:inherit;color:var(--ink);background:var(--bg);border:1px solid var(--line2);border-radius:4px;padding:1px 4px;max-width:190px}
.kv .top{display:flex;align-items:center;gap:10px;min-height:36px;padding:2px 16px;border-bottom:1px solid var(--line);font-size:12px;color:var(--ink2);white-space:nowrap}
.kv .top b{color:var(--ink)}.kv .sp{flex:1}.kv .top .name{overflow:hidden;text-overflow:ellipsis;min-width:0;unicode-bidi:isolate}
.kv .seg{display:inline-flex;border:1px solid var(--line2);border-radius:4px;overflow:hidden;flex:none}.kv .seg button{border:0;border-radius:0;padding:2px 9px;color:var(--ink2)}.kv .seg button+button{border-left:1px solid var(--line2)}.kv .seg button[aria-pressed=true]{background:var(--ink);color:var(--bg);font-weight:600}
.kv .head{display:flex;align-items:center;gap:12px;padding:6px 16px;min-height:58px;border-bottom:1px solid var(--line)}.kv .head svg{flex:none}.kv .head h2{font:600 18px/1.3 var(--ui);margin:0;overflow-wrap:anywhere}.kv .head .kind{font:12px var(--mono);color:var(--ink2)}
.kv .note{padding:4px 16px;font-size:12px;color:var(--alert);border-bottom:1px solid var(--line)}
.kv .body{display:grid;grid-template-columns:minmax(0,1fr) 540px 356px;grid-template-areas:"tree pool why" "queue pool why";grid-template-rows:minmax(120px,1fr) auto;min-height:468px}
.kv .pane{padding:10px 16px;min-width:0}.kv .pane h3{font:600 12px/16px var(--ui);margin:0 0 6px;display:flex;gap:8px;align-items:baseline;white-space:nowrap}.kv .pane h3 small{font-weight:400;font-size:11px;color:var(--ink3);overflow:hidden;text-overflow:ellipsis}
.kv .p-tree{grid-area:tree;display:flex;flex-direction:column}.kv .p-tree{height:0;min-height:100%}.kv .scroll{overflow:auto;flex:1}.kv .p-queue{grid-area:queue;border-top:1px solid var(--line)}.kv .p-pool{grid-area:pool;border-left:1px solid var(--line);border-right:1px solid var(--line)}.kv .p-why{grid-area:why;background:var(--well);display:flex;flex-direction:column;height:0;min-height:100%;overflow:auto}
.kv.two .body{grid-template-columns:minmax(0,1fr) minmax(0,1fr);grid-template-areas:none;grid-template-rows:none}.kv.two .pane{grid-area:auto;border:0;border-bottom:1px solid var(--line)}.kv.two .pane.b{border-left:1px solid var(--line)}.kv.two .p-tree{height:190px;min-height:0}.kv.two .p-why{height:260px;min-height:0}.kv.two .p-queue{display:none}
@container (max-width:1099px){.kv:not(.two) .body{grid-template-columns:540px minmax(0,1fr);grid-template-areas:"tree queue" "pool why";min-height:0}.kv:not(.two) .p-tree{border-bottom:1px solid var(--line);height:auto;min-height:0;max-height:330px}.kv:not(.two) .body{grid-template-rows:minmax(210px,auto) 1fr}.kv .p-pool{border-left:0}.kv:not(.two) .p-queue{border-top:0;border-left:1px solid var(--line);border-bottom:1px solid var(--line)}.kv .top .w{display:none}}
@container (max-width:780px){.kv:not(.two) .body{display:block}.kv .p-tree,.kv .p-why{height:auto;min-height:0;max-height:300px}.kv .p-pool{border:0;overflow-x:auto}.kv .p-queue{border-left:0!important}}
.kv .acct{display:flex;align-items:flex-end;margin-top:5px;font-size:11px;color:var(--ink2);white-space:nowrap}.kv .acct .term{display:inline-flex;flex-direction:column;border-radius:3px}.kv .acct .l{display:flex;gap:4px;align-items:center;height:16px}.kv .acct .n{font-size:15px;font-weight:600;color:var(--ink);line-height:20px}.kv .acct .d{font-weight:600;font-size:11px;color:var(--ink2);margin-left:4px}.kv .acct .z .n{color:var(--ink3);font-weight:400}.kv .acct .op{padding:0 7px;font-size:14px;color:var(--ink3);line-height:20px}.kv .acct .ok{color:var(--ok)}
.kv .v{display:flex;gap:8px;align-items:center;font:600 15px/20px var(--ui);margin-bottom:2px;overflow-wrap:anywhere}.kv .v svg{flex:none}.kv .dim{color:var(--ink2);font-size:12px}.kv .sec{border-top:1px solid var(--line);padding:6px 0;font-size:12px}.kv .lab{font-size:11px;color:var(--ink3);margin-bottom:2px}
.kv .eq{display:flex;align-items:flex-end;flex-wrap:wrap;font-size:11px;color:var(--ink2);margin-bottom:3px}.kv .eq .t{display:inline-flex;flex-direction:column}.kv .eq .l{display:flex;gap:4px;align-items:center;height:16px;font-family:var(--mono)}.kv .eq .n{font:600 14px/19px var(--ui);color:var(--ink)}.kv .eq .op{padding:0 5px;font-size:13px;line-height:19px;color:var(--ink3)}
.kv .test{font:600 14px/20px var(--ui)}.kv .yes{color:var(--ok)}.kv .bad{color:var(--alert)}.kv .off{color:var(--ink3);border:1px dashed var(--line2);border-radius:4px;padding:4px 8px;display:flex;gap:8px;align-items:center}.kv .off s{text-decoration-thickness:1px}
.kv .chain{display:flex;gap:2px 4px;flex-wrap:wrap;align-items:center}.kv .chain button{color:var(--link);padding:0 2px;text-decoration:underline;font-size:12px}
.kv .src{font:11px/1.5 var(--mono);color:var(--ink2)}.kv .src pre{margin:2px 0 0;font:inherit;white-space:pre;overflow-x:auto;background:none;color:inherit}.kv .src .hl{background:var(--bg);box-shadow:inset 3px 0 0 var(--ink);color:var(--ink);display:inline-block;min-width:100%;padding-left:7px}
.kv .q{font:600 15px/1.35 var(--ui);margin:0 0 8px}.kv .ans{display:flex;flex-direction:column;gap:5px;margin-bottom:8px;border:0;padding:0}.kv .ans label{display:flex;gap:8px;border:1px solid var(--line2);border-radius:4px;padding:6px 9px;background:var(--bg);cursor:pointer;font-size:13px}.kv .ans label:has(:checked){border-color:var(--ink);box-shadow:inset 0 0 0 1px var(--ink)}.kv .conf{flex-direction:row}.kv .conf label{flex:1;padding:3px 4px;font-size:12px;gap:4px;justify-content:center}.kv .conf input{width:12px;margin:0}
.kv .go{font-weight:600;padding:6px 14px;border-color:var(--ink);background:var(--ink)!important;color:var(--bg)}
.kv .lanes{display:grid;grid-template-columns:auto 1fr;gap:3px 12px;align-items:center;font-size:12px}.kv .ln{color:var(--ink2);text-align:right}.kv .chips{display:flex;gap:5px;align-items:center;min-height:26px;overflow:hidden}.kv .chip{display:inline-flex!important;gap:6px;align-items:center;border-color:var(--line2)!important;height:26px;white-space:nowrap;unicode-bidi:isolate}.kv .chip b{font:600 12px var(--mono)}.kv .chip small{color:var(--ink2);font-size:11px}.kv .none{color:var(--ink3)}
.kv .hot{border-color:var(--ink)!important;box-shadow:inset 0 0 0 1px var(--ink)}.kv .sel{outline:2.5px solid var(--link)!important;outline-offset:1px}.kv .hov{outline:2px dashed var(--link);outline-offset:1px}
.kv .insp{display:flex;flex-wrap:wrap;gap:1px 12px;font-size:12px;color:var(--ink2);padding-top:6px;margin-top:6px;border-top:1px solid var(--line);min-height:26px}.kv .insp b{color:var(--ink);font-family:var(--mono)}
.kv .tl{border-top:1px solid var(--line);padding:4px 16px 0}.kv canvas{display:block}.kv .pl{position:relative;margin:10px 0 8px}
.kv .ctl{display:flex;gap:6px;align-items:center;flex-wrap:wrap;padding:3px 12px 6px;font-size:12px;color:var(--ink2)}.kv .ctl .ic{width:30px;height:28px;padding:0;display:grid;place-items:center;color:var(--ink)}.kv .ctl .main{border-color:var(--ink)}.kv .ctl input{width:84px;text-align:right}.kv .ctl b{color:var(--ink)}
.kv .panel{border-top:1px solid var(--line);padding:8px 16px;font-size:12px;display:flex;gap:6px 12px;flex-wrap:wrap;align-items:center;background:var(--well)}.kv .panel:empty{display:none}.kv .panel dl{display:grid;grid-template-columns:auto 1fr;gap:2px 12px;margin:0;width:100%}.kv .panel dt{font-family:var(--mono)}.kv .panel dd{margin:0}
.kv .empty{border:1px dashed var(--line2);border-radius:4px;color:var(--ink3);display:grid;place-items:center;text-align:center;min-height:80px;padding:10px}
.kv .sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.kv.motion .bar rect{transition:x .24s cubic-bezier(.2,0,0,1),width .24s cubic-bezier(.2,0,0,1)}
@media (prefers-reduced-motion:reduce){.kv .bar rect{transition:none!important}}
@media (max-width:0){.kv{display:none}}
`;

// ---- 5 the player

const TILE = 24, GUT = 60, LANE = 56, WIDE = 448, BIG_TREE = 300, PART = 40;
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64];
const ICONS = { first: "M4 3v10M13 3L6 8l7 5z", previous: "M11 3L4 8l7 5z", play: "M4 3l9 5-9 5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z", next: "M5 3l7 5-7 5z", last: "M12 3v10M3 3l7 5-7 5z",
  decision_before: "M6 3L1 8l5 5zM11 4L8 8l3 4 3-4z", decision_after: "M10 3l5 5-5 5zM5 4L2 8l3 4 3-4z" };

export class Player {
  constructor(root, run, options = {}) {
    Object.assign(this, { root, run, log: run.log, id: `kv${++players}`, answers: [], bookmarks: new Set(),
      mode: options.mode ?? run.log.mode ?? "watch", hits: null, speed: 2, open: new Set(), folded: 0,
      hooks: options.hooks ?? {}, other: null, canFork: !!options.canFork, picked: null, sure: 1 });
    this.select = this.hover = null;
    this.lang = options.lang ?? run.log.lang ?? (/^zh/i.test(navigator.language) ? "zh" : "en");
    this.dark = options.dark ?? run.log.dark ?? darkPage();
    this.motion = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.answered = new Map();
    this.#frame();
    this.show(options.start ?? run.log.start ?? 0);
  }

  W(key, values = {}) {
    const words = this.log.ui[key];
    return fill(words ? this.pick(words) : key, (name) => values[name]);
  }
  pick(words) { return words[this.lang === "zh" ? 1 : 0]; }
  node(n) { return n ? `n${n}` : this.lang === "zh" ? "根" : "the root"; }

  // -- sentences (sentences.py)

  value(run, e, name) {
    const raw = run.raw(e, name), { c, log } = run, kind = run.kind(e), row = run.request(e);
    const node = run.raw(e, "node"), page = log.page, t = () => run.terms(e);
    const type = run.fields[kind][name]?.type;
    if (name === "n") return this.node(node);
    if (kind === "row" && name === "start") return num(raw * page);
    if (kind === "batch" && name === "number") return num(run.raw(e, "requests"));
    if (type === "n") return this.node(raw);
    if (type === "r" || type === "t") return plain(raw);
    if (type === "f") return short(raw);
    if (type && name !== "pages") return num(raw);
    switch (name) {
      case "number": return num(run.raw(e, "nodes") ?? run.raw(e, "requests"));
      case "total": return num(log.pools[0] * page);
      case "slots": return num(run.raw(e, "pages") * page);
      case "free": return num(c.account[run.raw(e, "tier") === "L1" ? 0 : 4]);
      case "hits": return num(c.hits[node]);
      case "depth": return num(run.touched().length);
      case "moved": return num(Math.abs(c.account[1] - run.was("account", 1)));
      case "copied": return num(run.touched().reduce((sum, n) => sum + c.len[n], 0));
      case "tokens": return num(run.was("len", node));
      case "kv": return num(kind === "retract" ? run.was("kv", row) : c.kv[row]);
      case "prompt": return num(c.prompt[row]);
      case "outputs": return num(c.outputs[row]);
      case "miss": return num(evaluate("asked − device − host", t()));
      case "allowed": return num(Math.max((t().quota ?? 0) + t().delta, 0));
      case "need": return num(evaluate("extend + max_new + page", t()));
      case "room": { const x = evaluate("available + evictable − promised", t()); return t().promised ? num(x).replace(/^([\d,-]+)$/, "$1.0") : num(x); }
      case "budget": { const x = t(); return num(Math.max(Math.min(x.rem_input, x.rem_chunk ?? x.rem_input), 0)); }
      case "cached": return num(evaluate("device_hit + loaded", t()));
      case "host_free": return num(c.account[4]);
    }
    return undefined;
  }

  say(run, e, table) {
    const entry = e < 0 ? "" : run.variant(e);
    const words = table[entry] ?? table[entry.split(" ")[0]] ?? [entry, entry];
    const text = fill(this.pick(words), (name) => (e < 0 ? num(run.log.pools[0] * run.log.page) : this.value(run, e, name))).trimEnd();
    return this.lang === "zh" ? text.replace(/ ?根 ?/g, "根")
      : text.replace(/(?<![\d.,])1 (token|slot|node|request)s\b/g, "1 $1");
  }

  sentence(run = this.run) { return this.say(run, run.at - 1, this.log.phrases); }

  // -- the frame that stays; only what is inside it is drawn anew

  #frame() {
    const { root } = this;
    root.classList.add("kv");
    root.tabIndex = 0;
    root.dataset.lmSuppressShortcuts = "true";
    root.setAttribute("role", "application");
    root.innerHTML = `<style>${STYLE}</style><div class="defs"></div><div class="top"></div><div class="notes"></div>
      <div class="head"><span class="glyph"></span><div><div class="kind"></div><h2></h2></div></div><div class="sr" role="status" aria-live="polite"></div>
      <div class="body"></div><div class="tl"><canvas tabindex="-1" role="img"></canvas></div><div class="ctl"></div><div class="panel"></div>`;
    this.$ = (s) => root.querySelector(s);
    this.live = this.$(".sr");
    root.addEventListener("keydown", (event) => this.#key(event));
    root.addEventListener("click", (event) => this.#click(event));
    root.addEventListener("change", (event) => this.#change(event));
    const over = (event) => this.#hover(event);
    root.addEventListener("pointerover", over);
    root.addEventListener("focusin", over);
    const line = this.$(".tl canvas");
    line.addEventListener("pointerdown", (event) => { line.setPointerCapture(event.pointerId); this.#seekTo(event); });
    line.addEventListener("pointermove", (event) => event.buttons && this.#seekTo(event));
    if (globalThis.ResizeObserver) {
      let wide = 0;
      this.watcher = new ResizeObserver(() => { if (root.clientWidth !== wide) { wide = root.clientWidth; this.layout(); } });
      this.watcher.observe(root);
    }
    this.layout();
  }

  close() { this.stop(); this.watcher?.disconnect(); }

  /** Everything that changes with language, theme, width or mode, not with the event. */
  layout() {
    const { root, log } = this, [day, night] = log.colours;
    this.colour = { ...day, ...(this.dark ? night : {}) };
    for (const [name, value] of Object.entries(this.colour)) root.style.setProperty(`--${name}`, value);
    root.style.colorScheme = this.dark ? "dark" : "light";
    root.lang = this.lang === "zh" ? "zh-Hans" : "en";
    root.classList.toggle("two", !!this.other);
    root.classList.toggle("motion", this.motion);
    root.setAttribute("aria-label", `kvlab: ${plain(log.name || "", 80)}`);
    this.tiles = this.far = this.treeWide = null;
    this.wide = Math.max(300, root.clientWidth - 34);
    this.$(".defs").innerHTML = `<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>${this.#patterns()}</defs></svg>`;
    const on = (yes) => `aria-pressed="${!!yes}"`;
    const asks = Object.keys(log.questions).length;
    this.$(".top").innerHTML = `<b>kvlab</b><bdi class="name">${esc(plain(log.name || "–", 60))}</bdi><span class="w m">${esc(log.engine)} · ${esc(log.settings.tree === "radix" ? "radix" : log.settings.write_policy)} · ${esc(log.settings.eviction_policy)}</span><span class="sp"></span>
      ${asks ? `<span class="seg"><button data-do="mode" data-to="predict" ${on(this.mode === "predict")}>${this.W("predict")}</button><button data-do="mode" data-to="watch" ${on(this.mode !== "predict")}>${this.W("watch")}</button></span>` : ""}
      ${this.other ? `<span class="seg"><button data-do="both" ${on(true)}>A | B</button><button data-do="one">A</button></span>` : this.b ? `<span class="seg"><button data-do="both">A | B</button><button data-do="one" ${on(true)}>A</button></span>` : ""}
      <button data-do="dark" title="${this.W("dark")}" aria-label="${this.W("dark")}">◐</button>
      <span class="seg"><button data-do="lang" data-to="zh" lang="zh" ${on(this.lang === "zh")}>中</button><button data-do="lang" data-to="en" lang="en" ${on(this.lang !== "zh")}>EN</button></span>`;
    const notes = [];
    if (log.fault) notes.push(this.W("fault", { a: plain(log.fault, 200) }));
    if (log.ended) notes.push(this.W("ended", { a: plain(log.ended, 200) }));
    if (!log.fault && log.events < log.of) notes.push(this.W("part", { a: num(log.events), b: num(log.of) }));
    if (this.b && this.difference) notes.push(this.#differs());
    this.$(".notes").innerHTML = notes.map((note) => `<div class="note">${esc(note)}</div>`).join("");
    const pane = (kind, b) => `<section class="pane p-${kind}${b ? " b" : ""}" tabindex="0" data-pane="${kind}" aria-label="${this.W(kind === "pool" ? "memory" : kind)}${this.other ? (b ? " B" : " A") : ""}"></section>`;
    this.$(".body").innerHTML = this.other
      ? ["tree", "pool", "why"].map((kind) => pane(kind) + pane(kind, true)).join("")
      : ["tree", "pool", "why", "queue"].map((kind) => pane(kind)).join("");
    this.#controls();
    this.panel && this.#panel(this.panel);
    if (this.run) this.draw();
  }

  #differs() {
    const d = this.difference;
    if (d.index == null) return this.W("same", { n: num(d.events) }) + (d.knobs ? ` · ${d.knobs}` : "");
    return `${this.W("differ", { n: num(d.index + 1) })}. ${this.W("identical", { n: num(d.index), k: d.knobs || "–" })}`;
  }

  #patterns() {
    const { colour } = this;
    const tile = (id, state, turned = 0) => {
      const pattern = DRAWN[this.log.looks[state].pattern];
      if (!pattern) return "";
      const [w, h, turn, d, stroke] = pattern, ink = colour[state];
      return `<pattern id="${this.id}-${id}" width="${w}" height="${h}" patternUnits="userSpaceOnUse" patternTransform="rotate(${turn + turned})"><rect width="${w}" height="${h}" fill="${colour[`${state}-ground`]}"/><path d="${d}" ${stroke ? `fill="none" stroke="${ink}" stroke-width="${stroke}"` : `fill="${ink}"`}/></pattern>`;
    };
    return Object.keys(this.log.looks).filter((s) => s !== "free").map((s) => tile(s, s)).join("") + tile("down", "in_flight", 180);
  }

  paint(state, down) {
    if (state === "free") state = "available";
    return DRAWN[this.log.looks[state].pattern] ? `url(#${this.id}-${down && state === "in_flight" ? "down" : state})` : this.colour[`${state}-ground`];
  }
  box(x, y, w, h, state, more = "") {
    if (state === "free") state = "available";
    const { dash } = this.log.looks[state];
    return `<rect x="${(x + 0.5).toFixed(2)}" y="${y + 0.5}" width="${Math.max(1, w - 1).toFixed(2)}" height="${h - 1}" rx="1.5" fill="${this.paint(state)}" stroke="${this.colour[`${state}-edge`]}" ${dash ? `stroke-dasharray="${dash}"` : ""} ${more}/>`;
  }
  swatch(state) { return `<svg width="12" height="12" aria-hidden="true">${this.box(0, 0, 12, 12, state)}</svg>`; }
  name(state) { return this.pick(this.log.looks[state].name); }
  sign(kind) {
    const c = this.colour;
    const marks = {
      yes: `<circle cx="10" cy="10" r="9" fill="none" stroke="${c.ok}" stroke-width="1.6"/><path d="M5.5 10.5l3 3 6-7" fill="none" stroke="${c.ok}" stroke-width="2"/>`,
      no: `<path d="M6 1h8l5 5v8l-5 5H6l-5-5V6z" fill="${c.refused}"/><path d="M10 4.5v7M10 13.5v2" stroke="#fff" stroke-width="2.4"/>`,
      out: `<rect x="1" y="1" width="18" height="18" rx="2" fill="${this.paint("evictable")}" stroke="${c["evictable-edge"]}"/><path d="M10 4v10M6 10.5l4 4 4-4" fill="none" stroke="${c.bg}" stroke-width="5"/><path d="M10 4v10M6 10.5l4 4 4-4" fill="none" stroke="${c.ink}" stroke-width="2"/>`,
      copy: `<rect x="1" y="1" width="18" height="18" rx="2" fill="${c["in_flight-ground"]}" stroke="${c["in_flight-edge"]}"/><path d="M10 16V6M6 9.5l4-4 4 4" fill="none" stroke="${c["in_flight-edge"]}" stroke-width="2"/>`,
      ask: `<circle cx="10" cy="10" r="9" fill="${c.ink}"/><text x="10" y="14.5" text-anchor="middle" font-size="13" font-weight="700" fill="${c.bg}">?</text>`,
      note: `<circle cx="10" cy="10" r="5" fill="${c.line2}"/>`,
    };
    return `<svg width="20" height="20" aria-hidden="true">${marks[kind] ?? marks.note}</svg>`;
  }

  // -- moving

  /** The event that may be shown last: before an open question. */
  get limit() {
    if (this.mode !== "predict") return this.run.count;
    const from = this.freed ?? 0;
    for (let e = from; e < this.run.count; e++)
      if (this.asks(e) && !this.answered.has(e)) { this.freed = e; return e; }
    return this.run.count;
  }
  asks(e) { return e < this.run.count && this.log.questions[this.run.kind(e)]?.[1][this.run.variant(e)] !== undefined; }
  get asking() { return this.mode === "predict" && this.run.at === this.limit && this.asks(this.run.at) ? this.run.at : -1; }

  show(to, spoken = true) {
    const limit = this.limit, wanted = Math.max(0, Math.min(limit, Math.round(to) || 0));
    this.run.seek(wanted);
    this.other?.seek(wanted);
    this.draw();
    if (spoken) this.live.textContent = this.asking >= 0 ? this.W("turn") : this.sentence();
    this.hooks.step?.(wanted);
  }
  step(by) { this.stop(); this.show(this.run.at + by); }

  /** The next event from here that `is` wanted; -1 if none. */
  find(by, is) {
    for (let e = this.run.at - 1 + by; e >= 0 && e < this.run.count; e += by) if (is(e)) return e;
    return -1;
  }
  jump(e) { this.stop(); if (e >= 0) this.show(e + 1); }

  concerns(e, what) {
    const { run } = this;
    if (what.request >= 0) return run.request(e) === what.request;
    const named = ["node", "upper", "parent"].some((name) => run.raw(e, name) === what.node);
    if (named) return true;
    const owner = 2 + 2 * what.node;
    for (let p = run.end[e]; p < run.end[e + 1]; p++) {
      const column = this.log.columns[run.op.column[p]] ?? "path";
      if (column === "path" ? run.path(run.op.first[p]).includes(what.node)
        : ["parent", "len", "lock", "hits", "l1", "l2", "life"].includes(column) && run.op.first[p] === what.node) return true;
    }
    return owner < 0;
  }

  play() {
    if (this.timer) return this.stop();
    this.started = performance.now();
    let due = this.started;
    const tick = (now) => {
      const pause = 600 / SPEEDS[this.speed];
      let by = 0;
      while (due <= now && by < 5000) { due += pause; by++; }
      if (by) this.show(this.run.at + by, SPEEDS[this.speed] <= 2);
      if (this.run.at >= this.limit) return this.stop();
      this.timer = requestAnimationFrame(tick);
    };
    this.timer = requestAnimationFrame(tick);
    this.#controls();
  }
  stop() {
    if (!this.timer) return;
    cancelAnimationFrame(this.timer);
    this.timer = 0;
    this.#controls();
    this.live.textContent = this.asking >= 0 ? this.W("turn") : this.sentence();
  }

  // -- drawing

  draw() {
    const { run } = this, e = run.at - 1, asking = this.asking;
    const began = performance.now();
    this.hot = new Set(run.touched());
    const why = e >= 0 ? run.why(e) : null;
    const kind = e < 0 ? this.W("start") : `${this.W("event")} ${num(e + 1)} · ${run.named(e)}`;
    const glyph = this.sign(asking >= 0 ? "ask" : why?.sign ?? (e < 0 ? "note" : signOf(run.kind(e))));
    const sides = this.other ? [[run, ""], [this.other, ".b"]] : [[run, ""]];
    // Canvases come first: writing to the page before would make each ask for its style.
    for (const [side, b] of sides) {
      this.hot = new Set(side.touched());
      this.#poolCanvas(this.$(`.p-pool${b || ":not(.b)"}`), side);
    }
    this.#timeline();
    this.$(".glyph").innerHTML = glyph;
    this.$(".kind").textContent = kind;
    this.$(".head h2").textContent = this.sentence() + (asking >= 0 ? ` · ${this.W("turn")}` : "");
    for (const [side, b] of sides) {
      this.hot = new Set(side.touched());
      const q = (pane) => this.$(`.p-${pane}${b || ":not(.b)"}`);
      const label = this.other ? (b ? "B · " : "A · ") : "";
      this.#tree(q("tree"), side, label);
      this.#pool(q("pool"), side, label);
      if (b || this.other || asking < 0) this.#why(q("why"), side, b ? this.other.at - 1 : e, label);
      else this.#ask(q("why"), asking);
    }
    this.hot = new Set(run.touched());
    if (!this.other) this.#queue(this.$(".p-queue"), run);
    this.#place();
    this.took = performance.now() - began;
  }

  // -- the tree

  #tree(pane, run, label) {
    const { c, log } = run, alive = [];
    for (let n = 1; n < c.life.length; n++) if (c.life[n]) alive.push(n);
    const gone = this.#gone(run);
    const note = `<h3>${label}${this.W("tree")}<small>${this.W("tree_note")}</small></h3>`;
    const wide = (this.treeWide ??= Math.max(200, pane.clientWidth - 32));
    if (!pane.querySelector(".scroll"))
      pane.innerHTML = `${note}<div class="scroll" role="tree" aria-label="${this.W("tree")}"><svg width="${wide}"><g class="back"></g><g class="rows"></g></svg><div class="empty"></div></div><div class="insp"></div>`;
    const empty = !alive.length && !gone.length, q = (x) => pane.querySelector(x);
    q(".empty").textContent = this.W("empty_tree");
    q(".empty").style.display = empty ? "" : "none";
    q(".scroll svg").style.display = empty ? "none" : "";
    if (!empty) {
      const { high, back, parts } = this.#treeParts(run, [...alive, ...gone], new Set(gone), wide);
      q("svg").setAttribute("height", high);
      if (pane.back !== back) q(".back").innerHTML = pane.back = back;
      keyed(q(".rows"), parts);
    }
    if (pane.insp !== (pane.insp = this.#inspect(run))) q(".insp").outerHTML = pane.insp;
    if (log) this.nodes = alive;
  }

  /** Nodes that the last event took out of the tree: shown crossed out, this once. */
  #gone(run) {
    const e = run.at - 1;
    if (e < 0 || !["delete", "evicthost"].includes(run.kind(e))) return [];
    const node = run.raw(e, "node");
    return run.c.life[node] ? [] : [node];
  }

  /** The tree as a ground and, by key, one group a node, each drawn from its own row
   *  down, so that what has not changed is not touched. */
  #treeParts(run, nodes, gone, wide) {
    const { c, log } = run, rowOf = (n) => log.col.rows[n - 1], [rows, depth] = log.col.tree;
    const x0 = 26, T = Math.min(15, (wide - x0 - 10) / Math.max(depth, 8));
    const hot = (n) => this.hot.has(n) || gone.has(n);
    const e = run.at - 1, asked = e >= 0 && run.kind(e) === "match" ? run.terms(e) : null;
    let shown = nodes, folds = [];
    if (nodes.length > BIG_TREE) [shown, folds] = this.#fold(run, nodes, hot);
    shown = [...shown].sort((a, b) => rowOf(a) - rowOf(b) || c.start[a] - c.start[b]);
    // Every row that is ever used keeps its place, unless they are too many to show.
    const used = rows <= 40 ? [...Array(rows).keys()] : [...new Set(shown.map(rowOf))].sort((a, b) => a - b);
    const pitch = rows <= 8 ? 42 : used.length <= 26 ? 15 : 10, high = () => pitch;
    const Y = new Map();
    let y = rows <= 8 || asked ? 46 : 20;
    const top = y, parts = new Map();
    for (const row of used) { Y.set(row, y); y += high(row); }
    const s = [], k = this.colour;
    let stride = 8;
    while (stride * T < 46) stride *= 2;
    for (let t = 0; t <= depth && (t === 0 || (depth - t) * T > 24); t += stride)
      s.push(`<path d="M${x0 + t * T} 15V${y - 4}" stroke="${k.line}"/><text x="${x0 + t * T}" y="11" text-anchor="middle" font-size="11" fill="${k.ink3}">${num(t)}</text>`);
    s.push(`<text x="${Math.min(wide, x0 + depth * T + 10)}" y="11" text-anchor="end" font-size="11" fill="${k.ink3}">${num(depth)}</text>`);
    if (asked) s.push(this.#asked(asked, x0, T));
    const spine = shown.filter((n) => !c.parent[n]).map((n) => Y.get(rowOf(n)) + (high(rowOf(n)) > 30 ? 22 : 5));
    if (spine.length) s.push(`<path d="M${x0 - 9} ${Math.min(...spine)}V${Math.max(...spine)}" stroke="${k.ink2}" stroke-width="1.5"/>`);
    let order = 0;
    const kind = e >= 0 ? run.kind(e) : "";
    const ends = new Map(), inOrder = ["load", "loadback", "loaddone", "backup"].includes(kind);
    for (const n of shown) {
      const row = rowOf(n), h = high(row), big = h > 30, base = Y.get(row), yy = big ? 15 : 1.5;
      const lv = big ? 15 : h > 10 ? 7 : 5, l2 = big ? 8 : h > 10 ? 4 : 3;
      const x = x0 + c.start[n] * T, w = Math.max(1.2, c.len[n] * T - (big ? 2 : 1));
      const [one, two] = gone.has(n) ? ["lost", "lost"] : run.looks(n), parent = c.parent[n];
      const g = [];
      if (!parent) g.push(`<path d="M${x0 - 9} ${yy + lv / 2}H${x0}" stroke="${k.ink2}"/>`);
      else if (Y.has(rowOf(parent)) && rowOf(parent) !== row) {
        const py = Y.get(rowOf(parent)) - base + (big ? 39 : 5);
        g.push(`<path d="M${x - 4} ${py}V${yy + lv / 2}H${x}" fill="none" stroke="${h > 10 ? k.ink2 : k.line2}"/>`);
      }
      const left = kind === "demote" && run.raw(e, "node") === n;
      const decks = [[yy, lv, one ?? (left ? "left" : "available")], [yy + lv + (h > 10 ? 1 : 0), l2, two ?? "available"]];
      for (const [dy, dh, state] of decks) g.push(h > 10 ? this.box(x, dy, w, dh, state) : `<rect x="${x}" y="${dy}" width="${w}" height="${dh}" fill="${state === "available" ? k.line : this.paint(state)}"/>`);
      if (big && T >= 6) { let cells = ""; for (let t = 1; t < c.len[n]; t++) cells += `M${x + t * T} ${yy + 1}v${lv - 2}`; g.push(`<path d="${cells}" stroke="${one === "used" ? "#fff" : k.bg}" opacity=".45"/>`); }
      if (gone.has(n)) g.push(`<path d="M${x} ${yy}L${x + w} ${yy + lv + l2}M${x} ${yy + lv + l2}L${x + w} ${yy}" stroke="${k.lost}" stroke-width="2"/>`);
      if (big) g.push(this.#nodeLabel(run, n, x, 11, w, row, ends));
      if (hot(n)) g.push(`<rect x="${x - 2}" y="${yy - 2}" width="${w + 4}" height="${lv + l2 + 5}" rx="3" fill="none" stroke="${k.ink}" stroke-width="1.75"/>`);
      if (!big && hot(n) && h > 12) g.push(`<text x="${x + w + 4}" y="10" font-size="10.5" font-weight="600" style="font-family:var(--mono)" fill="${k.ink}">n${n}</text>`);
      if (inOrder && hot(n) && this.hot.size > 1 && w > 18) g.push(`<circle cx="${x + w / 2}" cy="${yy + lv / 2}" r="7.5" fill="${k.ink}"/><text x="${x + w / 2}" y="${yy + lv / 2 + 4}" text-anchor="middle" font-size="11" font-weight="600" fill="${k.bg}">${++order}</text>`);
      if (this.select?.node === n || this.hover?.node === n) g.push(`<rect x="${x - 3}" y="${yy - 3}" width="${w + 6}" height="${lv + l2 + 7}" rx="4" fill="none" stroke="${k.link}" stroke-width="2.5" ${this.select?.node === n ? "" : 'stroke-dasharray="4 3"'}/>`);
      parts.set(`n${n}`, [base, `<g id="${this.id}-n${n}" role="treeitem" aria-level="${run.path(n).length}" aria-label="${esc(this.#nodeWords(run, n))}" data-node="${n}" style="cursor:pointer">${g.join("")}</g>`]);
    }
    for (const fold of folds) { parts.set(`f${fold[0]}`, [y, this.#foldRow(run, fold, x0, wide)]); y += 18; }
    if (this.moreFolds) { parts.set("more", [y, `<text x="${x0}" y="12" font-size="11" fill="${k.link}" data-do="unfold" style="cursor:pointer" tabindex="0" role="button">${this.W("subtrees", { n: num(this.moreFolds) })}</text>`]); y += 18; }
    return { high: Math.max(y, top) + 4, back: s.join(""), parts };
  }

  #asked(t, x0, T) {
    const s = [], late = [], parts = [["used", t.device, this.W("on_l1")], ["host_only", t.host, this.W("on_l2")], ["available", t.asked - t.device - t.host, "–"]];
    let at = 0;
    for (const [state, n, words] of parts) if (n) {
      s.push(this.box(x0 + at * T, 20, n * T, 12, state));
      late.push(`${num(n)} ${words}`);
      at += n;
    }
    return s.join("") + `<text x="${x0}" y="42" font-size="10.5" fill="${this.colour.ink2}">${esc(late.join(" · "))}</text>`;
  }

  #nodeLabel(run, n, x, y, w, row, ends) {
    const { c } = run, k = this.colour, id = `n${n}`, wid = id.length * 6.8;
    if (x < (ends.get(row) ?? -9) || (w < wid - 6 && w < 14)) return "";
    let s = `<text x="${x}" y="${y}" font-size="11" font-weight="600" style="font-family:var(--mono)" fill="${k.ink}">${id}</text>`;
    let from = x + wid + 4, to = x + w;
    if (c.lock[n]) {
      const t = num(c.lock[n]), wide = t.length * 6.5 + 12;
      const at = to - from > wide ? to - wide : from;
      s += `<g transform="translate(${at},${y - 9})" fill="none" stroke="${k.ink}" stroke-width="1.3"><path d="M2 4.5V3a2 2 0 0 1 4 0v1.5"/><rect x="1" y="4.5" width="6" height="4.5" rx=".8" fill="${k.ink}" stroke="none"/></g><text x="${at + 10}" y="${y}" font-size="11" font-weight="600" fill="${k.ink}">${t}</text>`;
      if (at === from) from += wide; else to -= wide;
    }
    const hits = `×${num(c.hits[n])}`;
    if (to - from > hits.length * 6.5 + 6) { s += `<text x="${to - 2}" y="${y}" text-anchor="end" font-size="11" fill="${k.ink3}">${hits}</text>`; to -= hits.length * 6.5 + 6; }
    const range = `${num(c.start[n])}–${num(c.start[n] + c.len[n] - 1)}`;
    if (to - from > range.length * 6.4) s += `<text x="${from}" y="${y}" font-size="11" fill="${k.ink3}">${range}</text>`;
    ends.set(row, from);
    return s;
  }

  /** Over BIG_TREE nodes: what the event, the selection and the reader opened stays; the
   *  rest is one row a subtree of the root. */
  #fold(run, nodes, hot) {
    const { c } = run, kids = new Map(), groups = new Map(), path = new Set(), lead = [];
    for (const n of nodes) { const up = c.life[c.parent[n]] ? c.parent[n] : 0; kids.has(up) ? kids.get(up).push(n) : kids.set(up, [n]); }
    const below = (n) => { const all = [n]; for (let i = 0; i < all.length; i++) all.push(...(kids.get(all[i]) ?? [])); return all; };
    for (const n of kids.get(0) ?? []) groups.set(n, below(n));
    // A prefix that nearly all share would fold everything into one row: show it, and
    // fold what lies below it.
    for (let i = 0; i < 8; i++) {
      const [top, group] = [...groups].reduce((most, g) => (g[1].length > most[1].length ? g : most), [0, []]);
      if (group.length <= BIG_TREE || this.open.has(top)) break;
      groups.delete(top);
      lead.push(top);
      for (const n of kids.get(top) ?? []) groups.set(n, below(n));
    }
    for (const n of nodes) if (hot(n) || n === this.select?.node) for (const up of run.path(n)) path.add(up);
    const shown = [...lead], folds = [];
    for (const [t, group] of [...groups].sort((a, b) => run.log.col.rows[a[0] - 1] - run.log.col.rows[b[0] - 1])) {
      if (this.open.has(t)) shown.push(...group.slice(0, 400));
      else {
        const kept = group.filter((n) => path.has(n));
        shown.push(...kept);
        if (kept.length < group.length) folds.push([t, group]);
      }
    }
    const from = this.folded % Math.max(1, folds.length), page = folds.slice(from, from + PART);
    this.moreFolds = folds.length - page.length;
    return [shown, page];
  }

  #foldRow(run, [top, group], x0, wide) {
    const { c } = run, sums = {};
    let all = 0;
    for (const n of group) { const look = run.looks(n)[0] ?? "host_only"; sums[look] = (sums[look] ?? 0) + c.len[n]; all += c.len[n]; }
    const w = Math.min(wide - x0 - 190, 60 + Math.sqrt(all)), s = [];
    let x = x0;
    for (const look of ["used", "in_flight", "evictable", "host_only"]) if (sums[look]) { const part = (sums[look] / all) * w; s.push(this.box(x, 2, part, 12, look)); x += part; }
    return `<g data-fold="${top}" tabindex="0" role="treeitem" aria-expanded="false" aria-label="n${top}: ${esc(this.W("folded", { a: num(group.length), b: num(all) }))}" style="cursor:pointer"><rect x="0" y="0" width="${wide}" height="17" fill="transparent"/><text x="4" y="12" font-size="11" fill="${this.colour.ink2}">▸</text>${s.join("")}<text x="${x + 6}" y="12" font-size="11" fill="${this.colour.ink2}">n${top} · ${esc(this.W("folded", { a: num(group.length), b: num(all) }))}</text></g>`;
  }

  #nodeWords(run, n) {
    const { c } = run, [one, two] = run.looks(n);
    return `n${n}, ${num(c.len[n])} ${this.W("tokens")}, ${this.W("lock")} ${c.lock[n]}, ${one ? `L1 ${this.name(one)}` : ""} ${two ? `L2 ${this.name(two)}` : ""}`;
  }

  #inspect(run) {
    const first = [...this.hot][0], { c } = run;
    const at = this.hover ?? this.select ?? (first ? { node: first, request: -1 } : null);
    if (!at) return `<div class="insp" style="visibility:hidden"></div>`;
    if (at.request >= 0) {
      const r = at.request;
      return `<div class="insp"><b><bdi>${esc(plain(run.log.requests[r]))}</bdi></b><span>${this.W("in_out", { a: num(c.prompt[r]), b: num(c.max_new[r]) })}</span><span>${this.W("out_of", { a: num(c.outputs[r]), b: num(c.max_new[r]) })}</span><span>kv <b>${num(c.kv[r])}</b></span></div>`;
    }
    const n = at.node, pages = (tier) => this.#runsOf(run, tier, 2 + 2 * n);
    return `<div class="insp"><b>n${n}</b><span>${this.W("tokens")} <b>${num(c.start[n])}–${num(c.start[n] + c.len[n] - 1)}</b></span><span>${this.W("under")} <b>${esc(this.node(c.parent[n]))}</b></span><span>lock_ref <b>${c.lock[n]}</b></span><span>${this.W("hits")} <b>${c.hits[n]}</b></span><span>L1 <b>${pages(1)}</b></span><span>L2 <b>${pages(2)}</b></span></div>`;
  }

  #runsOf(run, tier, owner) {
    const rows = run.c[`owner${tier}`], out = [];
    for (let i = 0; i < rows.length && out.length < 5; i++) if (rows[i] === owner) {
      const first = i;
      while (rows[i + 1] === owner) i++;
      out.push(first === i ? num(i) : `${num(first)}–${num(i)}`);
    }
    return out.length > 4 ? `${out.slice(0, 4).join(", ")} …` : out.join(", ") || "–";
  }

  // -- the pools: one canvas for both and the copies between them

  grid() {
    const [one, two] = this.log.pools;
    const [columns, row, gap] = one <= 48 ? [Math.max(one, 12), 26, 4] : one <= 192 ? [one <= 128 ? 32 : 48, 22, 3]
      : one <= 1200 ? [one <= 480 ? 80 : 112, 13, 2] : [Math.max(250, Math.ceil(one / 40)), 3, 0];
    const high = (n) => Math.max(0, Math.ceil(n / columns) * (row + gap) - gap);
    const squeeze = Math.min(1, 150 / Math.max(1, high(two))); // a large host pool gets lower rows
    const low = two && squeeze < 1 ? Math.max(1, (row + gap) * squeeze) : row + gap;
    const y2 = high(one) + (two ? LANE : 0);
    return { columns, cell: WIDE / columns, tiers: [
      { first: 1, n: one, y: 0, pitch: row + gap, row, high: high(one) },
      { first: 0, n: two, y: y2, pitch: low, row: Math.max(1, low - (low > 4 ? gap : 0)), high: two ? Math.ceil(two / columns) * low : 0 }] };
  }

  #pool(pane, run, label) {
    const page = this.log.page;
    put(pane.querySelector(".t"), `<h3>${label}${this.W("memory")}<small>${page === 1 ? this.W("cell") : this.W("cell_page", { n: num(page) })}</small></h3>`);
    put(pane.querySelector(".a1"), this.#account(run, 1));
    if (this.log.pools[1]) put(pane.querySelector(".a2"), this.#account(run, 2));
    pane.querySelector("canvas").setAttribute("aria-label", this.#poolWords(run));
  }

  #poolCanvas(pane, run) {
    const g = this.grid(), [t1, t2] = g.tiers;
    if (!pane.querySelector("canvas"))
      pane.innerHTML = `<div class="t"></div><div class="a1"></div><div class="pl"><canvas tabindex="0" role="img"></canvas></div><div class="a2"></div>`;
    const canvas = pane.querySelector("canvas");
    canvas.run = run;
    this.drawPools(this.#canvas(canvas, GUT + WIDE + 2, (t2.n ? t2.y + t2.high : t1.high) + 3), run, g);
  }

  #canvas(canvas, w, h) {
    const dp = globalThis.devicePixelRatio || 1;
    if (canvas.width !== Math.round(w * dp) || canvas.height !== Math.round(h * dp)) {
      canvas.width = Math.round(w * dp);
      canvas.height = Math.round(h * dp);
      canvas.style.cssText = `width:${w}px;height:${h}px`;
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(dp, 0, 0, dp, 0, 0);
    pen.clearRect(0, 0, w, h);
    return pen;
  }

  /** A canvas pattern of a state, in screen space; made once for each theme. */
  tile(pen, state) {
    this.tiles ??= {};
    if (this.tiles[state]) return this.tiles[state];
    const pattern = DRAWN[this.log.looks[state].pattern], { colour } = this;
    if (!pattern) return (this.tiles[state] = colour[`${state}-ground`]);
    const [w, h, turn, d, stroke] = pattern, dp = globalThis.devicePixelRatio || 1;
    const tile = document.createElement("canvas");
    tile.width = w * 2 * dp; tile.height = h * 2 * dp;
    const p = tile.getContext("2d");
    p.scale(2 * dp, 2 * dp);
    p.fillStyle = colour[`${state}-ground`]; p.fillRect(0, 0, w, h);
    p.fillStyle = p.strokeStyle = colour[state];
    p.lineWidth = stroke ?? 1;
    stroke ? p.stroke(new Path2D(d)) : p.fill(new Path2D(d));
    const made = pen.createPattern(tile, "repeat");
    made.setTransform(new DOMMatrix().rotate(turn).scale(0.5 / dp));
    return (this.tiles[state] = made);
  }

  /** Stretches of neighbouring pages with one owner: [first, length, owner]. */
  stretches(run, tier, most = Infinity) {
    const rows = run.c[`owner${tier}`], { first, n } = this.grid().tiers[tier - 1], out = [];
    for (let i = first, end = first + n; i < end && out.length < most; ) {
      const owner = rows[i], from = i;
      while (i < end && rows[i] === owner) i++;
      out.push([from, i - from, owner]);
    }
    return out;
  }

  *pieces(tier, first, length, g) {
    let at = first - tier.first;
    const end = at + length;
    while (at < end) {
      const row = Math.floor(at / g.columns), column = at - row * g.columns, count = Math.min(end - at, g.columns - column);
      yield [GUT + column * g.cell, tier.y + row * tier.pitch, count * g.cell, count];
      at += count;
    }
  }

  drawPools(pen, run, g) {
    const k = this.colour, e = run.at - 1, kind = e >= 0 ? run.kind(e) : "";
    const ghost = this.log.leaves[kind], touched = [[], []];
    const [c1, c2] = [this.log.columns.indexOf("owner1"), this.log.columns.indexOf("owner2")];
    run.patches((c, first, count) => { if (c === c1 || c === c2) touched[c === c1 ? 0 : 1].push([first, count]); });
    pen.font = "600 13px sans-serif"; pen.textBaseline = "alphabetic";
    for (const tier of [1, 2]) {
      const t = g.tiers[tier - 1];
      if (!t.n) continue;
      pen.fillStyle = k.ink; pen.font = `600 13px ${UI}`; pen.textAlign = "left";
      pen.fillText(`L${tier}`, 0, t.y + 13);
      pen.fillStyle = k.ink3; pen.font = `11px ${UI}`;
      pen.fillText(this.W(tier === 1 ? "gpu" : "host"), 0, t.y + 27);
    }
    if (g.tiers[1].n) this.#ribbons(pen, run, g);
    for (const tier of [1, 2]) {
      const t = g.tiers[tier - 1];
      if (!t.n) continue;
      if (g.cell < 3 || t.row < 8) this.#pixels(pen, run, tier, g);
      else for (const [first, length, owner] of this.stretches(run, tier)) {
        let look = run.slotLook(tier, owner);
        if (ghost && owner === 1 && touched[tier - 1].some(([a, n]) => first >= a && first < a + n)) look = ghost;
        let piece = 0;
        for (const [x, y, w, count] of this.pieces(t, first, length, g)) {
          pen.fillStyle = this.tile(pen, look);
          pen.fillRect(x + 0.5, y + 0.5, w - 1, t.row - 1);
          pen.strokeStyle = k[`${look}-edge`];
          pen.setLineDash(look === "available" || look === "left" ? [1.5, 2.5] : look === "lost" ? [3, 2] : []);
          pen.lineWidth = 1;
          pen.strokeRect(x + 0.5, y + 0.5, w - 1, t.row - 1);
          pen.setLineDash([]);
          if (g.cell > 6 && look !== "lost") {
            pen.strokeStyle = look === "used" ? "rgba(255,255,255,.5)" : look === "available" ? k.line : k.bg;
            pen.globalAlpha = look === "available" ? 1 : 0.55;
            pen.beginPath();
            for (let i = 1; i < count; i++) { pen.moveTo(x + i * g.cell, y + 2); pen.lineTo(x + i * g.cell, y + t.row - 2); }
            pen.stroke();
            pen.globalAlpha = 1;
          }
          if (owner > 1 && !(owner & 1)) this.#twin(pen, run, tier, (owner - 2) / 2, x, y, w, t.row);
          if (look === "lost") { pen.strokeStyle = k.lost; pen.lineWidth = 1.6; pen.beginPath(); pen.moveTo(x + 2, y + 2); pen.lineTo(x + w - 2, y + t.row - 2); pen.moveTo(x + 2, y + t.row - 2); pen.lineTo(x + w - 2, y + 2); pen.stroke(); }
          if (t.row >= 12 && (piece++ === 0 || w > 60)) this.#plate(pen, run, owner, x, y, w, t.row);
        }
      }
      this.#rings(pen, run, tier, g, touched[tier - 1]);
    }
  }

  /** Slots too small for marks: every pixel from its state's tile, in screen space, so
   *  that ten thousand slots cost what ten do. Owners are kept apart by a thin line. */
  #pixels(pen, run, tier, g) {
    const t = g.tiers[tier - 1], dp = globalThis.devicePixelRatio || 1, rows = run.c[`owner${tier}`];
    const W = Math.round(WIDE * dp), H = Math.max(1, Math.round(t.high * dp)), image = new ImageData(W, H), pixels = new Uint32Array(image.data.buffer);
    const { inks, bg } = this.#inks(pen), looks = Object.keys(this.log.looks), known = new Map();
    const inkOf = (owner) => {
      let ink = known.get(owner);
      if (ink === undefined) known.set(owner, (ink = inks[looks.indexOf(run.slotLook(tier, owner))]));
      return ink;
    };
    const per = g.columns / W, pitch = t.pitch * dp;
    for (let row = 0, at = t.first; at < t.first + t.n; row++, at += g.columns) {
      const y0 = Math.round(row * pitch), y1 = Math.min(H, Math.max(y0 + 1, Math.round(row * pitch + t.row * dp)));
      const cells = Math.min(g.columns, t.first + t.n - at);
      for (let x = 0, cell = 0; x < W && cell < cells; ) {
        const owner = rows[at + cell], from = x;
        while (x < W && (cell = Math.floor(x * per)) < cells && rows[at + cell] === owner) x++;
        const ink = inkOf(owner);
        for (let y = y0; y < y1; y++) {
          const tile = (y % TILE) * W, line = y * W;
          if (x - from > 24) pixels.set(ink.subarray(tile + from, tile + x), line + from);
          else for (let i = from; i < x; i++) pixels[line + i] = ink[tile + i];
          if (from && owner > 1) pixels[line + from] = bg;
        }
      }
    }
    pen.putImageData(image, Math.round(GUT * dp), Math.round(t.y * dp));
    pen.strokeStyle = this.colour.line2; pen.lineWidth = 1;
    pen.strokeRect(GUT - 0.5, t.y - 0.5, WIDE + 1, t.high + 1);
  }

  /** Each state's tile as pixels, read once for each theme. */
  #inks(pen) {
    if (this.tiles?.inks) return this.tiles.inks;
    const canvas = document.createElement("canvas");
    const W = (canvas.width = Math.round(WIDE * (globalThis.devicePixelRatio || 1)));
    canvas.height = TILE;
    const p = canvas.getContext("2d", { willReadFrequently: true }), all = [];
    for (const state of Object.keys(this.log.looks)) {
      p.fillStyle = state === "free" ? this.tile(pen, "available") : this.tile(pen, state);
      p.fillRect(0, 0, W, TILE);
      all.push(new Uint32Array(p.getImageData(0, 0, W, TILE).data.buffer));
    }
    p.fillStyle = this.colour.bg; p.fillRect(0, 0, 1, 1);
    const bg = new Uint32Array(p.getImageData(0, 0, 1, 1).data.buffer)[0];
    return (this.tiles.inks = { inks: all, bg });
  }

  #twin(pen, run, tier, node, x, y, w, high) {
    const twin = run.looks(node)[2 - tier];
    if (!twin || run.looks(node).includes("in_flight")) return;
    pen.fillStyle = this.colour[twin === "copy" ? "host_only" : twin];
    pen.fillRect(x + 1, tier === 1 ? y + high - 3.5 : y + 0.5, w - 2, 3);
  }

  #plate(pen, run, owner, x, y, w, high) {
    if (owner < 2) return;
    const text = owner & 1 ? plain(run.log.requests[(owner - 3) / 2], 12) : `n${(owner - 2) / 2}`;
    pen.font = `600 ${high >= 18 ? 11 : 9.5}px monospace`;
    const wide = pen.measureText(text).width + 6;
    if (wide + 3 > w) return;
    pen.fillStyle = this.colour.bg;
    pen.fillRect(x + (w - wide) / 2, y + high / 2 - 7, wide, 13);
    pen.fillStyle = this.colour.ink; pen.textAlign = "center";
    pen.fillText(text, x + w / 2, y + high / 2 + 3);
    pen.textAlign = "left";
  }

  #rings(pen, run, tier, g, touched) {
    const t = g.tiers[tier - 1], k = this.colour, rows = run.c[`owner${tier}`];
    const ring = (first, length, colour, wide, dash = []) => {
      for (const [x, y, w] of this.pieces(t, first, length, g)) {
        pen.strokeStyle = colour; pen.lineWidth = wide; pen.setLineDash(dash);
        pen.strokeRect(x - 0.5, y - 0.5, Math.max(2, w + 1), t.row + 1);
      }
      pen.setLineDash([]);
    };
    const owned = (owner, colour, wide, dash) => {
      for (let i = 0; i < rows.length; i++) if (rows[i] === owner) { const from = i; while (rows[i + 1] === owner) i++; ring(from, i - from + 1, colour, wide, dash); }
    };
    if (rows.length < 60000) for (const n of this.hot) owned(2 + 2 * n, k.ink, 1.75);
    for (const [first, length] of touched.slice(0, 200)) ring(first, length, k.ink, 1.75);
    const owner = (at) => (at.request >= 0 ? 3 + 2 * at.request : 2 + 2 * at.node);
    if (this.select) owned(owner(this.select), k.link, 2.5);
    if (this.hover) owned(owner(this.hover), k.link, 2, [4, 3]);
    if (this.state) for (const [first, length, o] of this.stretches(run, tier)) if (run.slotLook(tier, o) === this.state) ring(first, length, k.link, 2, [4, 3]);
  }

  /** Copies in flight, in token order, cut where either side is cut. */
  #ribbons(pen, run, g) {
    const { c } = run, k = this.colour, [t1, t2] = g.tiers, strands = [];
    const moving = new Set();
    for (let n = 1; n < c.life.length; n++) if (c.life[n] && (c.l1[n] === 2 || c.l2[n] === 2)) moving.add(n);
    const sums = [0, 0];
    for (const n of moving) sums[c.l1[n] === 2 ? 0 : 1] += c.len[n];
    if (moving.size) {
      const ends = [1, 2].map((tier) => {
        const found = new Map();
        for (const [first, length, owner] of this.stretches(run, tier)) {
          const n = (owner - 2) / 2;
          if (owner < 2 || owner & 1 || !moving.has(n)) continue;
          const shift = run.c[`shift${tier}`];
          for (let i = first; i < first + length; ) {
            const from = i;
            while (i < first + length && shift[i] === shift[from]) i++;
            for (const [x, y, , count] of this.pieces(g.tiers[tier - 1], from, i - from, g))
              (found.get(n) ?? found.set(n, []).get(n)).push({ at: from + shift[from], x, y, count });
          }
        }
        // pieces() walks row by row, so `at` of later rows follows from the counts
        for (const list of found.values()) { let last = null; for (const p of list) { if (last && last.at === p.at) p.at = last.at + last.count; last = p; } list.sort((a, b) => a.at - b.at); }
        return found;
      });
      for (const n of moving) {
        const a = (ends[1].get(n) ?? []).map((p) => ({ ...p })), b = (ends[0].get(n) ?? []).map((p) => ({ ...p }));
        while (a.length && b.length) {
          const count = Math.min(a[0].count, b[0].count), w = count * g.cell;
          strands.push([a[0].x, a[0].y, b[0].x, b[0].y + t1.row, w, c.l1[n] === 2]);
          for (const list of [a, b]) { list[0].count -= count; list[0].x += w; if (!list[0].count) list.shift(); }
        }
      }
    }
    strands.sort((a, b) => b[4] - a[4]); // the widest tell most of the story
    for (const [ax, ay, bx, by, w, up] of strands.slice(0, 60)) {
      const m = (ay + by) / 2;
      const band = new Path2D(`M${ax} ${ay}C${ax} ${m} ${bx} ${m} ${bx} ${by}H${bx + w}C${bx + w} ${m} ${ax + w} ${m} ${ax + w} ${ay}Z`);
      pen.globalAlpha = strands.length > 12 ? 0.16 : 0.3; pen.fillStyle = k.ribbon; pen.fill(band);
      pen.globalAlpha = strands.length > 12 ? 0.5 : 1; pen.strokeStyle = k["in_flight-edge"]; pen.lineWidth = 1; pen.stroke(band);
      if (w < 8 || strands.length > 40) { pen.globalAlpha = 1; continue; }
      pen.globalAlpha = 1; pen.lineWidth = 1.8;
      for (const t of [0.2, 0.4, 0.6, 0.8]) {
        const s = 3 * t * t - 2 * t ** 3, x = ax + w / 2 + (bx - ax) * s, y = ay + (by - ay) * (1.5 * t - 1.5 * t * t + t ** 3), d = up ? -2.5 : 2.5;
        pen.beginPath(); pen.moveTo(x - 4, y - d); pen.lineTo(x, y + d); pen.lineTo(x + 4, y - d); pen.stroke();
      }
    }
    const y = t1.high + LANE / 2;
    [[this.W("load"), sums[0], -7, "↑"], [this.W("write"), sums[1], 9, "↓"]].forEach(([word, n, dy, arrow]) => {
      pen.font = `${n ? 600 : 400} 11px ${UI}`; pen.fillStyle = n ? k["in_flight-edge"] : k.ink3;
      pen.fillText(`${arrow} ${word}${n ? ` ${num(n)}` : ""}`, 0, y + dy + 4);
    });
  }

  #poolWords(run) {
    return [1, 2].map((tier) => {
      const list = this.stretches(run, tier, 31);
      const said = list.slice(0, 30).map(([first, length, owner]) => {
        const who = owner < 2 ? "" : owner & 1 ? plain(run.log.requests[(owner - 3) / 2], 12) : `n${(owner - 2) / 2}`;
        return `${first}–${first + length - 1} ${who} ${this.name(run.slotLook(tier, owner))}`;
      });
      return list.length ? `L${tier}: ${said.join("; ")}${list.length > 30 ? " …" : ""}` : "";
    }).join(". ");
  }

  #account(run, tier) {
    const { total, terms } = run.account(tier), high = tier === 1 ? 14 : 8;
    let x = 0, bars = "", sum = 0, sound = true;
    const loading = tier === 1 ? this.#loading(run) : 0;
    for (const [state, n] of terms) {
      sum += n; sound &&= n >= 0;
      const w = total ? (n / total) * WIDE : 0;
      if (w > 0) {
        const part = state === "used" && loading ? Math.min(1, loading / n) * w : 0;
        if (w > part) bars += this.box(x, 0, w - part, high, state);
        if (part) bars += this.box(x + w - part, 0, part, high, "in_flight");
      }
      x += Math.max(0, w);
    }
    const shown = terms.filter(([state, n, moved]) => tier === 1 || state !== "held" || n || moved);
    const eq = shown.map(([state, n, moved], i) => {
      const name = tier === 2 && state === "held" ? this.W("outside") : this.name(state);
      const note = state === "used" && loading ? ` · ${this.W("loading", { n: num(loading) })}` : "";
      return `${i ? '<span class="op">+</span>' : ""}<span class="term ${n ? "" : "z"} ${this.state === state ? "hov" : ""}" data-state="${state}" tabindex="0"><span class="l">${this.swatch(state)}${esc(name)}${note}</span><span><span class="n">${num(n)}</span>${moved ? `<span class="d">${moved > 0 ? "+" : "−"}${num(Math.abs(moved))}</span>` : ""}</span></span>`;
    }).join("");
    const right = sound && sum === total;
    return `<div style="padding-left:${GUT}px"><svg class="bar" width="${WIDE}" height="${high}" aria-hidden="true">${bars}</svg><div class="acct">${eq}<span class="op">=</span><span class="term"><span class="l">${this.W("slots")}</span><span><span class="n">${num(total)}</span> <span class="${right ? "ok" : "bad"}">${right ? "✓" : "!"}</span></span></span></div></div>`;
  }

  #loading(run) {
    const { c } = run;
    let sum = 0;
    for (let n = 1; n < c.life.length; n++) if (c.life[n] && c.l1[n] === 2 && c.lock[n]) sum += c.len[n];
    return sum;
  }

  // -- the queue

  #queue(pane, run) {
    const { c, log } = run, lanes = { waiting: [], running: [], finished: [] };
    let done = 0;
    for (let r = 0; r < c.stage.length; r++) {
      const stage = c.stage[r];
      if (stage === 1) lanes.waiting.push(r);
      else if (stage === 2 || stage === 3) lanes.running.push(r);
      else if (stage > 3) { done++; lanes.finished.push(r); if (lanes.finished.length > 3) lanes.finished.shift(); }
    }
    const e = run.at - 1, now = e >= 0 ? run.request(e) : -1;
    for (const lane of ["waiting", "running"]) lanes[lane].sort((a, b) => c.place[a] - c.place[b]);
    const chip = (r, words, bar = "") => `<button class="chip ${r === now ? "hot" : ""} ${this.select?.request === r ? "sel" : ""} ${this.hover?.request === r ? "hov" : ""}" data-request="${r}"><b><bdi>${esc(plain(log.requests[r], 18))}</bdi></b>${bar}<small>${esc(words)}</small></button>`;
    const short = (r) => {
      if (e < 0 || r !== now || run.variant(e) !== "admit no_token") return null;
      const t = withSums(log.whys["admit no_token"], run.terms(e)), w = 80 / Math.max(t.need, 1), have = Math.max(0, Math.min(t.room, t.need));
      return [this.W("short", { n: num(t.need - t.room) }), `<svg width="82" height="14" aria-hidden="true">${this.box(0, 0, have * w, 14, "promised")}<rect x="${have * w + 1}" y="1" width="${Math.max(2, (t.need - have) * w - 1)}" height="12" fill="${this.colour["refused-ground"]}" stroke="${this.colour.refused}" stroke-width="2"/></svg>`];
    };
    const told = {
      waiting: (r, i) => short(r) ?? [i ? this.W("after", { q: plain(log.requests[lanes.waiting[i - 1]], 12) }) : c.retracted[r] ? this.W("back", { n: c.retracted[r] }) : this.W("in_out", { a: num(c.prompt[r]), b: num(c.max_new[r]) })],
      running: (r) => [c.stage[r] === 2 ? this.W("chunk_of", { a: num(c.kv[r]), b: num(c.prompt[r]) }) : this.W("out_of", { a: num(c.outputs[r]), b: num(c.max_new[r]) })],
      finished: (r) => [this.W("out_of", { a: num(c.outputs[r]), b: num(c.max_new[r]) })],
    };
    const lane = (name) => {
      const all = lanes[name], most = name === "finished" ? 2 : 4, some = all.slice(0, most);
      if (now >= 0 && all.includes(now) && !some.includes(now)) some.push(now);
      const more = (name === "finished" ? done : all.length) - some.length;
      return `<span class="ln">${this.W(name)}</span><span class="chips">${some.map((r) => chip(r, ...told[name](r, all.indexOf(r)))).join("") || '<span class="none">–</span>'}${more > 0 ? `<span class="none">+ ${num(more)}</span>` : ""}</span>`;
    };
    const none = !log.requests.length ? `<small>${this.W("no_requests")}</small>` : "";
    put(pane, `<h3>${this.W("queue")}${none}</h3><div class="lanes">${lane("waiting")}${lane("running")}${lane("finished")}</div>`);
  }

  // -- the card

  #why(pane, run, e, label = "") {
    put(pane, this.cardHtml(run, e, label));
  }

  cardHtml(run, e, label = "") {
    const { log } = run, said = this.answered.get(e);
    if (e < 0) return `<div class="v">${label}${this.W("why")}</div><div class="empty">${this.W("no_card")}</div>`;
    if (run.at > run.count || e >= run.count) return `<div class="empty">${this.W("over")}</div>`;
    const why = run.why(e);
    if (!why) return `<div class="v">${this.sign(signOf(run.kind(e)))}<span>${label}${esc(run.named(e))}</span></div><div class="dim">${this.W("no_card")}</div>${this.#chain(run, e)}${this.#led(run, e)}`;
    const terms = withSums(why, run.terms(e)), parts = [];
    if (said) parts.push(this.#afterwards(run, e, said));
    parts.push(`<div class="v">${this.sign(why.sign)}<span>${label}${esc(this.say(run, e, log.verdicts))}</span></div><div class="dim">${esc(this.pick(why.rule))}</div>`);
    if (why.bars.length) parts.push(`<div class="sec">${this.#bars(why, terms)}</div>`);
    why.tests.forEach((test) => {
      const html = this.#test(test, terms);
      if (html) parts.push(`<div class="sec">${html}</div>`);
    });
    if (why.outside && log.pools[1]) parts.push(`<div class="sec"><div class="off">${this.swatch("available")}<s>L2 free = ${num(terms.host_free)}</s><span>${this.W("not_in_formula")}</span></div></div>`);
    if (why.not_taken) parts.push(`<div class="sec"><div class="lab">${this.W("not_taken")}</div>${esc(fill(this.pick(why.not_taken), (n) => num(terms[n])))}</div>`);
    parts.push(this.#chain(run, e));
    if (why.source) parts.push(`<div class="sec src"><div class="lab">${this.W("source")}</div>${esc(why.source)}</div>`);
    if (why.own) parts.push(`<div class="sec src"><div class="lab">${this.W("own")}</div>${esc(why.own.where)}<pre>${why.own.lines.map((line, i) => (i === why.own.at ? `<span class="hl">${esc(line)}</span>` : `  ${esc(line)}`)).join("\n")}</pre></div>`);
    return parts.join("");
  }

  /** Of a change: the card of the decision that led to it, as it was then. */
  #led(run, e) {
    const decided = run.chain(e).reverse().find((i) => i !== e && run.kind(i) !== "step" && run.why(i));
    if (decided === undefined || run.at !== e + 1) return "";
    run.seek(decided + 1);
    const html = this.cardHtml(run, decided);
    run.seek(e + 1);
    return `<div class="sec"><div class="lab">${this.W("led", { n: num(decided + 1) })}</div></div>${html}`;
  }

  #term(name, terms) {
    const value = terms[name];
    if (value === null || value === undefined) return "";
    const state = this.log.swatches[name];
    const text = typeof value === "string" ? plain(value) : name === "before" || name === "after" ? value.toFixed(3)
      : name === "promised" || name === "room" ? value.toFixed(1) : num(value);
    return `<span class="t"><span class="l">${state ? this.swatch(state) : ""}${esc(this.log.labels[name] ?? name)}</span><span class="n">${esc(text)}</span></span>`;
  }

  #test(test, terms) {
    const verdict = holds(test, terms), asks = test.asks ? `<div class="lab">${esc(this.pick(test.asks))}</div>` : "";
    if (test.unless && verdict === null) return test.untested ? `<div class="off">${esc(this.pick(test.untested))}</div>` : "";
    if (test.fact) return `${asks}<div class="test ${verdict ? "yes" : "bad"}">${verdict ? "✓" : "✗"} ${this.W(verdict ? "yes" : "no")}</div>`;
    const [left, sign, right] = test.test ? test.test.split(" ") : [];
    const plainRows = test.rows.every((row) => !row.includes(" "));
    let rows = "";
    if (plainRows && test.test) rows = `<div class="eq">${this.#term(left, terms)}<span class="op">${SHOWN[sign]}</span>${this.#term(right, terms)}</div>`;
    else rows = test.rows.map((row) => `<div class="eq">${row.split(" ").map((word) => (word in SIGNS || word === "=" ? `<span class="op">${word}</span>` : this.#term(word, terms))).join("")}</div>`).join("");
    if (plainRows && !test.test) rows = `<div class="eq">${test.rows.map((row) => this.#term(row, terms)).filter(Boolean).join('<span class="op"></span>')}</div>`;
    const show = (name) => (name === "room" ? terms[name].toFixed(1) : num(terms[name]));
    return asks + rows + (test.test ? `<div class="test">${show(left)} ${SHOWN[sign].replace("<", "&lt;")} ${show(right)} <span class="${verdict ? "yes" : "bad"}">${verdict ? "✓" : "✗"} ${this.W(verdict ? "true" : "false")}</span></div>` : "");
  }

  /** Both sides on one scale; what the smaller lacks is outlined. */
  #bars(why, terms) {
    const k = this.colour, x0 = 46, wide = 250;
    const size = (bar) => bar.parts.reduce((sum, part) => sum + Math.max(0, terms[part] ?? 0), 0);
    const net = (bar) => size(bar) - (bar.minus ? terms[bar.minus] : 0);
    const most = Math.max(1, ...why.bars.map(size)), u = wide / most;
    let s = "", y = 0;
    for (const bar of why.bars) {
      let x = x0;
      s += `<text x="0" y="${y + 13}" font-size="12" fill="${k.ink2}">${esc(this.pick(bar.name))}</text>`;
      for (const part of bar.parts) {
        const w = Math.max(0, terms[part] ?? 0) * u, state = this.log.swatches[part];
        if (w <= 0) continue;
        s += state ? this.box(x, y, w, 18, state) : `<rect x="${x + 0.7}" y="${y + 0.7}" width="${Math.max(1, w - 1.6)}" height="16.6" rx="1.5" fill="${k.bg}" stroke="${k.ink}" stroke-width="1.4"/>`;
        const t = num(terms[part]), tw = t.length * 6.6 + 6;
        if (w > tw + 4) s += `<rect x="${x + w / 2 - tw / 2}" y="${y + 3}" width="${tw}" height="12" fill="${k.bg}"/><text x="${x + w / 2}" y="${y + 13}" text-anchor="middle" font-size="11" font-weight="600" fill="${k.ink}">${t}</text>`;
        x += w;
      }
      if (bar.minus && terms[bar.minus] > 0) { const w = Math.min(terms[bar.minus] * u, x - x0); s += this.box(x - w, y, w, 18, "promised"); }
      s += `<text x="${x + 5}" y="${y + 14}" font-size="13" font-weight="700" fill="${k.ink}">${num(net(bar))}</text>`;
      y += 24;
    }
    if (why.bars.length === 2) {
      const [need, room] = why.bars.map(net), fails = why.tests.some((t) => holds(t, terms) === false && t.test);
      const at = x0 + Math.max(0, Math.min(room, need)) * u;
      if (fails && need > room) s += `<rect x="${at}" y="-1" width="${Math.max(2, (need - Math.max(0, room)) * u)}" height="20" fill="${k["refused-ground"]}" fill-opacity=".6" stroke="${k.refused}" stroke-width="2"/><path d="M${at} -3V${y + 2}" stroke="${k.refused}" stroke-width="2"/><text x="${Math.max(at - 5, x0 + 60)}" y="${y + 11}" text-anchor="end" font-size="12" font-weight="600" fill="${k.alert}">${esc(this.W("short", { n: num(need - room) }))}</text>`;
    }
    return `<svg width="324" height="${y + (why.bars.length === 2 ? 15 : 0)}" style="overflow:visible" aria-hidden="true">${s}</svg>`;
  }

  #chain(run, e) {
    let links = run.chain(e);
    if (links.length > 6) links = [links[0], ...links.slice(-5)];
    return `<div class="sec"><div class="lab">${this.W("cause")}</div><div class="chain">${links.map((i) => (i === e ? `<b>${num(i + 1)} ${esc(run.named(i))}</b>` : `<button data-do="go" data-to="${i + 1}">${num(i + 1)} ${esc(run.named(i))}</button><span>→</span>`)).join("")}</div></div>`;
  }

  // -- predicting

  #ask(pane, e) {
    const { run, log } = this, [asks, answers] = log.questions[run.kind(e)];
    // The question may name what the event asks, never what it answers.
    const text = fill(this.pick(asks), (name) => this.value(run, e, name));
    const option = (group, value, words, checked) => `<label><input type="radio" name="${this.id}-${group}" value="${value}" ${checked ? "checked" : ""}><span>${esc(words)}</span></label>`;
    pane.put = null;
    pane.innerHTML = `<div class="lab">${this.W("question")} · ${this.W("event")} ${num(e + 1)}</div><p class="q">${esc(text)}</p>
      <fieldset class="ans" role="radiogroup" aria-label="${esc(text)}">${Object.entries(answers).map(([key, words]) => option("say", key, this.pick(words), this.picked === key)).join("")}</fieldset>
      <div class="lab">${this.W("sure")}</div><fieldset class="ans conf" role="radiogroup" aria-label="${this.W("sure")}">${log.confidence.map((words, i) => option("sure", i, this.pick(words), this.sure === i)).join("")}</fieldset>
      <div style="display:flex;gap:10px;align-items:center;flex-wrap:wrap"><button class="go" data-do="commit" ${this.picked ? "" : "disabled"}>${this.W("commit")} ⏎</button><button data-do="mode" data-to="watch">${this.W("skip")}</button></div>
      <p class="dim">${this.W("withheld")} ${this.W("may")}</p>`;
  }

  commit() {
    const e = this.asking;
    if (e < 0 || !this.picked) return;
    const kind = this.run.kind(e), answer = { event: e + 1, kind, said: this.picked, happened: this.run.variant(e), confidence: this.sure + 1, saw: null, saw_right: null };
    answer.right = answer.said === answer.happened;
    answer.about = e % 4 < 2 || !this.log.pools[1] ? "available" : "host_available";
    this.answered.set(e, answer);
    this.answers.push(answer);
    this.picked = null; this.sure = 1;
    this.hooks.answers?.(this.answers);
    this.show(e + 1);
    this.$(".p-why").focus();
  }

  #afterwards(run, e, said) {
    const answers = this.log.questions[said.kind][1], words = (key) => this.pick(answers[key]);
    const head = `<div class="sec"><div class="test ${said.right ? "yes" : "bad"}">${said.right ? "✓" : "✗"} ${this.W(said.right ? "right" : "wrong")}</div><div>${esc(this.W("you_said", { a: words(said.said), b: this.pick(this.log.confidence[said.confidence - 1]) }))}</div><div>${esc(this.W("came_out", { a: words(said.happened) }))}</div>`;
    const about = `${said.about === "available" ? "L1" : "L2"} ${this.name(said.about === "available" ? "available" : "free")}`;
    const seen = said.saw
      ? `<div class="${said.saw_right ? "yes" : "bad"}">${this.W(said.saw_right ? "seen_right" : "seen_wrong", { a: num(said.before), b: num(said.after) })}</div>`
      : `<div style="display:flex;gap:4px">${["rises", "falls", "stays"].map((key) => `<button data-do="saw" data-to="${key}" data-event="${e}" style="border-color:var(--line2)">${this.W(key)}</button>`).join("")}</div>`;
    return `${head}<div style="margin-top:6px">${esc(this.W("see", { a: about }))}</div>${seen}</div>`;
  }

  look(e, key) {
    const said = this.answered.get(e), at = this.run.at, row = said.about === "available" ? 0 : 4;
    let next = e + 1;
    while (next < this.run.count && !this.run.isDecision(next)) next++;
    said.before = this.run.seek(e).c.account[row];
    said.after = this.run.seek(next).c.account[row];
    this.run.seek(at);
    said.saw = key;
    said.saw_right = key === (said.after > said.before ? "rises" : said.after < said.before ? "falls" : "stays");
    this.hooks.answers?.(this.answers);
    this.draw();
  }

  setMode(mode) { this.mode = mode; this.freed = 0; this.layout(); this.show(this.run.at); }

  // -- the timeline

  #timeline() {
    const { run, log } = this, canvas = this.$(".tl canvas"), wide = this.wide;
    const pen = this.#canvas(canvas, wide, 92), k = this.colour, x0 = 56, W = wide - x0, limit = this.limit;
    pen.font = `11px ${UI}`; pen.textAlign = "left";
    const n = Math.max(1, run.count), X = (e) => x0 + (e / n) * W;
    pen.drawImage(this.#overview(wide, x0, W, X, limit), 0, 0, wide, 38);
    // near: one page of events around the current one
    const per = Math.max(24, Math.floor(W / 9)), page = run.count <= per ? 0 : Math.floor(Math.max(0, run.at - 1) / per) * per, end = Math.min(run.count, page + per), cw = W / Math.max(per, 1);
    const x = (e) => x0 + (e - page + 0.5) * cw;
    this.near = { x0, W, page, end, cw, n };
    [this.W("decide"), this.W("change"), this.W("copy")].forEach((word, i) => { pen.fillStyle = k.ink3; pen.fillText(word, 0, 54 + 15 * i); pen.strokeStyle = k.line; pen.beginPath(); pen.moveTo(x0, 50.5 + 15 * i); pen.lineTo(wide, 50.5 + 15 * i); pen.stroke(); });
    if (run.count > per) { pen.fillStyle = k.ink; pen.strokeStyle = k.ink; pen.lineWidth = 1.5; pen.strokeRect(X(page), 6, Math.max(3, X(end) - X(page)), 30); pen.lineWidth = 1; }
    this.#copies(pen, page, end, x, limit);
    for (let e = page; e < Math.min(end, limit); e++) this.#mark(pen, e, x(e), e >= run.at ? 0.35 : 1);
    if (limit < end) { pen.fillStyle = k.well; pen.fillRect(x(limit) - cw / 2, 40, wide, 48); pen.fillStyle = k.ink3; pen.textAlign = "center"; pen.fillText(this.W("hidden"), Math.min(wide - 90, (x(limit) + wide) / 2), 68); pen.textAlign = "left"; }
    const now = run.at - 1;
    if (now >= 0) {
      for (const cause of run.chain(now).slice(0, -1)) if (cause >= page) {
        pen.strokeStyle = k.ink; pen.lineWidth = 1.2; pen.beginPath(); pen.moveTo(x(now), 43); pen.bezierCurveTo(x(now) - 4, 34, x(cause) + 4, 34, x(cause), 43); pen.stroke();
      }
      pen.strokeStyle = k.ink; pen.lineWidth = 1.5; pen.beginPath(); pen.moveTo(x(now), 40); pen.lineTo(x(now), 88); pen.moveTo(X(now), 5); pen.lineTo(X(now), 36); pen.stroke();
      pen.fillStyle = k.ink; pen.beginPath(); pen.moveTo(x(now) - 5, 91); pen.lineTo(x(now) + 5, 91); pen.lineTo(x(now), 85); pen.fill();
    }
    for (const e of this.bookmarks) { for (const at of [X(e), ...(e >= page && e < end ? [x(e)] : [])]) { pen.fillStyle = k.link; pen.fillRect(at - 3, at === X(e) ? 0 : 38, 6, 8); } }
    if (this.difference?.index != null) { const e = this.difference.index; pen.fillStyle = k.ink; const at = X(e); pen.beginPath(); pen.moveTo(at, 0); pen.lineTo(at + 10, 4); pen.lineTo(at, 8); pen.fill(); pen.fillRect(at - 0.75, 0, 1.5, 36); }
    canvas.setAttribute("aria-label", `${this.W("timeline")}: ${this.W("event")} ${num(run.at)} / ${num(log.events)}`);
  }

  /** Far away: the whole run. L1 use as an area, events in two greys, marks. */
  #overview(wide, x0, W, X, limit) {
    const key = [wide, limit, this.dark, this.lang, this.hits?.length, this.hits?.[0]].join();
    if (this.far?.key === key) return this.far.canvas;
    const { run } = this, k = this.colour, canvas = document.createElement("canvas"), n = Math.max(1, run.count);
    const pen = this.#canvas(canvas, wide, 38), strip = this.#density(W);
    pen.font = `11px ${UI}`;
    pen.fillStyle = k.ink3; pen.fillText(this.W("all"), 0, 22);
    pen.fillStyle = k.used; pen.globalAlpha = 0.28;
    run.strip.forEach((use, i) => { const e = (i * n) / run.strip.length; if (e <= limit) pen.fillRect(X(e), 28 - 20 * use, W / run.strip.length + 0.6, 20 * use); });
    pen.globalAlpha = 1;
    strip.all.forEach((count, i) => {
      if ((i / W) * n > limit || !count) return;
      pen.fillStyle = k.line2; pen.fillRect(x0 + i, 34 - 5 * (count / strip.most), 1, 5 * (count / strip.most));
      if (strip.decide[i]) { pen.fillStyle = k.ink2; pen.fillRect(x0 + i, 34 - 5 * (strip.decide[i] / strip.most), 1, 5 * (strip.decide[i] / strip.most)); }
    });
    if (this.hits) {
      pen.fillStyle = k.link;
      const every = Math.ceil(this.hits.length / 4000);
      for (let i = 0; i < this.hits.length; i += every) if (this.hits[i] <= limit) pen.fillRect(X(this.hits[i]), 2, 1.5, 6);
    }
    pen.strokeStyle = k.line2; pen.strokeRect(x0 + 0.5, 7.5, W - 1, 27);
    this.far = { key, canvas };
    return canvas;
  }

  #mark(pen, e, x, alpha) {
    const { run, log } = this, k = this.colour, kind = run.kind(e);
    pen.globalAlpha = alpha;
    if (run.isDecision(e)) {
      const no = run.why(e)?.sign === "no";
      pen.beginPath(); pen.moveTo(x, 45); pen.lineTo(x + 5, 50); pen.lineTo(x, 55); pen.lineTo(x - 5, 50); pen.closePath();
      pen.fillStyle = no ? k.refused : k.bg; pen.fill(); pen.strokeStyle = no ? k.refused : k.ink; pen.lineWidth = 1.3; pen.stroke();
      if (no) { pen.fillStyle = "#fff"; pen.fillRect(x - 0.8, 46.5, 1.6, 4); pen.fillRect(x - 0.8, 52, 1.6, 1.4); }
    } else if (log.rise.includes(kind)) { pen.fillStyle = k["used-edge"]; pen.fillRect(x - 2, 58, 4, 7); }
    else if (log.fall.includes(kind)) { pen.fillStyle = this.tile(pen, "evictable"); pen.fillRect(x - 2, 66, 4, 7); pen.strokeStyle = k["evictable-edge"]; pen.lineWidth = 0.8; pen.strokeRect(x - 2, 66, 4, 7); }
    else { pen.fillStyle = k.ink3; pen.fillRect(x - 0.75, 63, 1.5, 5); }
    pen.globalAlpha = 1;
  }

  /** Copies as spans from submit to acknowledgement; pairs are found once. */
  #copies(pen, page, end, x, limit) {
    if (!this.spans) {
      const open = new Map();
      this.spans = [];
      for (let e = 0; e < this.run.count; e++) {
        const kind = this.run.kind(e), done = this.log.copies[kind];
        if (done) { const key = `${done}${this.run.raw(e, kind === "load" ? "end" : "node")}`; if (!open.has(key)) open.set(key, e); }
        else if (kind === "backupdone" || kind === "loaddone") { const key = `${kind}${this.run.raw(e, "node")}`; if (open.has(key)) { this.spans.push([open.get(key), e]); open.delete(key); } }
      }
      for (const e of open.values()) this.spans.push([e, this.run.count]);
      this.longest = this.spans.reduce((most, [a, b]) => Math.max(most, b - a), 0);
      this.spans.sort((a, b) => a[0] - b[0]);
    }
    let low = 0, high = this.spans.length;
    while (low < high) { const m = (low + high) >> 1; this.spans[m][0] < page - this.longest ? (low = m + 1) : (high = m); }
    for (let i = low, drawn = 0; i < this.spans.length && this.spans[i][0] < end && drawn < 600; i++) {
      const [a, b] = this.spans[i];
      if (b < page || a >= limit) continue;
      drawn++;
      const from = Math.max(x(a), 56), to = Math.min(x(Math.min(b, limit - 1)), x(end - 1));
      pen.fillStyle = this.tile(pen, "in_flight"); pen.globalAlpha = a >= this.run.at ? 0.35 : 1;
      pen.fillRect(from, 76, Math.max(4, to - from), 8); pen.strokeStyle = this.colour["in_flight-edge"]; pen.lineWidth = 1; pen.strokeRect(from, 76, Math.max(4, to - from), 8); pen.globalAlpha = 1;
    }
  }

  #density(W) {
    W = Math.round(W);
    if (this.strip?.W === W) return this.strip;
    const all = new Int32Array(W), decide = new Int32Array(W), { run } = this, n = Math.max(1, run.count);
    for (let e = 0; e < run.count; e++) { const i = Math.floor((e * W) / n); all[i]++; if (run.isDecision(e)) decide[i]++; }
    return (this.strip = { W, all, decide, most: Math.max(1, ...all) });
  }

  #seekTo(event) {
    const box = event.target.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top, { x0, W, page, end, cw, n } = this.near;
    this.stop();
    const e = y < 38 ? ((x - x0) / W) * n : Math.min(end - 1, page + Math.floor((x - x0) / cw));
    this.show(Math.max(0, Math.round(e)) + (y < 38 ? 0 : 1));
  }

  // -- controls

  #controls() {
    const icon = (name) => `<svg width="16" height="16" aria-hidden="true"><path d="${ICONS[name]}" fill="currentColor" stroke="currentColor" stroke-width="1.2" stroke-linejoin="round"/></svg>`;
    const button = (name, pic = name) => `<button class="ic ${name === "play" ? "main" : ""}" data-do="${name}" title="${this.W(name)}" aria-label="${this.W(name)}">${icon(pic)}</button>`;
    const active = globalThis.document.activeElement?.dataset?.do;
    const inside = this.root.contains(document.activeElement) && active;
    this.$(".ctl").innerHTML = `${button("first")}${button("decision_before")}${button("previous")}${button("play", this.timer ? "pause" : "play")}${button("next")}${button("decision_after")}${button("last")}
      <label>${this.W("event")} <input class="at" inputmode="numeric" aria-label="${this.W("go_to")}"></label><span class="of"></span>
      <select class="speed" aria-label="${this.W("speed")}">${SPEEDS.map((s, i) => `<option value="${i}" ${i === this.speed ? "selected" : ""}>${s}×</option>`).join("")}</select>
      <span class="found"></span><span class="sp"></span><span class="score"></span>
      ${this.canFork ? `<button data-do="panel" data-to="fork">${this.W("fork")}</button>` : ""}
      <button data-do="panel" data-to="filter">${this.W("filter")}</button><button data-do="panel" data-to="watches">${this.W("watches")}</button><button data-do="bookmark">${this.W("bookmark")}</button><button data-do="panel" data-to="export">${this.W("export")}</button><button data-do="panel" data-to="help">${this.W("help")} ?</button>`;
    if (inside) this.$(`.ctl [data-do="${active}"]`)?.focus();
    this.#place();
  }

  #place() {
    const at = this.$(".ctl .at");
    if (!at) return;
    if (document.activeElement !== at) at.value = num(this.run.at);
    this.$(".ctl .of").textContent = `/ ${num(this.mode === "predict" ? this.limit : this.run.count)}${this.mode === "predict" && this.limit < this.run.count ? " …" : ""}`;
    const hits = this.hits;
    put(this.$(".ctl .found"), hits ? `<button data-do="hit" data-to="-1" aria-label="◀">◀</button>${this.W("hits_of", { a: num(hits.filter((e) => e < this.run.at).length), n: num(hits.length) })}<button data-do="hit" data-to="1" aria-label="▶">▶</button><button data-do="nohits" aria-label="${this.W("close")}">×</button>` : "");
    const right = this.answers.filter((a) => a.right).length;
    this.$(".ctl .score").textContent = this.answers.length ? this.W("score", { a: right, b: this.answers.length }) : "";
  }

  #panel(which) {
    this.panel = which;
    const panel = this.$(".panel"), { log } = this;
    const close = `<button data-do="panel" data-to="">${this.W("close")} ×</button>`;
    const kinds = [...new Set(log.variants.map((v) => v.split(" ")[0]))].sort();
    const knob = (name, value) => `<label>${name} <input data-knob="${name}" value="${esc(value ?? "")}" size="9"></label>`;
    const choice = (name, all) => `<label>${name} <select data-knob="${name}">${all.map((v) => `<option ${v === log.settings[name] ? "selected" : ""}>${v}</option>`).join("")}</select></label>`;
    panel.innerHTML = {
      filter: () => `<select class="fk" aria-label="${this.W("any_kind")}"><option value="">${this.W("any_kind")}</option>${kinds.map((kind) => `<option value="${esc(kind)}">${esc(log.names[kind])}</option>`).join("")}</select><label>${this.W("request")} <input class="fr" size="8"></label><label>${this.W("node")} <input class="fn" size="5" placeholder="n3"></label><label>${this.W("slot")} <input class="fs" size="5"></label><button class="go" data-do="search">${this.W("filter")}</button>${close}`,
      watches: () => Object.entries(log.watches).map(([name, words]) => { const n = log.col[`watch.${name}`].length; return `<button data-do="watch" data-to="${name}" style="border-color:var(--line2)" ${n ? "" : "disabled"}>${esc(this.pick(words))} <b>${this.mode === "predict" ? "" : num(n)}</b></button>`; }).join("") + close,
      export: () => ["csv", "svg", "png", "html", "perfetto"].filter((x) => x !== "html" || globalThis.kvlabPage).map((x) => `<button data-do="save" data-to="${x}" style="border-color:var(--line2)">${this.W(`save_${x}`)}</button>`).join("") + close,
      fork: () => `<span>${this.W("fork_say")}</span>${knob("pool_tokens", log.settings.pool_tokens)}${knob("host_tokens", log.pools[1] * log.page)}${choice("eviction_policy", ["lru", "lfu", "fifo", "mru", "filo", "priority", "slru"])}${choice("write_policy", ["write_through", "write_through_selective", "write_back"])}<button class="go" data-do="fork">${this.W("fork")}</button><span class="forked"></span>${close}`,
      help: () => `<dl>${[["Space", "key_space"], ["← →", "key_arrows"], ["Home End", "key_ends"], ["[ ]", "key_speed"], ["Alt+1 … 5", "key_panes"], ["P", "key_predict"], ["Enter", "key_enter"], ["W", "key_why"], ["D", "key_differ"], ["F", "key_fork"], ["B", "key_mark"], ["/", "key_search"], ["M", "key_motion"], ["L", "key_lang"], ["Esc", "key_esc"]].map(([key, words]) => `<dt>${key}</dt><dd>${this.W(words)}</dd>`).join("")}</dl>${close}`,
    }[which]?.() ?? "";
    panel.querySelector("input,select,button")?.focus({ preventScroll: true });
  }

  search() {
    const q = (s) => this.$(`.panel ${s}`).value.trim(), { run } = this;
    const kind = q(".fk"), request = q(".fr"), node = q(".fn").replace(/^n/i, ""), slot = q(".fs");
    const at = request ? this.log.requests.indexOf(request) : -1, column = this.log.columns.indexOf("owner1"), out = [];
    for (let e = 0; e < run.count; e++) {
      if (kind && run.kind(e) !== kind) continue;
      if (request && run.request(e) !== at) continue;
      if (node && !this.concerns(e, { node: +node, request: -1 })) continue;
      if (slot) { let hit = false; for (let p = run.end[e]; p < run.end[e + 1]; p++) hit ||= run.op.column[p] === column && run.op.first[p] <= +slot && +slot < run.op.first[p] + run.op.count[p]; if (!hit) continue; }
      out.push(e);
    }
    this.found(out);
  }
  found(list) {
    this.hits = list;
    if (!this.other) this.#timeline();
    this.#place();
    this.live.textContent = this.W("hits_of", { a: "–", n: num(list.length) });
  }
  toHit(by) {
    const list = [...(this.hits ?? [])];
    this.jump((by > 0 ? list.find((e) => e > this.run.at - 1) : list.reverse().find((e) => e < this.run.at - 1)) ?? -1);
  }

  async fork() {
    const knobs = {};
    for (const field of this.root.querySelectorAll("[data-knob]")) {
      const name = field.dataset.knob, value = field.tagName === "SELECT" ? field.value : Number(field.value);
      const was = name === "host_tokens" ? this.log.pools[1] * this.log.page : this.log.settings[name];
      if (value !== was && value === value) knobs[name] = value;
    }
    this.$(".forked").textContent = this.W("fork_run");
    this.hooks.fork?.(knobs, this.run.at);
  }

  /** Show B beside A and go to the first difference. */
  compare(run, difference) {
    this.b = run; this.difference = difference; this.other = difference.index == null ? null : run;
    this.mode = "watch"; this.panel = ""; this.$(".panel").innerHTML = "";
    this.layout();
    this.show(difference.index == null ? this.run.at : difference.index + 1);
    this.live.textContent = this.#differs();
  }
  forkFailed(text) { const at = this.$(".forked"); if (at) at.textContent = plain(text, 200); }

  // -- saving

  save(what) {
    const name = `kvlab-${(plain(this.log.name || "run", 24)).replace(/[^\w-]+/g, "_")}-${this.run.at}`;
    const put = (text, type, end) => download(new Blob([text], { type }), `${name}.${end}`);
    if (what === "csv") put(this.csv(), "text/csv", "csv");
    if (what === "svg") put(this.svg(), "image/svg+xml", "svg");
    if (what === "perfetto") put(this.perfetto(), "application/json", "json");
    if (what === "html") put(globalThis.kvlabPage(), "text/html", "html");
    if (what === "png") this.$(".p-pool canvas").toBlob((blob) => download(blob, `${name}.png`));
  }
  csv() {
    const at = this.run.at, rows = [["event", "kind", "used", "held", "evictable", "available", "host_only", "copies", "host_outside", "host_free"].join(",")];
    for (let e = 0; e < this.limit; e++) {
      this.run.seek(e + 1);
      rows.push([e + 1, this.run.kind(e), ...[1, 2].flatMap((tier) => this.run.account(tier).terms.map((t) => t[1]))].map(cell).join(","));
    }
    this.run.seek(at);
    return rows.join("\r\n") + "\r\n";
  }
  svg() {
    const svg = this.$(".p-tree .scroll svg").cloneNode(true);
    svg.style.display = "";
    svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    svg.insertAdjacentHTML("afterbegin", `<defs>${this.#patterns()}</defs><rect width="100%" height="100%" fill="${this.colour.bg}"/>`);
    return new XMLSerializer().serializeToString(svg);
  }
  perfetto() {
    const { run } = this, out = [];
    for (let e = 0; e < this.limit; e++) {
      const lane = run.isDecision(e) ? 1 : 2, cause = run.cause(e);
      out.push({ name: run.variant(e), ph: "X", ts: e, dur: 1, pid: 1, tid: lane });
      if (cause >= 0) out.push({ name: "cause", ph: "s", id: e, ts: cause, pid: 1, tid: run.isDecision(cause) ? 1 : 2 }, { name: "cause", ph: "f", bp: "e", id: e, ts: e, pid: 1, tid: lane });
    }
    return JSON.stringify({ traceEvents: out });
  }

  // -- hands

  choose(what) {
    const same = this.select && what && this.select.node === what.node && this.select.request === what.request;
    this.select = same ? null : what;
    this.draw();
  }

  #aim(target) {
    const node = target.closest?.("[data-node]"), request = target.closest?.("[data-request]"), state = target.closest?.("[data-state]");
    if (node) return { node: +node.dataset.node, request: -1 };
    if (request) return { node: 0, request: +request.dataset.request };
    return state ? { state: state.dataset.state } : null;
  }

  #hover(event) {
    const pool = event.target.closest?.(".p-pool canvas");
    if (pool && event.type === "pointerover") { pool.onpointermove ??= (move) => this.#over(this.#slot(move)); pool.onpointerleave ??= () => this.#over(null); return; }
    this.#over(this.#aim(event.target));
  }
  #over(at) {
    const key = JSON.stringify(at);
    if (key === this.aimed) return;
    this.aimed = key;
    this.hover = at && !at.state ? at : null;
    this.state = at?.state ?? null;
    this.#highlight();
  }
  /** Hovering redraws what can show it, and leaves the element under the pointer alone. */
  #highlight() {
    const under = document.activeElement;
    const sides = this.other ? [[this.run, ":not(.b)"], [this.other, ".b"]] : [[this.run, ":not(.b)"]];
    for (const [run, b] of sides) {
      this.hot = new Set(run.touched());
      const canvas = this.$(`.p-pool${b} canvas`);
      if (canvas) this.drawPools(this.#canvas(canvas, GUT + WIDE + 2, parseFloat(canvas.style.height)), run, this.grid());
      for (const g of this.root.querySelectorAll(`.p-tree${b} [data-node]`)) g.classList.toggle("hov", +g.dataset.node === this.hover?.node);
      const insp = this.$(`.p-tree${b} .insp`);
      if (insp) insp.outerHTML = this.$(`.p-tree${b}`).insp = this.#inspect(run);
    }
    for (const chip of this.root.querySelectorAll("[data-request]")) chip.classList.toggle("hov", +chip.dataset.request === this.hover?.request && this.hover?.request >= 0);
    for (const term of this.root.querySelectorAll("[data-state]")) {
      const look = this.hover?.node ? this.run.looks(this.hover.node) : [];
      term.classList.toggle("hov", term.dataset.state === this.state || look.includes(term.dataset.state));
    }
    if (under && under !== document.activeElement && this.root.contains(under)) under.focus();
  }

  #slot(event) {
    const box = event.currentTarget?.getBoundingClientRect?.() ?? event.target.getBoundingClientRect(), g = this.grid(), run = event.target.run ?? this.run;
    const x = event.clientX - box.left - GUT, y = event.clientY - box.top;
    for (const tier of [1, 2]) {
      const t = g.tiers[tier - 1];
      if (x < 0 || x >= WIDE || y < t.y || y >= t.y + t.high) continue;
      const at = t.first + Math.floor((y - t.y) / t.pitch) * g.columns + Math.floor(x / g.cell), owner = run.c[`owner${tier}`][at];
      if (at >= t.first + t.n || owner < 2 || owner === undefined) return null;
      return owner & 1 ? { node: 0, request: (owner - 3) / 2 } : { node: (owner - 2) / 2, request: -1 };
    }
    return null;
  }

  #click(event) {
    const at = event.target.closest("[data-do]"), fold = event.target.closest("[data-fold]");
    if (fold) { const top = +fold.dataset.fold; this.open.has(top) ? this.open.delete(top) : this.open.add(top); return this.draw(); }
    if (at) return this.#do(at.dataset.do, at.dataset.to, at);
    if (event.target.closest(".p-pool canvas")) { const what = this.#slot(event); if (what) this.choose(what); return; }
    const what = this.#aim(event.target);
    if (what && !what.state) this.choose(what);
  }

  #do(what, to, at) {
    const act = {
      first: () => { this.stop(); this.show(0); }, previous: () => this.step(-1), play: () => this.play(), next: () => this.step(1),
      decision_before: () => this.#toDecision(-1), decision_after: () => this.#toDecision(1),
      last: () => { this.stop(); this.show(this.run.count); }, go: () => { this.stop(); this.show(+to); }, mode: () => this.setMode(to),
      lang: () => this.setLang(to), dark: () => { this.dark = !this.dark; this.layout(); }, commit: () => this.commit(),
      saw: () => this.look(+at.dataset.event, to), panel: () => this.#panel(this.panel === to ? "" : to), search: () => this.search(),
      watch: () => { this.found(Array.from(this.log.col[`watch.${to}`])); this.toHit(1); }, hit: () => this.toHit(+to), nohits: () => { this.hits = null; this.draw(); },
      bookmark: () => this.mark(), save: () => this.save(to), fork: () => this.fork(), unfold: () => { this.folded += PART; this.draw(); },
      both: () => { this.other = this.b; this.layout(); this.show(this.run.at); }, one: () => { this.other = null; this.layout(); },
    };
    act[what]?.();
  }
  setLang(lang) { this.lang = lang; this.layout(); this.hooks.lang?.(lang); this.live.textContent = this.sentence(); }
  mark() { const e = this.run.at - 1; if (e < 0) return; this.bookmarks.has(e) ? this.bookmarks.delete(e) : this.bookmarks.add(e); this.#timeline(); this.hooks.bookmarks?.([...this.bookmarks].map((x) => x + 1)); }

  #change(event) {
    const { target } = event;
    if (target.matches(".at")) this.show(parseInt(target.value.replace(/\D/g, ""), 10) || 0);
    if (target.matches(".speed")) this.speed = +target.value;
    if (target.name === `${this.id}-say`) { this.picked = target.value; this.$('[data-do="commit"]').disabled = false; }
    if (target.name === `${this.id}-sure`) this.sure = +target.value;
  }

  #key(event) {
    const { key, target } = event, typing = target.matches("input:not([type=radio]),select,textarea");
    if (event.metaKey || (event.ctrlKey && !key.startsWith("Arrow"))) return;
    const done = () => { event.preventDefault(); event.stopPropagation(); };
    if (key === "Escape") { done(); this.stop(); target.blur(); this.root.blur(); return; }
    if (typing) { if (key === "Enter") { done(); target.matches(".at") ? this.show(parseInt(target.value.replace(/\D/g, ""), 10) || 0) : this.panel === "filter" && this.search(); } event.stopPropagation(); return; }
    if (target.matches("input[type=radio]") && (key.startsWith("Arrow") || key === " ")) return event.stopPropagation();
    if (target.matches("button") && (key === "Enter" || key === " ")) return event.stopPropagation();
    if (event.altKey && /^[1-5]$/.test(key)) { done(); const pane = ["tree", "pool", "why", "queue"][key - 1]; (pane ? this.$(`.p-${pane}`) : this.$(".tl canvas")).focus(); return; }
    if (event.altKey) return;
    if (target.closest(".p-tree") && this.#treeKey(event)) return done();
    const by = key === "ArrowLeft" ? -1 : 1;
    const keys = {
      " ": () => this.play(), Home: () => { this.stop(); this.show(0); }, End: () => { this.stop(); this.show(this.run.count); },
      "[": () => this.faster(-1), "]": () => this.faster(1), p: () => this.setMode(this.mode === "predict" ? "watch" : "predict"),
      Enter: () => { if (target.dataset?.fold) this.#click(event); else if (target.dataset?.do) this.#do(target.dataset.do, target.dataset.to, target); else this.commit(); },
      w: () => this.$(".p-why").focus(), d: () => this.difference?.index != null && this.jump(this.difference.index),
      f: () => this.canFork && this.#panel("fork"), b: () => this.mark(), "/": () => this.#panel("filter"), l: () => this.setLang(this.lang === "zh" ? "en" : "zh"),
      m: () => { this.motion = !this.motion; this.root.classList.toggle("motion", this.motion); }, "?": () => this.#panel(this.panel === "help" ? "" : "help"),
    };
    if (key === "ArrowLeft" || key === "ArrowRight") {
      done();
      if (event.ctrlKey) this.#toDecision(by);
      else if (event.shiftKey) this.select ? this.jump(this.find(by, (e) => !this.run.isDecision(e) && this.concerns(e, this.select))) : this.jump(this.find(by, (e) => !this.run.isDecision(e)));
      else this.step(by);
      return;
    }
    const act = keys[key.length === 1 ? key.toLowerCase() : key];
    if (act && !event.ctrlKey) { done(); act(); }
  }
  #toDecision(by) { this.jump(this.find(by, (e) => this.run.isDecision(e))); }
  faster(by) { this.speed = Math.max(0, Math.min(SPEEDS.length - 1, this.speed + by)); this.$(".speed").value = this.speed; }

  #treeKey(event) {
    if (event.ctrlKey || event.shiftKey || !["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].includes(event.key)) return false;
    const { c, log } = this.run, rows = log.col.rows;
    const order = [...this.nodes].sort((a, b) => rows[a - 1] - rows[b - 1] || c.start[a] - c.start[b]), now = this.select?.node ?? 0;
    if (!order.length) return false;
    const at = order.indexOf(now), child = order.find((n) => c.parent[n] === now);
    const to = { ArrowUp: order[Math.max(0, at - 1)], ArrowDown: order[Math.min(order.length - 1, at + 1)], ArrowLeft: c.parent[now] || now, ArrowRight: child ?? now }[event.key];
    this.select = to ? { node: to, request: -1 } : null;
    this.draw();
    this.$(".p-tree").focus();
    if (to) { this.$(".p-tree .scroll").setAttribute("aria-activedescendant", `${this.id}-n${to}`); this.live.textContent = this.#nodeWords(this.run, to); this.$(`#${this.id}-n${to}`)?.scrollIntoView({ block: "nearest" }); }
    return true;
  }
}

const UI = "-apple-system, 'Segoe UI', Roboto, Helvetica, Arial, 'Noto Sans CJK SC', sans-serif";
const SHOWN = { "<": "<", "<=": "≤", ">=": "≥" };
const SIGNED = { demote: "out", delete: "out", evicthost: "out", load: "copy", backup: "copy", loaddone: "yes", backupdone: "yes", finish: "yes", retract: "no", drop: "no" };
const signOf = (kind) => SIGNED[kind] ?? "note";
/** A CSV cell that no spreadsheet takes for a formula. */
const cell = (value) => { const text = `${value}`; return /^[=+\-@]/.test(text) && typeof value !== "number" ? `"'${text.replaceAll('"', '""')}"` : /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; };

/** Make a group hold exactly these parts, {key: [y, markup]}, touching only what differs. */
function keyed(group, parts) {
  const held = (group.held ??= new Map());
  for (const [key, [y, markup]] of parts) {
    let part = held.get(key);
    if (!part) {
      const g = document.createElementNS("http://www.w3.org/2000/svg", "g");
      held.set(key, (part = { g, y: NaN, markup: null }));
      group.append(g);
    }
    if (part.markup !== markup) part.g.innerHTML = part.markup = markup;
    if (part.y !== y) part.g.setAttribute("transform", `translate(0,${(part.y = y)})`);
  }
  for (const [key, part] of held) if (!parts.has(key)) { part.g.remove(); held.delete(key); }
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function darkPage() {
  const lab = document.body.dataset.jpThemeLight;
  return lab ? lab === "false" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function sorry(root, problem, words) {
  root.textContent = "";
  const box = document.createElement("div");
  box.setAttribute("role", "alert");
  box.style.cssText = "padding:16px;font:15px sans-serif;border:2px solid #d55e00";
  box.textContent = words ?? "This page's log is cut off or damaged: nothing can be shown. Make the page again with kvlab play. / 此页面的日志被截断或损坏，无法显示。请用 kvlab play 重新生成。";
  root.append(box);
  console.info("kvlab:", String(problem));
}

// ---- 6 three ways in

/** A standalone page: logs lie in it as base64. */
export async function startPage(root) {
  const bytes = (id) => {
    const text = document.getElementById(id)?.textContent.trim();
    return text ? Uint8Array.from(atob(text), (x) => x.charCodeAt(0)) : null;
  };
  try {
    const log = await openLog(bytes("kvlab-log")), player = new Player(root, new Run(log));
    globalThis.kvlab = player;
    const other = bytes("kvlab-log-b");
    if (other) { const b = await openLog(other); player.compare(new Run(b), b.difference); }
    root.dataset.ready = "true";
    return player;
  } catch (problem) {
    sorry(root, problem);
    root.dataset.ready = "damaged";
  }
}

/** anywidget: the log is a trait; a bytes trait arrives as a DataView. */
async function render({ model, el }) {
  const root = document.createElement("div");
  el.append(root);
  const taken = (name) => { const view = model.get(name); return new Uint8Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength)); };
  const set = (name, value) => { model.set(name, value); model.save_changes(); };
  let player;
  try {
    player = new Player(root, new Run(await openLog(taken("log"))), {
      canFork: model.get("can_fork"),
      hooks: {
        step: (at) => { clearTimeout(root.later); root.later = setTimeout(() => player && set("step", at), 80); },
        answers: (list) => set("answers", list.map((a) => ({ ...a }))),
        bookmarks: (list) => set("bookmarks", list),
        lang: (lang) => set("lang", lang),
        fork: (knobs, at) => model.send({ fork: knobs, at }),
      },
    });
    root.kvlab = player;
    root.dataset.ready = "true";
  } catch (problem) { return sorry(root, problem); }
  const both = async () => {
    if (!taken("log_b").length) return;
    const b = await openLog(taken("log_b"));
    player.compare(new Run(b), b.difference);
  };
  model.on("change:log_b", both);
  model.on("change:step", () => model.get("step") !== player.run.at && player.show(model.get("step")));
  model.on("msg:custom", (message) => message.failed && player.forkFailed(message.failed));
  await both();
  return () => player.close();
}

export default { render };

// What does an event say, and what do the columns say after it?
//
// Fields, causes, the nodes it touches, how a copy looks, the account of a tier.
// Left out: words (words.js, sentence.js), drawing.

import { blockAccount } from "./blocksum.js";
import { States } from "./states.js";
import { num } from "./text.js";

/** A run of which every event can be asked. */
export class Run extends States {
  constructor(log) {
    super(log);
    const count = {},
      kinds = log.variants.map((v) => v.split(" ")[0]);
    this.kinds = kinds;
    this.decides = kinds.map((kind) => log.decisions.includes(kind));
    const seen = kinds.map((kind) => (count[kind] ??= { n: 0 }));
    this.rank = new Int32Array(this.count);
    for (let e = 0; e < this.count; e++) this.rank[e] = seen[log.col.variant[e]].n++;
    this.fields = {};
    for (const [kind, fields] of Object.entries(log.fields))
      this.fields[kind] = Object.fromEntries(
        fields.map(([name, type]) => [name, { type, at: log.col[`${kind}.${name}`] }]),
      );
  }

  variant(e) {
    return this.log.variants[this.log.col.variant[e]];
  }
  kind(e) {
    return this.kinds[this.log.col.variant[e]];
  }
  isDecision(e) {
    return this.decides[this.log.col.variant[e]];
  }
  /** What an event is to those who are served (grades.py): "loss", "refusal" or "". */
  grade(e) {
    return this.stops(e) ? "loss" : this.log.grades[this.log.col.variant[e]];
  }
  /** Whether the engine itself stopped there. */
  stops(e) {
    return this.log.ended && e === this.log.of - 1;
  }
  /** Whether it is a loss that no decision before it has told already. */
  isLoss(e) {
    if (this.grade(e) !== "loss") return false;
    const decided = this.behind(e);
    return decided < 0 || decided === e || this.stops(e) || !this.grade(decided);
  }
  /** The rule of an event (why_schedule.why_of). */
  why(e) {
    const { whys } = this.log,
      entry = this.entry(e, whys),
      kind = this.kind(e),
      tier = this.raw(e, "tier");
    return (
      whys[`${entry} ${tier}`] ?? whys[entry] ?? whys[`${kind} ${tier}`] ?? whys[kind]
    );
  }
  /** Which entry of a table tells the event: that of what is so then, if there is one
   *  (sentences.told_by). */
  entry(e, table) {
    const special = `${this.variant(e)} ${this.#how(e)}`;
    return special in table ? special : this.variant(e);
  }
  #how(e) {
    const { life, l1, l2 } = this.c;
    const kind = this.kind(e),
      node = this.raw(e, "node");
    if (kind === "admit") return this.terms(e).whole == null ? "" : "cut";
    if (life?.[node] === 2) return "gone";
    return kind === "split" && (l1[node] === 2 || l2[node] === 2) ? "moving" : "";
  }
  named(e) {
    return this.log.names[this.kind(e)];
  }
  cause(e) {
    const back = this.log.col.cause[e];
    return back ? e - back : -1;
  }

  /** The decision that an event carries out, -1 for none (cards.decision_behind). */
  behind(e) {
    if (e < 0 || this.isDecision(e)) return e;
    const { carries = {} } = this.log;
    const carried = carries[this.kind(e)] ?? [];
    const cause = this.cause(e);
    for (let at = e - 1; carried.length && at > cause; at--) {
      if (!this.isDecision(at) || this.cause(at) !== cause) continue;
      if (carried.includes(this.kind(at))) return at;
      if (this.kind(at) !== "trybackup") break; // a victim tries one of its own
    }
    return this.behind(cause);
  }

  /** The chain of causes, first cause first, the event last; before a change stands the
   *  decision that it carries out (cards.links). */
  chain(e) {
    const links = [e];
    let before = this.isDecision(e) ? this.cause(e) : this.behind(e);
    for (; before >= 0; before = this.cause(before)) links.unshift(before);
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
    if (["c", "i", "p", "n"].includes(field.type)) return value;
    if (field.type === "r") return this.log.requests[value];
    return field.type === "t" ? this.log.texts[value] : this.log.fractions[value];
  }

  request(e) {
    const field = this.fields[this.kind(e)].request;
    return field ? field.at[this.rank[e]] : -1;
  }

  /** Whether an event names this request: as its own, or as who gives way to it. */
  names(e, request) {
    if (e < 0) return false;
    const { victim } = this.fields[this.kind(e)];
    return this.request(e) === request || victim?.at[this.rank[e]] === request;
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
    if (this.at)
      for (let p = this.end[this.at - 1]; p < this.end[this.at]; p++)
        this.rowsOf(p, (first, count) =>
          each(this.op.column[p], first, count, this.op.add[p]),
        );
  }

  path(node) {
    const nodes = [];
    for (; node; node = this.c.parent[node]) nodes.push(node);
    return nodes;
  }

  /** The nodes that the last event touches. */
  touched() {
    if (!this.at) return [];
    const e = this.at - 1,
      kind = this.kind(e),
      { c, log } = this;
    if (log.paths[kind]) {
      const nodes = log.paths[kind].flatMap((end) => this.path(this.raw(e, end)));
      return kind === "loadback" ? nodes.filter((n) => !c.l1[n]) : [...new Set(nodes)];
    }
    if (kind === "backupdone" || kind === "loaddone") {
      const moved = [],
        column = log.columns.indexOf(kind === "backupdone" ? "l2" : "l1");
      this.patches((at, first) => at === column && moved.push(first));
      return moved;
    }
    return ["node", "upper"].map((name) => this.raw(e, name)).filter(Boolean);
  }

  /** The same nodes as a set, found once for each event. */
  get hot() {
    if (this.heat?.at !== this.at)
      this.heat = { at: this.at, nodes: new Set(this.touched()) };
    return this.heat.nodes;
  }

  /** How a node's copies look: the names of two states. */
  looks(node) {
    const { l1, l2, lock } = this.c;
    return [
      l1[node] === 2
        ? "promised"
        : l1[node]
          ? lock[node]
            ? "used"
            : "evictable"
          : null,
      l2[node] === 2
        ? "in_flight"
        : l2[node]
          ? l1[node] === 1
            ? "copy"
            : "host_only"
          : null,
    ];
  }

  slotLook(tier, owner) {
    if (owner === 0) return "available";
    if (owner === 1 || owner & 1) return "held";
    return this.looks((owner - 2) / 2)[tier - 1] ?? "held";
  }

  /** The term of its tier's account that counts a slot of this owner, whatever it looks
   *  like: what is on its way is counted where it will be. */
  termOf(tier, owner) {
    if (owner === 0) return tier === 1 ? "available" : "free";
    if (owner === 1 || owner & 1) return "held";
    const [{ l1, lock }, n] = [this.c, (owner - 2) / 2];
    if (tier === 1) return lock[n] ? "used" : "evictable";
    return l1[n] === 1 ? "copy" : "host_only";
  }

  /** The term that counts a node in each account, null where it has no slot. */
  termsOf(node) {
    const { l1, l2 } = this.c;
    return [l1, l2].map((at, i) => (at[node] ? this.termOf(i + 1, 2 + 2 * node) : null));
  }

  /** The account of a tier: [state, tokens, moved], and what they must come to. */
  account(tier) {
    if (this.log.blocks) return blockAccount(this, tier);
    const a = this.c.account,
      p = (i) => this.was("account", i),
      { pools, page } = this.log;
    const total = pools[tier - 1] * page;
    const rows =
      tier === 1
        ? (v) => [
            ["used", v(2)],
            ["held", total - v(0) - v(1) - v(2)],
            ["evictable", v(1)],
            ["available", v(0)],
          ]
        : (v) => [
            ["host_only", v(3)],
            ["copy", v(5)],
            ["held", total - v(4) - v(3) - v(5)],
            ["free", v(4)],
          ];
    const now = rows((i) => a[i]),
      then = rows(p);
    return { total, terms: now.map(([state, n], i) => [state, n, n - then[i][1]]) };
  }

  /** Of a chunk that goes on, what is there before it; of any, what is left to later
   *  ones (terms.py). */
  #prefixOf(request, { device_hit, loaded: home, extend }) {
    const { stage, kv, locks, l1, len, prompt, outputs } = this.c;
    const later = (before) => {
      const left = prompt[request] + outputs[request] - before - extend;
      return left > 0 ? left : null;
    };
    if (stage[request] !== 2) return { later: later(device_hit + home) };
    const path = this.path(locks[request]).filter((n) => l1[n] === 2);
    const loaded = path.reduce((sum, n) => sum + len[n], 0);
    const done = kv[request] - loaded;
    return { device_hit: null, host_hit: null, loaded, done, later: later(kv[request]) };
  }

  /** The tokens not on L1 with which a request was tested that was then cut to a chunk,
   *  null for another (terms.whole_of). */
  #wholeOf(request, { added, extend, device_hit, host_hit }) {
    const { prompt, outputs, l1, start } = this.c;
    const whole = prompt[request] + outputs[request] - device_hit;
    if (!added || extend === whole) return null;
    const loads = (n) => l1[n] === 2 && start[n] === device_hit;
    return extend === whole - host_hit && this.alive.some(loads) ? null : whole;
  }

  /** The terms of an event's card, by name. */
  terms(e) {
    const { log, c } = this,
      kind = this.kind(e),
      t = {};
    for (const name of Object.keys(this.fields[kind])) t[name] = this.raw(e, name);
    const node = log.blocks ? 0 : t.node;
    Object.assign(t, log.facts, { host_free: c.account[4] });
    if (kind === "prefill") Object.assign(t, this.#prefixOf(this.request(e), t));
    if (kind === "admit") t.whole = this.#wholeOf(this.request(e), t);
    const copied = node && (this.was("l2", node) > 0 || c.life[node] === 2);
    if (node)
      Object.assign(t, {
        copied: +copied,
        uncopied: copied ? null : 1,
        parent_copied: +(!c.parent[node] || c.l2[c.parent[node]] > 0),
      });
    return t;
  }
}

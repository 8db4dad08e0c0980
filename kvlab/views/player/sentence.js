// Which sentence says what an event did?
//
// phrases.py holds the sentences; this fills in the numbers, as sentences.py does.
// Left out: the cards (card.js).

import { evaluate } from "./sums.js";
import { fill, num, plain, seconds, short } from "./text.js";
import { nodeName, pick } from "./words.js";

export function fieldWords(player, run, e, name) {
  const raw = run.raw(e, name),
    { c, log } = run,
    kind = run.kind(e),
    row = run.request(e);
  const node = run.raw(e, "node"),
    page = log.page,
    t = () => run.terms(e);
  const type = run.fields[kind][name]?.type;
  if (name === "n") return nodeName(player, node);
  if (kind === "row" && name === "start") return num(raw * page);
  if (kind === "batch" && name === "number") return num(run.raw(e, "requests"));
  if (log.times[kind]?.includes(name)) return seconds(raw);
  if (type === "n") return nodeName(player, raw);
  if (kind === "step" && name === "text" && player.lang === "zh")
    return chineseOperands(plain(raw));
  if (type === "r" || type === "t") return plain(raw);
  if (type === "f") return short(raw);
  if (type && name !== "pages") return num(raw);
  switch (name) {
    case "number":
      return num(run.raw(e, "nodes") ?? run.raw(e, "requests"));
    case "total":
      return num(log.pools[0] * page);
    case "slots":
      return num(run.raw(e, "pages") * page);
    case "free":
      return num(c.account[run.raw(e, "tier") === "L1" ? 0 : 4]);
    case "level":
      return c.l1[node] ? "L1" : "L2";
    case "hits":
      return num(c.hits[node]);
    case "depth":
      return num(run.touched().length);
    case "moved":
      return num(Math.abs(c.account[1] - run.was("account", 1)));
    case "copied":
      return num(run.touched().reduce((sum, n) => sum + c.len[n], 0));
    case "tokens":
      return num(run.was("len", node));
    case "kv":
      return num(kind === "retract" ? run.was("kv", row) : c.kv[row]);
    case "prompt":
      return num(c.prompt[row]);
    case "outputs":
      return num(c.outputs[row]);
    case "miss":
      return num(evaluate("asked − device − host", t()));
    case "allowed":
      return num(Math.max((t().quota ?? 0) + t().delta, 0));
    case "need":
      return num(evaluate("extend + max_new + page", t()));
    case "room":
      return num(evaluate("available + evictable − promised", t()));
    case "budget": {
      const x = t();
      return num(Math.max(Math.min(x.rem_input, x.rem_chunk ?? x.rem_input), 0));
    }
    case "cached":
      return num(run.raw(e, "device_hit") + run.raw(e, "loaded"));
    case "whole":
      return num(t().whole);
    case "host_free":
      return num(c.account[4]);
  }
  return undefined;
}

/** The runner's few English words on an operation, in Chinese. */
const chineseOperands = (text) =>
  text === "all" ? "全部" : text.replace(/ ?\((\d+) tokens?\)$/, "（$1 个 token）");

export function say(player, run, e, table) {
  const entry = e < 0 ? "" : run.entry(e, table);
  const words = table[entry] ?? table[entry.split(" ")[0]] ?? [entry, entry];
  const text = fill(pick(player, words), (name) =>
    e < 0 ? num(run.log.pools[0] * run.log.page) : fieldWords(player, run, e, name),
  ).trimEnd();
  return agreed(player, text);
}

/** A sentence whose numbers were filled in, as its language wants it around them. */
export const agreed = ({ lang }, text) =>
  lang === "zh"
    ? text.replace(/ ?根 ?/g, "根")
    : text.replace(/(?<![\d.,])1 (token|slot|node|request|block|chunk|step)s\b/g, "1 $1");

export function sentence(player, run = player.run) {
  return say(player, run, run.at - 1, player.log.phrases);
}

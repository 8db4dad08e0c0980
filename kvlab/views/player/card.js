// Why was this decided?
//
// Verdict, formula, what is not in it, what was not taken, causes, source.
// Left out: formulas (formula.js), predictions (question.js).

import { barsSvg, testHtml } from "./formula.js";
import { signOf, signSvg, swatch } from "./looks.js";
import { movedHtml } from "./moved.js";
import { primerHtml } from "./primer.js";
import { toldHtml } from "./question.js";
import { say } from "./sentence.js";
import { holds, notTaken, withSums } from "./sums.js";
import { esc, fill, num, put } from "./text.js";
import { pick, ui } from "./words.js";

const GROWN = [{ transform: "scaleX(0)" }, { transform: "none" }];
const TIMING = { duration: 200, easing: "cubic-bezier(.2,0,0,1)" };

/** A card of its own in a narrow pane; beside another run's, in two columns. What is
 *  short grows into its place, unless the step was in haste: the next key would wait. */
export function drawWhy(player, pane, run, e, label = "") {
  const card = cardHtml(player, run, e, label);
  const before = pane.put;
  put(pane, label ? `<div class="cols">${card}</div>` : toldHtml(player, e) + card);
  if (pane.put !== before && player.moving)
    for (const gap of pane.querySelectorAll(".gap")) gap.animate(GROWN, TIMING);
}

/** `whole` is false where the causes stand above the card already. */
function cardHtml(player, run, e, label = "", whole = true) {
  const { log } = run;
  if (e < 0)
    return primerHtml(player, run, label);
  if (player.run.at > run.count)
    return `<div class="empty">${ui(player, "over")}</div>`;
  const why = run.why(e);
  if (!why) {
    const led = ledHtml(player, run, e);
    const words = meaningOf(run, e);
    const meaning = words ? esc(pick(player, words)) : led ? "" : ui(player, "no_card");
    // The headline says one run only: of two, each card says its own.
    const told = label ? `<div>${esc(say(player, run, e, log.phrases))}</div>` : "";
    const note = meaning && `<div class="dim">${meaning}</div>`;
    return `<div class="v">${signSvg(player, signOf(run, e))}<span>${label}${esc(run.named(e))}</span></div>${told}${note}${movedHtml(player, run, e)}${lineHtml(player, run, e)}${chainHtml(player, run, e)}${led}`;
  }
  const terms = withSums(why, run.terms(e)),
    parts = [];
  parts.push(
    `<div class="v">${signSvg(player, signOf(run, e))}<span>${label}${esc(say(player, run, e, log.verdicts))}</span></div><div class="dim">${esc(pick(player, why.rule))}</div>`,
  );
  const bars = why.bars.filter((bar) => !bar.unless || terms[bar.unless] != null);
  if (bars.length)
    parts.push(`<div class="sec">${barsSvg(player, { ...why, bars }, terms)}</div>`);
  parts.push(testsHtml(player, why, terms), lineHtml(player, run, e));
  if (why.outside && run.log.pools[1])
    parts.push(
      `<div class="sec"><div class="off">${swatch(player, "available")}<s>L2 free = ${num(terms.host_free)}</s><span>${ui(player, "not_in_formula")}</span></div></div>`,
    );
  const instead = notTaken(why, terms);
  if (instead)
    parts.push(
      `<div class="sec"><div class="lab">${ui(player, "not_taken")}</div>${esc(fill(pick(player, instead), (n) => num(terms[n])))}</div>`,
    );
  if (whole) parts.push(chainHtml(player, run, e));
  if (why.source)
    parts.push(
      `<div class="sec src"><div class="lab">${ui(player, "source")}</div>${esc(why.source)}</div>`,
    );
  if (why.own)
    parts.push(
      `<div class="sec src"><div class="lab">${ui(player, "own")}</div>${esc(why.own.where)}<pre>${why.own.lines.map((line, i) => `<span class="${i === why.own.at ? "hl" : ""}">${esc(line)}</span>`).join("")}</pre></div>`,
    );
  return parts.join("");
}

/** What a change means, by what led to it if that matters. */
function meaningOf(run, e) {
  const { meanings = {} } = run.log;
  const decided = run.behind(e);
  const led = decided >= 0 ? `${run.kind(e)} ${run.kind(decided)}` : "";
  const entry = run.entry(e, meanings);
  const cause = `${run.kind(e)} ${run.kinds[run.log.col.variant[run.cause(e)]]}`;
  if (entry.endsWith(" gone")) return meanings[entry];
  return meanings[led] ?? meanings[cause] ?? meanings[entry] ?? meanings[run.kind(e)];
}

/** The tests in their order; after one that fails, the engine asks no more. */
function testsHtml(player, why, terms) {
  let failed = false;
  return why.tests.map((test) => {
    const html = testHtml(player, test, terms);
    if (!html) return "";
    const place = failed ? "sec late" : test.told ? "told" : "sec";
    const words = failed === "now" ? ui(player, "not_reached") : "";
    const fails = why.ordered && !failed && holds(test, terms) === false;
    failed = fails ? "now" : failed && "before";
    return `<div class="${place}">${words && `<div class="lab">${words}</div>`}${html}</div>`;
  }).join("");
}

/** A node's name, which selects the node while the tree has it. */
const nodeLink = (run, n) =>
  run.c.life[n]
    ? `<b class="m link" role="link" tabindex="0" data-do="node" data-to="${n}">n${n}</b>`
    : `<b class="m">n${n}</b>`;

// Dropped although a load was to bring it, and what follows from that.
const EARLY = new Set(["orphan", "wanted", "read", "stale", "robbed", "twice"]);

/** Of a victim: who would follow it, and who is colder but locked; of an end that freed
 *  too little: what keeps those that stay; of a node dropped too early: that it was. */
export function lineHtml(player, run, e) {
  const [then, spared, kept = []] = run.log.behind?.[e] ?? [[], []];
  const victim = run.raw(e, "node");
  const also = (n) =>
    victim && run.c.parent[victim] === n ? ` (${ui(player, "leaf_then")})` : "";
  const row = (words, nodes) =>
    nodes.length
      ? `<div><span class="lab">${ui(player, words)}</span> ${nodes.map(([n, key]) => `${nodeLink(run, n)} ${esc(key)}${also(n)}`).join(" · ")}</div>`
      : "";
  const stays = kept.map(([node, why, n, s]) => {
    const name = node ? `${nodeLink(run, node)} ` : "";
    const look = EARLY.has(why) ? "bad" : "";
    return `<div class="${look}">${name}${ui(player, `kept_${why}`, { n: num(n), s })}</div>`;
  });
  const rows = row("then", then) + row("spared", spared) + stays.join("");
  const said = rows + untold(player, run, e);
  return said && `<div class="sec">${said}</div>`;
}

/** Why the line is not given, where it is not. */
function untold(player, run, e) {
  const { unlined, behind } = run.log;
  const kind = run.kind(e);
  const note = (words) => `<div class="dim">${words}</div>`;
  if (kind === "victim" && unlined && run.raw(e, "fate") !== "reclaim")
    return note(ui(player, "unlined", { n: num(unlined) }));
  const short = kind === "evicted" && run.raw(e, "freed") < run.raw(e, "ask");
  return short && behind && !behind[e] ? note(ui(player, "unkept")) : "";
}

/** Of a change: the card of the decision that led to it, as it was then. */
function ledHtml(player, run, e) {
  const decided = run.behind(e);
  if (decided < 0 || run.at !== e + 1 || run.kind(decided) === "step") return "";
  if (!run.why(decided)) return "";
  run.seek(decided + 1);
  const html = cardHtml(player, run, decided, "", false);
  run.seek(e + 1);
  return `<div class="sec"><div class="lab">${ui(player, "led", { n: num(decided + 1) })}</div></div>${html}`;
}

function chainHtml(player, run, e) {
  const links = run.chain(e);
  if (links.length < 2) return "";
  return `<div class="sec"><div class="lab">${ui(player, "cause")}</div><div class="chain">${links.map((i) => (i === e ? `<b>${num(i + 1)} ${esc(run.named(i))}</b>` : `<button data-do="go" data-to="${i + 1}">${num(i + 1)} ${esc(run.named(i))}</button><span>→</span>`)).join("")}</div></div>`;
}

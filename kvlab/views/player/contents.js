// Which slots hold what they should, as far as somebody has looked?
//
// A run whose contents were checked has `compared` events, each followed by a `wrong`
// for every slot that holds another prefix. What was handed out since is not known.
// Left out: how right and wrong look (looks.js).

import { GUT } from "./grid.js";
import { stateName, swatch } from "./looks.js";
import { esc, num, plain } from "./text.js";
import { ui } from "./words.js";

const SETTLED = new Set(["used", "held", "evictable", "host_only", "copy"]);
const TOLD_SLOTS = 3; // wrong slots that are told in words

export const hasChecks = (log) =>
  log.variants.some((v) => v.split(" ")[0] === "compared");

/** A run with wrong slots shows them; any other shows states. */
export function firstColouring(log) {
  return log.variants.includes("compared wrong") ? "contents" : "state";
}

export function otherColouring(player) {
  return hasChecks(player.log) && player.colouring === "state" ? "contents" : "state";
}

/** The last comparison before the moment, null if there was none: its event, how many
 *  slots, its wrong ones, and the pages of both tiers handed out since. */
function lastCheck(run) {
  if (run.checked?.at !== run.at) run.checked = { at: run.at, found: findCheck(run) };
  return run.checked.found;
}

function findCheck(run) {
  let event = run.at - 1;
  while (event >= 0 && run.kind(event) !== "compared") event--;
  if (event < 0) return null;
  const wrong = [];
  const since = [new Set(), new Set()];
  const columns = ["owner1", "owner2"].map((name) => run.log.columns.indexOf(name));
  for (let e = event + 1; run.kind(e) === "wrong"; e++) wrong.push(wrongAt(run, e));
  for (let e = event + 1; e < run.at; e++) {
    if (run.kind(e) !== "alloc") continue;
    for (let p = run.end[e]; p < run.end[e + 1]; p++) {
      const tier = columns.indexOf(run.op.column[p]);
      if (tier < 0) continue;
      run.rowsOf(p, (first, size) => {
        for (let page = first; page < first + size; page++) since[tier].add(page);
      });
    }
  }
  return { event, slots: run.raw(event, "slots"), wrong, since };
}

function wrongAt(run, e) {
  const slot = run.raw(e, "slot");
  return {
    tier: run.raw(e, "tier"),
    slot,
    page: Math.floor(slot / run.log.page),
    holder: run.raw(e, "holder"),
    expected: run.raw(e, "expected"),
    found: run.raw(e, "found"),
  };
}

/** A function (owner, page) => look, by contents where they are known, else `byState`. */
export function contentsLook(run, tier, byState) {
  const check = lastCheck(run);
  if (!check) return byState;
  const mine = check.wrong.filter((w) => w.tier === `L${tier}`);
  const wrong = new Set(mine.map((w) => w.page));
  return (owner, page) => {
    const look = byState(owner, page);
    if (owner < 2 || !SETTLED.has(look) || check.since[tier - 1].has(page)) return look;
    return wrong.has(page) ? "wrong" : "right";
  };
}

// --- in words

export function colourButton(player) {
  if (!hasChecks(player.log)) return "";
  const other = ui(player, `by_${otherColouring(player)}`);
  return `<span class="sp"></span><button data-do="colour" class="w" title="C">${other}</button>`;
}

/** What the last comparison found, under the pools. */
export function contentsHtml(player, run) {
  if (player.colouring !== "contents") return "";
  const check = lastCheck(run);
  const box = (html) =>
    `<div class="dim" style="padding:6px 0 0 ${GUT}px;min-height:84px">${html}</div>`;
  if (!check) return box(ui(player, "not_compared"));
  const { event, slots, wrong } = check;
  const all = run.raw(event, "wrong");
  const count = (state, n) =>
    `<span style="display:inline-flex;gap:4px;align-items:center;margin-left:8px">${swatch(player, state)}${esc(stateName(player, state))} <b>${num(n)}</b></span>`;
  const lines = wrong
    .slice(0, TOLD_SLOTS)
    .map((w) => `<div class="bad">! ${esc(wrongWords(player, w))}</div>`);
  const rest = wrong.length - lines.length;
  if (rest > 0) lines.push(`<div>${ui(player, "more_wrong", { n: num(rest) })}</div>`);
  const said = ui(player, "compared", { e: num(event + 1), n: num(slots) });
  return box(
    `<div>${said}${count("right", slots - all)}${count("wrong", all)}</div>${lines.join("")}`,
  );
}

/** The same for a screen reader. */
export function contentsWords(player, run) {
  const check = player.colouring === "contents" ? lastCheck(run) : null;
  if (!check) return "";
  const said = ui(player, "compared", { e: check.event + 1, n: check.slots });
  const wrong = check.wrong.slice(0, TOLD_SLOTS).map((w) => wrongWords(player, w));
  const name = stateName(player, "wrong");
  return `${said} ${name} ${run.raw(check.event, "wrong")}. ${wrong.join("; ")}`;
}

function wrongWords(player, { tier, slot, holder, expected, found }) {
  return ui(player, "wrong_slot", {
    tier,
    slot: `${slot}`,
    holder: plain(holder, 12),
    a: plain(expected),
    b: found ? plain(found) : ui(player, "unwritten"),
  });
}

/** What is wrong with the slots of a page, "" if nothing is. */
export function slotWords(player, run, tier, page) {
  const check = player.colouring === "contents" ? lastCheck(run) : null;
  if (!check) return "";
  const found = check.wrong.filter((w) => w.tier === `L${tier}` && w.page === page);
  return found.map((w) => wrongWords(player, w)).join("\n");
}

// How does a card look in a picture that needs no page?
//
// The lines of its text, as cards.py writes them, with both bars under the rule. Beside a
// change stands the card of the decision that it carries out.
// Left out: the rest of the picture (still.js).

import { lineHtml } from "./card.js";
import { barsSvg, testLines } from "./formula.js";
import { say } from "./sentence.js";
import { holds, notTaken, withSums } from "./sums.js";
import { esc, fill, lines, num } from "./text.js";
import { pick, ui } from "./words.js";

export const CARD = 330; // pixels across

const PITCH = 18; // pixels of a line

/** The card of the moment: its markup and height. Of a change that nobody decided it is
 *  what is amiss with its node, mostly nothing: the height is 0. */
export function cardStill(player, run) {
  const at = run.at;
  const e = run.behind(at - 1);
  const own = at && e < at - 1 ? nodeLines(player, run, at - 1) : [];
  if (e < 0 || !run.why(e) || (e < at - 1 && run.kind(e) === "step"))
    return { markup: textOf(player, own, 0), high: PITCH * own.length };
  run.seek(e + 1);
  const led = e < at - 1 ? [...own, ...told(ui(player, "led", { n: num(e + 1) }))] : [];
  const drawn = written(player, run, e, led);
  run.seek(at);
  return drawn;
}

/** What a card says of nodes by name: who is next, what stays, what was dropped. */
function nodeLines(player, run, e) {
  const rows = document.createElement("div");
  rows.innerHTML = lineHtml(player, run, e);
  return [...rows.querySelectorAll(".sec > div")].flatMap((row) => {
    const bad = row.classList.contains("bad");
    return told(row.textContent).map((line) => ({ ...line, bad }));
  });
}

const told = (words) => lines(words, 50).map((line) => ({ words: line }));

function written(player, run, e, led) {
  const why = run.why(e);
  const terms = withSums(why, run.terms(e));
  const title = lines(say(player, run, e, run.log.verdicts), 38);
  const head = [
    ...led,
    ...title.map((words) => ({ words, strong: true })),
    ...told(pick(player, why.rule)),
  ];
  const bars = why.bars.filter((bar) => !bar.unless || terms[bar.unless] != null);
  const svg = bars.length ? barsSvg(player, { ...why, bars }, terms) : "";
  const tall = svg ? 10 + Number(/height="([\d.]+)"/.exec(svg)[1]) : 0;
  const foot = footOf(player, run, e, why, terms);
  const y = PITCH * head.length;
  return {
    markup:
      textOf(player, head, 0) +
      (svg && `<g transform="translate(0,${y + 4})">${svg}</g>`) +
      textOf(player, foot, y + tall),
    high: y + tall + PITCH * foot.length,
  };
}

/** Tests, what is in none of them, what was not taken, causes, source. */
function footOf(player, run, e, why, terms) {
  const fails = why.tests.findIndex((test) => holds(test, terms) === false);
  const last = why.ordered && fails >= 0 ? fails : Infinity;
  const tests = why.tests.flatMap((test, i) => [
    ...(i === last + 1 ? told(ui(player, "not_reached")) : []),
    ...toldTest(player, test, terms),
  ]);
  const instead = notTaken(why, terms);
  const without = instead && fill(pick(player, instead), (name) => num(terms[name]));
  const outside = why.outside && run.log.pools[1];
  const left = `[L2 free = ${num(terms.host_free)}] ${ui(player, "not_in_formula")}`;
  const chain = run.chain(e).map((i) => `${num(i + 1)} ${run.named(i)}`);
  return [
    ...tests,
    ...nodeLines(player, run, e),
    ...(outside ? told(left) : []),
    ...(without ? told(`${ui(player, "not_taken")}: ${without}`) : []),
    ...(chain.length > 1 ? told(`${ui(player, "cause")}: ${chain.join(" → ")}`) : []),
    ...told(why.source),
  ].filter(({ words }) => words);
}

function toldTest(player, test, terms) {
  const { said, outcome = "" } = testLines(player, test, terms);
  const bad = holds(test, terms) === false;
  return [...said.flatMap(told), { words: outcome, bad, dark: true }];
}

function textOf(player, all, y) {
  const k = player.colour;
  return all
    .map(({ words, strong, bad, dark }, i) => {
      const fill = bad ? k.alert : strong || dark ? k.ink : k.ink2;
      const style = strong ? `font-size="14" font-weight="600"` : `font-size="12"`;
      return `<text x="0" y="${y + 14 + PITCH * i}" ${style} fill="${fill}">${esc(words)}</text>`;
    })
    .join("");
}

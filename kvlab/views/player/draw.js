// What is drawn for an event, and in which order?
//
// Canvases come first: writing to the page before would make each ask for its style.
// Left out: each pane (tree.js, pool.js, card.js, queue.js, timeline.js).

import { drawWhy } from "./card.js";
import { drawControls, drawPlace } from "./controls.js";
import { patterns, signOf, signSvg } from "./looks.js";
import { openPanel } from "./panel.js";
import { drawPool, drawPoolCanvas } from "./pool.js";
import { drawQuestion } from "./question.js";
import { drawQueue } from "./queue.js";
import { sentence } from "./sentence.js";
import { esc, num, plain } from "./text.js";
import { drawTimeline } from "./timeline.js";
import { drawTree } from "./tree.js";
import { differsWords, ui } from "./words.js";

/** Everything that changes with language, theme, width or mode, not with the event. */
export function layout(player) {
  const { root, log } = player,
    [day, night] = log.colours;
  player.colour = { ...day, ...(player.dark ? night : {}) };
  for (const [name, value] of Object.entries(player.colour))
    root.style.setProperty(`--${name}`, value);
  root.style.colorScheme = player.dark ? "dark" : "light";
  root.lang = player.lang === "zh" ? "zh-Hans" : "en";
  root.classList.toggle("two", !!player.other);
  root.classList.toggle("motion", player.motion);
  root.setAttribute("aria-label", `kvlab: ${plain(log.name || "", 80)}`);
  player.tiles = player.far = player.treeWide = null;
  player.wide = Math.max(300, root.clientWidth - 34);
  player.$(".defs").innerHTML =
    `<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>${patterns(player)}</defs></svg>`;
  const on = (yes) => `aria-pressed="${!!yes}"`;
  const asks = Object.keys(log.questions).length;
  player.$(".top").innerHTML =
    `<b>kvlab</b><bdi class="name">${esc(plain(log.name || "–", 60))}</bdi><span class="w m">${esc(log.engine)} · ${esc(log.settings.tree === "radix" ? "radix" : log.settings.write_policy)} · ${esc(log.settings.eviction_policy)}</span><span class="sp"></span>
      ${asks ? `<span class="seg"><button data-do="mode" data-to="predict" ${on(player.mode === "predict")}>${ui(player, "predict")}</button><button data-do="mode" data-to="watch" ${on(player.mode !== "predict")}>${ui(player, "watch")}</button></span>` : ""}
      ${player.other ? `<span class="seg"><button data-do="both" ${on(true)}>A | B</button><button data-do="one">A</button></span>` : player.b ? `<span class="seg"><button data-do="both">A | B</button><button data-do="one" ${on(true)}>A</button></span>` : ""}
      <button data-do="dark" title="${ui(player, "dark")}" aria-label="${ui(player, "dark")}">◐</button>
      <span class="seg"><button data-do="lang" data-to="zh" lang="zh" ${on(player.lang === "zh")}>中</button><button data-do="lang" data-to="en" lang="en" ${on(player.lang !== "zh")}>EN</button></span>`;
  const notes = [];
  if (log.fault) notes.push(ui(player, "fault", { a: plain(log.fault, 200) }));
  if (log.ended) notes.push(ui(player, "ended", { a: plain(log.ended, 200) }));
  if (!log.fault && log.events < log.of)
    notes.push(ui(player, "part", { a: num(log.events), b: num(log.of) }));
  if (player.b && player.difference) notes.push(differsWords(player));
  player.$(".notes").innerHTML = notes
    .map((note) => `<div class="note">${esc(note)}</div>`)
    .join("");
  const pane = (kind, b) =>
    `<section class="pane p-${kind}${b ? " b" : ""}" tabindex="0" data-pane="${kind}" aria-label="${ui(player, kind === "pool" ? "memory" : kind)}${player.other ? (b ? " B" : " A") : ""}"></section>`;
  player.$(".body").innerHTML = player.other
    ? ["tree", "pool", "why"].map((kind) => pane(kind) + pane(kind, true)).join("")
    : ["tree", "pool", "why", "queue"].map((kind) => pane(kind)).join("");
  drawControls(player);
  player.panel && openPanel(player, player.panel);
  if (player.run) draw(player);
}

export function draw(player) {
  const { run } = player,
    e = run.at - 1,
    asking = player.asking;
  const began = performance.now();
  player.hot = new Set(run.touched());
  const why = e >= 0 ? run.why(e) : null;
  const kind =
    e < 0
      ? ui(player, "start")
      : `${ui(player, "event")} ${num(e + 1)} · ${run.named(e)}`;
  const glyph = signSvg(
    player,
    asking >= 0 ? "ask" : (why?.sign ?? (e < 0 ? "note" : signOf(run.kind(e)))),
  );
  const sides = player.other
    ? [
        [run, ""],
        [player.other, ".b"],
      ]
    : [[run, ""]];
  // Canvases come first: writing to the page before would make each ask for its style.
  for (const [side, b] of sides) {
    player.hot = new Set(side.touched());
    drawPoolCanvas(player, player.$(`.p-pool${b || ":not(.b)"}`), side);
  }
  drawTimeline(player);
  player.$(".glyph").innerHTML = glyph;
  player.$(".kind").textContent = kind;
  player.$(".head h2").textContent =
    sentence(player) + (asking >= 0 ? ` · ${ui(player, "turn")}` : "");
  for (const [side, b] of sides) {
    player.hot = new Set(side.touched());
    const q = (pane) => player.$(`.p-${pane}${b || ":not(.b)"}`);
    const label = player.other ? (b ? "B · " : "A · ") : "";
    drawTree(player, q("tree"), side, label);
    drawPool(player, q("pool"), side, label);
    if (b || player.other || asking < 0)
      drawWhy(player, q("why"), side, b ? player.other.at - 1 : e, label);
    else drawQuestion(player, q("why"), asking);
  }
  player.hot = new Set(run.touched());
  if (!player.other) drawQueue(player, player.$(".p-queue"), run);
  drawPlace(player);
  player.took = performance.now() - began;
}

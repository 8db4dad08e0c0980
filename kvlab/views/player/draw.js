// What is drawn for an event, and in which order?
//
// What the eye follows comes at once: canvases, headline, tree, accounts. Cards and what
// is told to a screen reader come when the frame is painted, so no key waits for them.
// Left out: what stays while events pass (layout.js), each pane.

import { drawBlocks } from "./blocks.js";
import { drawCaption } from "./caption.js";
import { drawWhy } from "./card.js";
import { drawPlace } from "./controls.js";
import { signOf, signSvg } from "./looks.js";
import { markPointed } from "./pointed.js";
import { describePool, drawPool, drawPoolCanvas } from "./pool.js";
import { drawQuestion } from "./question.js";
import { drawQueue } from "./queue.js";
import { sentence } from "./sentence.js";
import { esc, num, put } from "./text.js";
import { drawTimeline } from "./timeline.js";
import { drawTree, followEvent } from "./tree.js";
import { otherWord, ui } from "./words.js";

/** Draw all of the moment: `late` says that the cards may come a frame later. */
export function draw(player, late = false) {
  const began = performance.now();
  // Canvases come first: writing to the page before would make each ask for its style.
  const { blocks } = player.log;
  if (!blocks)
    for (const { run, pane } of sidesOf(player)) drawPoolCanvas(player, pane.pool, run);
  drawTimeline(player);
  drawHead(player);
  drawCaption(player);
  for (const { run, pane, label } of sidesOf(player)) {
    if (blocks) {
      drawBlocks(player, pane, run, label);
      continue;
    }
    drawTree(player, pane.tree, run, label);
    drawPool(player, pane.pool, run, label);
  }
  if (player.asking >= 0 && !player.other)
    drawQuestion(player, player.panes[0].why, player.asking);
  if (player.panes[0].queue) drawQueue(player, player.panes[0].queue, player.run);
  drawPlace(player);
  if (player.hover || player.state) markPointed(player, sidesOf(player));
  if (late) postpone(player);
  else drawLate(player);
  player.took = performance.now() - began;
}

/** The runs on show, each with its panes. */
export function sidesOf(player) {
  const first = { run: player.run, pane: player.panes[0], label: "" };
  if (!player.other) return [first];
  const second = { run: player.other, pane: player.panes[1], label: "B · " };
  return [{ ...first, label: "A · " }, second];
}

/** Sign, number and sentence of the event. */
function drawHead(player) {
  const { run, asking } = player;
  const e = run.at - 1;
  const sign = e < 0 ? "note" : signOf(run, e);
  put(player.$(".glyph"), signSvg(player, asking >= 0 ? "ask" : sign));
  const kind = e < 0 ? "" : `${ui(player, "event")} ${num(e + 1)} · ${run.named(e)}`;
  const also = e < 0 ? "" : otherWord(player, run.kind(e));
  put(
    player.$(".kind"),
    `<span title="${esc(also)}">${esc(kind || ui(player, "start"))}</span> <span class="also">${esc(also)}</span>`,
  );
  const skip = player.$(".skip");
  skip.hidden = asking < 0;
  put(skip, ui(player, "to_question"));
  const stop = run.stops(e) ? ` · ${ui(player, "ends_here")}` : "";
  const turn = asking >= 0 ? ` · ${ui(player, "turn")}` : "";
  player.$(".head h2").textContent = sentence(player) + stop + turn;
}

/** Draw the cards when this frame is painted. */
function postpone(player) {
  player.due ??= requestAnimationFrame(() => {
    setTimeout(() => settle(player));
  });
}

/** Draw now what was to come later, if anything was. */
export function settle(player) {
  if (player.due == null) return;
  cancelAnimationFrame(player.due);
  drawLate(player);
}

/** Cards, and what the canvases show in words. */
function drawLate(player) {
  player.due = null;
  if (!player.root.contains(player.panes[0].why)) return; // it was closed meanwhile
  for (const { run, pane, label } of sidesOf(player)) {
    const covered = player.asking >= 0 && !player.other;
    if (!covered) drawWhy(player, pane.why, run, run.at - 1, label);
    if (player.log.blocks) continue;
    describePool(player, pane.pool, run);
    followEvent(pane.tree.parts, run.at);
  }
}

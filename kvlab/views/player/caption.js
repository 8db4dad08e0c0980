// What did somebody write to the event on show?
//
// Its line stands under the headline. Where a run has notes, the room of the longest is
// kept free at every event, so that nothing moves as they come and go.
// Left out: setting bookmarks and writing notes (notes.js).

import { seenWords } from "./seen.js";
import { sentence } from "./sentence.js";
import { esc, plain, put } from "./text.js";
import { ui } from "./words.js";

export const LONGEST_NOTE = 200; // characters
const ALOUD = 15; // letters that are read aloud in a second
const BREATH = 1; // seconds

/** The bookmarks that may be shown, in the order of the run. */
export const marksShown = (player) =>
  [...player.bookmarks].filter((e) => e < player.limit).sort((a, b) => a - b);

/** The line to an event, "" if it has none. A bookmark that goes takes its note along,
 *  and brings it back. */
export const noteOf = (player, e) =>
  player.bookmarks.has(e) ? plain(player.notes.get(e) ?? "", LONGEST_NOTE) : "";

/** The line of the moment, in the room of the longest that may be shown. */
export function drawCaption(player) {
  const caption = player.$(".caption");
  const now = player.run.at - 1;
  const noted = player.notes.size
    ? marksShown(player).filter((e) => noteOf(player, e))
    : [];
  caption.hidden = !noted.length;
  const line = (e) =>
    `<span ${e === now ? "" : 'aria-hidden="true"'}>${esc(noteOf(player, e))}</span>`;
  put(caption, noted.map(line).join(""));
  const room = `${player.version} ${noted}`;
  if (player.captioned === room) return;
  player.captioned = room;
  player.root.style.setProperty("--told", `${caption.offsetHeight}px`);
}

/** What a screen reader is told of the moment: first how a prediction came out. */
export function spoken(player) {
  const e = player.run.at - 1;
  const said = player.reading && player.answered.get(e);
  const told = [
    said && ui(player, said.right ? "right" : "wrong"),
    ...sentences(player),
    noteOf(player, e),
    seenWords(player),
    player.asking >= 0 && ui(player, "turn"),
  ];
  return told.filter(Boolean).join(player.lang === "zh" ? "。" : ". ");
}

/** What happened; of two runs in both, where they differ. */
function sentences(player) {
  const { run, other } = player;
  const [a, b] = [sentence(player), other && sentence(player, other)];
  const there = b && run.at > other.count ? ui(player, "over") : b;
  return there && there !== a ? [`A: ${a}`, `B: ${there}`] : [a];
}

/** How long it takes to read a note aloud, as notes.py reckons it; 0 without one. */
export function secondsOf(note) {
  const wide = note.match(/[\u2e80-\uffef]/g)?.length ?? 0;
  return note && BREATH + ([...note].length + 2 * wide) / ALOUD;
}

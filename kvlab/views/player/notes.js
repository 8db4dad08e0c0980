// How does somebody mark an event, and write a line to it?
//
// Left out: showing the line (caption.js), the flags (timeline.js), the page that keeps
// both (start.js).

import { drawCaption, marksShown, noteOf } from "./caption.js";
import { drawPlace } from "./controls.js";
import { stop } from "./move.js";
import { openPanel } from "./panel.js";
import { drawTimeline } from "./timeline.js";
import { jump } from "./watch.js";
import { ui } from "./words.js";

/** Set a bookmark at the moment, or take it away. */
export function bookmark(player) {
  const e = player.run.at - 1;
  if (e < 0) return;
  const gone = player.bookmarks.delete(e);
  if (!gone) player.bookmarks.add(e);
  marksChanged(player);
  player.live.textContent = ui(player, gone ? "mark_gone" : "mark_set");
}

/** Ask for a line to the event on show. */
export function askNote(player) {
  stop(player);
  player.written = player.run.at - 1; // whatever is on show once it is written
  if (player.written >= 0) openPanel(player, player.panel === "note" ? "" : "note");
}

/** Keep what was written; an empty line takes the note away and leaves the bookmark. */
export function keepNote(player) {
  const e = player.written;
  const text = player.$(".panel .line").value.trim().replace(/\s+/g, " ");
  openPanel(player, "");
  player.notes.delete(e);
  if (text) {
    player.bookmarks.add(e);
    player.notes.set(e, text);
  }
  marksChanged(player);
}

/** Go to the next bookmark, or the last. */
export function toMark(player, by) {
  const now = player.run.at - 1;
  const ahead = marksShown(player).filter((e) => (e - now) * by > 0);
  jump(player, (by > 0 ? ahead[0] : ahead.at(-1)) ?? -1);
}

/** Hold the bookmarks and their lines that the page, or the notebook, kept. */
export function holdMarks(player, marks) {
  player.bookmarks.clear();
  for (const [event, text] of marks) {
    if (event > player.run.count) continue; // behind where this page's run is cut
    player.bookmarks.add(event - 1);
    text ? player.notes.set(event - 1, text) : player.notes.delete(event - 1);
  }
  player.kept = new Map(player.notes);
}

/** Hold them, and show them. */
export function takeMarks(player, marks) {
  holdMarks(player, marks);
  showMarks(player);
}

function marksChanged(player) {
  showMarks(player);
  player.hooks.marks?.(marksOf(player));
}

function showMarks(player) {
  player.captioned = null; // a line may be longer now
  drawTimeline(player);
  drawCaption(player);
  drawPlace(player);
}

/** Whether a note would be gone with the page: no file has it as it is. */
export const isUnkept = ({ notes, bookmarks, kept }) =>
  [...notes].some(([e, text]) => bookmarks.has(e) && kept.get(e) !== text);

/** The page was saved: its file has the notes of now. */
export function notesKept(player) {
  player.kept = new Map(player.notes);
  player.hooks.marks?.(marksOf(player));
}

/** All bookmarks, each with its line: what `marks_of` of notes.py writes. */
export function marksOf(player) {
  return [...player.bookmarks].map((e) => [e + 1, noteOf(player, e)]);
}

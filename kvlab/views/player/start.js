// How does a player come into a page of its own?
//
// The page holds its logs as base64.
// Left out: the page around it (page.py), the player in a notebook (notebook.js).

import { LogError, openLog } from "./log.js";
import { hearPage } from "./keys.js";
import { isUnkept, marksOf } from "./notes.js";
import { render } from "./notebook.js";
import { Player } from "./player.js";
import { Run } from "./run.js";
import { sorry } from "./sorry.js";

/** A standalone page: logs lie in it as base64. */
export async function startPage(root) {
  const bytes = (id) => {
    const text = document.getElementById(id)?.textContent.trim();
    return text ? bytesOf(text) : null;
  };
  root.classList.add("page");
  try {
    const log = await openLog(bytes("kvlab-log"));
    const marks = marksIn(bytes("kvlab-marks"));
    // Nothing is stored behind the reader's back; who would lose a note is asked first.
    const guard = () => {
      window.onbeforeunload = isUnkept(player) ? (event) => event.preventDefault() : null;
    };
    const hooks = { page: pageHtml, marks: guard };
    const player = new Player(root, new Run(log), { hooks, marks });
    globalThis.kvlab = player;
    hearPage(player);
    const other = bytes("kvlab-log-b");
    if (other) {
      const b = await openLog(other);
      player.compare(new Run(b), b.difference);
    }
    root.dataset.ready = "true";
    return player;
  } catch (problem) {
    sorry(root, problem);
  }
}

/** Base64 as bytes. Raises: LogError if it is none. */
function bytesOf(text) {
  try {
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
  } catch (problem) {
    throw new LogError(String(problem));
  }
}

/** The bookmarks of a page. Raises: LogError if they are none. */
function marksIn(raw) {
  try {
    return raw ? JSON.parse(new TextDecoder().decode(raw)) : [];
  } catch (problem) {
    throw new LogError(String(problem));
  }
}

/** The page as it came, to be saved: with its logs and script, without what was drawn,
 *  and with the bookmarks of now. */
function pageHtml(player) {
  const page = document.documentElement.cloneNode(true);
  const fresh = document.createElement("div");
  fresh.id = "kvlab";
  page.querySelector("#kvlab").replaceWith(fresh);
  page.querySelector("#kvlab-marks")?.remove();
  if (player.bookmarks.size) {
    const marks = page.querySelector("#kvlab-log").cloneNode();
    marks.id = "kvlab-marks";
    const raw = new TextEncoder().encode(JSON.stringify(marksOf(player)));
    marks.textContent = btoa(Array.from(raw, (byte) => String.fromCharCode(byte)).join(""));
    page.querySelector("#kvlab-log").after(marks);
  }
  return `<!doctype html>\n${page.outerHTML}\n`;
}

export default { render };

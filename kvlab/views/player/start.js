// How does a player come into a page or a notebook?
//
// A page holds its logs as base64; anywidget hands them over as traits.
// Left out: the page around it (page.py), the widget's Python (widget.py).

import { LogError, openLog } from "./log.js";
import { hearPage } from "./keys.js";
import { SPEEDS } from "./controls.js";
import { play } from "./move.js";
import { isUnkept, marksOf } from "./notes.js";
import { Player } from "./player.js";
import { Run } from "./run.js";
import { plain } from "./text.js";

const DAMAGED =
  "This page's log is cut off or damaged: nothing can be shown. Make the page again with kvlab play. / 此页面的日志被截断或损坏，无法显示。请用 kvlab play 重新生成。";
const FAILED =
  "The player stopped on a fault of its own; the log was read whole. / 播放器自身出错；日志已完整读入。";

/** Say what is wrong: with the log, or with the player. */
function sorry(root, problem) {
  root.textContent = "";
  const box = document.createElement("div");
  box.setAttribute("role", "alert");
  box.style.cssText = "padding:16px;font:15px sans-serif;border:2px solid #d55e00";
  const damaged = problem instanceof LogError;
  box.textContent = damaged ? DAMAGED : `${FAILED} ${plain(problem, 200)}`;
  root.append(box);
  root.dataset.ready = damaged ? "damaged" : "failed";
  console.info("kvlab:", String(problem));
}

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

/** anywidget: the log is a trait; a bytes trait arrives as a DataView. */
async function render({ model, el }) {
  const root = document.createElement("div");
  el.append(root);
  const taken = (name) => {
    const { buffer, byteOffset, byteLength } = model.get(name);
    return new Uint8Array(buffer.slice(byteOffset, byteOffset + byteLength));
  };
  let player;
  try {
    const run = new Run(await openLog(taken("log")));
    const canFork = model.get("can_fork");
    const notes = model.get("notes");
    const marks = model.get("bookmarks").map((event) => [event, notes[event]]);
    player = new Player(root, run, { canFork, marks, hooks: hooksOf(model, root) });
    root.kvlab = player;
    root.dataset.ready = "true";
  } catch (problem) {
    return sorry(root, problem);
  }
  const both = async () => {
    if (!taken("log_b").length) return;
    const b = await openLog(taken("log_b"));
    player.compare(new Run(b), b.difference);
  };
  model.on("change:log_b", both);
  model.on("change:step", () => {
    if (model.get("step") !== player.run.at) player.show(model.get("step"));
  });
  model.on("msg:custom", (message) => {
    if (message.failed) player.forkFailed(message.failed);
  });
  await both();
  if (player.log.autoplay && player.motion) {
    player.speed = SPEEDS.indexOf(4);
    play(player);
  }
  return () => player.close();
}

/** What the player tells Python, and asks of it. */
function hooksOf(model, root) {
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  return {
    step: (at) => {
      clearTimeout(root.later);
      root.later = setTimeout(() => set("step", at), 80);
    },
    answers: (list) =>
      set(
        "answers",
        list.map((answer) => ({ ...answer })),
      ),
    marks: (list) => {
      const notes = Object.fromEntries(list.filter(([, note]) => note));
      set(
        "bookmarks",
        list.map(([event]) => event),
      );
      set("notes", notes);
    },
    lang: (lang) => set("lang", lang),
    fork: (knobs, at) => model.send({ fork: knobs, at }),
    page: () =>
      new Promise((done) => {
        const heard = (message) => {
          if (message.page === undefined) return;
          model.off("msg:custom", heard);
          done(message.page);
        };
        model.on("msg:custom", heard);
        model.send({ page: true });
      }),
  };
}

export default { render };

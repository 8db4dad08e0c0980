// How does a player come into a page or a notebook?
//
// A page holds its logs as base64; anywidget hands them over as traits.
// Left out: the page around it (page.py), the widget's Python (widget.py).

import { openLog } from "./log.js";
import { SPEEDS } from "./controls.js";
import { play } from "./move.js";
import { Player } from "./player.js";
import { Run } from "./run.js";

function sorry(root, problem, words) {
  root.textContent = "";
  const box = document.createElement("div");
  box.setAttribute("role", "alert");
  box.style.cssText = "padding:16px;font:15px sans-serif;border:2px solid #d55e00";
  box.textContent =
    words ??
    "This page's log is cut off or damaged: nothing can be shown. Make the page again with kvlab play. / 此页面的日志被截断或损坏，无法显示。请用 kvlab play 重新生成。";
  root.append(box);
  console.info("kvlab:", String(problem));
}

/** A standalone page: logs lie in it as base64. */
export async function startPage(root) {
  const bytes = (id) => {
    const text = document.getElementById(id)?.textContent.trim();
    return text ? Uint8Array.from(atob(text), (x) => x.charCodeAt(0)) : null;
  };
  try {
    const log = await openLog(bytes("kvlab-log")),
      player = new Player(root, new Run(log));
    globalThis.kvlab = player;
    const other = bytes("kvlab-log-b");
    if (other) {
      const b = await openLog(other);
      player.compare(new Run(b), b.difference);
    }
    root.dataset.ready = "true";
    return player;
  } catch (problem) {
    sorry(root, problem);
    root.dataset.ready = "damaged";
  }
}

/** anywidget: the log is a trait; a bytes trait arrives as a DataView. */
async function render({ model, el }) {
  const root = document.createElement("div");
  el.append(root);
  const taken = (name) => {
    const view = model.get(name);
    return new Uint8Array(
      view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength),
    );
  };
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  let player;
  try {
    player = new Player(root, new Run(await openLog(taken("log"))), {
      canFork: model.get("can_fork"),
      hooks: {
        step: (at) => {
          clearTimeout(root.later);
          root.later = setTimeout(() => player && set("step", at), 80);
        },
        answers: (list) =>
          set(
            "answers",
            list.map((a) => ({ ...a })),
          ),
        bookmarks: (list) => set("bookmarks", list),
        lang: (lang) => set("lang", lang),
        fork: (knobs, at) => model.send({ fork: knobs, at }),
      },
    });
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
  model.on(
    "change:step",
    () => model.get("step") !== player.run.at && player.show(model.get("step")),
  );
  model.on(
    "msg:custom",
    (message) => message.failed && player.forkFailed(message.failed),
  );
  await both();
  if (player.log.autoplay && player.motion) {
    player.speed = SPEEDS.indexOf(4);
    play(player);
  }
  return () => player.close();
}

export default { render };

// What stands there when nothing can be shown?
//
// Left out: when that is (start.js, notebook.js).

import { LogError } from "./log.js";
import { plain } from "./text.js";

const DAMAGED =
  "This page's log is cut off or damaged: nothing can be shown. Make the page again with kvlab play. / 此页面的日志被截断或损坏，无法显示。请用 kvlab play 重新生成。";
const FAILED =
  "The player stopped on a fault of its own; the log was read whole. / 播放器自身出错；日志已完整读入。";

/** Say what is wrong: with the log, or with the player. */
export function sorry(root, problem) {
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

// What do the panels under the controls ask?
//
// Left out: what is done with it (watch.js, compare.js, save.js).

import { esc, num } from "./text.js";
import { pick, ui } from "./words.js";

export function openPanel(player, which) {
  player.panel = which;
  const panel = player.$(".panel"),
    { log } = player;
  const close = `<button data-do="panel" data-to="">${ui(player, "close")} ×</button>`;
  const kinds = [...new Set(log.variants.map((v) => v.split(" ")[0]))].sort();
  const knob = (name, value) =>
    `<label>${name} <input data-knob="${name}" value="${esc(value ?? "")}" size="9"></label>`;
  const choice = (name, all) =>
    `<label>${name} <select data-knob="${name}">${all.map((v) => `<option ${v === log.settings[name] ? "selected" : ""}>${v}</option>`).join("")}</select></label>`;
  panel.innerHTML =
    {
      filter: () =>
        `<select class="fk" aria-label="${ui(player, "any_kind")}"><option value="">${ui(player, "any_kind")}</option>${kinds.map((kind) => `<option value="${esc(kind)}">${esc(log.names[kind])}</option>`).join("")}</select><label>${ui(player, "request")} <input class="fr" size="8"></label><label>${ui(player, "node")} <input class="fn" size="5" placeholder="n3"></label><label>${ui(player, "slot")} <input class="fs" size="5"></label><button class="go" data-do="search">${ui(player, "filter")}</button>${close}`,
      watches: () =>
        Object.entries(log.watches)
          .map(([name, words]) => {
            const n = log.col[`watch.${name}`].length;
            return `<button data-do="watch" data-to="${name}" style="border-color:var(--line2)" ${n ? "" : "disabled"}>${esc(pick(player, words))} <b>${player.mode === "predict" ? "" : num(n)}</b></button>`;
          })
          .join("") + close,
      export: () =>
        ["csv", "svg", "png", "html", "perfetto"]
          .filter((x) => x !== "html" || globalThis.kvlabPage)
          .map(
            (x) =>
              `<button data-do="save" data-to="${x}" style="border-color:var(--line2)">${ui(player, `save_${x}`)}</button>`,
          )
          .join("") + close,
      fork: () =>
        `<span>${ui(player, "fork_say")}</span>${knob("pool_tokens", log.settings.pool_tokens)}${knob("host_tokens", log.pools[1] * log.page)}${choice("eviction_policy", ["lru", "lfu", "fifo", "mru", "filo", "priority", "slru"])}${choice("write_policy", ["write_through", "write_through_selective", "write_back"])}${choice("rules", log.books)}<button class="go" data-do="fork">${ui(player, "fork")}</button><span class="forked"></span>${close}`,
      help: () =>
        `<dl>${[
          ["Space", "key_space"],
          ["← →", "key_arrows"],
          ["Home End", "key_ends"],
          ["[ ]", "key_speed"],
          ["Alt+1 … 5", "key_panes"],
          ["P", "key_predict"],
          ["Enter", "key_enter"],
          ["W", "key_why"],
          ["D", "key_differ"],
          ["F", "key_fork"],
          ["B", "key_mark"],
          ["C", "key_colour"],
          ["/", "key_search"],
          ["M", "key_motion"],
          ["L", "key_lang"],
          ["Esc", "key_esc"],
        ]
          .map(([key, words]) => `<dt>${key}</dt><dd>${ui(player, words)}</dd>`)
          .join("")}</dl>${close}`,
    }[which]?.() ?? "";
  panel.querySelector("input,select,button")?.focus({ preventScroll: true });
}

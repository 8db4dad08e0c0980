// What do the panels under the controls ask?
//
// Left out: what is done with it (watch.js, compare.js, save.js).

import { LONGEST_NOTE } from "./caption.js";
import { hasChecks } from "./contents.js";
import { toPlayer } from "./focus.js";
import { legendHtml } from "./legend.js";
import { signSvg } from "./looks.js";
import { scoreHtml } from "./score.js";
import { esc, num } from "./text.js";
import { kindName } from "./watch.js";
import { pick, ui } from "./words.js";

const FILM = 6; // steps that a film has, unless the reader says
const BLOCK_KNOBS = ["num_gpu_blocks", "watermark", "max_num_batched_tokens"];
const EVICTION = ["lru", "lfu", "fifo", "mru", "filo", "priority", "slru"];
const WRITING = ["write_through", "write_through_selective", "write_back"];
const KEYS = [
  ["Space", "key_space"],
  ["← →", "key_arrows"],
  ["↑ ↓", "key_up_down"],
  ["← → ▸ ▾", "key_fold", (player) => !player.log.blocks],
  ["Home End", "key_ends"],
  ["[ ]", "key_speed"],
  ["+ − 0 < >", "key_zoom"],
  ["Alt+1 … 5", "key_panes"],
  ["P", "key_predict"],
  ["Enter", "key_enter"],
  ["W", "key_why"],
  ["D", "key_differ", (player) => player.b],
  ["F", "key_fork", (player) => player.canFork],
  ["B", "key_mark"],
  ["N", "key_note"],
  [", .", "key_marks"],
  ["C", "key_colour", (player) => hasChecks(player.log)],
  ["/", "key_search"],
  ["M", "key_motion"],
  ["L", "key_lang"],
  ["V", "key_words"],
  ["Esc", "key_esc"],
];
const PANELS = { filter, watches, export: exports, fork: forks, note, help, score: scoreHtml };

/** Open a panel, or close the one that is open: `which` is "". */
export function openPanel(player, which) {
  player.panel = which;
  const panel = player.$(".panel");
  if (!which && panel.contains(document.activeElement)) toPlayer(player);
  panel.innerHTML = panelHtml(player);
  panel.querySelector("input,select,button")?.focus({ preventScroll: true });
  panel.scrollIntoView({ block: "nearest" });
}

/** Make the open panel anew, in another language say, with what was typed in it. */
export function renewPanel(player) {
  const panel = player.$(".panel");
  const fields = () => [...panel.querySelectorAll("input,select")];
  const typed = fields().map(({ value }) => value);
  const at = fields().indexOf(document.activeElement);
  panel.innerHTML = panelHtml(player);
  fields().forEach((field, i) => {
    if (typed[i] !== undefined) field.value = typed[i];
  });
  if (at >= 0) fields()[at]?.focus({ preventScroll: true });
}

function panelHtml(player) {
  const which = player.panel;
  const close = `<button data-do="panel" data-to="">${ui(player, "close")} ×</button>`;
  return which ? PANELS[which](player) + close : "";
}

function filter(player) {
  const { log } = player;
  const kinds = [...new Set(log.variants.map((v) => v.split(" ")[0]))].sort();
  const any = ui(player, "any_kind");
  const list = `${player.id}-kinds`;
  const options = kinds.map((kind) => {
    return `<option value="${esc(kindName(player, kind))}"></option>`;
  });
  const field = (name, words, more) =>
    `<label>${ui(player, words)} <input class="${name}" ${more}></label>`;
  return `<label>${ui(player, "kind")} <input class="fk" list="${list}" placeholder="${any}" size="26"></label><datalist id="${list}">${options.join("")}</datalist>
    ${field("fr", "request", 'size="8"')}${field("fn", "node", 'size="5" placeholder="n3"')}
    ${field("fs", log.page === 1 ? "slot_one" : "slot", 'size="5"')}<button class="go" data-do="search">${ui(player, "filter")}</button>`;
}

function watches(player) {
  const { log } = player;
  const buttons = Object.entries(log.watches).map(([name, words]) => {
    const n = log.col[`watch.${name}`].length;
    const told = player.mode !== "predict"; // how many, or that there are none
    const count = told ? ` <b>${num(n)}</b>` : "";
    return `<button class="edged" data-do="watch" data-to="${name}" aria-pressed="${name === player.watched}" ${told && !n ? "disabled" : ""}>${esc(pick(player, words))}${count}</button>`;
  });
  return buttons.join("");
}

function note(player) {
  const e = player.written;
  const words = ui(player, "note_to", { n: num(e + 1) });
  return `<label class="write">${words} <input class="line" maxlength="${LONGEST_NOTE}" value="${esc(player.notes.get(e) ?? "")}"></label><button class="go" data-do="keep">${ui(player, "keep")} ⏎</button>${keptHtml(player)}`;
}

/** What becomes of a note: a page of its own loses it, unless it is saved. */
function keptHtml(player) {
  if (!player.root.classList.contains("page"))
    return `<span class="lasts">${ui(player, "note_python")}</span>`;
  const button = `<button class="edged" data-do="save" data-to="html">${ui(player, "save_html")}</button>`;
  return `<span class="lasts">${ui(player, "note_lasts")} ${button}</span>`;
}

function exports(player) {
  const forms = ["svg", "png", "csv", "perfetto"];
  if (player.hooks.page) forms.push("html");
  const button = (form) =>
    `<button class="edged" data-do="save" data-to="${form}">${ui(player, `save_${form}`)}</button>`;
  const at = player.run.at;
  const field = (name, value) =>
    `<label>${ui(player, `film_${name}`)} <input class="film-${name}" inputmode="numeric" size="6" value="${value}"></label>`;
  const last = Math.min(player.limit, at + FILM - 1);
  return `${forms.map(button).join("")}<span class="film">${button("film")} ${field("from", at)} ${field("to", last)}</span><span class="forked"></span>`;
}

function forks(player) {
  const { log } = player;
  const knob = (name, value) =>
    `<label>${name} <input data-knob="${name}" value="${esc(value ?? "")}" size="9"></label>`;
  const choice = (name, all) => {
    const options = all.map((value) => {
      return `<option ${value === log.settings[name] ? "selected" : ""}>${value}</option>`;
    });
    return `<label>${name} <select data-knob="${name}">${options.join("")}</select></label>`;
  };
  const go = `<button class="go" data-do="fork">${ui(player, "fork")}</button>
    <span class="forked"></span>`;
  if (log.blocks) {
    const knobs = BLOCK_KNOBS.map((name) => knob(name, log.settings[name]));
    const policy = choice("policy", ["fcfs", "priority"]);
    return `<span>${ui(player, "fork_say")}</span>${knobs.join("")}${policy}${go}`;
  }
  return `<span>${ui(player, "fork_say")}</span>${knob("pool_tokens", log.settings.pool_tokens)}
    ${knob("host_tokens", log.pools[1] * log.page)}${choice("eviction_policy", EVICTION)}
    ${choice("write_policy", WRITING)}${choice("rules", log.books)}${go}`;
}

function help(player) {
  const heard = KEYS.filter(([, , there]) => !there || there(player));
  const lines = heard.map(([key, words]) => {
    return `<div><dt>${esc(key)}</dt><dd>${ui(player, words)}</dd></div>`;
  });
  const signs = ["lost", "no", "short"].map((sign) => {
    return `<div><dt>${signSvg(player, sign)}</dt><dd>${ui(player, `grade_${sign}`)}</dd></div>`;
  });
  const legend = player.log.primer ? legendHtml(player, player.run) : "";
  return `<dl>${lines.join("")}${signs.join("")}</dl><p>${ui(player, "grades")}</p><dl class="legend">${legend}</dl>`;
}

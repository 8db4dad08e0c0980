// What changes with language, theme, width or mode, but not with the event?
//
// Left out: what is drawn for an event (draw.js).

import { drawControls } from "./controls.js";
import { draw } from "./draw.js";
import { patterns } from "./looks.js";
import { keepPlace } from "./focus.js";
import { heightOf } from "./pool.js";
import { renewPanel } from "./panel.js";
import { esc, num, plain } from "./text.js";
import { differsWords, pick, ui } from "./words.js";

const PANES = ["why", "tree", "pool", "queue"]; // as Tab goes: a question comes first
const LOWEST_BODY = 468; // pixels of the panes together
const [AROUND, AROUND_LOW] = [256, 242]; // pixels of a page above and below them
const LOW_WINDOW = 760; // pixels below which a page of its own is packed closer
const BESIDE = ["why", "tree", "pool"]; // of each run, where two are shown: answers first

/** Make everything anew that lasts from event to event, and draw the moment in it. */
export function layout(player) {
  const { root, log } = player;
  const takePlace = keepPlace(player);
  setColours(player);
  root.lang = player.lang === "zh" ? "zh-Hans" : "en";
  root.classList.toggle("two", !!player.other);
  root.setAttribute("aria-label", `kvlab: ${plain(log.name || "", 80)}`);
  root.setAttribute("aria-describedby", `${player.id}-notes`);
  player.version = (player.version ?? 0) + 1;
  player.tiles = player.far = null;
  player.wide = Math.max(260, root.clientWidth - 34);
  root.style.setProperty("--wide", `${root.offsetWidth}px`); // paper shows the page's width
  const low = root.classList.contains("page") && innerHeight < LOW_WINDOW;
  root.classList.toggle("low", low);
  const pools = heightOf(player);
  root.style.setProperty("--pools", `${pools}px`);
  root.style.setProperty("--queue", log.requests.length ? "128px" : "40px");
  root.style.setProperty("--body", `${Math.max(LOWEST_BODY - (low ? 16 : 0), pools)}px`);
  player.$(".defs").innerHTML =
    `<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>${patterns(player)}</defs></svg>`;
  player.$(".top").innerHTML = topHtml(player);
  player.$(".notes").innerHTML =
    notesOf(player)
      .map((note) => `<div class="note">${esc(note)}</div>`)
      .join("") + reasonsOf(player);
  const around = (low ? AROUND_LOW : AROUND) + player.$(".notes").offsetHeight;
  root.style.setProperty("--around", `${around}px`);
  makePanes(player);
  drawControls(player);
  if (player.panel) renewPanel(player);
  draw(player);
  takePlace();
}

function setColours(player) {
  const { root, dark } = player;
  const [day, night] = player.log.colours;
  player.colour = { ...day, ...(dark ? night : {}) };
  for (const [name, value] of Object.entries(player.colour))
    root.style.setProperty(`--${name}`, value);
  root.style.colorScheme = dark ? "dark" : "light";
  if (root.classList.contains("page"))
    document.body.style.background = player.colour.bg; // the margin is the page's too
}

function makePanes(player) {
  const { other } = player;
  const pane = (kind, b) => {
    const name = ui(player, kind === "pool" ? "memory" : kind);
    const run = other ? (b ? " B" : " A") : "";
    // Cards are read line by line: elsewhere a screen reader leaves the arrows to the player.
    const role = kind === "why" ? ' role="document"' : "";
    return `<section class="pane p-${kind}${b ? " b" : ""}"${role} tabindex="0" data-pane="${kind}" aria-label="${name}${run}"></section>`;
  };
  const body = player.$(".body");
  body.innerHTML = other
    ? BESIDE.map((kind) => pane(kind) + pane(kind, true)).join("")
    : PANES.map((kind) => pane(kind)).join("");
  const found = (b) =>
    Object.fromEntries(
      PANES.map((kind) => [kind, body.querySelector(`.p-${kind}${b}`)]),
    );
  player.panes = [found(":not(.b)"), found(".b")];
}

/** The engine with its version, and its policies. */
export function engineOf({ engine, settings, blocks }) {
  if (blocks) return [engine, settings.policy, settings.hash_algo];
  const writing = settings.tree === "radix" ? "radix" : settings.write_policy;
  return [engine, writing, settings.eviction_policy];
}

function topHtml(player) {
  const { log, other, b } = player;
  const press = (yes) => `aria-pressed="${!!yes}"`;
  const mode = (name, yes) =>
    `<button data-do="mode" data-to="${name}" ${press(yes)}>${ui(player, name)}</button>`;
  const predicts = player.mode === "predict";
  const modes = Object.keys(log.questions).length
    ? `<span class="seg">${mode("predict", predicts)}${mode("watch", !predicts)}</span>`
    : "";
  const runs = b
    ? `<span class="seg"><button data-do="both" ${press(other)}>A | B</button><button data-do="one" ${press(!other)}>A</button></span>`
    : "";
  const dark = ui(player, "dark");
  const zh = player.lang === "zh";
  return `<b>kvlab</b><bdi class="name">${esc(plain(log.name || "–", 60))}</bdi>
    <span class="w m">${engineOf(log).map(esc).join(" · ")}</span><span class="sp"></span>${modes}${runs}
    <button data-do="dark" title="${dark}" aria-label="${dark}">◐</button>
    <span class="seg"><button data-do="lang" data-to="zh" lang="zh" ${press(zh)}>中</button><button data-do="lang" data-to="en" lang="en" ${press(!zh)}>EN</button></span>`;
}

/** What must be known of the run before it is believed. */
function notesOf(player) {
  const { log } = player;
  const notes = log.notes.map((words) => pick(player, words));
  if (log.fault) notes.push(ui(player, "fault", { a: plain(pick(player, log.fault), 200) }));
  if (log.cut) notes.push(ui(player, "cut", { a: plain(log.cut, 200) }));
  if (log.ended)
    notes.push(ui(player, "ended", { a: plain(log.ended, 200), n: num(log.of) }));
  if (!log.fault && log.events < log.of)
    notes.push(ui(player, "part", { a: num(log.events), b: num(log.of) }));
  if (player.b && player.difference) notes.push(differsWords(player));
  return notes;
}

/** Why two runs differ, each reason with its first line as its title. */
function reasonsOf(player) {
  const reasons = (player.b && player.difference?.because) || [];
  const html = (text) => {
    const [title, ...lines] = text.split("\n");
    return `<div class="note because"><b>${esc(title)}</b>${lines.map((line) => `<span>${esc(line)}</span>`).join("")}</div>`;
  };
  return reasons.map((words) => html(pick(player, words))).join("");
}

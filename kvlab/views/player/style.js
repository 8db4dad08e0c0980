// How does the page look, apart from what is drawn?
//
// One sheet in two parts: here the frame and where its panes lie. Colours are variables
// that layout.js sets from theme.py; panes have sizes of their own, so that nothing in
// one moves another. Left out: inside the panes (style_panes.js), patterns (looks.js).

import { PANE_STYLE } from "./style_panes.js";

/** A ground with a shade at an edge beyond which more can be scrolled to: the ground's own
 *  colour moves with the content, and covers the shade where that ends. */
const shaded = (ground) => {
  const layer = (from, to, at, high, how) =>
    `linear-gradient(${from}, ${to}) ${at} / 100% ${high}px no-repeat ${how}`;
  const [own, shade] = [`var(--${ground})`, "color-mix(in srgb, var(--ink) 30%, transparent)"];
  return `background: ${[
    layer(own, own, "top", 14, "local"),
    layer(own, own, "bottom", 14, "local"),
    layer(shade, "transparent", "top", 12, "scroll"),
    layer("transparent", shade, "bottom", 12, "scroll"),
  ]}, ${own}`;
};

const FRAME_STYLE = `
.kv {
  container-type: inline-size; box-sizing: border-box; position: relative; font: 13px/1.4 var(--ui);
  color: var(--ink); background: var(--bg); border: 1px solid var(--line);
  border-radius: 4px; font-variant-numeric: tabular-nums; text-align: left;
  --ui: var(--jp-ui-font-family, -apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto,
    Helvetica, Arial, 'PingFang SC', 'Hiragino Sans GB', 'Microsoft YaHei',
    'Noto Sans CJK SC', sans-serif);
  --mono: var(--jp-code-font-family, ui-monospace, SFMono-Regular, Menlo, Consolas,
    'DejaVu Sans Mono', 'Noto Sans Mono CJK SC', monospace);
}
.kv * { box-sizing: border-box }
.kv:focus-visible, .kv .pane:focus-visible, .kv button:focus-visible,
.kv .scroll:focus-visible, .kv [role=group]:focus-visible, .kv [role=listbox]:focus-visible, .kv .skip:focus-visible,
.kv select:focus-visible, .kv input:focus-visible, .kv canvas:focus-visible {
  outline: 2px solid var(--link); outline-offset: -2px;
}
/* JupyterLab floats every dt, in a fifth of the width */
.kv dl dt, .kv dl dd { float: none; width: auto; font-weight: inherit }
.kv svg { display: block }
.kv svg text { font-family: var(--ui) }
.kv .m { font-family: var(--mono) }
.kv button {
  font: inherit; color: inherit; background: none; border: 1px solid transparent;
  border-radius: 4px; cursor: pointer; padding: 2px 7px;
}
.kv button:disabled { opacity: .4; cursor: default }
.kv button:not(:disabled):hover { background: var(--well) }
.kv select, .kv input {
  font: inherit; color: var(--ink); background: var(--bg);
  border: 1px solid var(--line2); border-radius: 4px; padding: 1px 4px;
  max-width: 190px;
}
.kv .top {
  display: flex; align-items: center; gap: 10px; min-height: 36px; padding: 2px 16px;
  border-bottom: 1px solid var(--line); font-size: 12px; color: var(--ink2);
  white-space: nowrap;
}
.kv .top b { color: var(--ink) }
.kv .sp { flex: 1 }
.kv .skip {
  position: absolute; left: 8px; top: 4px; z-index: 2; clip-path: inset(50%);
  background: var(--ink); color: var(--bg); padding: 4px 10px;
}
.kv .skip:focus { clip-path: none }
.kv .top .name {
  overflow: hidden; text-overflow: ellipsis; min-width: 0; unicode-bidi: isolate;
}
.kv .seg {
  display: inline-flex; border: 1px solid var(--line2); border-radius: 4px;
  overflow: hidden; flex: none;
}
.kv .seg button { border: 0; border-radius: 0; padding: 2px 9px; color: var(--ink2) }
.kv .seg button+button { border-left: 1px solid var(--line2) }
.kv .seg button[aria-pressed=true] {
  background: var(--ink); color: var(--bg); font-weight: 600;
}
.kv .head {
  display: flex; align-items: center; gap: 12px; padding: 0 16px; height: 66px;
  border-bottom: 1px solid var(--line); contain: strict;
}
.kv .head svg { flex: none }
.kv .head h2 { font: 600 18px/1.3 var(--ui); margin: 0; overflow-wrap: anywhere }
.kv .head .kind { font: 12px var(--mono); color: var(--ink2) }
.kv .caption:not([hidden]) {
  display: grid; position: relative; padding: 4px 16px 5px 48px; font-size: 14px;
  border-bottom: 1px solid var(--line); background: var(--well); max-height: 69px;
  overflow: auto;
}
.kv .caption span { grid-area: 1/1; overflow-wrap: anywhere }
.kv .caption [aria-hidden] { visibility: hidden }
.kv .caption span::before {
  content: "▤"; position: absolute; left: 20px; color: var(--link);
}
.kv .note {
  padding: 4px 16px; font-size: 12px; color: var(--alert);
  border-bottom: 1px solid var(--line);
}
.kv .note.because { color: var(--ink2); padding: 8px 16px }
.kv .note.because > * { display: block; max-width: 120ch }
.kv .note.because b { color: var(--ink) }
.kv .body {
  display: grid; grid-template-columns: minmax(0,1fr) 540px 356px;
  grid-template-areas: "tree pool why" "queue pool why";
  grid-template-rows: minmax(0,1fr) var(--queue); height: var(--body);
}
.kv.page .body { /* all that is left; a caption takes its room down to what pools need */
  height: max(var(--pools), var(--body) - var(--told),
    min(100vh - var(--around) - var(--told), 660px));
}
@media print { .kv.page { width: var(--wide) } }
.kv.page:focus-visible { outline: none }
.kv.page.low .head { height: 52px }
.kv .foot { position: relative; z-index: 1 }
.kv.page .foot { position: sticky; bottom: 0; background: var(--bg) }
.kv .pane { padding: 10px 16px; min-width: 0; contain: strict }
.kv .pane h3 {
  font: 600 12px/16px var(--ui); margin: 0 0 6px; display: flex; gap: 8px;
  align-items: baseline; white-space: nowrap;
}
.kv .pane h3 small {
  font-weight: 400; font-size: 11px; color: var(--ink3); overflow: hidden;
  text-overflow: ellipsis;
}
.kv .p-tree { grid-area: tree; display: flex; flex-direction: column }
.kv .scroll { overflow: auto; flex: 1; position: relative; ${shaded("bg")} }
.kv .tall + svg { position: absolute; left: 0; top: 0; overflow: visible }
.kv .p-queue { grid-area: queue; border-top: 1px solid var(--line) }
.kv .p-pool {
  grid-area: pool; border-left: 1px solid var(--line);
  border-right: 1px solid var(--line);
}
.kv .p-why {
  grid-area: why; ${shaded("well")}; display: flex; flex-direction: column;
  overflow: auto; scroll-padding: 14px; /* clear of the shade */
}
.kv.two .body {
  grid-template-columns: minmax(0,1fr) minmax(0,1fr); grid-template-areas: none;
  grid-template-rows: none; height: auto;
}
.kv.two .pane { grid-area: auto; border: 0; border-bottom: 1px solid var(--line) }
.kv.two .pane.b { border-left: 1px solid var(--line) }
.kv.two .p-tree { height: 244px }
.kv.two .p-pool { height: var(--pools) }
.kv.two .p-why { height: 360px }
.kv.two .p-queue { display: none }
@container (max-width:1099px) {
  .kv.page.low .head { height: 66px } /* a headline has two lines */
  .kv:not(.two) .body {
    grid-template-columns: 540px minmax(0,1fr); height: auto;
    grid-template-areas: "tree queue" "pool why";
    grid-template-rows: 250px max(var(--pools), 390px);
  }
  .kv:not(.two) .p-tree { border-bottom: 1px solid var(--line) }
  .kv .p-pool { border-left: 0 }
  .kv:not(.two) .p-queue {
    border-top: 0; border-left: 1px solid var(--line);
    border-bottom: 1px solid var(--line);
  }
  .kv .top .w { display: none }
  .kv.two .p-pool { grid-column: 1 / -1 }
  .kv.two .p-pool.b { border-left: 0 }
}
@container (max-width:780px) {
  .kv .head, .kv.page.low .head { height: auto; min-height: 66px; contain: layout }
  .kv:not(.two) .body { display: flex; flex-direction: column }
  .kv .pane { flex: none }
  .kv .p-why { order: 1 }
  .kv .p-queue { order: 2 }
  .kv .p-tree { height: 250px }
  .kv .p-why { height: 320px }
  .kv .p-queue { height: var(--queue) }
  .kv .p-pool { border: 0; overflow-x: auto; height: var(--pools) }
  .kv .p-queue { border-left: 0!important }
}
.kv .tl { border-top: 1px solid var(--line); padding: 4px 16px 0 }
.kv canvas { display: block }
.kv .tl canvas:focus-visible { outline: 0 } /* it would go through its words */
.kv .tl:has(canvas:focus-visible) { outline: 2px solid var(--link); outline-offset: -2px }
.kv .pl canvas:focus-visible { outline-offset: 3px }
.kv .pl { position: relative; margin: 10px 0 8px }
.kv .pl canvas, .kv .tl canvas { position: absolute; left: 0; top: 0 }
.kv .pl .under, .kv .pl .over, .kv .fly { pointer-events: none }
.kv .pl .air { position: absolute; left: 0; top: 0; pointer-events: none }
.kv .fly { transform-box: fill-box }
.kv .tl { height: 96px; position: relative }
.kv .tl canvas { left: 16px; top: 4px }
.kv .ctl {
  display: flex; gap: 6px; align-items: center; flex-wrap: wrap; padding: 3px 12px 6px;
  font-size: 12px; color: var(--ink2);
}
.kv .ctl .ic {
  width: 30px; height: 28px; padding: 0; display: grid; place-items: center;
  color: var(--ink);
}
.kv .ctl .main { border-color: var(--ink) }
.kv .ctl input { width: 84px; text-align: right }
.kv .ctl b { color: var(--ink) }
.kv .flag { color: var(--link); margin-right: 3px }
.kv .panel { /* lies over the panes, above the timeline: opening it moves nothing */
  position: absolute; left: 0; right: 0; bottom: calc(100% + 96px); padding: 8px 16px;
  max-height: min(60vh, 420px); overflow: auto; font-size: 12px; display: flex;
  gap: 6px 12px; flex-wrap: wrap; align-items: center; ${shaded("well")};
  border: solid var(--line2); border-width: 1px 0;
}
.kv.page .panel { max-height: calc(100vh - 230px) } /* all that is above the timeline */
.kv .write { flex: 1 0 60%; display: flex; gap: 8px; align-items: center }
.kv .lasts { order: 1; width: 100%; color: var(--ink2) } /* below, in a line of its own */
.kv .write input { flex: 1; max-width: none }
.kv .edged { border-color: var(--line2) }
.kv .edged[aria-pressed=true] {
  border-color: var(--ink); background: var(--bg); box-shadow: inset 0 0 0 1.5px var(--ink);
}
.kv .film { display: inline-flex; gap: 8px; align-items: center }
.kv .panel:empty { display: none }
.kv .panel dl { columns: 400px auto; column-gap: 24px; margin: 0; width: 100% }
.kv .panel dl div { display: grid; grid-template-columns: 80px 1fr; break-inside: avoid }
.kv .panel dt { font-family: var(--mono) }
.kv .panel dd { margin: 0 }
.kv .sr {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap;
}
`;

export const STYLE = FRAME_STYLE + PANE_STYLE;

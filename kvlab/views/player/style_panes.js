// How do accounts, cards, questions and queues look?
//
// Left out: the frame around them (style.js).

export const PANE_STYLE = `
.kv .acct {
  display: flex; align-items: flex-end; margin-top: 5px; font-size: 11px;
  color: var(--ink2); white-space: nowrap;
}
.kv .unsound { font-size: 11px; line-height: 14px; max-width: 448px }
.kv .acct .term { display: inline-flex; flex-direction: column; border-radius: 3px }
.kv .acct .l { display: flex; gap: 4px; align-items: center; height: 16px }
.kv .acct .n { font-size: 15px; font-weight: 600; color: var(--ink); line-height: 20px }
.kv .acct .d { font-weight: 600; font-size: 11px; color: var(--ink2); margin-left: 4px }
.kv .acct .z .n { color: var(--ink3); font-weight: 400 }
.kv .acct .op { padding: 0 7px; font-size: 14px; color: var(--ink3); line-height: 20px }
.kv .also { display: none; font-weight: 400; font-style: italic; color: var(--link) }
.kv.words .also { display: inline }
.kv .acct .ok { color: var(--ok) }
.kv .acct.long .l { font-size: 10.5px; gap: 2px; height: 14px }
.kv .acct.long .l + span, .kv .acct.long .also + span { min-height: 22px; line-height: 12px }
.kv .acct.long .n { font-size: 12px; line-height: 12px }
.kv .acct.long .d { display: block; font-size: 10px; line-height: 10px; margin: 0 } /* no term of the sum */
.kv .acct.long .op { padding: 0 5px 10px; line-height: 12px }
.kv .v {
  display: flex; gap: 8px; align-items: center; font: 600 15px/20px var(--ui);
  margin-bottom: 2px; overflow-wrap: anywhere;
}
.kv .v svg { flex: none }
.kv .cols { columns: 280px 2; column-gap: 24px }
.kv .cols > * { break-inside: avoid }
.kv .cols .sec:has(.test) {
  display: flex; flex-wrap: wrap; align-items: flex-end; column-gap: 20px;
}
.kv .cols .sec:has(.test) .lab { width: 100% }
.kv .dim { color: var(--ink2); font-size: 12px }
.kv .dim + .sec { margin-top: 4px }
.kv .about { font-weight: 600 }
.kv .sec { border-top: 1px solid var(--line); padding: 6px 0; font-size: 12px }
.kv .pools { display: flex; flex-wrap: wrap; column-gap: 24px }
.kv .pools .gate { padding: 4px 0 8px 60px }
.kv .pools h3 { margin-top: 10px }
.kv .pools .map { position: relative; margin-top: 6px }
.kv .pools .gut { position: absolute; left: 0; font-size: 11px; color: var(--ink3) }
.kv .pools .gut b { font-size: 13px; color: var(--ink) }
.kv .pools .pl { margin: 0 }
.kv .pools .l2 { flex-basis: 100% }
.kv .pools [hidden] { display: none }
.kv .tables .line { /* out of sight, it is not drawn */
  display: flex; gap: 8px; align-items: center; min-height: 26px;
  content-visibility: auto; contain-intrinsic-size: auto 90px;
}
.kv .tables .line > :first-child { flex: none }
.kv .tables .line > :last-child { min-width: 0 }
.kv .tables .chip { height: 22px } /* of a line of 26 */
.kv .tables .held {
  display: flex; flex-wrap: wrap; align-items: center; min-width: 0; margin: 1px 0;
}
.kv .tables .held svg { flex: none; overflow: visible }
.kv .lab { font-size: 11px; color: var(--ink3); margin-bottom: 2px }
.kv .eq {
  display: flex; align-items: flex-end; flex-wrap: wrap; font-size: 11px;
  color: var(--ink2); margin-bottom: 3px;
}
.kv .eq .t { display: inline-flex; flex-direction: column }
.kv .eq .l {
  display: flex; gap: 4px; align-items: center; height: 16px; font-family: var(--mono);
}
.kv .eq .n { font: 600 14px/19px var(--ui); color: var(--ink) }
.kv .eq .op { padding: 0 5px; font-size: 13px; line-height: 19px; color: var(--ink3) }
.kv .cols .eq .l { font-size: 10.5px; gap: 3px }
.kv .cols .eq .op { padding: 0 2px }
.kv .test { font: 600 14px/20px var(--ui) }
.kv .yes { color: var(--ok) }
.kv .bad { color: var(--alert) }
.kv .off {
  color: var(--ink3); border: 1px dashed var(--line2); border-radius: 4px;
  padding: 4px 8px; display: flex; gap: 8px; align-items: center;
}
.kv .gap { transform-box: fill-box; transform-origin: 0 0 }
.kv .off s { text-decoration-thickness: 1px }
.kv .chain { display: flex; gap: 2px 4px; flex-wrap: wrap; align-items: center }
.kv .link { color: var(--link); text-decoration: underline; cursor: pointer }
.kv .src {
  font: 11px/1.5 var(--mono); color: var(--ink2); overflow-wrap: anywhere;
}
.kv .src pre { margin: 2px 0 0; font: inherit; background: none; color: inherit }
.kv .src pre span {
  display: block; padding-left: 9px; overflow: hidden; text-overflow: ellipsis;
  white-space: pre;
}
.kv .src pre .hl {
  background: var(--bg); box-shadow: inset 3px 0 0 var(--ink); color: var(--ink);
  white-space: pre-wrap; overflow-wrap: anywhere;
}
.kv .told { font-size: 12px; color: var(--ink2); padding-bottom: 6px; margin-top: -3px }
.kv .late * { color: var(--ink3)!important; font-weight: 400!important }
.kv .moved { align-self: flex-start; border-spacing: 0; margin: 4px 0; font-size: 13px }
.kv .moved td { padding: 1px 10px 1px 0 }
.kv .moved td:first-child { color: var(--ink2); min-width: 150px }
.kv .moved td:nth-child(2), .kv .moved td:last-child { text-align: right }
.kv .moved svg { display: inline-block; vertical-align: -1px }
.kv .primer .legend { grid-template-columns: max-content 1fr; align-items: center }
.kv .panel .legend {
  display: grid; grid-template-columns: repeat(2, max-content 1fr); gap: 3px 12px;
}
.kv .panel .legend dt { font-family: var(--ui) }
.kv .legend dt { display: flex; gap: 6px; align-items: center; white-space: nowrap }
.kv .primer p { margin: 0 0 6px; font-size: 12.5px }
.kv .primer dl {
  display: grid; grid-template-columns: 76px 1fr; gap: 3px 12px; margin: 0; font-size: 12px;
  border-top: 1px solid var(--line); padding: 8px 0;
}

.kv .primer dd { margin: 0; color: var(--ink2) }
.kv kbd {
  font: 11px var(--mono); border: 1px solid var(--line2); border-radius: 3px;
  padding: 0 5px; background: var(--bg); white-space: nowrap;
}
.kv .q { font: 600 15px/1.35 var(--ui); margin: 0 0 8px }
.kv .ans {
  display: flex; flex-direction: column; gap: 5px; margin-bottom: 8px; border: 0;
  padding: 0;
}
.kv .ans label {
  display: flex; gap: 8px; border: 1px solid var(--line2); border-radius: 4px;
  padding: 6px 9px; background: var(--bg); cursor: pointer; font-size: 13px;
}
.kv .ans span { color: var(--ink2) }
.kv .ans b { color: var(--ink) }
.kv .ans label:has(:checked) {
  border-color: var(--ink); box-shadow: inset 0 0 0 1px var(--ink);
}
.kv .seen { display: flex; flex-wrap: wrap; gap: 4px }
.kv .reply > * + .seen, .kv .seen + * {
  border-top: 1px solid var(--line); margin-top: 8px; padding-top: 8px;
}
.kv .seen div { width: 100%; font-weight: 600 }
.kv .reply { border-bottom: 1px solid var(--line); padding-bottom: 8px; margin-bottom: 8px }
.kv .score ol { margin: 4px 0; padding: 0; list-style: none; font-size: 12px }
.kv .score li button, .kv .chain button {
  color: var(--link); padding: 0 2px; text-decoration: underline; font-size: 12px;
}
.kv .panel .score { width: 100% }
.kv .panel .score ol { columns: 300px auto }
.kv .conf { flex-direction: row }
.kv .conf label {
  flex: 1; padding: 3px 4px; font-size: 12px; gap: 4px; justify-content: center;
}
.kv .conf input { width: 12px; margin: 0 }
.kv .go {
  font-weight: 600; padding: 6px 14px; border-color: var(--ink);
  background: var(--ink)!important; color: var(--bg);
}
.kv .lanes {
  display: grid; grid-template-columns: auto 1fr; gap: 3px 10px; align-items: center;
  font-size: 12px;
}
.kv .ln { color: var(--ink2); text-align: right }
.kv .lanes.narrow { grid-template-columns: minmax(0,1fr); justify-items: start }
.kv .narrow .chips { max-width: 100% }
.kv .chips {
  display: flex; gap: 5px; align-items: center; min-height: 26px; overflow: hidden;
}
.kv .chips .none { flex: none }
.kv .chip {
  min-width: 44px; overflow: hidden; display: inline-flex!important; gap: 6px; align-items: center;
  border-color: var(--line2)!important; height: 26px; white-space: nowrap;
  unicode-bidi: isolate;
}
.kv .chip b { font: 600 12px var(--mono) }
.kv .chip small {
  color: var(--ink2); font-size: 11px; overflow: hidden; text-overflow: ellipsis;
}
.kv .chip.hot { flex-shrink: 0; max-width: 100% } /* the event's own is read whole */
.kv .chip.sel, .kv .chip.hov { outline-offset: -2px } /* its lane cuts what is outside */
.kv .none { color: var(--ink3) }
.kv .hot { border-color: var(--ink)!important; box-shadow: inset 0 0 0 1px var(--ink) }
.kv .hot, .kv .hl, .kv .go, .kv [aria-pressed=true] {
  forced-color-adjust: none; print-color-adjust: exact;
}
.kv .sel { outline: 2.5px solid var(--link)!important; outline-offset: 1px }
.kv .hov { outline: 2px dashed var(--link); outline-offset: 1px }
.kv .insp {
  display: flex; flex-wrap: wrap; gap: 1px 12px; font-size: 12px; color: var(--ink2);
  padding-top: 6px; margin-top: 6px; border-top: 1px solid var(--line);
  min-height: 26px;
}
.kv .insp b { color: var(--ink); font-family: var(--mono) }
.kv .empty {
  border: 1px dashed var(--line2); border-radius: 4px; color: var(--ink3);
  display: grid; place-items: center; text-align: center; min-height: 80px;
  padding: 10px;
}
`;

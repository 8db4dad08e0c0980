// How does a state look in SVG?
//
// A pattern means one thing everywhere; theme.py names them and their colours.
// Left out: the same on canvas (canvas.js).

import { pick } from "./words.js";

export const DRAWN = {
  stripes: [5, 5, 0, "M0 0H3V5H0Z"],
  hatch: [6, 6, 45, "M0 0H2.6V6H0Z"],
  "thin hatch": [6, 6, 45, "M0 0H1V6H0Z"],
  bars: [6, 4, 0, "M0 0H6V2H0Z"],
  "thin bars": [6, 4, 0, "M0 0H6V1H0Z"],
  "cross-hatch": [6, 6, 45, "M0 0H6M0 0V6", 2.2],
  chevrons: [8, 8, 0, "M1 7L4 3L7 7", 1.4],
  ticks: [9, 8, 0, "M1.5 4L3.5 6.5L7 1.5", 1.3],
  marks: [7, 11, 0, "M2.6 1.5H4.4L4.1 6.5H2.9ZM2.7 7.6H4.3V9.4H2.7Z"],
};

export function patterns(player) {
  const { colour } = player;
  const tile = (id, state, turned = 0) => {
    const pattern = DRAWN[player.log.looks[state].pattern];
    if (!pattern) return "";
    const [w, h, turn, d, stroke] = pattern,
      ink = colour[state];
    return `<pattern id="${player.id}-${id}" width="${w}" height="${h}" patternUnits="userSpaceOnUse" patternTransform="rotate(${turn + turned})"><rect width="${w}" height="${h}" fill="${colour[`${state}-ground`]}"/><path d="${d}" ${stroke ? `fill="none" stroke="${ink}" stroke-width="${stroke}"` : `fill="${ink}"`}/></pattern>`;
  };
  return (
    Object.keys(player.log.looks)
      .filter((s) => s !== "free")
      .map((s) => tile(s, s))
      .join("") + tile("down", "in_flight", 180)
  );
}

export function paint(player, state, down) {
  if (state === "free") state = "available";
  return DRAWN[player.log.looks[state].pattern]
    ? `url(#${player.id}-${down && state === "in_flight" ? "down" : state})`
    : player.colour[`${state}-ground`];
}

export function box(player, x, y, w, h, state, more = "") {
  if (state === "free") state = "available";
  const { dash } = player.log.looks[state];
  return `<rect x="${(x + 0.5).toFixed(2)}" y="${y + 0.5}" width="${Math.max(1, w - 1).toFixed(2)}" height="${h - 1}" rx="1.5" fill="${paint(player, state)}" stroke="${player.colour[`${state}-edge`]}" ${dash ? `stroke-dasharray="${dash}"` : ""} ${more}/>`;
}

export function swatch(player, state) {
  const cross = `<path d="M2.5 2.5l7 7m0-7l-7 7" stroke="${player.colour.lost}" stroke-width="1.6"/>`;
  return `<svg width="12" height="12" aria-hidden="true">${box(player, 0, 0, 12, 12, state)}${state === "lost" ? cross : ""}</svg>`;
}

export function stateName(player, state) {
  return pick(player, player.log.looks[state].name);
}

const OCTAGON = "M6 1h8l5 5v8l-5 5H6l-5-5V6z";

export function signSvg(player, kind) {
  const c = player.colour;
  const marks = {
    yes: `<circle cx="10" cy="10" r="9" fill="none" stroke="${c.ok}" stroke-width="1.6"/><path d="M5.5 10.5l3 3 6-7" fill="none" stroke="${c.ok}" stroke-width="2"/>`,
    lost: `<path d="${OCTAGON}" fill="${c.refused}"/><path d="M6 6l8 8M14 6l-8 8" stroke="#fff" stroke-width="2.6"/>`,
    no: `<path d="${OCTAGON}" fill="${c.bg}" stroke="${c["refused-edge"]}" stroke-width="1.6"/><path d="M10 4.5v7M10 13.5v2" stroke="${c["refused-edge"]}" stroke-width="2.4"/>`,
    short: `<circle cx="10" cy="10" r="8.5" fill="none" stroke="${c.ink3}" stroke-width="1.6" stroke-dasharray="3 2.4"/><path d="M6 10h8" stroke="${c.ink3}" stroke-width="2.2"/>`,
    out: `<rect x="1" y="1" width="18" height="18" rx="2" fill="${paint(player, "evictable")}" stroke="${c["evictable-edge"]}"/><path d="M10 4v10M6 10.5l4 4 4-4" fill="none" stroke="${c.bg}" stroke-width="5"/><path d="M10 4v10M6 10.5l4 4 4-4" fill="none" stroke="${c.ink}" stroke-width="2"/>`,
    copy: `<rect x="1" y="1" width="18" height="18" rx="2" fill="${c["in_flight-ground"]}" stroke="${c["in_flight-edge"]}"/><path d="M10 16V6M6 9.5l4-4 4 4" fill="none" stroke="${c["in_flight-edge"]}" stroke-width="2"/>`,
    down: `<rect x="1" y="1" width="18" height="18" rx="2" fill="${c["in_flight-ground"]}" stroke="${c["in_flight-edge"]}"/><path d="M10 4v10M6 10.5l4 4 4-4" fill="none" stroke="${c["in_flight-edge"]}" stroke-width="2"/>`,
    ask: `<circle cx="10" cy="10" r="9" fill="${c.ink}"/><text x="10" y="14.5" text-anchor="middle" font-size="13" font-weight="700" fill="${c.bg}">?</text>`,
    note: `<circle cx="10" cy="10" r="5" fill="${c.line2}"/>`,
  };
  return `<svg width="20" height="20" aria-hidden="true">${marks[kind] ?? marks.note}</svg>`;
}

const SIGNED = {
  demote: "out",
  reclaim: "out",
  forget: "out",
  load: "copy",
  copyin: "copy",
  backup: "down",
  copyout: "down",
  loaddone: "yes",
  copiedin: "yes",
  backupdone: "yes",
  copiedout: "yes",
  finish: "yes",
};
const GRADED = { loss: "lost", refusal: "no" };

/** The sign of an event: its grade; of one without, its decision's, or its kind's. */
export const signOf = (run, e) =>
  GRADED[run.grade(e)] ?? run.why(e)?.sign ?? SIGNED[run.kind(e)] ?? "note";

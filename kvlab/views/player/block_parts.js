// Of what are pictures of blocks made?
//
// Outlines, and labels on plates: text never lies on a pattern.
// Left out: what they say (block_tables.js, block_map.js, block_train.js).

import { esc } from "./text.js";

/** A dark line around what the last event named. */
export function outline(player, x, y, w, h) {
  const { ink } = player.colour;
  return `<rect x="${x - 0.5}" y="${y - 0.5}" width="${w + 1}" height="${h + 1}" rx="3" fill="none" stroke="${ink}" stroke-width="1.75"/>`;
}

/** A label on a plate, centred. */
export function plate(player, x, y, text, size = 10) {
  const { bg, ink } = player.colour;
  const w = `${text}`.length * size * 0.62 + 4;
  const back = `<rect x="${x - w / 2}" y="${y - size / 2 - 1}" width="${w}" height="${size + 2}" rx="2" fill="${bg}"/>`;
  const font = `text-anchor="middle" font-size="${size}" font-weight="600" class="m"`;
  return `${back}<text x="${x}" y="${y + size * 0.36}" ${font} fill="${ink}">${esc(text)}</text>`;
}

/** A plain line of text. */
export function words(player, x, y, text, size = 11, ink = "ink2") {
  return `<text x="${x}" y="${y}" font-size="${size}" fill="${player.colour[ink]}">${esc(text)}</text>`;
}

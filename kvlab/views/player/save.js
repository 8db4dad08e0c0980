// What can be taken away?
//
// The step and a film as pictures, the page itself, the account, the events. What lies
// behind an open question is in none of them, but for the page, which asks it again.
// Left out: drawing the pictures (still.js), the same from Python (export.py, film.py).

import { notesKept } from "./notes.js";
import { filmSvg, stillSvg } from "./still.js";
import { plain } from "./text.js";

const SHARP = 2; // pixels of a PNG for one of the page
const MOST_FRAMES = 60;
const ACCOUNT =
  "event,kind,used,held,evictable,available,host_only,copies,host_outside,host_free";

const BLOCK_ACCOUNT = "event,kind,used,evictable,blank,l2_used,l2_free";
const SVG = "image/svg+xml";

/** Write one of the forms to a file that the browser saves. */
export async function save(player, what) {
  const forms = {
    svg: () => fileOf(stillSvg(player), SVG, "svg"),
    film: () => fileOf(filmSvg(player, ...framesAsked(player)), SVG, "film.svg"),
    png: async () => [await pngOf(stillSvg(player)), "png"],
    html: async () => {
      const file = fileOf(await player.hooks.page(player), "text/html", "html");
      notesKept(player);
      return file;
    },
    csv: () => fileOf(csv(player), "text/csv", "csv"),
    perfetto: () => fileOf(perfetto(player), "application/json", "json"),
  };
  const name = plain(player.log.name || "run", 24).replace(/[^\w-]+/g, "_");
  const { at } = player.run; // the moment that is saved: a key may come before the file
  const [blob, ending] = await forms[what]();
  download(blob, `kvlab-${name}-${at}.${ending}`);
}

const fileOf = (text, type, ending) => [new Blob([text], { type }), ending];

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The moments that the panel asks for, within what may be shown. */
function framesAsked(player) {
  const [a, b] = ["from", "to"].map((name) => {
    const value = Math.round(Number(player.$(`.film-${name}`)?.value));
    return Math.max(0, Math.min(player.limit, value || 0));
  });
  const first = Math.min(a, b);
  return [first, Math.min(Math.max(a, b), first + MOST_FRAMES - 1)];
}

/** A picture as pixels, drawn by the browser. */
async function pngOf(svg) {
  const image = new Image();
  image.src = `data:${SVG};charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [SHARP * image.width, SHARP * image.height];
  const pen = canvas.getContext("2d");
  pen.scale(SHARP, SHARP);
  pen.drawImage(image, 0, 0);
  return new Promise((done) => canvas.toBlob(done));
}

/** The account after every event that may be shown. */
export function csv(player) {
  const { run } = player;
  const at = run.at;
  const rows = [player.log.blocks ? BLOCK_ACCOUNT : ACCOUNT];
  for (let e = 0; e < player.limit; e++) {
    run.seek(e + 1);
    const terms = [1, 2].flatMap((tier) => run.account(tier).terms.map((t) => t[1]));
    rows.push([e + 1, run.kind(e), ...terms].map(cell).join(","));
  }
  run.seek(at);
  return `${rows.join("\r\n")}\r\n`;
}

/** A CSV cell that no spreadsheet takes for a formula. */
function cell(value) {
  const text = `${value}`;
  const quoted = text.replaceAll('"', '""');
  if (typeof value !== "number" && /^[=+\-@\t\r]/.test(text)) return `"'${quoted}"`;
  return /[",\n\r]/.test(text) ? `"${quoted}"` : text;
}

/** The events as Chrome trace JSON, a flow from each cause. Units: 1 event = 1 us. */
export function perfetto(player) {
  const { run } = player;
  const laneOf = (e) => (run.isDecision(e) ? 1 : 2);
  const events = [];
  for (let e = 0; e < player.limit; e++) {
    const at = { pid: 1, tid: laneOf(e), ts: e };
    const cause = run.cause(e);
    events.push({ name: run.variant(e), ph: "X", dur: 1, ...at });
    if (cause < 0) continue;
    const flow = { name: "cause", cat: "cause", id: e };
    events.push({ ...flow, ph: "s", ts: cause, pid: 1, tid: laneOf(cause) });
    events.push({ ...flow, ph: "f", bp: "e", ...at });
  }
  return JSON.stringify({ displayTimeUnit: "ms", traceEvents: events });
}

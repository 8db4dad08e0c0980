// How do numbers and foreign text get into the page?
//
// As markup.py writes them: every text from a file is one escaped line.
// Left out: words in two languages (words.js), what of the markup changes (patch.js).

import { NAMING, patch } from "./patch.js";

export const num = (n, digits = 1) => {
  if (typeof n !== "number") return `${n}`;
  const [whole, ...rest] = n.toFixed(Number.isInteger(n) ? 0 : digits).split(".");
  const text = [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
  return n < 0 ? text.replace("-", "−") : text;
};

/** A time; what is under a millisecond, in milliseconds (theme.seconds). */
export const seconds = (ns) =>
  ns > 0 && ns < 1e6
    ? `${num(Math.round(ns / 1e3) / 1e3, 3)} ms`
    : `${num(Math.round(ns / 1e6) / 1e3, 3)} s`;

/** Write markup where it differs from what is there. Where the keyboard stood within it,
 *  there it stands again, or else on what is around. */
export const put = (at, html) => {
  if (!at || at.put === html) return;
  const stood = document.activeElement;
  const within = stood !== at && at.contains(stood);
  patch(at, (at.put = html));
  if (within && !at.contains(document.activeElement))
    (at.querySelector(nameOf(stood)) ?? at.closest("[tabindex]"))?.focus({
      preventScroll: true,
    });
};

/** What tells an element from its neighbours, as a selector: class, data, name, value. */
export function nameOf(element) {
  const parts = [...NAMING, "name", "value"].filter((name) => element.hasAttribute(name));
  const quoted = (name) => `[${name}="${CSS.escape(element.getAttribute(name))}"]`;
  const [first] = element.classList;
  const kind = element.localName + (first ? `.${CSS.escape(first)}` : "");
  return kind + parts.map(quoted).join("");
}

export const short = (n) =>
  Number.isInteger(n) ? num(n) : String(Number(n.toPrecision(3)));

const CONTROL = /[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g;

const SAID = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Text from a file, on one line, as Python's views write it (markup.plain). */
export const plain = (text, limit = 40) => {
  const line = `${text}`.replace(
    CONTROL,
    (x) =>
      SAID[x] ??
      (x < "\u0100"
        ? "\\x" + x.charCodeAt(0).toString(16).padStart(2, "0")
        : "\\u" + x.charCodeAt(0).toString(16).padStart(4, "0")),
  );
  const chars = [...line];
  return chars.length <= limit ? line : chars.slice(0, limit - 1).join("") + "…";
};

const ENTITIES = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export const esc = (text) => `${text}`.replace(/[&<>"']/g, (x) => ENTITIES[x]);

export const fill = (text, values) =>
  text.replace(/\{(\w+)\}/g, (_, name) => values(name) ?? "–");

/** A text as lines of about `most` half-wide characters. */
export function lines(text, most) {
  const out = [""];
  let wide = 0;
  for (const word of text.match(/[\u2e80-\uffef]|[^\s\u2e80-\uffef]+\s*|\s+/g) ?? []) {
    const size = /[\u2e80-\uffef]/.test(word) ? 2 : word.length;
    if (wide + size > most && wide) {
      out.push("");
      wide = 0;
    }
    out[out.length - 1] += word;
    wide += size;
  }
  return out.map((line) => line.trim());
}

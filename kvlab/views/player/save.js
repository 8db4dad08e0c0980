// What can be taken away?
//
// Left out: the same from Python (export.py, exports.py).

import { patterns } from "./looks.js";
import { plain } from "./text.js";

export function save(player, what) {
  const name = `kvlab-${plain(player.log.name || "run", 24).replace(/[^\w-]+/g, "_")}-${player.run.at}`;
  const put = (text, type, end) =>
    download(new Blob([text], { type }), `${name}.${end}`);
  if (what === "csv") put(csv(player), "text/csv", "csv");
  if (what === "svg") put(treeSvg(player), "image/svg+xml", "svg");
  if (what === "perfetto") put(perfetto(player), "application/json", "json");
  if (what === "html") put(globalThis.kvlabPage(), "text/html", "html");
  if (what === "png")
    player.$(".p-pool .slots").toBlob((blob) => download(blob, `${name}.png`));
}

export function csv(player) {
  const at = player.run.at,
    rows = [
      [
        "event",
        "kind",
        "used",
        "held",
        "evictable",
        "available",
        "host_only",
        "copies",
        "host_outside",
        "host_free",
      ].join(","),
    ];
  for (let e = 0; e < player.limit; e++) {
    player.run.seek(e + 1);
    rows.push(
      [
        e + 1,
        player.run.kind(e),
        ...[1, 2].flatMap((tier) => player.run.account(tier).terms.map((t) => t[1])),
      ]
        .map(cell)
        .join(","),
    );
  }
  player.run.seek(at);
  return rows.join("\r\n") + "\r\n";
}

function treeSvg(player) {
  const svg = player.$(".p-tree .scroll svg").cloneNode(true);
  svg.style.display = "";
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  svg.insertAdjacentHTML(
    "afterbegin",
    `<defs>${patterns(player)}</defs><rect width="100%" height="100%" fill="${player.colour.bg}"/>`,
  );
  return new XMLSerializer().serializeToString(svg);
}

export function perfetto(player) {
  const { run } = player,
    out = [];
  for (let e = 0; e < player.limit; e++) {
    const lane = run.isDecision(e) ? 1 : 2,
      cause = run.cause(e);
    out.push({ name: run.variant(e), ph: "X", ts: e, dur: 1, pid: 1, tid: lane });
    if (cause >= 0)
      out.push(
        {
          name: "cause",
          ph: "s",
          id: e,
          ts: cause,
          pid: 1,
          tid: run.isDecision(cause) ? 1 : 2,
        },
        { name: "cause", ph: "f", bp: "e", id: e, ts: e, pid: 1, tid: lane },
      );
  }
  return JSON.stringify({ traceEvents: out });
}

/** A CSV cell that no spreadsheet takes for a formula. */
const cell = (value) => {
  const text = `${value}`;
  return /^[=+\-@]/.test(text) && typeof value !== "number"
    ? `"'${text.replaceAll('"', '""')}"`
    : /[",\n\r]/.test(text)
      ? `"${text.replaceAll('"', '""')}"`
      : text;
};

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

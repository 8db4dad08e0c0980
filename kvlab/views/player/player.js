// What is a player, seen from outside?
//
// Its fields are the whole state of the view; every other file is functions on them.
// Left out: all drawing.

import { askingOf, limitOf } from "./asked.js";
import { compareWith, forkFailed } from "./compare.js";
import { firstColouring } from "./contents.js";
import { settle } from "./draw.js";
import { buildFrame, closePlayer } from "./frame.js";
import { show } from "./move.js";
import { holdMarks } from "./notes.js";
import { drawPoolCanvas } from "./pool.js";
import { setMode } from "./predict.js";
import { csv, perfetto } from "./save.js";
import { sentence } from "./sentence.js";
import { stillSvg } from "./still.js";
import { followTheme } from "./themed.js";
import { stretchOf } from "./timeline.js";
import { concerns } from "./watch.js";

let players = 0;

/** One player in a page: what it shows and how, and the verbs that others may call.
 *  `root` is the element it fills, `run` the Run it plays. */
export class Player {
  constructor(root, run, options = {}) {
    const { log } = run;
    Object.assign(this, {
      root,
      run,
      log,
      id: `kv${++players}`,
      answers: [],
      answered: new Map(),
      bookmarks: new Set(),
      notes: new Map(),
      mode: options.mode ?? log.mode ?? "watch",
      hits: null,
      sought: 0,
      colouring: options.colouring ?? firstColouring(log),
      speed: 2,
      open: new Set(),
      folded: 0,
      hooks: options.hooks ?? {},
      every: null,
      other: null,
      canFork: !!options.canFork,
      picked: null,
      sure: 1,
      select: null,
      hover: null,
    });
    this.lang =
      options.lang ?? log.lang ?? (/^zh/i.test(navigator.language) ? "zh" : "en");
    followTheme(this, options.dark ?? log.dark);
    this.motion = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    holdMarks(this, options.marks ?? []);
    buildFrame(this);
    show(this, options.start ?? log.start ?? 0);
  }

  /** The events that may be shown: all before an open question. */
  get limit() {
    return limitOf(this);
  }
  /** The event that is asked about now, -1 for none. */
  get asking() {
    return askingOf(this);
  }

  /** Go to the moment after `to` events, and draw all of it. */
  show(to) {
    show(this, to);
    settle(this);
  }
  setMode(mode) {
    setMode(this, mode);
  }
  compare(run, difference) {
    compareWith(this, run, difference);
  }
  forkFailed(text) {
    forkFailed(this, text);
  }
  sentence() {
    return sentence(this);
  }
  /** The moment as an SVG document. */
  svg() {
    return stillSvg(this);
  }
  csv() {
    return csv(this);
  }
  perfetto() {
    return perfetto(this);
  }
  concerns(e, what) {
    return concerns(this, e, what);
  }
  /** The events that the lanes of the timeline show: `from`, `end`, how many fit. */
  get stretch() {
    return stretchOf(this);
  }
  /** Draw both pools anew, whether or not they changed. */
  drawPools() {
    drawPoolCanvas(this, this.panes[0].pool, this.run);
  }
  close() {
    closePlayer(this);
  }
}

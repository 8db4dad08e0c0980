// How does a player live in a notebook?
//
// anywidget hands the logs over as traits. The other traits are one for Python and for all
// views of the same player: each tells what its reader did, and follows the others.
// Left out: a page of its own (start.js), the widget's Python (widget.py).

import { SPEEDS } from "./controls.js";
import { openLog } from "./log.js";
import { play } from "./move.js";
import { takeMarks } from "./notes.js";
import { setLang } from "./perform.js";
import { Player } from "./player.js";
import { takeAnswers, takeEvery } from "./predict.js";
import { Run } from "./run.js";
import { sorry } from "./sorry.js";
import { ui } from "./words.js";

const LATER = 80; // milliseconds without a step until the others are told of the last

export async function render({ model, el }) {
  const root = document.createElement("div");
  el.append(root);
  let player;
  const both = async () => {
    const held = model.get("log_b");
    if (!held.byteLength) return;
    const b = await openLog(bytesIn(model, "log_b"));
    if (held === model.get("log_b")) player.compare(new Run(b), b.difference);
  };
  try {
    const run = new Run(await openLog(bytesIn(model, "log")));
    const lang = model.get("lang") || undefined;
    player = new Player(root, run, { canFork: model.get("can_fork"), lang });
    model.on("change:log_b", both);
    await both();
  } catch (problem) {
    return sorry(root, problem);
  }
  for (const follow of Object.values(FOLLOW)) follow(player, model); // as they stand
  const tell = teller(model);
  player.hooks = hooksOf(model, player, tell);
  player.hooks.step(player.run.at); // a question may keep it from where it was sent
  for (const [name, follow] of Object.entries(FOLLOW))
    model.on(`change:${name}`, () => tell.own || follow(player, model));
  model.on("msg:custom", (message) => {
    if (message.failed) player.forkFailed(message.failed);
  });
  root.kvlab = player;
  root.dataset.ready = "true";
  const fresh = player.run.at === (player.log.start ?? 0);
  if (player.log.autoplay && player.motion && fresh) {
    player.speed = SPEEDS.indexOf(4);
    playInView(player);
  }
  return () => {
    clearTimeout(tell.later);
    player.close();
    root.remove(); // ipywidgets keeps the element for as long as the kernel lives
  };
}

/** Play once so much of it is in view that it is watched: a cell that is run may lie below
 *  the window. Who has stepped before that plays it alone. */
function playInView(player) {
  const { at } = player.run;
  const view = new IntersectionObserver(([root]) => {
    if (!root.isIntersecting) return;
    view.disconnect();
    if (player.run.at === at && !player.timer) play(player);
  }, { threshold: 0.3 });
  view.observe(player.root);
}

/** A bytes trait, which arrives as a DataView. */
function bytesIn(model, name) {
  const { buffer, byteOffset, byteLength } = model.get(name);
  return new Uint8Array(buffer.slice(byteOffset, byteOffset + byteLength));
}

/** What a view does when Python, or another view, has set a trait. */
const FOLLOW = {
  answers: (player, model) => takeAnswers(player, model.get("answers")),
  mode: (player, model) => {
    if (model.get("mode") !== player.mode) player.setMode(model.get("mode"));
  },
  ask_all: (player, model) => {
    const from = model.get("ask_all");
    if (from !== player.every) takeEvery(player, from);
  },
  bookmarks: (player, model) => takeMarks(player, marksHeld(model)),
  notes: (player, model) => takeMarks(player, marksHeld(model)),
  lang: (player, model) => {
    const lang = model.get("lang") || player.lang;
    if (lang !== player.lang) setLang(player, lang);
  },
  step: (player, model) => {
    if (model.get("step") !== player.run.at) player.show(model.get("step"));
  },
};

function marksHeld(model) {
  const notes = model.get("notes");
  return model.get("bookmarks").map((event) => [event, notes[event]]);
}

/** Sets traits; `own` while it does, since a view hears what it says itself. */
function teller(model) {
  const tell = (traits) => {
    tell.own = true;
    for (const [name, value] of Object.entries(traits)) model.set(name, value);
    tell.own = false;
    model.save_changes();
  };
  return tell;
}

/** What the player tells Python, and asks of it. */
function hooksOf(model, player, tell) {
  const ask = (what) => {
    try {
      if (player.root.closest(".jupyter-widgets-disconnected")) throw Error("no kernel");
      model.send(what);
    } catch {
      player.forkFailed(ui(player, "no_kernel"));
    }
  };
  return {
    step: (step) => {
      clearTimeout(tell.later);
      tell.later = setTimeout(() => tell({ step }), LATER);
    },
    answers: (list) => tell({ answers: list.map((answer) => ({ ...answer })) }),
    mode: (mode) => tell({ mode }),
    every: (from) => tell({ ask_all: from }),
    lang: (lang) => tell({ lang }),
    marks: (list) =>
      tell({
        bookmarks: list.map(([event]) => event),
        notes: Object.fromEntries(list.filter(([, note]) => note)),
      }),
    fork: (knobs, at) => ask({ fork: knobs, at }),
    page: () =>
      new Promise((done) => {
        const heard = (message) => {
          if (message.page === undefined) return;
          model.off("msg:custom", heard);
          done(message.page);
        };
        model.on("msg:custom", heard);
        ask({ page: true });
      }),
  };
}

// How does the player move to another event?
//
// Left out: which event (watch.js, keys.js).

import { marksShown, noteOf, secondsOf, spoken } from "./caption.js";
import { SPEEDS, drawPlay } from "./controls.js";
import { draw } from "./draw.js";
import { fly, land } from "./fly.js";
import { stopOf } from "./seen.js";

const MOTION = 240; // milliseconds in which what a step moved comes to rest
const LATEST = 500; // milliseconds that play makes up for: a page in hiding has no frames

/** Go to the moment after `to` events. A `hurried` step shows the moment alone, not the
 *  way there: a key that comes while motion lasts would wait for the motion's next frame.
 *  A card that answers a prediction is there for `reading`: no question covers it. */
export function show(player, to, said = true, hurried = false, reading = false) {
  player.reading = reading;
  const limit = player.limit,
    wanted = Math.max(0, Math.min(limit, Math.round(to) || 0));
  const fast = player.timer && SPEEDS[player.speed] > 4;
  const before = player.run.at;
  land(player);
  const calm = !fast && !hurried;
  player.moving = player.motion && calm;
  player.tweens = player.moving && Math.abs(wanted - before) === 1;
  player.run.seek(wanted);
  player.other?.seek(wanted);
  draw(player, true);
  if (calm) fly(player, before, wanted);
  if (said) player.live.textContent = spoken(player);
  player.stepped = -Infinity;
  player.hooks.step?.(wanted);
}

export function step(player, by) {
  stop(player);
  const hurried = performance.now() - player.stepped < MOTION;
  show(player, player.run.at + by, true, hurried);
  player.stepped = performance.now();
}

export function play(player) {
  if (player.timer) return stop(player);
  let due = null; // the first frame takes a step: its time may lie before the key's
  const tick = (now) => {
    const end = stopOf(player); // a question may have opened, or closed, meanwhile
    const pause = 600 / SPEEDS[player.speed];
    let by = 0;
    due = Math.max(due ?? now, now - LATEST);
    while (due <= now) {
      due += pause;
      by++;
    }
    if (by) {
      const to = Math.min(end, nextNote(player, player.run.at + by));
      show(player, to, SPEEDS[player.speed] <= 2);
      due += 1000 * secondsOf(noteOf(player, to - 1));
    }
    if (player.run.at >= end) return stop(player);
    player.timer = requestAnimationFrame(tick);
  };
  player.timer = requestAnimationFrame(tick);
  drawPlay(player);
}

/** The moment of the first note up to `to`, or else `to`. */
function nextNote(player, to) {
  const { at } = player.run;
  const noted = (e) => e >= at && e < to && noteOf(player, e);
  return player.notes.size ? 1 + (marksShown(player).find(noted) ?? to - 1) : to;
}

export function stop(player) {
  if (!player.timer) return;
  cancelAnimationFrame(player.timer);
  player.timer = 0;
  drawPlay(player);
  player.live.textContent = spoken(player);
}

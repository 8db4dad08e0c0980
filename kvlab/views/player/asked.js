// Which decisions are asked about?
//
// All that have a question; or those that the page names. Where a reader is right three
// times in a row about one sort, what comes out as before is shown, not asked.
// Left out: the question itself (question.js), answering (predict.js).

const ENOUGH = 3; // right answers in a row, of one sort

/** The event that may be shown last: before an open question. */
export function limitOf(player) {
  if (player.mode !== "predict") return player.run.count;
  const from = player.freed ?? 0;
  for (let e = from; e < player.run.count; e++)
    if (isAsked(player, e) && !player.answered.has(e)) {
      player.freed = e;
      return e;
    }
  return (player.freed = player.run.count);
}

export function isAsked(player, e) {
  return canAsk(player, e) && !isPassed(player, e);
}

function canAsk(player, e) {
  return (
    e < player.run.count &&
    (player.log.ask?.includes(e + 1) ?? true) &&
    questionOf(player, e) !== undefined
  );
}

/** Is the decision shown without being asked about? Its sort was answered rightly often
 *  enough, and neither it nor the next of its sort comes out in a new way: of the two that
 *  are asked again, none can tell which is the new one. */
export function isPassed(player, e) {
  const { log, answered } = player;
  if (player.mode !== "predict" || log.ask || player.every != null) return false;
  if (e < 0 || answered.has(e) || !canAsk(player, e)) return false;
  const sort = questionOf(player, e);
  const mine = player.answers
    .filter(({ event }) => event <= e && questionOf(player, event - 1) === sort)
    .sort((a, b) => a.event - b.event);
  const last = mine.slice(-ENOUGH);
  if (last.length < ENOUGH || last.some(({ right }) => !right)) return false;
  const known = new Set(mine.map(({ happened }) => happened));
  let next = e + 1;
  while (next < player.run.count && questionOf(player, next) !== sort) next++;
  const isKnown = (at) => at >= player.run.count || known.has(player.run.variant(at));
  return isKnown(e) && isKnown(next);
}

/** How many decisions up to the moment were shown without being asked about: counted on
 *  from where they were counted last, as long as nothing else was answered. */
export function passedCount(player) {
  const { answers, every, run } = player;
  const { passed } = player;
  const same = passed?.answers === answers && passed.given === answers.length;
  const known = same && passed.every === every ? passed : { at: 0, n: 0 };
  for (; known.at < run.at; known.at++) known.n += isPassed(player, known.at);
  while (known.at > run.at) known.n -= isPassed(player, --known.at);
  player.passed = Object.assign(known, { answers, given: answers.length, every });
  return known.n;
}

/** The question that an event answers, by the answer that is its own. */
export function questionOf(player, e) {
  const { variants, questions, col } = player.log;
  const of = (entry) => Object.values(questions).find(([, answers]) => entry in answers);
  player.asks ??= variants.map(of);
  return player.asks[col.variant[e]];
}

export function askingOf(player) {
  return !player.reading && isNext(player) ? player.run.at : -1;
}

/** Is the event asked about that comes next? */
const isNext = (player) =>
  player.mode === "predict" &&
  player.run.at === player.limit &&
  isAsked(player, player.run.at);

/** Does the next question wait until the card that answers the last one is read? */
export const waits = (player) => player.reading && isNext(player);


// What do the terms of a card come to?
//
// The formula's words with this event's numbers, as why.py evaluates them.
// Left out: drawing formulas (formula.js).

const SIGNS = { "+": 1, "−": -1, "→": 1 };

/** A sum of terms, left to right (why.evaluate). */
export function evaluate(sum, terms) {
  let total = null,
    sign = 1;
  for (const word of sum.split(" ")) {
    if (word in SIGNS) {
      sign = SIGNS[word];
      continue;
    }
    const value = word in terms ? terms[word] : /^\d/.test(word) ? +word : null;
    if (value === null || typeof value === "string") return value;
    total = (total ?? 0) + sign * value;
  }
  return total;
}

export function withSums(why, terms) {
  for (const test of why.tests)
    for (const row of test.rows) {
      const [left, name] = row.split(" = ");
      if (name && !(name in terms)) terms[name] = evaluate(left, terms);
    }
  return terms;
}

/** Whether "left sign right"; null where a side is no number (why.compares). */
function compares(test, terms) {
  const [left, sign, right] = test.split(" ");
  const x = evaluate(left, terms),
    y = evaluate(right, terms);
  if (typeof x !== "number" || typeof y !== "number") return null;
  return { "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y }[sign];
}

export function holds(test, terms) {
  if (test.unless && terms[test.unless] == null) return null;
  if (test.fact) return !!terms[test.fact];
  return test.test ? compares(test.test, terms) : null;
}

/** What was not taken, its terms in braces (why.not_taken). */
export const notTaken = (why, terms) =>
  why.instead.find(({ when }) => !when || compares(when, terms))?.words;

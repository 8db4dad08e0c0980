// How does markup change what stands there, and leave the rest alone?
//
// An element stays where the new markup has one of the same kind in its place, or one
// further; what its text and attributes say is written where it differs. So a browser
// styles and lays out what changed, not what was said again.
// Left out: which markup (every pane), where the keyboard stands (text.js).

/** What tells an element from its neighbours, beside its class. */
export const NAMING = [
  ...["data-do", "data-to", "data-state", "data-request"],
  ...["data-node", "data-block", "data-fold", "data-part"],
];
const [ELEMENT_NODE, TEXT_NODE] = [1, 3];
const ASKS = ["INPUT", "SELECT", "TEXTAREA"]; // they hold more than their markup says
const GROWS = "gap"; // moves when it comes, so it is always a new one

/** Make the children of an element those of this markup. */
export function patch(at, html) {
  if (!at.firstChild) {
    at.innerHTML = html;
    return;
  }
  const fresh = document.createElementNS(at.namespaceURI, at.localName);
  fresh.innerHTML = html;
  patchChildren(at, fresh);
}

function patchChildren(at, fresh) {
  let old = at.firstChild;
  for (let now = fresh.firstChild, next; now; now = next) {
    next = now.nextSibling;
    if (old && next && !alike(old, now) && alike(old, next)) {
      old.before(now); // one came
      continue;
    }
    const then = old?.nextSibling;
    if (then && !alike(old, now) && alike(then, now)) {
      old.remove(); // one went
      old = then;
    }
    const after = old?.nextSibling ?? null;
    if (!old) at.append(now);
    else if (!alike(old, now)) old.replaceWith(now);
    else if (old.nodeType === TEXT_NODE) {
      if (old.data !== now.data) old.data = now.data;
    } else {
      old.put = null; // what was put in it alone (text.js) is overwritten
      patchAttributes(old, now);
      patchChildren(old, now);
    }
    old = after;
  }
  for (let after; old; old = after) {
    after = old.nextSibling;
    old.remove();
  }
}

/** Whether one node can become the other and still be who it was. */
function alike(old, now) {
  if (old.nodeType !== now.nodeType) return false;
  if (old.nodeType !== ELEMENT_NODE) return old.nodeType === TEXT_NODE;
  const name = old.getAttribute("class");
  if (old.tagName !== now.tagName || name !== now.getAttribute("class")) return false;
  if (name === GROWS || ASKS.includes(old.tagName)) return false;
  return NAMING.every((told) => old.getAttribute(told) === now.getAttribute(told));
}

function patchAttributes(old, now) {
  for (const { name, value } of now.attributes)
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old.attributes.length === now.attributes.length) return;
  for (const { name } of [...old.attributes])
    if (!now.hasAttribute(name)) old.removeAttribute(name);
}

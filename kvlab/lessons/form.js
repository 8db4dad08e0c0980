// How does an exercise look, and what do its keys do?
// The kernel judges; this asks, sends the answer and shows the verdict. Native inputs
// only, so that Tab, arrows, Space and Enter work; Esc gives the keys back to the
// notebook. A verdict is a mark and words, never a colour alone.
// Left out: what is right (grading.py).

const STYLE = `
.kvf { --line: var(--jp-border-color1, #b9c0c8); --ink: var(--jp-content-font-color1, #1c2127);
  border: 1px solid var(--line); border-left: 4px solid #0072b2; border-radius: 4px;
  padding: 12px 16px; margin: 4px 2px; color: var(--ink); max-width: 860px;
  background: var(--jp-layout-color1, #fff); font: 14px/1.5 var(--jp-ui-font-family, sans-serif); }
.kvf:focus-visible, .kvf :focus-visible { outline: 2px solid #0072b2; outline-offset: 2px; }
.kvf .lab { font-size: 12px; color: var(--jp-content-font-color2, #525b66); letter-spacing: .02em; }
.kvf .q { font-size: 15px; font-weight: 600; margin: 4px 0 10px; white-space: pre-line; }
.kvf .given { margin: 0 0 10px; padding-left: 12px; border-left: 3px solid var(--line); white-space: pre-line; } .kvf fieldset { border: 0; margin: 0 0 8px; padding: 0; min-width: 0; }
.kvf label { display: flex; gap: 8px; align-items: baseline; padding: 3px 0; }
.kvf .row { display: grid; grid-template-columns: minmax(60px, max-content) minmax(150px, auto) 1.5em; gap: 4px 12px;
  justify-content: start; align-items: center; margin-bottom: 10px; }
.kvf input[type=text], .kvf select, .kvf textarea { font: inherit; color: inherit; padding: 4px 6px; box-sizing: border-box;
  background: var(--jp-layout-color0, #fff); border: 1px solid #838c96; border-radius: 3px; width: 100%; }
.kvf textarea { min-height: 66px; margin-bottom: 8px; }
.kvf textarea:read-only { border-style: dashed; background: transparent; }
.kvf .points p { margin: 0 0 8px; } .kvf .points fieldset { margin-bottom: 10px; }
.kvf legend { padding: 0; font-weight: 600; } .kvf [hidden] { display: none; }
.kvf ol { margin: 0 0 10px; padding: 0; list-style: none; }
.kvf li { display: flex; gap: 6px; align-items: center; padding: 4px 0; border-bottom: 1px solid var(--line); }
.kvf .row label { padding: 0; } .kvf li span { flex: 1; }
.kvf li.out span { text-decoration: line-through; opacity: .75; }
.kvf li b { min-width: 1.6em; text-align: right; font-variant-numeric: tabular-nums; }
.kvf button { font: inherit; color: inherit; background: transparent; border: 1px solid #838c96; border-radius: 3px;
  padding: 3px 12px; cursor: pointer; min-height: 28px; }
.kvf button:disabled { opacity: .5; cursor: default; } .kvf button.go { background: #0072b2; border-color: #005587; color: #fff; }
.kvf .acts { display: flex; gap: 10px; flex-wrap: wrap; align-items: center; }
.kvf .told { margin: 10px 0 0; padding: 6px 10px; border-left: 3px solid #838c96; white-space: pre-line; }
.kvf .told:empty { display: none; } .kvf .told.yes { border-color: #00694c; } .kvf .told.bad { border-color: #d55e00; }
.kvf .conf, .kvf .gauges { display: flex; gap: 4px 18px; flex-wrap: wrap; }
.kvf .gauge { border: 1px solid var(--line); border-radius: 3px; padding: 4px 12px; display: grid; min-width: 90px; }
.kvf .gauge b { font-size: 16px; font-variant-numeric: tabular-nums; }
.kvf .gauge.red { border: 2px solid #d55e00; background: #fdeee3; color: #1c2127; } .kvf .gauge.red .lab { color: #525b66; }
.kvf pre { margin: 0 0 8px; padding: 8px; background: var(--jp-layout-color2, #f6f7f9); overflow-x: auto; }
`;

class Form {
  constructor(model, root) {
    Object.assign(this, { model, root, name: `kvf${Math.random().toString(36).slice(2)}` });
    root.className = "kvf";
    root.tabIndex = 0;
    root.dataset.lmSuppressShortcuts = "true";
    root.setAttribute("role", "group");
    root.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("input", () => this.taken());
    model.on("change:asked", () => this.draw());
    model.on("change:verdict change:locked", () => this.tell());
    this.draw();
  }

  get lang() { return this.model.get("lang") ?? (/^zh/i.test(navigator.language) ? "zh" : "en"); }
  pick(words) { return words[this.lang === "zh" ? 1 : 0]; }
  W(key) { return this.pick(this.model.get("words")[key]); }
  get asked() { return this.model.get("asked"); }
  get predicts() { return this.asked.id[3] === "P"; }

  draw() {
    const { asked, root } = this, kind = asked.kind;
    this.put = this.model.get("answer");
    this.order = (asked.steps ?? []).map(([key]) => key);
    this.left = new Set();
    root.lang = this.lang === "zh" ? "zh-Hans" : "en";
    root.dataset.id = asked.id;
    root.replaceChildren();
    const style = document.createElement("style");
    style.textContent = STYLE;
    const label = this.el("div", "lab", asked.id[3] ? `${this.W(asked.id[3])} ${asked.id}` : `kvlab ${asked.id}`);
    const [asks, given = ""] = this.pick(asked.asks).split("\n\n");
    const text = this.el("div", "q", asks);
    text.id = `${this.name}-q`;
    root.setAttribute("aria-labelledby", text.id);
    const body = this.el("div", "body");
    this.told = this.el("div", "told");
    this.told.setAttribute("role", "status");
    root.append(style, label, text, body, this.told);
    if (given) text.after(this.el("div", "given", given));
    this[kind === "order" ? "steps" : kind](body);
    if (this.predicts) this.sure(body);
    const acts = this.el("div", "acts");
    if (kind === "sentence") acts.append(this.button("said"), this.button("check", "go"), this.button("rewrite"));
    else if (!/function|note|acts/.test(kind)) acts.append(this.button(this.predicts ? "commit" : "check", "go"));
    if (asked.again && !this.predicts) acts.append(this.button("again"));
    if (kind !== "note" && kind !== "acts") acts.append(this.button("show"));
    if (acts.childElementCount) body.append(acts);
    this.tell();
    this.taken();
  }

  el(tag, name = "", text = "") {
    const made = document.createElement(tag);
    made.className = name;
    made.textContent = text;
    return made;
  }
  button(act, name = "") {
    const button = this.el("button", name, this.W(act));
    button.dataset.do = act;
    return button;
  }

  radios(group, options, checked) {
    const set = this.el("fieldset");
    set.setAttribute("role", "radiogroup");
    for (const [key, words] of options) {
      const label = this.el("label"), input = this.el("input");
      Object.assign(input, { type: "radio", name: `${this.name}-${group}`, value: key, checked: key === checked });
      label.append(input, this.el("span", "", this.pick(words)));
      set.append(label);
    }
    return set;
  }
  choice(body) {
    const set = this.radios("answer", this.asked.options, this.put);
    set.setAttribute("aria-labelledby", `${this.name}-q`);
    body.append(set);
  }
  sure(body) {
    body.append(this.el("div", "lab", this.W("sure")));
    const set = this.radios("sure", this.asked.confidence.map((words, i) => [String(i + 1), words]), String(this.model.get("confidence")));
    set.classList.add("conf");
    set.setAttribute("aria-label", this.W("sure"));
    body.append(set);
  }
  fill(body) {
    const rows = this.el("div", "row");
    for (const [part, words] of this.asked.parts) {
      const label = this.el("label", "", this.pick(words)), { options, typed } = this.asked;
      const picked = options.length && !typed?.includes(part);
      const input = this.el(picked ? "select" : "input");
      if (picked) {
        input.append(new Option(this.W("pick"), ""));
        for (const [key, text] of options) input.append(new Option(this.pick(text), key));
      } else Object.assign(input, { type: "text", inputMode: "decimal", autocomplete: "off" });
      input.value = this.put?.[part] ?? "";
      input.dataset.part = part;
      input.id = label.htmlFor = `${this.name}-${part}`;
      const mark = this.el("b", "mark");
      mark.dataset.mark = part;
      rows.append(label, input, mark);
    }
    body.append(rows);
  }
  steps(body) {
    const list = this.el("ol");
    body.append(list);
    this.drawOrder(list);
  }
  /** First the sentence alone; once it stands, what it claims, point by point. */
  sentence(body) {
    const area = this.el("textarea"), points = this.el("div", "points");
    area.setAttribute("aria-labelledby", `${this.name}-q`);
    area.value = this.put?.text ?? "";
    points.append(this.el("p", "lab", this.W("sort")));
    for (const [part, words, says] of this.asked.points) {
      const set = this.radios(part, says, this.put?.[part]), legend = this.el("legend", "", this.pick(words));
      const mark = this.el("b", "mark");
      mark.dataset.mark = part;
      legend.append(" ", mark);
      set.prepend(legend);
      points.append(set);
    }
    body.append(area, points);
    this.settle(body, Boolean(this.put));
  }
  /** The sentence stands, or is written anew; what it claims is asked only of one that stands. */
  settle(body, stands) {
    this.stands = stands;
    body.querySelector("textarea").readOnly = stands;
    body.querySelector(".points").hidden = !stands;
  }
  note(body) {
    const row = this.el("div", "gauges");
    for (const [words, value, red] of this.asked.gauges ?? []) {
      const gauge = this.el("div", red ? "gauge red" : "gauge");
      gauge.append(this.el("span", "lab", this.pick(words)), this.el("b", "", `${red ? "‼" : "✓"} ${value}`));
      row.append(gauge);
    }
    body.append(row);
  }
  acts(body) {
    const acts = this.el("div", "acts");
    for (const [key, words] of this.asked.acts) {
      const button = this.el("button", "go", this.pick(words));
      Object.assign(button.dataset, { do: "act", act: key });
      acts.append(button);
    }
    body.append(acts);
  }
  function(body) {
    body.append(this.el("pre", "", this.asked.start), this.el("div", "", this.W("code")));
  }

  drawOrder(list) {
    list.replaceChildren();
    const words = Object.fromEntries(this.asked.steps);
    let at = 0;
    this.order.forEach((key, i) => {
      const out = this.left.has(key), item = this.el("li", out ? "out" : ""), text = this.pick(words[key]);
      item.append(this.el("b", "", out ? "–" : `${++at}`), this.el("span", "", text));
      for (const [act, sign, off] of [["up", "↑", i === 0], ["down", "↓", i === this.order.length - 1], ["out", "×", false]]) {
        const button = this.el("button", "", sign);
        Object.assign(button.dataset, { do: act, key });
        button.setAttribute("aria-label", `${this.W(act)}: ${text}`);
        button.title = this.W(act);
        if (act === "out") button.setAttribute("aria-pressed", String(out));
        button.disabled = off;
        item.append(button);
      }
      list.append(item);
    });
  }

  /** What is put in now; null if nothing. */
  get answer() {
    const { root, asked } = this;
    switch (asked.kind) {
      case "choice": return root.querySelector(`[name="${this.name}-answer"]:checked`)?.value ?? null;
      case "fill": return Object.fromEntries([...root.querySelectorAll("[data-part]")].map((x) => [x.dataset.part, x.value.trim()]));
      case "order": return this.order.filter((key) => !this.left.has(key));
      case "sentence": return Object.fromEntries([["text", root.querySelector("textarea").value.trim()], ...asked.points.map(([part]) =>
        [part, root.querySelector(`[name="${this.name}-${part}"]:checked`)?.value ?? ""])]);
    }
    return null;
  }
  get whole() {
    const answer = this.answer;
    return answer !== null && !(/fill|sentence/.test(this.asked.kind) && Object.values(answer).some((x) => x === ""));
  }
  /** What is said of a prediction that was committed. */
  get taken_in() {
    const at = this.asked.opens;
    return this.W(at === null ? "committed" : at ? "opens" : "runs").replace("{at}", at);
  }
  taken() {
    const go = this.root.querySelector(".go:not([data-act])");
    if (go) go.disabled = !this.whole || this.model.get("locked");
    if (this.asked.kind !== "sentence") return;
    const [said, rewrite] = ["said", "rewrite"].map((act) => this.root.querySelector(`[data-do=${act}]`));
    said.hidden = this.stands;
    said.disabled = !this.answer.text;
    go.hidden = rewrite.hidden = !this.stands;
  }

  tell() {
    const said = this.model.get("verdict"), verdict = said?.why ? said : null, locked = this.model.get("locked");
    const mark = { true: "✓ ", false: "✗ ", null: "" }[verdict?.right ?? null];
    this.told.className = `told ${verdict?.right ? "yes" : verdict?.right === false ? "bad" : ""}`;
    this.told.textContent = verdict ? mark + this.pick(verdict.why) : locked ? this.taken_in : "";
    for (const cell of this.root.querySelectorAll("[data-mark]")) {
      const right = verdict?.marks?.[cell.dataset.mark];
      cell.textContent = right === undefined ? "" : right ? "✓" : "✗";
    }
    for (const input of this.root.querySelectorAll("input, select")) input.disabled = locked;
    if (locked) this.committed();
    const show = this.root.querySelector("[data-do=show]");
    if (show) show.hidden = !verdict?.show;
    this.taken();
  }

  /** Show what was committed: another may have been put in while the kernel was busy. */
  committed() {
    const put = this.model.get("answer"), sure = String(this.model.get("confidence"));
    for (const input of this.root.querySelectorAll("[type=radio]"))
      input.checked = input.value === (input.name === `${this.name}-sure` ? sure : put);
    for (const input of this.root.querySelectorAll("[data-part]")) input.value = put?.[input.dataset.part] ?? "";
  }

  click(event) {
    const at = event.target.closest("[data-do]"), act = at?.dataset.do;
    if (!act || at.disabled) return;
    if (act === "said" || act === "rewrite") {
      this.settle(this.root, act === "said");
      if (act === "rewrite") {
        this.model.set("verdict", {});
        this.model.save_changes(); // else the same verdict again would be no news
      }
      this.taken();
      this.root.querySelector(act === "said" ? ".points input" : "textarea").focus();
    }
    if (/check|commit|act|again|show/.test(act) && this.root.closest(".jupyter-widgets-disconnected")) {
      this.told.className = "told";
      this.told.textContent = this.W("gone");
      return;
    }
    if (act === "check") this.model.send({ check: this.answer });
    if (act === "commit") {
      const sure = this.root.querySelector(`[name="${this.name}-sure"]:checked`);
      this.model.send({ commit: this.answer, confidence: Number(sure?.value ?? 2) });
    }
    if (act === "act") this.model.send({ act: at.dataset.act });
    if (act === "again" || act === "show") this.model.send({ [act]: true });
    if (at.dataset.key) this.move(act, at.dataset.key);
  }
  move(act, key) {
    const { order } = this, i = order.indexOf(key), j = i + { up: -1, down: 1, out: 0 }[act];
    if (act === "out") this.left.has(key) ? this.left.delete(key) : this.left.add(key);
    else [order[i], order[j]] = [order[j], order[i]];
    this.drawOrder(this.root.querySelector("ol"));
    const same = this.root.querySelector(`[data-do=${act}][data-key="${key}"]`);
    (same.disabled ? same.closest("li").querySelector("button:not(:disabled)") : same).focus();
  }
  key(event) {
    event.stopPropagation();
    if (event.key === "Escape") return this.root.blur(), document.activeElement.blur();
    if (event.key === "Enter" && !/TEXTAREA|BUTTON/.test(event.target.tagName)) this.root.querySelector(".go:not(:disabled)")?.click();
  }
}

function render({ model, el }) {
  const root = document.createElement("div");
  el.append(root);
  root.kvlab = new Form(model, root);
}

export default { render };

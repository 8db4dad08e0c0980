// How do drawings for a canvas become SVG?
//
// A pen with the few verbs that slots, ribbons and outlines use; each writes an element.
// So a saved picture is drawn by the same code as the screen.
// Left out: arranging a picture (still.js).

import { UI } from "./canvas.js";
import { paint } from "./looks.js";
import { esc } from "./text.js";

const round = (n) => Number(n.toFixed(2));

/** A pen that writes SVG. `markup()` is all that was drawn. */
class SvgPen {
  constructor(player) {
    this.parts = [];
    this.path = [];
    this.dash = [];
    this.globalAlpha = 1;
    this.textAlign = "left";
    this.fillOf = (state) => paint(player, state);
  }

  beginPath() {
    this.path = [];
  }
  moveTo(x, y) {
    this.path.push(`M${round(x)} ${round(y)}`);
  }
  lineTo(x, y) {
    this.path.push(`L${round(x)} ${round(y)}`);
  }
  bezierCurveTo(...numbers) {
    this.path.push(`C${numbers.map(round).join(" ")}`);
  }
  closePath() {
    this.path.push("Z");
  }
  setLineDash(dash) {
    this.dash = dash;
  }
  setTransform() {}
  clearRect() {}

  fillRect(x, y, w, h) {
    this.#add("rect", { ...sizes(x, y, w, h), ...this.#fill() });
  }
  strokeRect(x, y, w, h) {
    this.#add("rect", { ...sizes(x, y, w, h), ...this.#stroke() });
  }
  fill() {
    this.#add("path", { d: this.path.join(""), ...this.#fill() });
  }
  stroke() {
    this.#add("path", { d: this.path.join(""), ...this.#stroke() });
  }
  fillText(text, x, y) {
    const [, weight, size, family] = /^(\d+ )?([\d.]+)px (.*)$/.exec(this.font);
    const anchor = this.textAlign === "center" ? "middle" : "start";
    const font = { "font-size": size, "font-family": family, "text-anchor": anchor };
    if (weight) font["font-weight"] = weight.trim();
    this.#add(
      "text",
      { x: round(x), y: round(y), ...font, ...this.#fill() },
      esc(text),
    );
  }
  measureText(text) {
    const size = parseFloat(/([\d.]+)px/.exec(this.font)[1]);
    return { width: [...text].length * size * 0.6 };
  }

  /** Pixels stay pixels. */
  putImageData(image, x, y) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext("2d").putImageData(image, 0, 0);
    const dp = globalThis.devicePixelRatio || 1;
    const at = sizes(x / dp, y / dp, image.width / dp, image.height / dp);
    this.#add("image", { ...at, href: canvas.toDataURL() });
  }

  markup() {
    return this.parts.join("");
  }

  #fill() {
    return { fill: this.fillStyle, ...this.#alpha() };
  }
  #stroke() {
    const dash = this.dash.length ? { "stroke-dasharray": this.dash.join(" ") } : {};
    const line = { stroke: this.strokeStyle, "stroke-width": this.lineWidth };
    return { fill: "none", ...line, ...dash, ...this.#alpha() };
  }
  #alpha() {
    return this.globalAlpha === 1 ? {} : { opacity: this.globalAlpha };
  }
  #add(name, attributes, inner = "") {
    const said = Object.entries(attributes).map(([key, value]) => {
      return ` ${key}="${esc(value)}"`;
    });
    this.parts.push(`<${name}${said.join("")}>${inner}</${name}>`);
  }
}

const sizes = (x, y, width, height) => ({
  x: round(x),
  y: round(y),
  width: round(width),
  height: round(height),
});

/** Something that the drawing code takes for a canvas; `markup()` is what was drawn. */
export function svgCanvas(player) {
  const pen = new SvgPen(player);
  return { style: {}, getContext: () => pen, markup: () => pen.markup(), font: UI };
}

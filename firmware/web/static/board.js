// The 49 cells as a grid of elements: what a pointer does to them, and what is written on them.

import { CELLS, COLUMNS, ROWS, cellName, condition, moveOn, owner, placeOf } from "./game.js";
import { write } from "./words.js";

const INKS = ["plain", "shaded", "deep"]; // what lies below a word

/** Builds the grid and knows its cells: `cells[n]` is `{element, mark, move, word}` in cell order. */
export class Board {
  #slab;
  #ring;
  #pointed = null;

  constructor(slab) {
    this.#slab = slab;
    this.#ring = slab.querySelector("#ring");
    this.grid = slab.querySelector("#grid");
    this.cells = Array.from({ length: CELLS }, (_, cell) => makeCell(cell));
    for (let row = ROWS - 1; row >= 0; row -= 1) this.grid.append(makeRow(this.cells, row));
    label(slab.querySelector("#columns"), "abcdefg");
    label(slab.querySelector("#rows"), "7654321");
    this.#ring.append(makeRing());
  }

  /** Every contact of every pointer goes to `contacts`; `pointed(cell or null)` follows a pointer that can hover. */
  listen(contacts, pointed) {
    this.cells.forEach(({ element }, cell) => {
      element.addEventListener("pointerdown", (event) => press(event, element, cell, contacts));
      element.addEventListener("pointerenter", (event) => event.pointerType === "touch" || this.#point(cell, pointed));
      element.addEventListener("pointerleave", (event) => {
        contacts.release(event.pointerId);
        if (this.#pointed === cell) this.#point(null, pointed);
      });
    });
    for (const end of ["pointerup", "pointercancel"]) {
      window.addEventListener(end, (event) => contacts.release(event.pointerId));
    }
    this.#slab.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  #point(cell, pointed) {
    this.#pointed = cell;
    pointed(cell);
  }

  /** Write the marks, how each cell can be played, its word and, for ears, its sentence. */
  describe(view, { word, sentence }) {
    this.cells.forEach(({ element, mark, move, word: ink }, cell) => {
      const sign = view.cells[cell];
      element.toggleAttribute("data-out", view.masked.includes(cellName(cell)));
      move.dataset.move = moveOn(view, cell);
      mark.dataset.condition = condition(sign);
      mark.dataset.owner = owner(sign) ?? "";
      ink.dataset.side = placeOf(view, cell)?.side ?? "";
      write(ink, word(cell));
      element.setAttribute("aria-label", sentence(cell));
    });
  }

  /** Let ink on each cell suit its light, by the signs of `lookAt`. */
  ink(signs) {
    this.cells.forEach(({ mark, word }, cell) => {
      mark.toggleAttribute("data-dim", (signs[cell] & 1) > 0);
      word.dataset.ink = INKS[signs[cell] >> 1];
    });
  }

  /** Let the ring of a side fill round a cell for as long as a hold takes. */
  startRing(cell, side, hold_ms) {
    this.#ring.dataset.side = side;
    this.#ring.dataset.on = cellName(cell);
    this.#ring.style.translate = `${(cell % COLUMNS) * 100}% ${(ROWS - 1 - Math.floor(cell / COLUMNS)) * 100}%`;
    const line = this.#ring.querySelector(".fill");
    line.getAnimations().forEach((animation) => animation.cancel());
    line.animate({ strokeDashoffset: [1, 0] }, { duration: hold_ms, fill: "forwards" });
  }

  stopRing() {
    delete this.#ring.dataset.on;
  }
}

function press(event, element, cell, contacts) {
  if (event.button !== 0) return;
  // A touch is bound to the element it begins on; unbound, sliding off the cell is a release as on the board.
  if (element.hasPointerCapture(event.pointerId)) element.releasePointerCapture(event.pointerId);
  contacts.press(event.pointerId, cell);
}

function makeCell(cell) {
  const element = document.createElement("div");
  element.className = "cell";
  element.role = "gridcell";
  element.dataset.cell = cellName(cell);
  element.tabIndex = -1;
  element.ariaColIndex = (cell % COLUMNS) + 1;
  const [mark, move, word] = ["mark", "move", "word"].map((name) => {
    const part = document.createElement("i");
    part.className = name;
    part.ariaHidden = true;
    return part;
  });
  element.append(mark, move, word);
  return { element, mark, move, word };
}

function makeRow(cells, row) {
  const element = document.createElement("div");
  element.role = "row";
  element.ariaRowIndex = ROWS - row;
  element.append(...cells.slice(row * COLUMNS, (row + 1) * COLUMNS).map((cell) => cell.element));
  return element;
}

function label(box, letters) {
  box.append(...[...letters].map((letter) => Object.assign(document.createElement("span"), { textContent: letter })));
}

// A rounded square that starts at the top and is one unit long, so that a dash of one can fill it.
function makeRing() {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 100 100");
  for (const name of ["track", "fill"]) {
    const line = document.createElementNS(space, "path");
    line.setAttribute("class", name);
    line.setAttribute("pathLength", "1");
    line.setAttribute("d", "M50 3H71A26 26 0 0 1 97 29V71A26 26 0 0 1 71 97H29A26 26 0 0 1 3 71V29A26 26 0 0 1 29 3Z");
    svg.append(line);
  }
  return svg;
}

// Keys: arrows move the cursor, Enter or Space is a finger on it, M the corner chord.

import { CELLS, COLUMNS, ROWS, cellNumber } from "./game.js";

const MIDDLE = Math.floor(CELLS / 2);
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Keyboard {
  #board;
  #contacts;
  #corners;
  #cursor = MIDDLE;

  /** `focused(cell or null)` follows the cursor while it shows; `corners()` names the cells that open the menu. */
  constructor(board, contacts, { focused, corners }) {
    this.#board = board;
    this.#contacts = contacts;
    this.#corners = corners;
    this.#element.tabIndex = 0;
    board.grid.addEventListener("focusin", ({ target }) => this.#arrive(target.closest(".cell"), focused));
    board.grid.addEventListener("focusout", () => focused(null));
    document.addEventListener("keydown", (event) => this.#down(event));
    document.addEventListener("keyup", (event) => this.#up(event));
  }

  get #element() {
    return this.#board.cells[this.#cursor].element;
  }

  #arrive(element, focused) {
    this.#element.tabIndex = -1;
    this.#cursor = this.#board.cells.findIndex((cell) => cell.element === element);
    this.#element.tabIndex = 0;
    if (element.matches(":focus-visible")) focused(this.#cursor);
  }

  #down(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const act = this.#action(event);
    if (!act) return;
    event.preventDefault();
    if (!event.repeat || event.key in STEPS) act();
  }

  #action({ key, target }) {
    const onGrid = this.#board.grid.contains(target);
    if (key.toLowerCase() === "m") return () => this.#chord();
    if (key in STEPS && (onGrid || target === document.body)) return () => this.#move(STEPS[key]);
    if ((key === "Enter" || key === " ") && onGrid) return () => this.#contacts.press(key, this.#cursor);
    return null;
  }

  #chord() {
    this.#corners().forEach((name, at) => this.#contacts.press(`m${at}`, cellNumber(name)));
  }

  #up({ key }) {
    if (key.toLowerCase() === "m") ["m0", "m1"].forEach((source) => this.#contacts.release(source));
    else this.#contacts.release(key);
  }

  #move([right, up]) {
    const column = Math.min(COLUMNS - 1, Math.max(0, (this.#cursor % COLUMNS) + right));
    const row = Math.min(ROWS - 1, Math.max(0, Math.floor(this.#cursor / COLUMNS) + up));
    this.#board.cells[row * COLUMNS + column].element.focus({ focusVisible: true });
  }
}

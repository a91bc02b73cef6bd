// Fingers on the page: which source holds which cell. The board decides what they mean.

import { cellName } from "./game.js";

const RENEW_MS = 300; // the board drops a touch that is not renewed within a second

export class Contacts {
  #send;
  #changed;
  #cells = new Map();
  #renewal = 0;

  /** `send({cell, down})` for the board; `changed(cells)` for the page, with the cells held now. */
  constructor(send, changed) {
    this.#send = send;
    this.#changed = changed;
    window.addEventListener("blur", () => this.releaseAll());
    window.addEventListener("pagehide", () => this.releaseAll());
    document.addEventListener("visibilitychange", () => document.hidden && this.releaseAll());
  }

  /** A source (a pointer, a key) comes down on a cell. */
  press(source, cell) {
    this.release(source);
    const fresh = !this.#holds(cell);
    this.#cells.set(source, cell);
    if (fresh) this.#tell(cell, true);
  }

  /** A source lets go; a cell is up when its last source is. */
  release(source) {
    const cell = this.#cells.get(source);
    if (cell === undefined) return;
    this.#cells.delete(source);
    if (!this.#holds(cell)) this.#tell(cell, false);
  }

  releaseAll() {
    for (const source of [...this.#cells.keys()]) this.release(source);
  }

  /** The link is gone and every touch with it: fingers that are still down count for nothing until lifted. */
  forget() {
    this.#cells.clear();
    this.#pace();
    this.#changed([]);
  }

  #holds(cell) {
    return [...this.#cells.values()].includes(cell);
  }

  #tell(cell, down) {
    this.#send({ cell: cellName(cell), down });
    this.#pace();
    this.#changed([...new Set(this.#cells.values())]);
  }

  #pace() {
    clearInterval(this.#renewal);
    if (this.#cells.size) this.#renewal = setInterval(() => this.#renew(), RENEW_MS);
  }

  #renew() {
    for (const cell of new Set(this.#cells.values())) this.#send({ cell: cellName(cell), down: true });
  }
}

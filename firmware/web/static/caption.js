// The line of words under the slab: what has just happened, and what a touch would do. On a table it stands there twice.

import { write } from "./words.js";

const REFUSAL_SHOWN_MS = 4000; // then a pointer resting on another cell has the word again
const TICK_MS = 250;

export class Caption {
  #words;
  #sentences;
  #lines;
  #view = null;
  #touchable = false;
  #pointed = null; // by a pointer
  #focused = null; // by keys
  #pressed = null;
  #refused = { n: 0, until: 0 };
  #parks_at = null;
  #explained = false; // the signs of where the mover can play
  #timer = 0;

  constructor(root, words, sentences) {
    this.#words = words;
    this.#sentences = sentences;
    const lines = (name) => [`${name}`, `${name}-far`].map((id) => root.getElementById(id));
    this.#lines = { past: lines("past"), hint: lines("hint") };
  }

  /** Show a state. Returns the refusal that is new in it, if there is one. */
  show(view, touchable) {
    const fresh = view.refusal && view.refusal.n !== this.#refused.n;
    if (fresh) this.#refuse(view.refusal);
    const told = view !== this.#view;
    this.#view = view;
    this.#touchable = touchable;
    if (told) this.tell(view);
    else this.write();
    return fresh ? view.refusal : null;
  }

  /** Take `parks_in_ms`, what is left until a game that nobody touches is put aside; null where nothing is. */
  tell({ parks_in_ms }) {
    clearInterval(this.#timer);
    this.#parks_at = typeof parks_in_ms === "number" ? performance.now() + parks_in_ms : null;
    if (this.#parks_at !== null) this.#timer = setInterval(() => this.write(), TICK_MS);
    this.write();
  }

  #refuse({ n }) {
    this.#refused = { n, until: performance.now() + REFUSAL_SHOWN_MS };
    setTimeout(() => this.write(), REFUSAL_SHOWN_MS + 10);
  }

  point(cell) {
    this.#pointed = cell;
    this.write();
  }

  /** Keys have the word over a pointer that rests somewhere. */
  focus(cell) {
    this.#focused = cell;
    if (cell !== null) this.#pointed = null;
    this.write();
  }

  /** The signs of where the mover can play show: say what they mean while there is nothing else to say. */
  explain(on) {
    this.#explained = on;
    this.write();
  }

  press(cell) {
    this.#pressed = cell;
    this.write();
  }

  /** The board is away: nothing is known. */
  lose() {
    this.#view = null;
    clearInterval(this.#timer);
    this.#say(this.#words.say("away"), this.#words.say("away.next"));
  }

  write() {
    if (this.#view) this.#say(this.#view.scene === "attract" ? "" : this.#sentences.past(this.#view), this.#hint());
  }

  #say(past, hint) {
    this.#lines.past.forEach((line) => write(line, past));
    this.#lines.hint.forEach((line) => write(line, hint));
  }

  #hint() {
    const view = this.#view;
    const cell = this.#pressed ?? this.#pointed ?? this.#focused;
    const fresh = performance.now() < this.#refused.until || cell === null;
    if (view.refusal && fresh) return this.#sentences.refusal(view, view.refusal);
    if (this.#parks_at !== null) return this.#sentences.parks(this.#parks_at - performance.now());
    const touch = cell !== null && this.#touchable ? this.#sentences.touch(view, cell) : "";
    return touch || this.#sentences.next(view) || (this.#explained ? this.#sentences.signs(view) : "");
  }
}

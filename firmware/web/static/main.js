// The page: one state in, one picture out, and fingers back to the board.

import { Board } from "./board.js";
import { Contacts } from "./contacts.js";
import { holdSide, readState } from "./game.js";
import { Keyboard } from "./keyboard.js";
import { Rails } from "./rails.js";
import { Sentences } from "./sentences.js";
import { paintSurface } from "./surface.js";
import { Wires } from "./wires.js";
import { Words, keep, kept, plain, write } from "./words.js";

const REFUSAL_SHOWN_MS = 4000; // then a pointer resting on another cell has the word again
const LESSONS = ["light", "permute", "block", "neutralise", "win"];
const GESTURES = ["tap", "hold", "pools", "menu", "consent", "keys"];
const MARKED = ["permuted", "blocked", "neutralised"];
const MARKS = "morbak.marks";

const find = (id) => document.getElementById(id);
const { body } = document;

class Page {
  #words = new Words();
  #board = new Board(find("slab"));
  #sentences = new Sentences(this.#words);
  #rails = new Rails(document, this.#words);
  #contacts = new Contacts((touch) => this.#touchable && this.#wires.touch(touch), (held) => this.#held(held));
  #wires = new Wires({
    hello: (hello) => this.#hello(hello),
    state: (state) => this.#state(state),
    clocks: (clocks) => this.#rails.tell(clocks),
    signs: (signs) => this.#board.ink(signs),
    away: () => this.#away(),
  });

  #view = null;
  #touchable = false;
  #hold_ms = 800;
  #pointed = null; // by a pointer
  #focused = null; // by keys
  #pressed = null;
  #refused = { n: 0, until: 0 };

  async start() {
    await this.#words.load();
    this.#board.listen(this.#contacts, (cell) => this.#point(cell));
    new Keyboard(this.#board, this.#contacts, (cell) => this.#focus(cell));
    new ResizeObserver(([{ contentRect }]) => paintSurface(find("surface"), contentRect.width)).observe(find("slab"));
    find("lang").addEventListener("click", () => this.#swapLanguage());
    find("marks").addEventListener("click", () => this.#setMarks(!body.hasAttribute("data-marks"), true));
    find("help").addEventListener("click", () => this.#setHelp(!body.hasAttribute("data-help")));
    this.#setHelp(false);
    const asked = kept(MARKS) ?? String(matchMedia("(prefers-reduced-motion: reduce)").matches);
    this.#setMarks(asked === "true", false);
    this.#writeFixed();
    this.#wires.open({ light: find("light"), halo: find("halo") });
  }

  #hello({ touch, hold_ms }) {
    this.#contacts.forget(); // a finger that came down while the board was away is no touch
    this.#touchable = touch;
    this.#hold_ms = hold_ms;
    body.toggleAttribute("data-touch", touch);
  }

  #state(state) {
    const before = this.#view;
    this.#view = readState(state, before);
    body.dataset.link = "open";
    body.dataset.phase = state.phase;
    if (moved(before, state)) this.#board.stopRing();
    if (moved(before, state)) write(find("live"), this.#sentences.live(this.#view));
    this.#noteRefusal(state.refusal);
    this.#show();
  }

  #noteRefusal(refusal) {
    if (!refusal || refusal.n === this.#refused.n) return;
    this.#refused = { n: refusal.n, until: performance.now() + REFUSAL_SHOWN_MS };
    this.#board.stopRing();
    write(find("live"), plain(this.#sentences.refusal(this.#view, refusal)));
    setTimeout(() => this.#caption(), REFUSAL_SHOWN_MS + 10);
  }

  #away() {
    body.dataset.link = "away";
    this.#contacts.forget();
    this.#rails.halt();
    write(find("live"), plain(`${this.#words.say("away")} ${this.#words.say("away.next")}`));
    this.#caption();
  }

  #show() {
    const view = this.#view;
    if (!view) return;
    this.#rails.show(view);
    this.#board.describe(view, {
      word: (cell) => this.#sentences.word(view, cell),
      sentence: (cell) => this.#sentences.cell(view, cell, this.#touchable),
    });
    write(find("notice"), this.#sentences.health(view.health));
    this.#caption();
  }

  #caption() {
    if (body.dataset.link === "away") {
      write(find("past"), this.#words.say("away"));
      write(find("hint"), this.#words.say("away.next"));
    } else if (this.#view) {
      write(find("past"), this.#view.phase === "attract" ? "" : this.#sentences.past(this.#view));
      write(find("hint"), this.#hint());
    }
  }

  #hint() {
    const view = this.#view;
    const cell = this.#pressed ?? this.#pointed ?? this.#focused;
    const fresh = performance.now() < this.#refused.until || cell === null;
    if (view.refusal && fresh) return this.#sentences.refusal(view, view.refusal);
    const touch = cell !== null && this.#touchable ? this.#sentences.touch(view, cell) : "";
    return touch || this.#sentences.next(view);
  }

  #point(cell) {
    this.#pointed = cell;
    this.#caption();
  }

  // Keys have the word over a pointer that rests somewhere.
  #focus(cell) {
    this.#focused = cell;
    if (cell !== null) this.#pointed = null;
    this.#caption();
  }

  // The ring is for one finger on a cell that wants a hold; the board itself judges the touch.
  #held(held) {
    const first = this.#pressed === null && held.length === 1 ? held[0] : null;
    this.#pressed = held[0] ?? null;
    const view = this.#view;
    const side = first !== null && view && this.#touchable ? holdSide(view, first) : null;
    if (first === null) this.#board.stopRing();
    else if (side) this.#board.startRing(first, side, this.#hold_ms);
    this.#caption();
  }

  #swapLanguage() {
    this.#words.swap();
    this.#writeFixed();
    this.#show();
  }

  #setMarks(on, chosen) {
    body.toggleAttribute("data-marks", on);
    find("marks").ariaPressed = on;
    if (chosen) keep(MARKS, on);
    this.#show();
  }

  #setHelp(open) {
    body.toggleAttribute("data-help", open);
    find("help").ariaExpanded = open;
  }

  #writeFixed() {
    const say = (key) => this.#words.say(key);
    const { other } = this.#words;
    find("grid").ariaLabel = say("board");
    write(find("invitation"), say("invitation"));
    write(find("invitation-other"), this.#words.say("invitation", {}, other));
    write(find("help"), say("help"));
    write(find("marks"), say("marks"));
    write(find("lang"), this.#words.say("language", {}, other));
    find("invitation-other").lang = find("lang").lang = other;
    list(find("lessons"), LESSONS.map((name) => ["", say(`lesson.${name}`)]));
    list(find("gestures"), GESTURES.map((name) => ["", say(`gesture.${name}`)]));
    list(find("legend"), MARKED.map((name) => [name, say(`mark.${name}`)]));
  }
}

const moved = (before, now) =>
  !before ||
  before.menu?.asked?.item !== now.menu?.asked?.item ||
  ["position", "phase", "last_action", "starter"].some((key) => before[key] !== now[key]);

function list(box, entries) {
  box.replaceChildren(...entries.map(([condition, text]) => {
    const item = document.createElement("li");
    write(item, text);
    if (!condition) return item;
    const mark = document.createElement("i");
    mark.className = "mark";
    Object.assign(mark.dataset, { condition, owner: "" });
    item.prepend(mark);
    return item;
  }));
}

await new Page().start();

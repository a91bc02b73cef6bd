// All gestures in words, as many at a time as there is room for; those that count now come first.

import { corners } from "./sentences.js";
import { write } from "./words.js";

// Each gesture, and the scenes in which it counts; a keyboard always does.
const GESTURES = {
  start: ["attract"],
  options: ["lobby"],
  tap: ["play"],
  hold: ["play"],
  pools: ["play", "paused"],
  menu: ["play", "paused", "result"],
  consent: ["menu"],
  masked: ["play"],
  cursor: ["play", "menu"],
  night: ["play"],
  paused: ["paused"],
  result: ["result"],
  replay: ["replay"],
  button: [],
  keys: [],
};

export class Gestures {
  #list;
  #more;
  #words;
  #items;
  #order = [];
  #scene = "attract";
  #masked = [];
  #pages = [];
  #page = 0;
  #room_px = Infinity;

  /** `list` gets the gestures, `more` is the button that turns the page. */
  constructor(list, more, words) {
    this.#list = list;
    this.#more = more;
    this.#words = words;
    this.#items = new Map(Object.keys(GESTURES).map((name) => [name, document.createElement("li")]));
    more.addEventListener("click", () => this.#turn());
    this.open();
  }

  /** Somebody opens the list: what counts now comes first, and stays there for as long as it is read. */
  open() {
    const now = (name) => (GESTURES[name].includes(this.#scene) ? 0 : 1);
    this.#order = Object.keys(GESTURES).sort((one, two) => now(one) - now(two));
    this.#list.replaceChildren(...this.#order.map((name) => this.#items.get(name)));
    this.#page = 0;
  }

  /** What is going on, and which cells are out of use: the corners for the menu depend on them. */
  tell(scene, masked) {
    this.#scene = scene;
    if (String(masked) === String(this.#masked)) return;
    this.#masked = masked;
    this.name();
  }

  name() {
    const values = corners(this.#masked);
    for (const [name, item] of this.#items) write(item, this.#words.say(`gesture.${name}`, values));
  }

  /** Show one page of what fits into `room_px`. */
  fit(room_px) {
    this.#room_px = room_px;
    for (const item of this.#items.values()) item.hidden = false;
    this.#more.hidden = true;
    const whole = this.#list.getBoundingClientRect().height <= room_px;
    if (whole) this.#pages = [this.#order];
    else this.#divide();
    this.#page %= this.#pages.length;
    for (const [name, item] of this.#items) item.hidden = !this.#pages[this.#page].includes(name);
  }

  #divide() {
    this.#more.hidden = false;
    write(this.#more, this.#words.say("gestures.more", { at: 1, of: 9 }));
    const room_px = this.#room_px - this.#more.getBoundingClientRect().height;
    const boxes = this.#order.map((name) => this.#items.get(name).getBoundingClientRect());
    this.#pages = [];
    let top = -Infinity;
    this.#order.forEach((name, at) => {
      if (!this.#pages.length || boxes[at].bottom - top > room_px) {
        this.#pages.push([]);
        ({ top } = boxes[at]);
      }
      this.#pages.at(-1).push(name);
    });
    this.#page %= this.#pages.length;
    write(this.#more, this.#words.say("gestures.more", { at: this.#page + 1, of: this.#pages.length }));
  }

  #turn() {
    this.#page += 1;
    this.fit(this.#room_px);
  }
}

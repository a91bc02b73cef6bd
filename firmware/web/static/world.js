// The drawer of a simulated board: its time and its faults. A real board has none.

import { cellName } from "./game.js";
import { write } from "./words.js";

const ADDRESS = "/api/v1/sim/world";
const SWITCHES = ["paused", "bounce", "ghost", "stuck", "unplug"];
const MIDDLE = 24;

export class World {
  #box;
  #name;
  #words;
  #state = null;
  #cell = MIDDLE; // the one that gets stuck: touched last
  #buttons = new Map();

  /** `box` is a list that gets the switches, `name` the drawer's name. */
  constructor(box, name, words) {
    this.#box = box;
    this.#name = name;
    this.#words = words;
    for (const key of SWITCHES) {
      const [item, button] = ["li", "button"].map((tag) => document.createElement(tag));
      button.type = "button";
      button.addEventListener("click", () => this.#switch(key));
      this.#buttons.set(key, button);
      item.append(button);
      box.append(item);
    }
  }

  /** There is a board again: ask how its world is. */
  async look() {
    this.#take(await fetch(ADDRESS));
  }

  /** The cell that was touched last. */
  touched(cell) {
    this.#cell = cell;
    this.show();
  }

  async #switch(key) {
    if (!this.#state) return;
    const change = key === "stuck" ? (this.#state.stuck.length ? [] : [cellName(this.#cell)]) : !this.#state[key];
    const headers = { "content-type": "application/json" };
    this.#take(await fetch(ADDRESS, { method: "POST", headers, body: JSON.stringify({ [key]: change }) }));
  }

  async #take(answer) {
    this.#state = answer.ok ? await answer.json() : null;
    this.show();
  }

  show() {
    const state = this.#state ?? { stuck: [] };
    const [stuck] = state.stuck;
    write(this.#name, this.#words.say("world"));
    for (const [key, button] of this.#buttons) {
      const on = key === "stuck" ? Boolean(stuck) : Boolean(state[key]);
      button.ariaPressed = on;
      write(button, this.#words.say(`world.${key}`, { cell: stuck ?? cellName(this.#cell) }));
    }
  }
}

// The map of the cells: larger = touched more, brighter = longer until its contact rests, white = wants cleaning.

import { write } from "./words.js";

const COLUMNS = "abcdefg";
const LEAST = 0.36; // of the pitch
const MOST = 0.92;
const DIM = 0.12;
const BRIGHT = 0.42;
const SLOW_US = 8000; // from here on a cell is named anyway

export class Cells {
  #words;
  #find;
  #command;
  #keys = new Map();
  #chosen = null;
  #status = null;

  /** `command(message)` is called for what is done to a cell. */
  constructor(root, words, command) {
    this.#find = (id) => root.getElementById(id);
    this.#words = words;
    this.#command = command;
    const map = this.#find("map");
    for (let row = 7; row > 0; row -= 1) map.append(label(row), ...[...COLUMNS].map((column) => this.#key(`${column}${row}`)));
    map.append(label(""), ...[...COLUMNS].map(label));
    this.#find("cell-key").addEventListener("click", () => this.#toggle());
  }

  show(status) {
    this.#status = status;
    const most = Math.max(1, ...status.cells.map(({ touches }) => touches));
    for (const cell of status.cells) {
      const key = this.#keys.get(cell.cell);
      const size = LEAST + (MOST - LEAST) * Math.sqrt(cell.touches / most);
      const light = DIM + (BRIGHT - DIM) * Math.min(1, cell.bounce_us / SLOW_US);
      key.firstChild.style.setProperty("--size", size.toFixed(3));
      key.firstChild.style.setProperty("--light", light.toFixed(3));
      key.toggleAttribute("data-worn", status.worn.includes(cell.cell));
      key.toggleAttribute("data-masked", cell.masked);
      key.ariaLabel = this.#sentence(cell);
    }
    this.#find("map").ariaLabel = this.#words.say("op.title.cells");
    this.#showChosen();
  }

  #key(name) {
    const [key, dot] = ["button", "i"].map((tag) => document.createElement(tag));
    key.type = "button";
    dot.textContent = name;
    key.append(dot);
    key.ariaPressed = false;
    key.addEventListener("click", () => this.#choose(name));
    this.#keys.set(name, key);
    return key;
  }

  #choose(name) {
    this.#chosen = this.#chosen === name ? null : name;
    for (const [each, key] of this.#keys) key.ariaPressed = each === this.#chosen;
    this.#showChosen();
  }

  #showChosen() {
    const cell = this.#status?.cells.find((each) => each.cell === this.#chosen);
    this.#find("cell").toggleAttribute("data-open", Boolean(cell));
    if (!cell) return;
    write(this.#find("cell-words"), this.#sentence(cell));
    write(this.#find("cell-key"), this.#words.say(cell.masked ? "op.key.unmask" : "op.key.mask"));
    this.#find("cell-key").disabled = cell.stuck;
  }

  #toggle() {
    const cell = this.#status.cells.find((each) => each.cell === this.#chosen);
    this.#command({ do: cell.masked ? "unmask" : "mask", cell: cell.cell });
  }

  #sentence({ cell, touches, light_us, bounce_us, masked, stuck }) {
    const ms = (us) => this.#words.number(us / 1000, us > 0 && us < 10_000 ? 1 : 0);
    const parts = [this.#words.count("op.cell", touches, { cell })];
    if (light_us) parts.push(this.#words.say("op.cell.light", { ms: ms(light_us), bounce: ms(bounce_us) }));
    if (stuck) parts.push(this.#words.say("op.cell.stuck"));
    else if (masked) parts.push(this.#words.say("op.cell.out"));
    return parts.join(" ");
  }
}

function label(text) {
  const element = document.createElement("span");
  element.textContent = text;
  element.ariaHidden = true;
  return element;
}

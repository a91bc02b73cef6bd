// The page: one state in, one picture out, and fingers back to the board.

import { Board } from "./board.js";
import { Caption } from "./caption.js";
import { Contacts } from "./contacts.js";
import { holdSide, menuCorners, readState } from "./game.js";
import { beat } from "./heartbeat.js";
import { Keyboard } from "./keyboard.js";
import { Lessons } from "./lessons.js";
import { Panels } from "./panels.js";
import { Rails } from "./rails.js";
import { Sentences } from "./sentences.js";
import { paintSurface } from "./surface.js";
import { Wires } from "./wires.js";
import { Words, keep, kept, plain, write } from "./words.js";
import { World } from "./world.js";

const MARKED = ["permuted", "blocked", "neutralised"];
const MARKS = "morbak.marks";
const STILL_MS = 5000; // a pointer that rests this long is out of the picture

const find = (id) => document.getElementById(id);
const { body } = document;
const lessMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

class Page {
  #words = new Words();
  #board = new Board(find("slab"));
  #sentences = new Sentences(this.#words);
  #rails = new Rails(document, this.#words, this.#sentences);
  #caption = new Caption(document, this.#words, this.#sentences);
  #panels = new Panels(document, this.#words);
  #world = new World(find("world-switches"), find("world-name"), this.#words);
  #contacts = new Contacts((touch) => this.#touchable && this.#wires.touch(touch), (held) => this.#held(held));
  #lessons = new Lessons(find("lessons"), ["welcome", "lessons", "settings", "code"].map(find));
  #wires = new Wires({
    hello: (hello) => this.#hello(hello),
    state: (state) => this.#state(state),
    clocks: (clocks) => this.#clocks(clocks),
    signs: (signs) => this.#board.ink(signs),
    away: () => this.#away(),
  });

  #view = null;
  #touchable = false;
  #hold_ms = 800;
  #holding = false;

  async start() {
    await this.#words.load();
    this.#panels.name();
    body.toggleAttribute("data-table", new URLSearchParams(location.search).get("seat") === "table");
    this.#board.listen(this.#contacts, (cell) => this.#caption.point(cell));
    new Keyboard(this.#board, this.#contacts, {
      focused: (cell) => this.#caption.focus(cell),
      corners: () => menuCorners(this.#view?.masked ?? []),
    });
    new ResizeObserver(([{ contentRect }]) => paintSurface(find("surface"), contentRect.width)).observe(find("slab"));
    find("lang").addEventListener("click", () => this.#swapLanguage());
    find("moves").addEventListener("click", () => this.#showMoves(!body.hasAttribute("data-moves")));
    find("marks").addEventListener("click", () => this.#setMarks(!body.hasAttribute("data-marks"), true));
    this.#setMarks((kept(MARKS) ?? String(lessMotion())) === "true", false);
    hideRestingPointer();
    this.#writeFixed();
    if (new URLSearchParams(location.search).has("kiosk")) beat();
    this.#wires.open({ light: find("light"), halo: find("halo") });
  }

  #hello({ touch, hold_ms, world }) {
    this.#contacts.forget(); // a finger that came down while the board was away is no touch
    this.#touchable = touch;
    this.#hold_ms = hold_ms;
    body.toggleAttribute("data-touch", touch);
    body.toggleAttribute("data-world", Boolean(world));
    if (world) this.#world.look();
  }

  #state(state) {
    const before = this.#view;
    this.#view = readState(state, before);
    this.#follow(before?.chosen ?? null, state.chosen ?? null);
    body.dataset.link = "open";
    body.dataset.phase = this.#view.scene;
    body.toggleAttribute("data-dark", Boolean(state.screen?.dark));
    if (moved(before, state)) this.#board.stopRing();
    if (moved(before, state)) write(find("live"), this.#sentences.live(this.#view));
    this.#lessons.play(this.#view.scene === "attract");
    this.#show();
  }

  #clocks(clocks) {
    this.#rails.tell(clocks);
    this.#caption.tell(clocks);
  }

  // What is chosen at the board counts here too, until somebody chooses otherwise on the page.
  #follow(before, now) {
    if (!now) return;
    const changed = (key) => (before ? before[key] !== now[key] : key === "language" && !this.#words.settled);
    if (changed("language") && now.language !== this.#words.lang) {
      this.#words.follow(now.language);
      this.#writeFixed();
    }
    if (changed("marks") || (!before && now.marks && kept(MARKS) === null)) this.#setMarks(now.marks, false);
  }

  #away() {
    body.dataset.link = "away";
    this.#contacts.forget();
    this.#rails.halt();
    this.#lessons.play(false);
    write(find("live"), plain(`${this.#words.say("away")} ${this.#words.say("away.next")}`));
    this.#caption.lose();
  }

  #show() {
    const view = this.#view;
    if (!view) return;
    this.#rails.show(view);
    this.#panels.show(view);
    this.#world.show();
    this.#board.describe(view, {
      word: (cell) => this.#sentences.word(view, cell),
      sentence: (cell) => this.#sentences.cell(view, cell, this.#touchable),
    });
    const trouble = view.cleans_ms == null ? this.#sentences.health(view) : this.#words.say("cleaning");
    write(find("notice"), trouble);
    body.toggleAttribute("data-trouble", trouble !== "");
    if (body.dataset.link === "away") this.#caption.lose();
    else this.#refused(this.#caption.show(view, this.#touchable));
  }

  #refused(refusal) {
    if (!refusal) return;
    this.#board.stopRing();
    write(find("live"), plain(this.#sentences.refusal(this.#view, refusal)));
  }

  // The ring is for one finger on a cell that wants a hold; the board itself judges the touch.
  #held(held) {
    const first = !this.#holding && held.length === 1 ? held[0] : null;
    this.#holding = held.length > 0;
    const side = first !== null && this.#view && this.#touchable ? holdSide(this.#view, first) : null;
    if (first === null) this.#board.stopRing();
    else if (side) this.#board.startRing(first, side, this.#hold_ms);
    if (first !== null) this.#world.touched(first);
    this.#caption.press(held[0] ?? null);
  }

  #swapLanguage() {
    this.#words.swap();
    this.#writeFixed();
    this.#show();
  }

  // Which cells the mover can play, for as long as somebody wants to see it.
  #showMoves(on) {
    body.toggleAttribute("data-moves", on);
    find("moves").ariaPressed = on;
    this.#caption.explain(on);
  }

  #setMarks(on, chosen) {
    body.toggleAttribute("data-marks", on);
    find("marks").ariaPressed = on;
    if (chosen) keep(MARKS, on);
    this.#show();
  }

  #writeFixed() {
    const say = (key) => this.#words.say(key);
    const { other } = this.#words;
    find("grid").ariaLabel = say("board");
    write(find("invitation"), say("invitation"));
    write(find("invitation-other"), this.#words.say("invitation", {}, other));
    write(find("moves"), say("moves"));
    write(find("marks"), say("marks"));
    write(find("lang"), this.#words.say("language", {}, other));
    find("invitation-other").lang = find("lang").lang = other;
    find("legend").replaceChildren(...MARKED.map((name) => legendEntry(name, say(`mark.${name}`))));
    this.#lessons.name(say);
    this.#panels.name();
    this.#world.show();
  }
}

const moved = (before, now) =>
  !before ||
  before.menu?.asked?.item !== now.menu?.asked?.item ||
  before.replay?.at !== now.replay?.at ||
  ["position", "phase", "last_action", "starter"].some((key) => before[key] !== now[key]);

function legendEntry(condition, text) {
  const [item, mark] = ["li", "i"].map((tag) => document.createElement(tag));
  write(item, text);
  mark.className = "mark";
  Object.assign(mark.dataset, { condition, owner: "" });
  item.prepend(mark);
  return item;
}

function hideRestingPointer() {
  let timer = 0;
  const moves = () => {
    body.removeAttribute("data-still");
    clearTimeout(timer);
    timer = setTimeout(() => body.setAttribute("data-still", ""), STILL_MS);
  };
  window.addEventListener("pointermove", moves);
  moves();
}

await new Page().start();

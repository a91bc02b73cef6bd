// The two rails: name, clock, pool, and whose turn it is.

import { otherSide } from "./game.js";
import { write } from "./words.js";

const SHORT_MS = 30000; // from here on the time left for the move is told

export class Rails {
  #words;
  #sentences;
  #sides;
  #view = null;
  #clocks = null;
  #told_at = 0;
  #answer_by = 0; // when what is asked is refused by silence
  #timer = 0;

  constructor(root, words, sentences) {
    this.#words = words;
    this.#sentences = sentences;
    this.#sides = ["a", "b"].map((side) => {
      const find = (name) => root.querySelector(`#${name}-${side}`);
      const parts = ["rail", "turn", "name", "clock", "pips", "bar", "pool", "score"].map((name) => [name, find(name)]);
      return { side, ...Object.fromEntries(parts) };
    });
  }

  /** Show a state. */
  show(view) {
    if (view !== this.#view) this.#take(view);
    this.#tick();
    this.#sides.forEach((parts) => this.#write(parts));
  }

  #take(view) {
    this.#view = view;
    this.#answer_by = performance.now() + (view.menu?.asked?.left_ms ?? 0);
    this.tell(view);
  }

  /** Set the clocks by `{clocks_ms, move_left_ms}`; between two tellings the mover's runs on by itself. */
  tell({ clocks_ms, move_left_ms }) {
    this.#clocks = { clocks_ms, move_left_ms };
    this.#told_at = performance.now();
    clearInterval(this.#timer);
    if (this.#view?.running || this.#view?.menu?.asked) this.#timer = setInterval(() => this.#tick(), 100);
    this.#tick();
  }

  /** The board is away: the clocks stand. */
  halt() {
    clearInterval(this.#timer);
  }

  #tick() {
    if (!this.#view) return;
    const gone_ms = this.#view.still ? 0 : performance.now() - this.#told_at;
    this.#sides.forEach((parts) => this.#tickSide(parts, this.#view.running === parts.side ? gone_ms : 0));
  }

  #tickSide({ side, clock, turn }, gone_ms) {
    const left_ms = this.#clocks.clocks_ms?.[side] ?? null;
    write(clock, left_ms === null ? "" : face(left_ms - gone_ms));
    write(turn, this.#turn(side, gone_ms));
  }

  #turn(side, gone_ms) {
    const { phase, result, running, menu } = this.#view;
    if (phase === "result") return result === "draw" ? this.#words.say("turn.draw") : "";
    if (menu?.asked?.by === otherSide(side)) return this.#answer();
    if (running !== side) return "";
    const move_ms = (this.#clocks.move_left_ms ?? Infinity) - gone_ms;
    return move_ms > SHORT_MS ? this.#words.say("turn") : this.#words.count("turn.short", seconds(move_ms));
  }

  #answer() {
    return this.#words.count("turn.answer", seconds(this.#answer_by - performance.now()));
  }

  #write({ side, rail, name, pips, bar, pool, score }) {
    const { phase, scene, to_move, result, starter, pools, neutralisations, total } = this.#view;
    const ahead = result ?? (phase === "lobby" ? starter : to_move);
    const won = scene !== "replay" && result === side;
    rail.toggleAttribute("data-active", ahead === side);
    rail.toggleAttribute("data-won", won);
    const named = this.#words.say(`side.${side}`);
    write(name, won ? this.#words.say("wins", { side: named }) : named);
    write(bar, this.#words.say(`bar.${side}`));
    write(score, this.#sentences.score(this.#view, side));
    drawPips(pips, pools[side], total, neutralisations[side]);
    const left = [this.#words.count("pool", pools[side]), this.#words.count("neutral", neutralisations[side])];
    pool.replaceChildren(...left.map((text) => Object.assign(document.createElement("span"), { textContent: text })));
  }
}

const seconds = (ms) => Math.max(0, Math.ceil(ms / 1000));

// Rounded up: a clock shows 0:00 only when there is nothing left.
function face(ms) {
  const left = seconds(ms);
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
}

function drawPips(box, pool, total, neutralisations) {
  const key = `${pool}/${total} ${neutralisations}`;
  if (box.dataset.drawn === key) return;
  box.dataset.drawn = key;
  const pips = Array.from({ length: total }, (_, at) => pip("pip", at >= pool));
  const most = Math.max(1, neutralisations);
  const diamonds = Array.from({ length: most }, (_, at) => pip("diamond", at >= neutralisations));
  box.replaceChildren(...pips, ...diamonds);
}

function pip(kind, spent) {
  const element = document.createElement("i");
  element.className = kind;
  element.toggleAttribute("data-spent", spent);
  return element;
}

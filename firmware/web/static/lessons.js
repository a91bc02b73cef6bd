// How to play, in six small pictures that play by themselves, one after the other; then the invitation changes places
// with its translation, and all words move a little, so that nothing burns into a screen that invites all day.

import { write } from "./words.js";

const LESSON_MS = 4200;
const DRIFT = [[0, 0], [3, 2], [5, -1], [2, -4], [-2, -3], [-4, 1]]; // pixels, a step a lesson

// Each picture: its cells at rest, as they are once the lesson is told. `touched` is the cell under the finger, `before`
// what lay there; a hold lasts, a tap does not; of a `line` each cell shines once.
const PICTURES = {
  light: { cells: ["b", "a", "", ""], touched: 1, before: "" },
  permute: { cells: ["a", "a", "", "b"], touched: 1, before: "b", hold: true },
  block: { cells: ["b", "", "A", "b"], touched: 2, before: "a", hold: true },
  neutralise: { cells: ["a", "*", "a", ""], touched: 1, before: "B", hold: true },
  pool: { pips: 7 },
  win: { cells: ["a", "a", "a", "a"], touched: 3, before: "", line: true },
};
export const LESSONS = Object.keys(PICTURES);
const LIGHTS = { a: ["a"], b: ["b"], A: ["a", "pale-a"], B: ["b", "pale-b"], "*": ["grey"], "": [] };

const make = (name, ...children) => {
  const element = document.createElement("i");
  element.className = name;
  element.append(...children);
  return element;
};

export class Lessons {
  #box;
  #drifting;
  #pictures = [];
  #step = -1;
  #timer = 0;

  /** `box` is a list that gets the pictures; the elements in `drifting` move a little with every lesson. */
  constructor(box, drifting) {
    this.#box = box;
    this.#drifting = drifting;
    for (const name of LESSONS) {
      const [item, words] = [document.createElement("li"), document.createElement("p")];
      const picture = makePicture(PICTURES[name]);
      item.append(picture.element, words);
      box.append(item);
      this.#pictures.push({ name, item, words, ...picture });
    }
  }

  /** Write the words under the pictures. */
  name(say) {
    for (const { name, words } of this.#pictures) write(words, say(`lesson.${name}`));
  }

  /** Play, or stand still. Who wants less motion has still pictures. */
  play(wanted) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (wanted === Boolean(this.#timer) || (wanted && still)) return;
    clearInterval(this.#timer);
    this.#timer = wanted ? setInterval(() => this.#next(), LESSON_MS) : 0;
    if (wanted) this.#next();
    else this.#rest();
  }

  #next() {
    this.#step += 1;
    const at = this.#step % LESSONS.length;
    this.#pictures.forEach(({ item }, place) => item.toggleAttribute("data-told", place === at));
    for (const { element, keyframes, timing } of this.#pictures[at].moves) element.animate(keyframes, timing);
    document.body.toggleAttribute("data-turned", Math.floor(this.#step / LESSONS.length) % 2 === 1);
    const [x, y] = DRIFT[at];
    for (const element of this.#drifting) element.style.translate = `${x}px ${y}px`;
  }

  #rest() {
    for (const { item, moves } of this.#pictures) {
      item.removeAttribute("data-told");
      for (const { element } of moves) element.getAnimations().forEach((animation) => animation.cancel());
    }
    for (const element of this.#drifting) element.style.translate = "";
  }
}

// -- pictures and what moves in them: opacity and size only, so that the compositor does it alone ------------------

function makePicture(picture) {
  return picture.pips ? makePips(picture.pips) : makeCells(picture);
}

function makeCells({ cells, touched, before, hold, line }) {
  const wells = cells.map((sign) => make("well", ...LIGHTS[sign].map((light) => make(`lamp ${light}`))));
  const element = make("picture", ...wells);
  element.ariaHidden = true;
  const was = LIGHTS[before].map((light) => make(`lamp ${light} was`));
  const finger = make("finger");
  const becomes = [...wells[touched].children];
  wells[touched].append(...was, finger);
  const kept = new Set(becomes.map(({ className }) => className.split(" ")[1]).filter((light) => LIGHTS[before].includes(light)));
  const done = hold ? 0.5 : 0.34;
  const fresh = becomes.filter(({ className }) => !kept.has(className.split(" ")[1]));
  const moves = [
    ...fresh.map((lamp) => move(lamp, "opacity", [[0, 0], [0.22, 0], [hold ? done : 0.26, hold ? 1 : 0.5], [done, 1], [1, 1]])),
    ...was.filter((lamp) => !kept.has(lamp.className.split(" ")[1]))
      .map((lamp) => move(lamp, "opacity", [[0, 1], [0.22, 1], [done, 0], [1, 0]])),
    move(finger, "opacity", [[0, 0], [0.12, 0], [0.2, 0.9], [done, 0.9], [done + 0.08, 0], [1, 0]]),
    move(finger, "scale", [[0, "1.5"], [0.12, "1.5"], [0.2, "1"], [done, hold ? "0.82" : "1"], [done + 0.08, "1.3"], [1, "1.3"]]),
    ...(line ? wells.map((well, at) => runAlong(well, 0.42 + at * 0.06)) : []),
  ];
  return { element, moves };
}

function runAlong(well, from) {
  const shine = make("lamp pale-a was");
  well.append(shine);
  return move(shine, "opacity", [[0, 0], [from, 0], [from + 0.07, 1], [from + 0.2, 0], [1, 0]]);
}

function makePips(count) {
  const pips = Array.from({ length: count }, () => make("pip", make("lamp a")));
  const element = make("picture", ...pips);
  element.ariaHidden = true;
  const moves = pips.map((pip, at) => {
    const gone = 0.16 + (count - at) * 0.08;
    return move(pip.firstChild, "opacity", [[0, 1], [gone, 1], [gone + 0.04, 0], [0.9, 0], [1, 1]]);
  });
  return { element, moves };
}

function move(element, property, steps) {
  const keyframes = steps.map(([offset, value]) => ({ offset, [property]: value, easing: "ease-in-out" }));
  return { element, keyframes, timing: { duration: LESSON_MS } };
}

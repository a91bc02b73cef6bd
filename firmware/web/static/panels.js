// The corner that is free in every phase: one panel at a time, or none. Help, a code for phones, the simulated world.

import { Gestures } from "./gestures.js";
import { write } from "./words.js";

const PANELS = { help: "gestures", "code-open": "code", "world-open": "world" };
// What may stand above a panel in its column, and how far away from it the panel keeps.
const ABOVE = ["rail-b", "invitation", "invitation-other", "caption"];
const APART_PX = 10;
// Where there is room for a code in the corner while nobody has opened another panel.
const ROOMY = ["(min-aspect-ratio: 1/1)", "(min-height: 1200px)"].map((query) => matchMedia(query));

export class Panels {
  #find;
  #words;
  #gestures;
  #open = null; // the button whose panel somebody has opened
  #before = null; // what was open before the operator's code
  #scene = "";
  #code = null; // which code there is now: of the rules, of the game that has just ended, or for the operator
  #shown = "";

  constructor(root, words) {
    this.#find = (id) => root.getElementById(id);
    this.#words = words;
    this.#gestures = new Gestures(this.#find("gestures-list"), this.#find("gestures-more"), words);
    for (const name of Object.keys(PANELS)) {
      this.#find(name).addEventListener("click", () => this.#choose(this.#open === name ? null : name));
    }
    // The board gives the operator's code to its own screen alone; elsewhere there is nothing to see.
    this.#find("code-picture").addEventListener("error", () => this.#code === "operator" && this.#choose(this.#before));
    const watch = new ResizeObserver(() => this.#fit());
    ["slab", ...ABOVE].forEach((id) => watch.observe(this.#find(id)));
    ROOMY.forEach((query) => query.addEventListener("change", () => this.#fill()));
    this.#choose(null);
  }

  #choose(name) {
    this.#open = name;
    document.body.dataset.panel = name ? PANELS[name] : "";
    for (const button of Object.keys(PANELS)) this.#find(button).ariaExpanded = button === name;
    if (name === "help") this.#gestures.open();
    this.#fill();
  }

  // Before and after a game a code stands in a corner that nobody uses; on a table it would have one reader only.
  #fill() {
    const free = ["attract", "result"].includes(this.#scene) && !document.body.hasAttribute("data-table");
    const code = free && ROOMY.some(({ matches }) => matches) ? "code" : "";
    document.body.dataset.corner = this.#open ? PANELS[this.#open] : code;
    this.#fit();
  }

  // Every panel stands on its foot; how high it may grow is for the page to say.
  #fit() {
    for (const id of Object.values(PANELS)) {
      const panel = this.#find(id);
      if (!panel.checkVisibility()) continue;
      const room_px = this.#room(panel);
      panel.style.setProperty("--room", `${room_px}px`);
      if (id === "gestures") this.#gestures.fit(room_px);
    }
  }

  #room(panel) {
    const box = panel.getBoundingClientRect();
    const above = ABOVE.map((id) => this.#find(id))
      .filter((element) => element.checkVisibility({ visibilityProperty: true }))
      .map((element) => element.getBoundingClientRect())
      .filter(({ left, right, top }) => left < box.right && box.left < right && top < box.bottom);
    return Math.floor(box.bottom - Math.max(0, ...above.map(({ bottom }) => bottom)) - APART_PX);
  }

  /** Show what belongs to a state: its gestures, the operator's code where that is asked for, a record, or the rules. */
  show({ scene, seq, masked, menu }) {
    this.#scene = scene;
    this.#gestures.tell(scene, masked);
    const code = menu?.code ? "operator" : scene === "result" ? "record" : "rules";
    const address = code === "rules" ? `/api/v1/qr/rules?lang=${this.#words.lang}` : `/api/v1/qr/${code}?after=${seq}`;
    if (code !== this.#code || (code === "rules" && address !== this.#shown)) this.#showCode(code, address);
    this.#fill();
  }

  #showCode(code, address) {
    if (code === "operator") this.#before = this.#open;
    if (code === "operator" || this.#code === "operator") this.#choose(code === "operator" ? "code-open" : this.#before);
    this.#code = code;
    this.#shown = address;
    this.#find("code-picture").src = address;
    this.name();
  }

  name() {
    const say = (key) => this.#words.say(key);
    const code = this.#code ?? "rules";
    write(this.#find("help"), say("help"));
    write(this.#find("code-open"), say(`code.${code}`));
    write(this.#find("code-words"), say(`code.${code}.told`));
    this.#find("code-picture").alt = say(`code.${code}.told`);
    write(this.#find("world-open"), say("drawer"));
    this.#gestures.name();
    this.#fit();
  }
}

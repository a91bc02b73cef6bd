// The corner that is free in every phase: one panel at a time, or none. Help, a code for phones, the simulated world.

import { write } from "./words.js";

const PANELS = { help: "gestures", "code-open": "code", "world-open": "world" };
const GESTURES = ["tap", "hold", "pools", "menu", "consent", "keys"];

export class Panels {
  #find;
  #words;
  #open = null; // the button whose panel shows
  #before = null; // what was open before the operator's code
  #code = null; // which code there is now: of the rules, of the game that has just ended, or for the operator
  #shown = "";

  constructor(root, words) {
    this.#find = (id) => root.getElementById(id);
    this.#words = words;
    for (const name of Object.keys(PANELS)) {
      this.#find(name).addEventListener("click", () => this.#choose(this.#open === name ? null : name));
    }
    // The board gives the operator's code to its own screen alone; elsewhere there is nothing to see.
    this.#find("code-picture").addEventListener("error", () => this.#code === "operator" && this.#choose(this.#before));
    this.#choose(null);
  }

  #choose(name) {
    this.#open = name;
    document.body.dataset.panel = name ? PANELS[name] : "";
    for (const button of Object.keys(PANELS)) this.#find(button).ariaExpanded = button === name;
  }

  /** Show what belongs to a state: while it is asked for the operator's code, after a game its record, else the rules. */
  show({ scene, seq, menu }) {
    const code = menu?.code ? "operator" : scene === "result" ? "record" : "rules";
    const address = code === "rules" ? `/api/v1/qr/rules?lang=${this.#words.lang}` : `/api/v1/qr/${code}?after=${seq}`;
    if (code === this.#code && (code !== "rules" || address === this.#shown)) return;
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
    this.#find("gestures").replaceChildren(...GESTURES.map((name) => {
      const item = document.createElement("li");
      write(item, say(`gesture.${name}`));
      return item;
    }));
  }
}

// The corner that is free in every phase: one panel at a time, or none. Help, a code for phones, the simulated world.

import { write } from "./words.js";

const PANELS = { help: "gestures", "code-open": "code", "world-open": "world" };
const GESTURES = ["tap", "hold", "pools", "menu", "consent", "keys"];

export class Panels {
  #find;
  #words;
  #open = null; // the button whose panel shows
  #code = null; // which code there is now: of the rules, or of the game that has just ended
  #shown = "";

  constructor(root, words) {
    this.#find = (id) => root.getElementById(id);
    this.#words = words;
    for (const name of Object.keys(PANELS)) {
      this.#find(name).addEventListener("click", () => this.#choose(this.#open === name ? null : name));
    }
    this.#choose(null);
  }

  #choose(name) {
    this.#open = name;
    document.body.dataset.panel = name ? PANELS[name] : "";
    for (const button of Object.keys(PANELS)) this.#find(button).ariaExpanded = button === name;
  }

  /** Show what belongs to a state: after a game its record, else the rules. */
  show({ scene, seq }) {
    const code = scene === "result" ? "record" : "rules";
    const address = code === "record" ? `/api/v1/qr/record?after=${seq}` : `/api/v1/qr/rules?lang=${this.#words.lang}`;
    if (code === this.#code && (code === "record" || address === this.#shown)) return;
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

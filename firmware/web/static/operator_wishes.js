// What is set on the board: each row shows what counts now; a change is sent at once.

import { write } from "./words.js";

const BRIGHTNESS_PCT = [100, 60, 35, 20, 10];
const VOLUME_PCT = [100, 50, 25, 0];
const TOTAL_S = [900, 600, 300, 0];
const MOVE_S = [120, 60, 0];
const NIGHT = ["22:00", "08:00"];

export class Wishes {
  #words;
  #find;
  #send;
  #shown = "";

  /** `send(changes)` is called with what was changed. */
  constructor(root, words, send) {
    this.#find = (id) => root.getElementById(id);
    this.#words = words;
    this.#send = send;
  }

  /** Draw anew only where something is different: whoever has a list open keeps it. */
  show({ settings }) {
    const shown = JSON.stringify([settings, this.#words.lang]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#find("settings").replaceChildren(...this.#rows(settings).flat());
    write(this.#find("hour"), settings.quiet && !settings.clock_set ? this.#words.say("op.hour") : "");
  }

  #rows(settings) {
    const say = (key, values) => this.#words.say(key, values);
    const minutes = (s) => (s ? this.#words.count("op.minutes", s / 60) : say("op.none"));
    const percent = (value) => say("op.percent", { n: value });
    const rows = [
      this.#list("total_s", settings.total_s, TOTAL_S, minutes),
      this.#list("move_s", settings.move_s, MOVE_S, minutes),
      this.#list("rules", settings.rules, ["standard", "lite"], (name) => say(`op.rules.${name}`)),
      this.#list("series", settings.series, [1, 3, 5], (n) => say(`op.series.${n}`)),
      this.#list("brightness_pct", settings.brightness_pct, BRIGHTNESS_PCT, percent),
      this.#list("language", settings.language, ["fr", "en", null], (name) => say(`op.language.${name}`)),
      this.#tick("marks", settings.marks),
      this.#night(settings.quiet),
    ];
    if (settings.volume_pct !== null) rows.push(this.#list("volume_pct", settings.volume_pct, VOLUME_PCT, percent));
    return rows;
  }

  #named(name, control) {
    const label = document.createElement("label");
    write(label, this.#words.say(`op.set.${name}`));
    label.htmlFor = control.id = `set-${name}`;
    return label;
  }

  /** A list to choose from; a value that it does not hold stands first. */
  #list(name, value, values, tell) {
    const list = document.createElement("select");
    const choices = values.includes(value) ? values : [value, ...values];
    list.append(...choices.map((each) => new Option(tell(each), JSON.stringify(each), false, each === value)));
    list.addEventListener("change", () => this.#send({ [name]: JSON.parse(list.value) }));
    return [this.#named(name, list), list];
  }

  #tick(name, value) {
    const box = document.createElement("input");
    Object.assign(box, { type: "checkbox", checked: value });
    box.addEventListener("change", () => this.#send({ [name]: box.checked }));
    const cell = document.createElement("span");
    cell.append(box);
    return [this.#named(name, box), cell];
  }

  /** Quiet hours: whether there are any, and from when to when. */
  #night(value) {
    const box = document.createElement("input");
    Object.assign(box, { type: "checkbox", checked: value !== "" });
    const times = (value ? value.split("-") : NIGHT).map((time, at) => {
      const input = document.createElement("input");
      Object.assign(input, { type: "time", value: time, hidden: value === "" });
      input.ariaLabel = this.#words.say(at ? "op.quiet.to" : "op.quiet.from");
      return input;
    });
    const send = () => {
      const [from, to] = times.map((input) => input.value);
      if (from && to) this.#send({ quiet: box.checked ? `${from}-${to}` : "" });
    };
    for (const input of [box, ...times]) input.addEventListener("change", send);
    const cell = document.createElement("span");
    cell.append(box, ...times);
    return [this.#named("quiet", box), cell];
  }
}

// The operator's page: how the board is, and what may be done about it. Everything asked of it carries the token.

import { Board } from "./operator_board.js";
import { Cells } from "./operator_cells.js";
import { Wishes } from "./operator_wishes.js";
import { Words, write } from "./words.js";

const LOOK_MS = 2000;
const SURE_MS = 4000; // what cannot be undone is pressed twice within this time
const LINE = 240; // characters of a line of the log
const FIGURES = ["light", "bounce", "current", "sags", "warmth", "lost", "games", "phase"];

const get = (id) => document.getElementById(id);
const { body } = document;

class Desk {
  #words = new Words();
  #board = new Board();
  #cells = new Cells(document, this.#words, (command) => this.#do(command));
  #wishes = new Wishes(document, this.#words, (changes) => this.#do({ do: "settings", ...changes }));
  #status = null;
  #sure = null; // the key that waits for its second press
  #timer = 0;

  async start() {
    await this.#words.load();
    get("gate").addEventListener("submit", (event) => this.#enter(event));
    get("lang").addEventListener("click", () => this.#swap());
    get("log-key").addEventListener("click", () => this.#toggleLog());
    get("clean").addEventListener("click", () => this.#do({ do: "clean" }));
    get("play").addEventListener("click", () => this.#do({ do: this.#runs ? "pause" : "resume" }));
    get("end").addEventListener("click", () => this.#twice("end"));
    get("restart").addEventListener("click", () => this.#twice("restart"));
    get("report").addEventListener("click", () => this.#save());
    document.addEventListener("visibilitychange", () => document.hidden || this.#look());
    this.#name();
    await this.#look();
  }

  get #runs() {
    return this.#status.phase === "play" || this.#status.phase === "menu";
  }

  // -- looking ---------------------------------------------------------------------------------------------------

  async #look() {
    clearTimeout(this.#timer);
    if (this.#board.token) await this.#ask(() => this.#board.status(), (status) => this.#show(status));
    else this.#bar("");
    if (body.dataset.view === "desk" && !document.hidden) this.#timer = setTimeout(() => this.#look(), LOOK_MS);
  }

  async #ask(call, use) {
    let answer = null;
    try {
      answer = await call();
    } catch (error) {
      if (error.status === 401) this.#bar("op.wrong");
      else if (error.status === 429 && body.dataset.view !== "desk") this.#bar("op.wait");
      else if (error.status) this.#tell(this.#refusal(error.code));
      else this.#away();
      return;
    }
    body.removeAttribute("data-away");
    use(answer);
  }

  #away() {
    body.toggleAttribute("data-away", true);
    if (body.dataset.view === "opening") body.dataset.view = "desk";
    write(get("sentence"), this.#words.say("away"));
    write(get("wants"), this.#words.say("away.next"));
  }

  #bar(why) {
    if (why) this.#board.forget();
    body.dataset.view = "gate";
    write(get("sentence"), this.#words.say("op.closed"));
    write(get("wants"), why ? this.#words.say(why) : "");
  }

  async #enter(event) {
    event.preventDefault();
    this.#board.keep(get("token").value.trim());
    get("token").value = "";
    await this.#look();
  }

  #show(status) {
    this.#status = status;
    body.dataset.view = "desk";
    const [sentence, wants] = this.#health(status);
    write(get("sentence"), sentence);
    write(get("wants"), wants);
    this.#cells.show(status);
    this.#wishes.show(status);
    this.#showFigures(status);
    this.#showKeys(status);
    const { board: name, version } = status;
    const board = this.#words.has(`op.board.${name}`) ? this.#words.say(`op.board.${name}`) : name; // else its owner's
    write(get("about"), this.#words.say("op.about", { board, version }));
  }

  #health({ failing, parts, worn, masked, cleans_ms, safe }) {
    const say = (key, values) => this.#words.say(key, values);
    if (cleans_ms !== null) return [say("op.cleaning"), this.#words.count("op.cleans", Math.ceil(cleans_ms / 1000))];
    if (safe) return [say("op.needs"), say("part.start", { text: safe.text })];
    if (failing.length) {
      const told = failing.map((name) => {
        const { text } = parts[name];
        if (name === "cells") return say("part.cells.none");
        return this.#words.has(`part.${name}`) ? say(`part.${name}`, { text }) : say("part.other", { name, text });
      });
      return [say("op.needs"), told.join("\n")];
    }
    const more = [];
    if (worn.length) more.push(this.#words.count("op.worn", worn.length, { cells: worn.join(", ") }));
    if (masked.length) more.push(this.#words.count("op.out", masked.length, { cells: masked.join(", ") }));
    return [say("op.well"), more.join("\n")];
  }

  #showFigures(status) {
    const told = Object.entries(this.#figures(status)).filter(([, value]) => value !== null);
    get("figures").replaceChildren(...told.flatMap(([name, value]) => {
      const [term, text] = ["dt", "dd"].map((tag) => document.createElement(tag));
      write(term, this.#words.say(`op.figure.${name}`));
      write(text, value);
      return [term, text];
    }));
  }

  #figures({ figures, phase, game, cells, worn }) {
    const say = (key, values) => this.#words.say(key, values);
    const ms = (us) => this.#words.number(us / 1000, us > 0 && us < 10_000 ? 1 : 0);
    const amps = (ma) => this.#words.number(ma / 1000, 1);
    const worst = cells.find(({ cell }) => cell === worn[0]);
    const known = (value, tell) => (value === null ? null : tell());
    return Object.fromEntries(FIGURES.map((name) => [name, {
      light: figures.light_p50_us ? say("op.light", { ms: ms(figures.light_p50_us), worst: ms(figures.light_p99_us) }) : null,
      bounce: worst
        ? say("op.bounce.worst", { cell: worst.cell, ms: ms(worst.bounce_us), others: ms(figures.bounce_us) })
        : figures.touches ? say("op.bounce", { ms: ms(figures.bounce_us) }) : null,
      current: known(figures.current_ma, () => say("op.current", { now: amps(figures.current_ma), most: amps(figures.budget_ma) })),
      sags: known(figures.sags, () => this.#words.count("op.sags", figures.sags)),
      warmth: known(figures.temperature_c, () => say("op.warmth", { degrees: this.#words.number(figures.temperature_c, 0) })),
      lost: this.#words.count("op.lost", figures.lost_touches),
      games: String(figures.games),
      phase: say(`op.phase.${phase}`, { game: game ?? "" }),
    }[name]]));
  }

  // -- doing -----------------------------------------------------------------------------------------------------

  #showKeys({ phase, game, cleans_ms }) {
    const running = this.#runs;
    write(get("play"), this.#words.say(running ? "op.pause" : "op.resume"));
    get("play").disabled = cleans_ms !== null || !(running || (game !== null && ["paused", "attract"].includes(phase)));
    get("clean").disabled = cleans_ms !== null || phase === "safe";
    get("end").disabled = phase === "safe" || (phase === "attract" && game === null);
  }

  async #do(command) {
    await this.#ask(() => this.#board.command(command), () => this.#tell(this.#words.say(`op.done.${command.do}`)));
    await this.#look();
  }

  async #twice(name) {
    if (this.#sure === name) {
      this.#doubt();
      await this.#do({ do: name });
      return;
    }
    this.#doubt();
    this.#sure = name;
    get(name).toggleAttribute("data-sure", true);
    write(get(name), this.#words.say("op.sure"));
    setTimeout(() => this.#doubt(name), SURE_MS);
  }

  #doubt(name = this.#sure) {
    if (name === null || name !== this.#sure) return;
    this.#sure = null;
    get(name).removeAttribute("data-sure");
    write(get(name), this.#words.say(`op.key.${name}`));
  }

  async #save() {
    this.#tell(this.#words.say("op.reporting"));
    await this.#ask(() => this.#board.report(), (blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = "morbak-report.zip";
      link.click();
      URL.revokeObjectURL(link.href);
      this.#tell(this.#words.say("op.reported"));
    });
  }

  async #toggleLog() {
    const open = get("log-key").ariaExpanded !== "true";
    get("log-key").ariaExpanded = open;
    get("log").toggleAttribute("data-open", open);
    write(get("log-key"), this.#words.say(open ? "op.log.hide" : "op.log.show"));
    if (open) await this.#ask(() => this.#board.logs(), ({ lines }) => this.#showLog(lines));
  }

  #showLog(lines) {
    get("log").replaceChildren(...lines.reverse().map(({ at, level, text }) => {
      const item = document.createElement("li");
      const line = text.replace(/ stack=".*/, ""); // the report has all of it
      const short = line.length > LINE ? `${line.slice(0, LINE)}…` : line;
      item.textContent = `${at.slice(0, 19).replace("T", " ")}  ${short}`;
      item.dataset.level = level;
      return item;
    }));
  }

  #refusal(code) {
    return this.#words.say(this.#words.has(`op.refused.${code}`) ? `op.refused.${code}` : "op.refused.other");
  }

  #tell(text) {
    write(get("told"), text);
  }

  // -- words -----------------------------------------------------------------------------------------------------

  #swap() {
    this.#words.swap();
    this.#name();
    if (this.#status) this.#show(this.#status);
    else if (body.dataset.view === "gate") this.#bar("");
  }

  #name() {
    const say = (key) => this.#words.say(key);
    for (const name of ["cells", "now", "wishes", "past"]) write(get(`${name}-name`), say(`op.title.${name}`));
    for (const name of ["clean", "end", "report", "restart"]) write(get(name), say(`op.key.${name}`));
    document.title = say("op.page");
    write(get("gate-words"), say("op.token"));
    write(get("gate-key"), say("op.enter"));
    write(get("gate-hint"), say("op.where"));
    write(get("legend"), say("op.legend"));
    write(get("log-key"), say(get("log-key").ariaExpanded === "true" ? "op.log.hide" : "op.log.show"));
    write(get("lang"), this.#words.say("language", {}, this.#words.other));
    get("lang").lang = this.#words.other;
    this.#tell("");
  }
}

await new Desk().start();

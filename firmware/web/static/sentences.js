// A state in words: what happened, what a touch would do, why one was refused. Each function gives one sentence.

import { cellName, cellNumber, condition, owner, otherSide, readAction } from "./game.js";
import { cheapest, detour, isOneLine, meaning, menuCorners, nextStarter, placeOf, roleOf } from "./game.js";
import { plain } from "./words.js";

const NOT_NEEDED = ["leds", "journal", "buttons", "sound"]; // parts without which play goes on as it was
const NAMED = 4; // more cells than that are counted

export class Sentences {
  #words;

  constructor(words) {
    this.#words = words;
  }

  #side(side) {
    return this.#words.say(`side.${side}`);
  }

  /** What has just happened, or what is going on. */
  past(view) {
    const { phase, scene, starter, menu, replay } = view;
    if (replay) return this.#words.say("replay", replay);
    if (phase === "lobby" && !starter) return this.#words.say("lobby.lot");
    if (phase === "lobby") return this.#words.say("lobby.starter", { side: this.#side(starter) });
    if (phase === "result") return this.#match(view) || this.#end(view);
    if (phase === "play") return this.#last(view);
    if (menu?.asked) return this.#words.say(`asked.${menu.asked.item}`, { side: this.#side(menu.asked.by) });
    if (menu?.cursor) return this.#words.say("cursor.at", { cell: menu.cursor });
    return this.#words.say(`phase.${scene}`);
  }

  // How a match of several games has ended, if it has.
  #match({ match }) {
    if (!match?.over || match.series === 1) return "";
    const { a, b } = match.score;
    if (a === b) return this.#words.say("match.even");
    const [won, lost] = [points(Math.max(a, b)), points(Math.min(a, b))];
    return this.#words.say("match.won", { side: this.#side(a > b ? "a" : "b"), won, lost });
  }

  /** What a side has won of a match; empty for a single game. */
  score({ match }, side) {
    if (!match || match.series === 1) return "";
    const won = match.score[side];
    return this.#words.count("score", won, { points: points(won), best: match.series });
  }

  #last(view) {
    const { last_action, to_move, starter } = view;
    if (last_action === null) return this.#words.say("past.start", { side: this.#side(starter ?? to_move) });
    const { kind, cell } = readAction(last_action);
    const side = this.#side(otherSide(to_move));
    if (kind === "pass") return this.#words.say(`past.pass.${view.missed ?? "untold"}`, { side });
    return this.#words.say(`past.${kind}`, { side, cell: cellName(cell) });
  }

  #end({ result, reason, line }) {
    if (reason === "line") return this.#line(line);
    if (reason === "stalemate" || reason === "agreement") return this.#words.say(`end.${reason}`);
    return this.#words.say(`end.${reason}`, { side: this.#side(otherSide(result)) });
  }

  #line(names) {
    if (!isOneLine(names)) return this.#words.say("end.lines");
    const [first, last] = [names[0], names.at(-1)];
    return this.#words.say(`end.line.${names.length}`, { first, last });
  }

  /** What can be done now, where no cell is pointed at. */
  next(view) {
    const { scene, menu, match, masked, cleans_ms } = view;
    if (cleans_ms != null) return ""; // a board that is wiped feels nothing
    if (menu?.asked) return this.#words.say("next.asked");
    if (scene === "result" && match?.over && match.series > 1) return this.#words.say("next.match");
    if (scene === "result") return this.#words.say("next.result", { side: this.#side(nextStarter(view)) });
    if (!["lobby", "paused", "menu", "options", "replay"].includes(scene)) return "";
    return this.#words.say(`next.${scene}`, corners(masked));
  }

  /** What the signs of where the mover can play mean; empty where there are none. */
  signs({ scene }) {
    return scene === "play" ? this.#words.say("moves.signs") : "";
  }

  /** That a game nobody touches is put aside soon, `left_ms` from now. */
  parks(left_ms) {
    return this.#words.count("next.parks", Math.max(0, Math.ceil(left_ms / 1000)));
  }

  /** What a touch of a cell would do, and its cost; empty where it would do nothing. */
  touch(view, cell) {
    if (view.scene === "play") return this.#touchInPlay(view, cell);
    const place = placeOf(view, cell);
    return place ? this.#touchInMenu(view, place) : "";
  }

  #touchInMenu(view, place) {
    const role = roleOf(view, place);
    if (role !== "item") return this.#words.say(`menu.${role}`);
    if (place.on && view.scene === "options") return this.#words.say("chosen", { item: this.#item(view, place) });
    if (place.item === "cursor" && view.menu.cursor) return this.#atCursor(view, place);
    const other = this.#side(otherSide(place.side));
    if (this.#words.has(`choose.${place.item}`)) return this.#words.say(`choose.${place.item}`, { other });
    return this.#words.say("choose.other", { item: this.#words.say(`item.${place.item}`) });
  }

  // Only the mover plays the cell at the cursor.
  #atCursor({ menu, to_move }, { side }) {
    if (side !== to_move) return this.#words.say("cursor.next");
    return this.#words.say("cursor.play", { cell: menu.cursor });
  }

  #touchInPlay(view, cell) {
    const { action, refusal } = meaning(view, cell);
    if (view.masked.includes(cellName(cell))) return this.refusal(view, { code: "masked", cell: cellName(cell) });
    if (refusal) return this.refusal(view, { code: refusal, cell: cellName(cell) });
    const left = action === "neutralise" ? view.neutralisations[view.to_move] : view.pools[view.to_move];
    return this.#words.say(`touch.${action}`, { left, total: view.total });
  }

  /** Why a touch was refused, and what would be allowed. */
  refusal(view, { code, cell }) {
    if (code === "masked") return this.#masked(view, cell);
    const kind = placeOf(view, cellNumber(cell))?.item ?? view.actions.get(cellNumber(cell)) ?? "permute";
    const verb = this.#words.say(`verb.${kind}`);
    return this.#words.say(`refusal.${code}`, { cell, verb, instead: this.#instead(view) });
  }

  // How a cell that cannot be touched is played.
  #masked({ masked }, cell) {
    const pair = detour(masked, cell);
    if (!pair) return this.#words.say("refusal.masked.edge", { cell });
    return this.#words.say("refusal.masked", { cell, one: pair[0], two: pair[1] });
  }

  #instead(view) {
    const kind = cheapest(view) ?? "light";
    return this.#words.say(`instead.${kind}`, { other: this.#words.say(`colour.${otherSide(view.to_move ?? "a")}`) });
  }

  /** The word that is written on a cell of an open menu; empty elsewhere. */
  word(view, cell) {
    const place = placeOf(view, cell);
    return place ? this.#item(view, place) : "";
  }

  #item({ chosen }, { item }) {
    if (item === "brightness" && chosen?.brightness_pct) return this.#words.say("level", { n: chosen.brightness_pct });
    return this.#words.say(`item.${item}`);
  }

  /** One cell for a screen reader. */
  cell(view, cell, touchable) {
    const what = view.menu ? this.#menuCell(view, cell) : this.#cell(view, cell);
    if (!view.menu && view.masked.includes(cellName(cell))) return this.#outOfUse(view, cell, what);
    const touch = touchable ? plain(this.touch(view, cell)) : "";
    return touch ? `${what} ${touch}.` : what;
  }

  #outOfUse(view, cell, what) {
    const played = view.scene === "play" ? plain(this.#masked(view, cellName(cell))) : this.#words.say("cell.out");
    return `${what} ${played}.`;
  }

  #menuCell(view, cell) {
    const place = placeOf(view, cell);
    if (!place) return this.#words.say("cell.dark", { cell: cellName(cell) });
    const item = this.word(view, cell).replace(/\.$/, "");
    return this.#words.say("cell.item", { cell: cellName(cell), side: this.#side(place.side), item });
  }

  #cell(view, cell) {
    const sign = view.cells[cell];
    const side = owner(sign);
    const colour = side ? this.#words.say(`colour.${side}`) : "";
    return this.#words.say(`cell.${condition(sign)}`, { cell: cellName(cell), colour });
  }

  /** What a screen reader says of a change. */
  live(view) {
    return plain([this.#winner(view), this.past(view), this.#turn(view), this.next(view)].filter(Boolean).join(" "));
  }

  #winner({ phase, result }) {
    return phase === "result" && result !== "draw" ? `${this.#words.say("wins", { side: this.#side(result) })}.` : "";
  }

  #turn({ phase, to_move: mover }) {
    return phase === "play" ? this.#words.say("live.turn", { side: this.#side(mover) }) : "";
  }

  /** The parts that fail, a sentence each, and what follows for those who play; empty when all is well. */
  health({ health: { ok, parts }, masked, scene }) {
    if (ok) return "";
    const failed = Object.entries(parts).filter(([, part]) => !part.ok);
    const told = failed.map(([name, { text }]) => (name === "cells" ? this.#cells(masked) : this.#part(name, text)));
    const goes_on = failed.every(([name]) => NOT_NEEDED.includes(name)) ? this.#words.say("goes_on") : "";
    const played = masked.length && parts.matrix?.ok !== false && ["play", "paused"].includes(scene);
    const detours = played ? this.#detours(masked) : "";
    return [...told, goes_on, detours].filter(Boolean).join(" ");
  }

  #cells(masked) {
    const cells = masked.join(", ");
    if (masked.length > NAMED) return this.#words.say("part.cells.many", { n: masked.length });
    return this.#words.count("part.cells", masked.length, { cells });
  }

  #detours(masked) {
    if (masked.length > 1) return this.#words.say("detour.several");
    const pair = detour(masked, masked[0]);
    return pair ? this.#words.say("detour.pair", { one: pair[0], two: pair[1] }) : this.#words.say("detour.cursor");
  }

  #part(name, text) {
    if (this.#words.has(`part.${name}`)) return this.#words.say(`part.${name}`, { text });
    return this.#words.say("part.other", { name, text });
  }
}

/** The corners that open the menu, as sentences want them. */
export function corners(masked) {
  const [one, two] = menuCorners(masked);
  return { one, two };
}

const HALF = "½";

// Points of a match in whole games and halves.
function points(n) {
  const whole = Math.floor(n);
  return n === whole ? String(n) : `${whole || ""}${HALF}`;
}

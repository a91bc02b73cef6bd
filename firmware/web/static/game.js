// What a state says, read once: pure, no page and no words. Cells are numbered row-major from a1.

export const ROWS = 7;
export const COLUMNS = 7;
export const CELLS = ROWS * COLUMNS;

const KINDS = { "": "light", x: "permute", "#": "block", "!": "neutralise" };
const OWNERS = { a: "a", A: "a", x: "a", b: "b", B: "b", y: "b" };
const SCARCE = ["permute", "block", "neutralise"];
const CONDITIONS = { a: "lit", b: "lit", A: "blocked", B: "blocked", x: "permuted", y: "permuted", "*": "neutralised" };

export const cellName = (cell) => "abcdefg"[cell % COLUMNS] + (Math.floor(cell / COLUMNS) + 1);
export const cellNumber = (name) => name.charCodeAt(0) - 97 + COLUMNS * (Number(name[1]) - 1);
export const otherSide = (side) => (side === "a" ? "b" : "a");
export const owner = (sign) => OWNERS[sign] ?? null;
export const condition = (sign) => CONDITIONS[sign] ?? "empty";

/** The 49 signs of a position text in cell order; the text has its rows from 7 down to 1. */
export function readCells(position) {
  return position.split(" ", 1)[0].split("/").reverse().join("").split("");
}

/** An action text as its kind and cell: `xd4` is a permutation of d4, `--` a pass. */
export function readAction(text) {
  if (text === "--") return { kind: "pass", cell: -1 };
  return { kind: KINDS[text.slice(0, -2)], cell: cellNumber(text.slice(-2)) };
}

/**
 * The state and what follows: its `scene` (the phase, `options` or `replay`), `cells`, `actions` (kind by cell), `total`
 * of a pool, how a turn was `missed`, and the side whose clock is `running`.
 */
export function readState(state, before) {
  const cells = readCells(state.replay?.position ?? state.position);
  const scene = sceneOf(state);
  const actions = new Map(state.legal.map(readAction).map(({ kind, cell }) => [cell, kind]));
  const [total, missed] = [poolTotal(state, cells), missedTurn(state, before)];
  return { ...state, scene, cells, actions, total, missed, running: runningSide(state) };
}

function sceneOf({ phase, menu, replay }) {
  if (replay) return "replay";
  return phase === "menu" && menu?.kind === "options" ? "options" : phase;
}

// An open menu offers a pause only where the clock runs on beneath it.
function runningSide({ phase, to_move, menu }) {
  const open = menu && Object.values(menu.cells).some(({ item }) => item === "pause");
  return phase === "play" || open ? to_move : null;
}

// Both pools start alike, and every action paid for is still on the board: a cell permuted, blocked or neutralised
// since. So the number they started with need not be told.
function poolTotal({ pools }, cells) {
  const paid = cells.filter((sign) => ["blocked", "permuted", "neutralised"].includes(condition(sign))).length;
  return Math.max(Math.ceil((pools.a + pools.b + paid) / 2), pools.a, pools.b);
}

// A forced pass is played by the board at once, so the mover comes back; a time-out hands the turn over.
function missedTurn(state, before) {
  if (state.last_action !== "--" || !before) return null;
  if (before.position === state.position) return before.missed;
  if (before.phase !== "play") return before.phase === "menu" && state.phase !== "play" ? "timeout" : null;
  return before.to_move === state.to_move || before.actions.has(-1) ? "forced" : "timeout";
}

/** What a touch of the mover on a cell means: `{ action }`, or `{ refusal }` with the code of the rule. */
export function meaning(view, cell) {
  const action = view.actions.get(cell);
  return action ? { action } : { refusal: refusalCode(view, view.cells[cell]) };
}

function refusalCode({ to_move: mover, pools }, sign) {
  const what = condition(sign);
  if (what === "neutralised") return "neutralised";
  if (owner(sign) !== mover) return what === "lit" ? "no_pool" : "no_neutralisation";
  if (what === "lit") return pools[mover] > 0 ? "block_off" : "no_pool";
  return what === "permuted" ? "own_permuted" : "own_blocked";
}

/** What an open menu has on a cell, `{side, item, on}`; null where it has nothing, or none is open. */
export const placeOf = ({ menu }, cell) => menu?.cells[cellName(cell)] ?? null;

/** What a place of an open menu is now: an `item` to choose, one that `asks` or `answers`, or `waits` for an answer. */
export function roleOf({ menu: { asked } }, { side, item }) {
  if (!asked) return "item";
  if (asked.item !== item) return "waits";
  return asked.by === side ? "asks" : "answers";
}

/** The side whose hold on a cell would act; null where none would. */
export function holdSide(view, cell) {
  if (view.phase === "play") return SCARCE.includes(view.actions.get(cell)) ? view.to_move : null;
  const place = placeOf(view, cell);
  if (!place) return null;
  const role = roleOf(view, place);
  return role === "answers" || (role === "item" && place.item === "resign") ? place.side : null;
}

/** The kind of action to offer instead of a refused one: the cheapest there is. */
export function cheapest(view) {
  const kinds = new Set(view.actions.values());
  return ["light", "permute", "block", "neutralise"].find((kind) => kinds.has(kind)) ?? null;
}

/** Whether cells (by name) are one straight run, so that its two ends name it. */
export function isOneLine(names) {
  const cells = names.map(cellNumber).sort((one, two) => one - two);
  const [first, second] = cells;
  const step = second - first;
  const even = cells.every((cell, at) => cell === first + at * step);
  return even && cells.length <= COLUMNS && [1, COLUMNS - 1, COLUMNS, COLUMNS + 1].includes(step);
}

/** Who starts the game after this one: the loser, or after a draw the side that did not start. */
export function nextStarter({ result, starter }) {
  return otherSide(result === "draw" ? starter : result);
}

// What a state says, read once: pure, no page and no words. Cells are numbered row-major from a1.

export const ROWS = 7;
export const COLUMNS = 7;
export const CELLS = ROWS * COLUMNS;

const KINDS = { "": "light", x: "permute", "#": "block", "!": "neutralise" };
const OWNERS = { a: "a", A: "a", x: "a", b: "b", B: "b", y: "b" };
const SCARCE = ["permute", "block", "neutralise"];
const HELD = ["resign", "operator"]; // items of the menu that want a hold
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
 * of a pool, how a turn was `missed`, the side whose clock is `running`, and whether all clocks stand `still`, because
 * nothing is known of the contacts.
 */
export function readState(state, before) {
  const cells = readCells(state.replay?.position ?? state.position);
  const scene = sceneOf(state);
  const actions = new Map(state.legal.map(readAction).map(({ kind, cell }) => [cell, kind]));
  const [total, missed] = [poolTotal(state, cells), missedTurn(state, before)];
  const still = ["matrix", "link"].some((part) => state.health.parts[part]?.ok === false);
  return { ...state, scene, cells, actions, total, missed, still, running: runningSide(state), masked: state.masked ?? [] };
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

/** Whether a cell of the mover can be played by a `tap` or a `hold` now; empty where it cannot. */
export function moveOn({ scene, actions }, cell) {
  if (scene !== "play" || !actions.has(cell)) return "";
  return SCARCE.includes(actions.get(cell)) ? "hold" : "tap";
}

/** The two corners (by name) that open the menu: the others where one of them is out of use. */
export function menuCorners(masked) {
  const out = (names) => names.some((name) => masked.includes(name));
  return out(["a1", "g7"]) && !out(["a7", "g1"]) ? ["a7", "g1"] : ["a1", "g7"];
}

/**
 * The two edge cells (by name) that together play a cell which is out of use, one of its row and one of its column;
 * null for a cell on the edge, and where all of one kind are out of use themselves.
 */
export function detour(masked, name) {
  const [column, row] = name;
  if ("ag".includes(column) || "17".includes(row)) return null;
  const inUse = (names) => names.find((edge) => !masked.includes(edge));
  const pair = [inUse([`a${row}`, `g${row}`]), inUse([`${column}1`, `${column}7`])];
  return pair.every(Boolean) ? pair : null;
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
  const plays = place.item === "cursor" && view.menu.cursor && place.side === view.to_move;
  return role === "answers" || (role === "item" && (HELD.includes(place.item) || plays)) ? place.side : null;
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

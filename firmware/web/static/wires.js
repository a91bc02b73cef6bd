// The board as the page has it: what it says and what it is told. The worker behind paints its light.

const LESS_MOTION = "(prefers-reduced-motion: reduce)";

export class Wires {
  #worker = new Worker("/static/worker.js", { type: "module" });

  /** `on` has `hello`, `state`, `clocks` and `signs` for what arrives, and `away` for a lost link. */
  constructor(on) {
    this.#worker.onmessage = ({ data }) => Object.entries(data).forEach(([kind, value]) => on[kind](value));
    this.#worker.onerror = (error) => console.error(`the worker failed: ${error.message}`);
    document.addEventListener("visibilitychange", () => document.hidden || this.#order({ hurry: true }));
    matchMedia(LESS_MOTION).addEventListener("change", ({ matches }) => this.#order({ calm: matches }));
  }

  /** Open the link; the two canvases are the worker's from now on. */
  open({ light, halo }) {
    const canvases = { light: light.transferControlToOffscreen(), halo: halo.transferControlToOffscreen() };
    this.#order({ calm: matchMedia(LESS_MOTION).matches });
    this.#worker.postMessage({ open: canvases }, Object.values(canvases));
  }

  /** Send a touch, `{cell, down}`; without a link it is dropped, for the board has let go of it already. */
  touch(touch) {
    this.#order({ touch });
  }

  #order(order) {
    this.#worker.postMessage(order);
  }
}

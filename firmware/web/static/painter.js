// Paints the light of the board: frames in, two small pictures out, which the compositor stretches over the slab. Runs
// in the worker, so that the page itself has no work to do for a frame.

import { CELLS, COLUMNS, ROWS } from "./game.js";
import { Halo, SIDE } from "./halo.js";
import { TILE, lookAt } from "./light.js";

const HALO_MS = 25; // halos are soft: half the frames do
const LOOKS_KEPT = 2048; // a board shows a few hundred colours

const repaint = self.requestAnimationFrame ? (draw) => self.requestAnimationFrame(draw) : (draw) => setTimeout(draw, 16);

/** A picture of `side` pixels on a canvas that the page shows. */
class Picture {
  #context;

  constructor(canvas, side) {
    canvas.width = canvas.height = side;
    this.#context = canvas.getContext("2d");
    this.image = this.#context.createImageData(side, side);
  }

  show() {
    this.#context.putImageData(this.image, 0, 0);
  }
}

/** Paints frames on two canvases; `told` gets the signs that ink on the cells goes by. */
export class Painter {
  #told;
  #light;
  #halos;
  #halo = new Halo();
  #looks = new Map();
  #frame = null;
  #shown = new Int32Array(CELLS).fill(-1);
  #glow = new Float32Array(CELLS * 3);
  #signs = new Uint8Array(CELLS);
  #halo_at = -Infinity;
  #halo_late = 0;

  constructor({ light, halo }, told) {
    this.#told = told;
    this.#light = new Picture(light, COLUMNS * TILE);
    this.#halos = new Picture(halo, SIDE);
  }

  /** Show a frame of wire bytes at the next repaint; only the latest one counts. */
  take(frame) {
    if (this.#frame === null) repaint(() => this.#draw());
    this.#frame = frame;
  }

  #draw() {
    const frame = this.#frame;
    this.#frame = null;
    let [changed, told] = [false, false];
    for (let cell = 0; cell < CELLS; cell += 1) {
      const packed = (frame[3 * cell] << 16) | (frame[3 * cell + 1] << 8) | frame[3 * cell + 2];
      if (packed === this.#shown[cell]) continue;
      this.#shown[cell] = packed;
      changed = true;
      told = this.#drawCell(cell, this.#lookOf(packed)) || told;
    }
    if (changed) this.#light.show();
    if (changed) this.#haloWhenDue();
    if (told) this.#told(this.#signs.slice());
  }

  #lookOf(packed) {
    let look = this.#looks.get(packed);
    if (!look) {
      if (this.#looks.size === LOOKS_KEPT) this.#looks.clear();
      look = lookAt(packed >> 16, (packed >> 8) & 255, packed & 255);
      this.#looks.set(packed, look);
    }
    return look;
  }

  // Says whether the page has to be told: ink depends on the light below.
  #drawCell(cell, look) {
    this.#glow.set(look.glow, 3 * cell);
    const { data, width } = this.#light.image;
    const [row, column] = [ROWS - 1 - Math.floor(cell / COLUMNS), cell % COLUMNS];
    for (let line = 0; line < TILE; line += 1) {
      const from = 4 * TILE * line;
      data.set(look.pixels.subarray(from, from + 4 * TILE), 4 * ((row * TILE + line) * width + column * TILE));
    }
    const told = look.sign !== this.#signs[cell];
    this.#signs[cell] = look.sign;
    return told;
  }

  // With the cells, so that both are one repaint; where no more frames come, a little later.
  #haloWhenDue() {
    clearTimeout(this.#halo_late);
    if (performance.now() - this.#halo_at >= HALO_MS) this.#drawHalo();
    else this.#halo_late = setTimeout(() => this.#drawHalo(), 2 * HALO_MS);
  }

  #drawHalo() {
    this.#halo_at = performance.now();
    this.#halo.add(this.#glow);
    this.#halo.paint(this.#halos.image.data);
    this.#halos.show();
  }
}

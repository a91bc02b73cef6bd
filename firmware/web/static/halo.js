// What the cells throw on the slab and into the eye: one small picture for the whole board, stretched over it.

import { CELLS, COLUMNS, ROWS } from "./game.js";
import { encode } from "./light.js";

const PITCH = 4; // pixels a cell pitch: the narrowest fall-off is wider than three of them, stretched softly
const MARGIN = 1.5; // pitches around the cells: the bezel and the ground beyond
export const SIDE = (ROWS + 2 * MARGIN) * PITCH;
const CELL = 0.85 * PITCH;
const FAINT = 0.006; // a level too faint to reach beyond its own well
const GAIN = 9; // the surface above lets a part through, most at the lips
const BLACK = 0.003; // what the surface shows unlit: light adds to it before the eye's curve, so the first bit is lost

/** How much of a cell's hue arrives at a squared distance (in cell sides): on the slab, and as the eye's veil. */
function reach(squared) {
  const slab = 0.022 * (1 + squared / 0.72 ** 2) ** -1.55;
  const veil = 0.042 * Math.exp(-squared / 0.6) + 0.0038 * Math.exp(-squared / 3.4);
  return GAIN * (slab + veil);
}

// The picture ends where the margin does: fade to nothing there.
const fade = (at) => Math.min(1, Math.min(at + 0.5, SIDE - at - 0.5) / PITCH);

// For each cell, what arrives of its light at each pixel.
const ARRIVES = Array.from({ length: CELLS }, (_, cell) => {
  const left = (MARGIN + 0.5 + (cell % COLUMNS)) * PITCH;
  const top = (MARGIN + ROWS - 0.5 - Math.floor(cell / COLUMNS)) * PITCH;
  return Float32Array.from({ length: SIDE * SIDE }, (_unused, at) => {
    const [x, y] = [at % SIDE, Math.floor(at / SIDE)];
    const squared = ((x + 0.5 - left) ** 2 + (y + 0.5 - top) ** 2) / (CELL * CELL);
    return reach(squared) * fade(x) * fade(y);
  });
});

const STEPS = 4095;
const CODES = Uint8ClampedArray.from(
  { length: STEPS + 1 }, (_, at) => 255 * (encode(at / STEPS + BLACK) - encode(BLACK)),
);
const code = (light) => CODES[Math.min(STEPS, light * STEPS) | 0];

/** The halos of all cells, kept up cell by cell. */
export class Halo {
  #sum = new Float32Array(SIDE * SIDE * 3);

  /** Sum up the halos of `glow`, the linear hue light of every cell, three values a cell. */
  add(glow) {
    this.#sum.fill(0);
    for (let cell = 0; cell < CELLS; cell += 1) {
      const [r, g, b] = [glow[3 * cell], glow[3 * cell + 1], glow[3 * cell + 2]];
      if (Math.max(r, g, b) > FAINT) addCell(this.#sum, ARRIVES[cell], r, g, b);
    }
  }

  /** Write the picture, RGBA. Alpha is the leading channel, so that it adds to what lies below almost as light does. */
  paint(pixels) {
    for (let to = 0, from = 0; to < pixels.length; to += 4, from += 3) {
      const [r, g, b] = [code(this.#sum[from]), code(this.#sum[from + 1]), code(this.#sum[from + 2])];
      const alpha = Math.max(r, g, b, 1);
      pixels[to] = (255 * r) / alpha;
      pixels[to + 1] = (255 * g) / alpha;
      pixels[to + 2] = (255 * b) / alpha;
      pixels[to + 3] = alpha;
    }
  }
}

function addCell(sum, arrives, r, g, b) {
  for (let at = 0, to = 0; at < arrives.length; at += 1, to += 3) {
    const part = arrives[at];
    sum[to] += r * part;
    sum[to + 1] += g * part;
    sum[to + 2] += b * part;
  }
}

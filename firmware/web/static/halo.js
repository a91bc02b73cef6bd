// What the cells throw on the slab and into the eye: one small picture for the whole board, stretched over it.

import { CELLS, COLUMNS, ROWS } from "./game.js";
import { encode } from "./light.js";

const PITCH = 6; // pixels a cell pitch: the narrowest fall-off is wider than three of them
const MARGIN = 1.5; // pitches around the cells: the bezel and the ground beyond
const SIDE = (ROWS + 2 * MARGIN) * PITCH;
const CELL = 0.85 * PITCH;
const FAINT = 0.02; // a level too faint to reach beyond its own well
const GAIN = 9; // the surface above lets a part through, most at the lips
const BLACK = 0.003; // what the surface shows unlit: light adds to it before the eye's curve, so the first bit is lost

/** How much of a cell's hue arrives at a squared distance (in cell sides): on the slab, and as the eye's veil. */
function reach(squared) {
  const slab = 0.022 * (1 + squared / 0.72 ** 2) ** -1.55;
  const veil = 0.042 * Math.exp(-squared / 0.6) + 0.0038 * Math.exp(-squared / 3.4);
  return GAIN * (slab + veil);
}

const REACH = Float32Array.from({ length: 4 * SIDE * SIDE }, (_, at) => {
  const x = (at % (2 * SIDE)) - SIDE + 0.5;
  const y = Math.floor(at / (2 * SIDE)) - SIDE + 0.5;
  return reach((x * x + y * y) / (CELL * CELL));
});

// The picture ends where the margin does: fade to nothing there.
const fade = (at) => Math.min(1, Math.min(at + 0.5, SIDE - at - 0.5) / PITCH);
const EDGE = Float32Array.from({ length: SIDE * SIDE }, (_, at) => fade(at % SIDE) * fade(Math.floor(at / SIDE)));

const CODES = Uint8ClampedArray.from({ length: 4096 }, (_, at) => 255 * (encode(at / 4096 + BLACK) - encode(BLACK)));

export class Halo {
  #context;
  #picture;
  #sum = new Float32Array(SIDE * SIDE * 3);

  constructor(canvas) {
    canvas.width = canvas.height = SIDE;
    this.#context = canvas.getContext("2d");
    this.#picture = this.#context.createImageData(SIDE, SIDE);
  }

  /** Paint the halos of all cells; `glow` is their linear hue light, three values a cell. */
  draw(glow) {
    this.#sum.fill(0);
    for (let cell = 0; cell < CELLS; cell += 1) this.#add(cell, glow.subarray(cell * 3, cell * 3 + 3));
    this.#encode();
    this.#context.putImageData(this.#picture, 0, 0);
  }

  #add(cell, [r, g, b]) {
    if (Math.max(r, g, b) < FAINT) return;
    const left = (MARGIN + 0.5 + (cell % COLUMNS)) * PITCH;
    const top = (MARGIN + ROWS - 0.5 - Math.floor(cell / COLUMNS)) * PITCH;
    const sum = this.#sum;
    for (let y = 0, to = 0; y < SIDE; y += 1) {
      let from = (y - top + SIDE) * 2 * SIDE + SIDE - left;
      for (let x = 0; x < SIDE; x += 1, to += 3, from += 1) {
        const part = REACH[from];
        sum[to] += r * part;
        sum[to + 1] += g * part;
        sum[to + 2] += b * part;
      }
    }
  }

  // Alpha is the leading channel, so that the picture adds to what lies below almost as light does.
  #encode() {
    const { data } = this.#picture;
    for (let at = 0, to = 0, from = 0; at < EDGE.length; at += 1, to += 4, from += 3) {
      const edge = EDGE[at] * 4095;
      const r = CODES[Math.min(4095, this.#sum[from] * edge) | 0];
      const g = CODES[Math.min(4095, this.#sum[from + 1] * edge) | 0];
      const b = CODES[Math.min(4095, this.#sum[from + 2] * edge) | 0];
      const alpha = Math.max(r, g, b, 1);
      data[to] = (255 * r) / alpha;
      data[to + 1] = (255 * g) / alpha;
      data[to + 2] = (255 * b) / alpha;
      data[to + 3] = alpha;
    }
  }
}

// From wire bytes to light on the page. A wire byte is linear light; all sums are made there and encoded last.
//
// Each cell has two stacked gradients: `body`, its hue filling the diffuser, and `core`, the pale part in the middle.
// They are painted anew only when the hue changes; brightness moves their opacity alone. Encoding is a power, so the
// encoded level times the encoded gradient is the encoded light.

import { CELLS } from "./game.js";

const GAMMA = 2.2; // the board's own
export const encode = (light) => light ** (1 / GAMMA);

// A wire value is rounded to whole steps; of a dim colour that is most of its hue: orange turns olive, blue violet or
// teal. So a hue is read as the nearest side's as far as rounding could have hidden it.
const SIDE_HUES = [[1, 0.198, 0.006], [0.009, 0.148, 1]]; // linear, leading channel 1
const ROUNDING = 0.75; // steps: half of one by rounding, the rest where a dimmest level was chosen by hand
const DEEPENING = 0.25; // the grey of the unlit diffuser pales a dim hue, and the eye takes dim orange for brown

const FULL = 0.8; // the leading channel of a hue at full level: room for the core above it
// Under this level no heat shows, and a colour sits in the middle only: over a whole well it reads as brown.
const DIM_BELOW = 0.05;
const UNLIT = 0.004; // the diffuser unlit: light adds to it before the eye's curve, so the first bit of it is lost
const PALENESS = 1.6; // white of this opacity over a lit body comes to the sum of both lights
const VEIL = 0.02; // what the eye adds of white to a saturated light
const HUE_STEPS = 40; // fine enough that no step of a hue shows, coarse enough that a fade paints few
const DIM_MARK = 0.14; // under this level marks are pale
const BRIGHT_WORD = 0.22; // over this luminance dark words have more contrast than pale ones
const HALO_MS = 25; // halos are soft: half the frames do
const WARMTH_STEPS = 6;
const STOPS = [0, 12, 25, 40, 55, 70, 85, 100, 120, 141]; // % of the half side; 141 is the corner

const ramp = (low, high, x) => Math.min(1, Math.max(0, (x - low) / (high - low)));
const opacity = (light) => (encode(light + UNLIT) - encode(UNLIT)) / (encode(1 + UNLIT) - encode(UNLIT));
const shoulder = (x) => (x < 0.9 ? x : 0.9 + 0.1 * (1 - Math.exp((0.9 - x) * 10)));
const luminance = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
const byte = (light) => Math.round(255 * encode(shoulder(light)));

// The hue of the side that a colour is nearest to.
function nearestSide(colour) {
  const level = Math.max(...colour);
  const far = (hue) => hue.reduce((sum, channel, at) => sum + (level * channel - colour[at]) ** 2, 0);
  const [a, b] = SIDE_HUES;
  return far(a) <= far(b) ? a : b;
}

/** The linear light (0 to 1 a channel) that three wire bytes most likely stand for. */
export function readWire(...wire) {
  const level = Math.max(...wire);
  const slack = level && (ROUNDING * (level - Math.min(...wire))) / level; // a grey is no side's
  const side = nearestSide(wire).map((channel) => level * channel);
  return wire.map((value, at) => Math.min(value + slack, Math.max(value - slack, side[at])) / 255);
}

/**
 * Split wire light into its level, its hue (leading channel 1) and its pale part. A pale colour becomes a pale core in
 * a skirt that keeps the side; greys, and colours too dim for a core, stay whole.
 */
export function split(r, g, b) {
  const level = Math.max(r, g, b);
  if (level === 0) return { level, saturation: 0, hue: [0, 0, 0], pale: 0 };
  const low = Math.min(r, g, b);
  const saturation = (level - low) / level;
  const part = ramp(0.12, 0.4, saturation) * ramp(0.03, 0.25, level);
  const taken = 0.95 * part * low;
  const rest = [r, g, b].map((channel) => (channel - taken) / (level - taken));
  const side = nearestSide(rest);
  // Skirts are pulled towards their side, not beyond: a pale orange would end as red.
  const pulled = rest.map((x, at) => Math.max(x ** (1 + 4.3 * part * (1 - saturation) ** 2), Math.min(x, side[at])));
  const hue = pulled.map((x) => x ** (1 + DEEPENING * saturation * (1 - level)));
  return { level, saturation, hue, pale: 1.25 * taken };
}

/** The cells' own light. `cells` has for each cell `{body, core, mark, word}` elements; `halo` gets the hue light of all. */
export class Light {
  #cells;
  #halo;
  #last = new Int32Array(CELLS).fill(-1);
  #images = new Array(CELLS).fill("");
  #glow = new Float32Array(CELLS * 3);
  #frame = null;
  #stale = false; // the halo, by the cells' light
  #halo_at = -Infinity;
  #halo_late = 0;

  constructor(cells, halo) {
    this.#cells = cells;
    this.#halo = halo;
  }

  /** Show a frame at the next repaint; only the latest one counts. */
  show(frame) {
    if (this.#frame === null) requestAnimationFrame((now) => this.#draw(now));
    this.#frame = frame;
  }

  #draw(now) {
    const frame = this.#frame;
    this.#frame = null;
    for (let cell = 0; cell < CELLS; cell += 1) {
      if (this.#drawCell(cell, frame)) this.#stale = true;
    }
    if (this.#stale) this.#haloWhenDue(now);
  }

  // In a repaint of the cells, so that both are one; where no more repaints come, a little later.
  #haloWhenDue(now) {
    clearTimeout(this.#halo_late);
    if (now - this.#halo_at >= HALO_MS) this.#drawHalo(now);
    else this.#halo_late = setTimeout(() => this.#drawHalo(now), 2 * HALO_MS);
  }

  #drawHalo(now) {
    this.#stale = false;
    this.#halo_at = now;
    this.#halo.draw(this.#glow);
  }

  #drawCell(cell, frame) {
    const [r, g, b] = frame.subarray(cell * 3, cell * 3 + 3);
    const packed = (r << 16) | (g << 8) | b;
    if (packed === this.#last[cell]) return false;
    this.#last[cell] = packed;
    const look = lookOf(packed, r, g, b);
    const { body, core, mark, word } = this.#cells[cell];
    if (look.image !== this.#images[cell]) body.style.backgroundImage = this.#images[cell] = look.image;
    setOpacity(body, look.body);
    setOpacity(core, look.core);
    mark.toggleAttribute("data-dim", look.dim);
    word.toggleAttribute("data-bright", look.bright);
    this.#glow.set(look.glow, cell * 3);
    return true;
  }
}

// What a wire colour looks like, worked out once: a board shows a few hundred colours.
const looks = new Map();
const LOOKS_KEPT = 4096;

function lookOf(packed, ...wire) {
  if (!looks.has(packed)) {
    if (looks.size === LOOKS_KEPT) looks.clear();
    looks.set(packed, lookAt(split(...readWire(...wire))));
  }
  return looks.get(packed);
}

function lookAt({ level, saturation, hue, pale }) {
  const shape = level >= DIM_BELOW ? "full" : saturation > 0.5 ? "ember" : "flat";
  const warmth = Math.round(level * WARMTH_STEPS) / WARMTH_STEPS;
  const steps = hue.map((channel) => Math.round(encode(channel) * HUE_STEPS));
  return {
    image: paint(steps, warmth, SHAPES[shape]),
    body: opacity(level),
    core: Math.min(1, PALENESS * pale),
    dim: level < DIM_MARK,
    bright: level * luminance(hue) + pale > BRIGHT_WORD,
    glow: hue.map((channel) => FULL * level * channel),
  };
}

// What is not seen is taken out of the picture: a layer costs the browser time even where it is clear.
function setOpacity({ style }, value) {
  style.visibility = value > 0 ? "visible" : "hidden";
  style.opacity = value;
}

// How a body falls off from the middle to the wall (`width` in cell sides), and the heat of the LED itself.
const SHAPES = {
  full: { wall: 0.3, width: 0.385, heat: 0.27 },
  flat: { wall: 0.5, width: 0.4, heat: 0 },
  ember: { wall: 0.1, width: 0.3, heat: 0 },
};
const WELL = 0.07; // what the wall of the well returns

// Heat and veil grow with the square of the level: they are painted for the level, and its opacity does the rest.
function paint(steps, level, { wall, width, heat }) {
  const veil = VEIL * level;
  const hue = steps.map((step) => veil + (1 - veil) * (step / HUE_STEPS) ** GAMMA);
  const shape = { wall, width, heat: heat * level };
  const stops = STOPS.map((at) => `rgb(${hue.map((channel) => byte(across(channel, at / 200, shape)))}) ${at}%`);
  const air = `rgb(${hue.map((channel) => byte(WELL * FULL * channel))})`;
  return `radial-gradient(circle closest-side, ${stops}), linear-gradient(${air}, ${air})`;
}

// One channel of a body at a distance from the middle, in cell sides; heat follows the square root of the hue.
function across(channel, distance, { wall, width, heat }) {
  const body = 1.16 * FULL * channel * (wall + (1 - wall) * Math.exp(-((distance / width) ** 3.6)));
  return body + heat * Math.sqrt(channel) * Math.exp(-((distance / 0.26) ** 2));
}

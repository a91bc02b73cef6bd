// From wire bytes to the light of one cell. A wire byte is linear light; all sums are made there and encoded last.
// Pure: the same three bytes give the same picture.

const GAMMA = 2.2; // the board's own
export const encode = (light) => light ** (1 / GAMMA);
const decode = (code) => (code / 255) ** GAMMA;

// A wire value is rounded to whole steps; of a dim colour that is most of its hue: orange turns olive, blue violet or
// teal. So a hue is read as the nearest side's as far as rounding could have hidden it.
const SIDE_HUES = [[1, 0.198, 0.006], [0.009, 0.148, 1]]; // linear, leading channel 1
const ROUNDING = 0.75; // steps: half of one by rounding, the rest where a dimmest level was chosen by hand
const DEEPENING = 0.25; // the grey of the unlit diffuser pales a dim hue, and the eye takes dim orange for brown

export const FULL = 0.8; // the leading channel of a hue at full level: room for the core above it
const DIM_MARK = 0.14; // under this level marks are pale
const [PLAIN, SHADED] = [0.08, 0.36]; // luminance: pale words have 7:1 as it is, in a shade, in a deep one

const luminance = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
const ramp = (low, high, x) => Math.min(1, Math.max(0, (x - low) / (high - low)));

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

// -- the picture of a cell ---------------------------------------------------------------------------------------

export const TILE = 24; // pixels a pitch: the light within a cell is soft, its edge is the surface's
const CELL = 0.85 * TILE;
const HOT = 0.27; // the heat of the LED in the middle, at full level
const WELL = 0.2; // what the wall of the well returns; the surface above dims it
const VEIL = 0.03; // what the eye adds of white to a saturated light
const SPREAD = 1.12; // of the cell's side: how far its light reaches below the lip
const MILK = [13, 22].map(decode); // the diffuser unlit, at its shadowed upper edge and below
const MILKY = 0.84; // how much of what the slab throws it hides; lit it hides all

// How bodies fall off from the middle to the wall: full, ember (a dim colour sits in the middle only: over a whole well
// it reads as brown), flat (a dim grey).
const SHAPES = { full: [0.3, 0.385], ember: [0.14, 0.29], flat: [0.5, 0.4] };
const EMBER_LEVELS = [0.025, 0.11];

const field = (value) => Float32Array.from({ length: TILE * TILE }, (_, at) => {
  const [x, y] = [at % TILE, Math.floor(at / TILE)].map((line) => (line + 0.5 - TILE / 2) / CELL);
  return value(Math.hypot(x, y), x, y);
});
const body = ([wall, width]) => field((d) => wall + (1 - wall) * Math.exp(-((d / width) ** 3.6)));
const BODIES = Object.fromEntries(Object.entries(SHAPES).map(([name, shape]) => [name, body(shape)]));
const HEAT = field((d) => HOT * Math.exp(-((d / 0.26) ** 2)));
const CORE = field((d) => Math.exp(-((d / 0.25) ** 2)));
const UNLIT = field((_, x, y) => MILK[0] + (MILK[1] - MILK[0]) * ramp(-0.5, -0.1, y));
const INSIDE = field((_, x, y) => inSquare(x, y, 0.5, 0.26));
const REACHED = field((_, x, y) => inSquare(x, y, SPREAD / 2, 0.3));

// Whether a point lies in a rounded square round the middle, softened over a pixel.
function inSquare(x, y, half, radius) {
  const [dx, dy] = [x, y].map((line) => Math.abs(line) - half + radius);
  const outside = Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - radius;
  return ramp(0.5, -0.5, outside * CELL);
}

const shoulder = (x) => (x < 0.9 ? x : 0.9 + 0.1 * (1 - Math.exp((0.9 - x) * 10)));
const STEPS = 4096;
const CODES = Uint8Array.from({ length: 2 * STEPS }, (_, at) => Math.round(255 * encode(shoulder((at + 0.5) / STEPS))));
const code = (light) => CODES[Math.min(2 * STEPS - 1, light * STEPS) | 0];

/**
 * What a wire colour looks like: `pixels` of its tile (RGBA, TILE x TILE), its `glow` on others in linear light, and
 * the `sign` that ink on it goes by: 1 where marks are pale, 2 where words want a shade, 4 where a deep one.
 */
export function lookAt(r, g, b) {
  const { level, saturation, hue, pale } = split(...readWire(r, g, b));
  return {
    pixels: paint(level, saturation, hue, pale),
    glow: hue.map((channel) => FULL * level * channel),
    sign: (level < DIM_MARK ? 1 : 0) | inkOn(level, hue, pale),
  };
}

function inkOn(level, hue, pale) {
  const hot = HOT * level ** 2 * luminance(hue.map(Math.sqrt));
  const middle = 1.16 * FULL * level * luminance(hue) + hot + pale;
  if (middle < PLAIN) return 0;
  return middle < SHADED ? 2 : 4;
}

function paint(level, saturation, hue, pale) {
  const pixels = new Uint8ClampedArray(4 * TILE * TILE);
  const full = ramp(...EMBER_LEVELS, level);
  const small = saturation > 0.5 ? BODIES.ember : BODIES.flat;
  const veil = VEIL * saturation * level;
  const lit = hue.map((channel) => 1.16 * FULL * level * (veil + (1 - veil) * channel));
  const hot = hue.map((channel) => level * level * Math.sqrt(channel));
  for (let at = 0, to = 0; at < INSIDE.length; at += 1, to += 4) {
    const shape = full * BODIES.full[at] + (1 - full) * small[at];
    const inside = INSIDE[at];
    for (let channel = 0; channel < 3; channel += 1) {
      const wall = WELL * FULL * level * hue[channel];
      const light = UNLIT[at] + lit[channel] * shape + hot[channel] * HEAT[at] + pale * CORE[at];
      pixels[to + channel] = code(wall + inside * (light - wall));
    }
    pixels[to + 3] = 255 * REACHED[at] * Math.max(MILKY * inside, Math.min(1, 12 * level));
  }
  return pixels;
}

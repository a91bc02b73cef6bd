// The unlit object: the slab and its 49 wells, painted once a size. It lies over the halos and lets some of their
// light through: a part on the slab, most at the lips of the wells, little on the ground around. The cells themselves
// are open: their diffusers are part of the picture of the light below.

import { COLUMNS, ROWS } from "./game.js";

const EDGE = 0.14; // of the slab's side: how far the picture reaches beyond it, as the halo's does
const BEZEL = 0.052;
const RADIUS = 0.06;
const PITCH = (1 - 2 * BEZEL) / COLUMNS;
const CELL = 0.85 * PITCH;

// Top to bottom, lit from above; what is not opaque lets the halos through.
const GROUND = "rgb(11 12 16 / 0.72)";
const SLAB = ["rgb(25 26 30 / 0.66)", "rgb(18 19 22 / 0.66)", "rgb(13 14 17 / 0.66)"];
const RIM = ["rgb(255 255 255 / 0.15)", "rgb(255 255 255 / 0.03)", "rgb(255 255 255 / 0.025)"];
const THIN = "rgb(0 0 0 / 0.5)"; // how much of the slab a lip lacks
const LIP = ["rgb(255 255 255 / 0.04)", "rgb(255 255 255 / 0.05)", "rgb(255 255 255 / 0.1)"];
const WALL = ["rgb(7 7 9 / 0.74)", "rgb(12 12 14 / 0.66)"];

/** Paint the surface for a slab of `side` CSS pixels. */
export function paintSurface(canvas, side) {
  const scale = Math.min(window.devicePixelRatio || 1, 2);
  const pixels = Math.round(side * (1 + 2 * EDGE) * scale);
  const picture = new OffscreenCanvas(pixels, pixels);
  const context = picture.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = GROUND;
  context.fillRect(0, 0, side * (1 + 2 * EDGE), side * (1 + 2 * EDGE));
  context.translate(side * EDGE, side * EDGE);
  paintSlab(context, side);
  for (let cell = 0; cell < ROWS * COLUMNS; cell += 1) {
    const x = BEZEL + (0.5 + (cell % COLUMNS)) * PITCH;
    const y = BEZEL + (0.5 + Math.floor(cell / COLUMNS)) * PITCH;
    paintWell(context, side * x, side * y, side * CELL);
  }
  canvas.getContext("bitmaprenderer").transferFromImageBitmap(picture.transferToImageBitmap());
}

function paintSlab(context, side) {
  replace(context, square(side / 2, side / 2, side, side * RADIUS), shade(context, 0, side, SLAB));
  context.strokeStyle = shade(context, 0, side, RIM);
  context.lineWidth = 1;
  context.stroke(square(side / 2, side / 2, side - 1, side * RADIUS - 0.5));
}

function paintWell(context, x, y, cell) {
  const lip = cell * 1.108;
  paintLip(context, square(x, y, lip, cell * 0.314), shade(context, y - lip / 2, y + lip / 2, LIP));
  const well = cell * 1.056;
  replace(context, square(x, y, well, cell * 0.288), shade(context, y - well / 2, y + well / 2, WALL));
  replace(context, square(x, y, cell, cell * 0.26), "rgb(0 0 0 / 0)");
}

// A ring of thinner surface: halo light shines through it, and its lower edge catches a little of the room.
function paintLip(context, path, style) {
  context.globalCompositeOperation = "destination-out";
  context.fillStyle = THIN;
  context.fill(path);
  context.globalCompositeOperation = "source-over";
  context.fillStyle = style;
  context.fill(path);
}

// Fill a path with a style that is not opaque, and nothing below it.
function replace(context, path, style) {
  context.save();
  context.clip(path);
  context.globalCompositeOperation = "copy";
  context.fillStyle = style;
  context.fill(path);
  context.restore();
}

function square(x, y, side, radius) {
  const path = new Path2D();
  path.roundRect(x - side / 2, y - side / 2, side, side, radius);
  return path;
}

function shade(context, from, to, colours) {
  const gradient = context.createLinearGradient(0, from, 0, to);
  colours.forEach((colour, at) => gradient.addColorStop(at / (colours.length - 1), colour));
  return gradient;
}
